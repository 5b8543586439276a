//! The loops over vectors: those of an iteration that are not the multiplication.

/// Sums that run side by side, so that one need not wait for the other's addition.
const LANES: usize = 4;

/// The product of two vectors.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "a dot product is of two vectors of one length");
    let (a_lanes, a_rest) = a.as_chunks::<LANES>();
    let (b_lanes, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a_lanes.iter().zip(b_lanes) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// `y += factor * x`
pub(crate) fn add_multiple(y: &mut [f64], factor: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

/// `r -= alpha * ap`; returns the parts of `r·z` and `r·r`, where `z = inverse * r`.
///
/// One pass for what could be four, because each goes through memory as slowly as this one.
pub(crate) fn shrink(r: &mut [f64], alpha: f64, ap: &[f64], inverse: &[f64]) -> [f64; 2] {
    let (mut rz, mut rr) = (0.0, 0.0);
    for ((r, ap), inverse) in r.iter_mut().zip(ap).zip(inverse) {
        *r -= alpha * ap;
        let square = *r * *r;
        rz += square * inverse;
        rr += square;
    }
    [rz, rr]
}

/// `p = z + beta * p`, where `z = inverse * r`.
pub(crate) fn turn(p: &mut [f64], beta: f64, inverse: &[f64], r: &[f64]) {
    for ((p, inverse), r) in p.iter_mut().zip(inverse).zip(r) {
        *p = inverse * r + beta * *p;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_product_takes_all_lanes_and_the_rest() {
        let ones = [1.0; 11];
        let numbers: Vec<_> = (1..=11).map(f64::from).collect();
        assert_eq!(dot(&ones, &numbers), 66.0);
        assert_eq!(dot(&ones[..3], &numbers[..3]), 6.0);
        assert_eq!(dot(&[], &[]), 0.0);
    }

    #[test]
    fn the_updates_do_what_they_say() {
        let mut y = [1.0, 2.0];
        add_multiple(&mut y, 2.0, &[10.0, 20.0]);
        assert_eq!(y, [21.0, 42.0]);
        turn(&mut y, 2.0, &[0.5, 0.25], &[2.0, 4.0]);
        assert_eq!(y, [43.0, 85.0]);
        assert_eq!(shrink(&mut y, 2.0, &[20.0, 40.0], &[1.0, 0.5]), [21.5, 34.0]);
        assert_eq!(y, [3.0, 5.0]);
    }
}
