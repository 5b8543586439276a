//! A random graph like those of the real world: few vertices have very many edges.
//!
//! Each edge falls into a quarter of the matrix, into a quarter of that, and so on, the first of
//! the four being the most likely. What an edge is depends on its number only, so the graph is the
//! same for any number of ranks.

use std::ops::Range;

/// Of a hundred, how many fall into the first quarter, the first two, and the first three.
const QUARTERS: [u64; 3] = [57, 76, 95];

/// Some of the edges of a graph of `2^scale` vertices.
pub(crate) fn edges(scale: u32, numbers: Range<u64>) -> Vec<[u32; 2]> {
    numbers.map(|number| edge(scale, number)).collect()
}

fn edge(scale: u32, number: u64) -> [u32; 2] {
    let (mut state, mut edge) = (mixed(number), [0, 0]);
    for _ in 0..scale {
        state = mixed(state);
        let drawn = state % 100;
        let quarter = QUARTERS.iter().filter(|&&end| end <= drawn).count() as u32;
        edge = [edge[0] * 2 + quarter / 2, edge[1] * 2 + quarter % 2];
    }
    edge.map(|vertex| scattered(scale, vertex))
}

/// Another number for each vertex, so that those with many edges do not lie together.
fn scattered(scale: u32, vertex: u32) -> u32 {
    let mask = (1_u64 << scale) - 1;
    let mut number = u64::from(vertex);
    for factor in [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9_u64] {
        // Both steps can be undone, so no two vertices get one number.
        number = number.wrapping_mul(factor) & mask;
        number ^= number >> (scale / 2 + 1);
    }
    number as u32
}

/// A number that looks random.
pub(crate) fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_gets_a_number_of_its_own() {
        for scale in 1..=12 {
            let mut numbers: Vec<_> = (0..1 << scale).map(|each| scattered(scale, each)).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..1 << scale));
        }
    }

    #[test]
    fn some_vertices_have_very_many_edges() {
        let edges = edges(10, 0..16 << 10);
        assert_eq!(edges[5..7], super::edges(10, 5..7));
        let mut degrees = vec![0; 1 << 10];
        edges.iter().flatten().for_each(|&vertex| degrees[vertex as usize] += 1);
        let largest = degrees.into_iter().max().unwrap();
        assert!(largest > 10 * 32, "{largest} where 32 is the mean");
    }
}
