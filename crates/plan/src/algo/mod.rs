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
mod distance_halving;
mod fold;
mod gathered_blocks;
mod hierarchical;
mod linear;
mod operand_placement;
mod scattered_blocks;
mod shape;
mod subtree;
#[cfg(test)]
mod template;
mod tree_reduce;
mod via_root;
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
    barrier: [dissemination, linear, via_root, hierarchical],
    bcast: [binomial, scatter_allgather, linear, segmented_linear, hierarchical],
    gather: [binomial, linear, hierarchical],
    gatherv: [linear],
    scatter: [binomial, linear, hierarchical],
    scatterv: [linear],
    reduce: [binomial, distance_halving, linear, linear_reduce_scatter_gather, hierarchical],
    allreduce: [
        recursive_doubling,
        ring,
        reduce_scatter_allgather,
        linear,
        linear_reduce_scatter_allgather,
        via_root,
        tree,
        hierarchical
    ],
    reduce_scatter_block: [recursive_halving, ring, linear, pairwise, via_root, hierarchical],
    reduce_scatter: [recursive_halving, ring, linear, pairwise, hierarchical],
    scan: [recursive_doubling, linear, via_root, chain, hierarchical],
    exscan: [recursive_doubling, linear, via_root, chain, hierarchical],
    allgather: [ring, bruck, recursive_doubling, linear, via_root, hierarchical],
    allgatherv: [ring, bruck, recursive_doubling, linear, hierarchical],
    alltoall: [pairwise, bruck, linear, hierarchical],
    alltoallv: [linear, pairwise],
    exchange: [linear],
    exchangev: [linear],
    neighbor_reduce: [linear, sequential],
    node_exchange: [linear, two_step, three_step],
    inter_barrier: [dissemination, linear],
    inter_allgather: [leaders, linear],
    inter_allgatherv: [linear],
    inter_reduce: [leaders, reduce_scatter_gather, linear],
    inter_allreduce: [leaders, reduce_scatter_allgather, linear],
    inter_reduce_scatter_block: [recursive_halving, linear],
    inter_reduce_scatter: [recursive_halving, linear],
}

/// All algorithms, by collective.
pub fn table() -> &'static [&'static dyn Algorithm] {
    TABLE
}

/// The algorithms of one collective; at least one, and the first of equal cost is preferred.
pub fn of(collective: Collective) -> impl Iterator<Item = &'static dyn Algorithm> {
    TABLE.iter().copied().filter(move |row| row.collective() == collective)
}

/// Former and present names of algorithms. Settings and wisdom with a former name stay valid for
/// one release.
const FORMER_NAMES: [(&str, &str); 8] = [
    ("direct", "linear"),
    ("star", "via_root"),
    ("by_node", "hierarchical"),
    ("segments", "segmented_linear"),
    ("pieces", "linear_reduce_scatter_allgather"),
    ("pieces", "linear_reduce_scatter_gather"),
    ("forwarders", "two_step"),
    ("gateways", "three_step"),
];

/// The algorithm of this collective with this name, which may be a former one.
pub fn find(collective: Collective, name: &str) -> Option<&'static dyn Algorithm> {
    let is_it =
        |row: &&dyn Algorithm| row.name() == name || FORMER_NAMES.contains(&(name, row.name()));
    of(collective).find(is_it)
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
    use crate::call::{NodeMap, Operation, Rank};
    use crate::timeline::Timeline;
    use crate::verify::{Mode, Options, verify};

    #[test]
    fn every_row_has_the_name_of_its_file() {
        let rows: Vec<_> =
            table().iter().map(|row| (row.collective().name(), row.name())).collect();
        assert_eq!(rows, FILES);
    }

    /// The template is right for all small numbers of ranks, and its rounds are as it says.
    #[test]
    fn the_template_is_right() {
        let row = template::ROW;
        for ranks in 1..=9 {
            let call = |rank| Call {
                rank: Rank(rank),
                ranks,
                element_bytes: 8,
                in_place: false,
                nodes: NodeMap::ONE,
                operation: Operation::Allreduce { count: 5, commutative: false },
            };
            let calls: Vec<_> = (0..ranks).map(call).collect();
            let plans: Vec<_> = calls.iter().map(|call| row.plan(call).unwrap()).collect();
            for mode in [Mode::Eager, Mode::Rendezvous, Mode::InOrder] {
                let options = Options { seed: 1, mode };
                if let Err(violation) = verify(&calls, &plans, &options) {
                    panic!("{ranks} ranks, {mode:?}: {violation}");
                }
            }
            let cost = row.cost(&calls[0]);
            assert_eq!(Timeline::new(&plans).unwrap().rounds(), cost.rounds + cost.extra_sends);
            assert!(row.work(&calls[0]).messages == cost.rounds && !row.summary().is_empty());
        }
    }

    #[test]
    fn every_collective_has_an_algorithm() {
        for collective in Collective::ALL {
            assert!(of(collective).next().is_some(), "{collective}");
        }
    }

    #[test]
    fn former_names_lead_to_rows() {
        let present = |name| {
            move |collective: &Collective| {
                Some((
                    find(*collective, name)?.name(),
                    of(*collective).any(|row| row.name() == name),
                ))
            }
        };
        for (former, name) in FORMER_NAMES {
            let found: Vec<_> = Collective::ALL.iter().filter_map(present(former)).collect();
            assert!(found.contains(&(name, false)), "{former}: {found:?}");
            assert!(found.iter().all(|&(_, is_taken)| !is_taken), "{former} is a present name");
        }
        assert!(find(Collective::Reduce, "gateways").is_none());
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
