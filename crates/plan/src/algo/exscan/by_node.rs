//! By node: each node scans, the last rank of each tells the nodes behind what all before them have
//! come to, and each node adds that.
//!
//! ```text
//!   nodes 0 1 and 2 3 4    0      1      2      3      4
//!   within                        a             c      cd
//!   last ranks                    ab                   ab           from the first to the second
//!   within                        a      ab     abc    abcd
//! ```
//!
//! It is the [scan](crate::algo) by node, but that the last rank of a node adds its own data to
//! what it tells, and the first has nothing to add what comes to.
//!
//! Cost: that of an exscan and a broadcast in the largest node, of an exscan among the last
//! ranks, and two reductions.

use crate::algo::Algorithm;
use crate::algo::by_node::{ByNode, Part, Phases, data};
use crate::algo::scan::by_node::{between, earlier, within};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation, Rank};
use crate::plan::Slice;

struct Exscan;

pub(in crate::algo) const ROW: &dyn Algorithm = &ByNode(Exscan);

/// The sum of the node at its last rank, of what it has and what its mates before it have.
fn sum(builder: &mut Builder<'_>, own: Slice, before: Option<Slice>) -> Slice {
    let Some(before) = before else { return own };
    let sum = builder.scratch(own.len);
    builder.reduce(before, own, sum);
    sum
}

impl Phases for Exscan {
    const SUMMARY: &'static str =
        "each node scans, its last rank tells the nodes behind, and they add that";

    fn collective(&self) -> Collective {
        Collective::Exscan
    }

    fn needs_runs(_: &Call) -> bool {
        true
    }

    fn within(call: &Call) -> Vec<Operation> {
        within(call, call.operation.clone())
    }

    fn between(call: &Call) -> Operation {
        between(call)
    }

    fn leaders(call: &Call) -> Vec<Rank> {
        call.nodes.last_ranks()
    }

    fn build(call: &Call, builder: &mut Builder<'_>, part: &Part) {
        let (mut own, output) = (builder.contribution(), builder.output());
        let is_first = part.ranks().start == call.rank.index();
        let before = (!is_first).then_some(output);
        if part.leads() && call.in_place {
            // What lies there is overwritten before it is added.
            let kept = builder.scratch(own.len);
            builder.copy(own, kept);
            own = kept;
        }
        part.within(call, builder, call.operation.clone(), data(builder.contribution(), output));
        let sum = if part.leads() { sum(builder, own, before) } else { own };
        match (earlier(call, builder, part, sum), before) {
            (Some(earlier), Some(before)) => builder.reduce(earlier, before, before),
            (Some(earlier), None) => builder.copy(earlier, output),
            (None, _) => {}
        }
    }
}
