//! Subarrays and distributed arrays, against their definitions (MPI 4.1, 5.1.3 and 5.1.4).

use motet::datatype::{Datatype, Dimension, Distribution, Order};

/// All places of an array in the order of memory, as one index for each dimension.
fn places(sizes: &[i64], order: Order) -> Vec<Vec<i64>> {
    let total: i64 = sizes.iter().product();
    let place = |mut number: i64| {
        let mut place = vec![0; sizes.len()];
        let mut step = |dimension: usize| {
            place[dimension] = number % sizes[dimension];
            number /= sizes[dimension];
        };
        match order {
            Order::C => (0..sizes.len()).rev().for_each(&mut step),
            Order::Fortran => (0..sizes.len()).for_each(&mut step),
        }
        place
    };
    (0..total).map(place).collect()
}

/// The numbers of the items that a datatype picks from an array of ints.
fn picked(datatype: &Datatype, total: i64) -> Vec<i32> {
    assert_eq!((datatype.lower_bound(), datatype.extent()), (0, 4 * total));
    let memory: Vec<u8> = (0..total as i32).flat_map(i32::to_ne_bytes).collect();
    let mut out = vec![0; datatype.size() as usize];
    assert_eq!(datatype.commit().gather(&memory, 0, 1, 0, &mut out), Ok(out.len()));
    out.chunks(4).map(|bytes| i32::from_ne_bytes(bytes.try_into().unwrap())).collect()
}

/// The numbers of the places that pass, in the order of memory.
fn expected(sizes: &[i64], order: Order, pass: impl Fn(&[i64]) -> bool) -> Vec<i32> {
    let all = places(sizes, order).into_iter().zip(0..);
    all.filter(|(place, _)| pass(place)).map(|(_, number)| number).collect()
}

#[test]
fn every_small_subarray() {
    let sizes = [3, 2, 4];
    for order in [Order::C, Order::Fortran] {
        for starts in places(&sizes, Order::C) {
            for extra in places(&sizes, Order::C) {
                let len = |d: usize| 1 + extra[d].min(sizes[d] - starts[d] - 1);
                let lens = [len(0), len(1), len(2)];
                let made = Datatype::subarray(&sizes, &lens, &starts, order, &Datatype::INT);
                let inside = |place: &[i64]| {
                    (0..3).all(|d| (starts[d]..starts[d] + lens[d]).contains(&place[d]))
                };
                assert_eq!(picked(&made.unwrap(), 24), expected(&sizes, order, inside));
            }
        }
    }
}

/// Which process of its dimension a place belongs to.
fn owner(dimension: &Dimension, place: i64) -> i64 {
    let even = (dimension.size + dimension.processes - 1) / dimension.processes;
    match dimension.distribution {
        Distribution::None => 0,
        Distribution::Block(size) => place / size.unwrap_or(even),
        Distribution::Cyclic(size) => place / size.unwrap_or(1) % dimension.processes,
    }
}

fn check_grid(dimensions: &[Dimension], order: Order) {
    let sizes: Vec<i64> = dimensions.iter().map(|dimension| dimension.size).collect();
    let grid: Vec<i64> = dimensions.iter().map(|dimension| dimension.processes).collect();
    // The grid is numbered by rows, whatever the order of the array.
    for (coordinates, rank) in places(&grid, Order::C).into_iter().zip(0..) {
        let ranks = grid.iter().product();
        let made = Datatype::darray(ranks, rank, dimensions, order, &Datatype::INT).unwrap();
        let own = |place: &[i64]| {
            dimensions.iter().zip(place).map(|(d, &place)| owner(d, place)).eq(coordinates.clone())
        };
        let expected = expected(&sizes, order, own);
        let total = sizes.iter().product();
        assert_eq!(picked(&made, total), expected, "{dimensions:?} {order:?} rank {rank}");
    }
}

fn distributions(size: i64, processes: i64) -> Vec<Dimension> {
    let even = (size + processes - 1) / processes;
    let mut all = vec![Distribution::Block(None), Distribution::Block(Some(even + 1))];
    all.extend([None, Some(1), Some(2), Some(3), Some(9)].map(Distribution::Cyclic));
    if processes == 1 {
        all.push(Distribution::None);
    }
    all.into_iter().map(|distribution| Dimension { size, distribution, processes }).collect()
}

#[test]
fn distributed_in_one_dimension() {
    for size in 1..12 {
        for processes in 1..6 {
            for dimension in distributions(size, processes) {
                check_grid(&[dimension], Order::C);
            }
        }
    }
}

#[test]
fn distributed_in_two_and_three_dimensions() {
    for order in [Order::C, Order::Fortran] {
        for rows in distributions(5, 2) {
            for columns in distributions(7, 3) {
                check_grid(&[rows, columns], order);
                let whole = Dimension { size: 2, distribution: Distribution::None, processes: 1 };
                check_grid(&[rows, whole, columns], order);
            }
        }
    }
}

/// An item with a gap and a lower bound of its own: the extent is what counts.
#[test]
fn items_may_have_gaps() {
    let item = Datatype::resized(-4, 12, &Datatype::INT).unwrap();
    let made = Datatype::subarray(&[3, 3], &[2, 1], &[1, 2], Order::C, &item).unwrap();
    assert_eq!((made.lower_bound(), made.extent(), made.true_lower_bound()), (0, 108, 60));
    let pieces = made.commit().pieces(2, 0, 9).0;
    let places: Vec<i64> = pieces.iter().map(|piece| piece.at).collect();
    assert_eq!(places, [60, 96, 168, 204]);
}
