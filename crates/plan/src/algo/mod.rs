//! The algorithms: each has one file, and one word in the table of `algorithms!`.
//!
//! An algorithm records the sends, receives, copies and reductions of one rank in program order.
//! From its row in the table it is verified, drawn and selected like all others.

use crate::call::{Call, Collective};
use crate::cost::CostParams;
use crate::order::sort_by_number;
use algorithm::accepts_commutative;
pub use algorithm::{Algorithm, Refusal};

mod aggregation;
mod algorithm;
mod between;
mod by_node;
mod direct;
mod distance_halving;
mod fold;
mod gathered_blocks;
mod operand_slots;
mod scattered_blocks;
mod shape;
mod star;
mod subtree;
mod tree_reduce;
mod within;

/// Declares the modules, `<collective>/<algorithm>.rs` each, and the table of their rows.
macro_rules! algorithms {
    ($($collective:ident: [$($algorithm:ident),+]),+ $(,)?) => {
        $(mod $collective {
            $(pub(super) mod $algorithm;)+
        })+

        static TABLE: &[&dyn Algorithm] = &[$($($collective::$algorithm::ROW),+),+];

        /// The files of the rows, as (collective, algorithm).
        #[cfg(test)]
        const FILES: &[(&str, &str)] =
            &[$($((stringify!($collective), stringify!($algorithm))),+),+];
    };
}

algorithms! {
    barrier: [dissemination, direct, star, by_node],
    bcast: [binomial, scatter_allgather, direct, segments, by_node],
    gather: [binomial, direct, by_node],
    gatherv: [direct],
    scatter: [binomial, direct, by_node],
    scatterv: [direct],
    reduce: [binomial, distance_halving, direct, pieces, by_node],
    allreduce: [
        recursive_doubling, ring, reduce_scatter_allgather, direct, pieces, star, tree, by_node
    ],
    reduce_scatter_block: [recursive_halving, ring, direct, pairwise, star, by_node],
    reduce_scatter: [recursive_halving, ring, direct, pairwise, by_node],
    scan: [recursive_doubling, direct, star, chain, by_node],
    exscan: [recursive_doubling, direct, star, chain, by_node],
    allgather: [ring, bruck, recursive_doubling, direct, star, by_node],
    allgatherv: [ring, bruck, recursive_doubling, direct, by_node],
    alltoall: [pairwise, bruck, direct, by_node],
    alltoallv: [direct, pairwise],
    exchange: [direct],
    exchangev: [direct],
    neighbor_reduce: [direct, sequential],
    node_exchange: [direct, forwarders, gateways],
    inter_barrier: [dissemination, direct],
    inter_allgather: [leaders, direct],
    inter_allgatherv: [direct],
    inter_reduce: [leaders, reduce_scatter_gather, direct],
    inter_allreduce: [leaders, reduce_scatter_allgather, direct],
    inter_reduce_scatter_block: [recursive_halving, direct],
    inter_reduce_scatter: [recursive_halving, direct],
}

/// All algorithms, by collective.
pub fn table() -> &'static [&'static dyn Algorithm] {
    TABLE
}

/// The algorithms of one collective; at least one, and the first of equal cost is preferred.
pub fn of(collective: Collective) -> impl Iterator<Item = &'static dyn Algorithm> {
    TABLE.iter().copied().filter(move |row| row.collective() == collective)
}

/// The algorithm of this collective with this name.
pub fn find(collective: Collective, name: &str) -> Option<&'static dyn Algorithm> {
    of(collective).find(|row| row.name() == name)
}

/// The algorithms that accept a call, and their times at these prices, the shortest first.
pub(crate) fn by_time(call: &Call, machine: &CostParams) -> Vec<(f64, &'static dyn Algorithm)> {
    let mut rows: Vec<(f64, &'static dyn Algorithm)> = of(call.collective())
        .filter(|row| row.accepts(call).is_ok())
        .map(|row| (row.time(call, machine), row))
        .collect();
    // The sort is stable: of equal ones the first in the table is taken, on all ranks.
    sort_by_number(&mut rows, |(time, _)| time.to_bits()); // The bits of times grow as they do.
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_the_name_of_its_file() {
        let rows: Vec<_> =
            table().iter().map(|row| (row.collective().name(), row.name())).collect();
        assert_eq!(rows, FILES);
    }

    #[test]
    fn every_collective_has_an_algorithm() {
        for collective in Collective::ALL {
            assert!(of(collective).next().is_some(), "{collective}");
        }
    }

    #[test]
    fn names_lead_back_to_rows() {
        for row in table() {
            let found = find(row.collective(), row.name()).unwrap();
            assert_eq!(format!("{found:?}"), format!("{row:?}"));
            assert!(!row.summary().is_empty() && !row.summary().ends_with('.'));
        }
    }
}
