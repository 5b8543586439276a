//! Drawings of the plans of all ranks, as text and as SVG.
//!
//! The same plans always give the same drawing, byte for byte.

mod svg;
mod text;

pub use svg::svg;
pub use text::text;

use crate::call::{Call, Operation, Rank};
use crate::plan::{Action, Plan};
use crate::timeline::Timeline;

/// What one rank does in one round.
#[derive(Clone, Debug, Default)]
struct Cell {
    sends: Vec<Rank>,
    receives: Vec<Rank>,
    reductions: usize,
    copies: usize,
}

/// What each rank does in each round, from round 0.
fn cells(plans: &[Plan], timeline: &Timeline) -> Vec<Vec<Cell>> {
    let row = |plan: &Plan| {
        let mut row = vec![Cell::default(); timeline.rounds() + 1];
        for step in plan.ids() {
            let place = crate::pairing::StepRef { rank: plan.rank(), step };
            let cell = &mut row[timeline.round(place)];
            match *plan.step(step) {
                Action::Send { to, .. } => cell.sends.push(to),
                Action::Recv { from, .. } => cell.receives.push(from),
                Action::Reduce { .. } => cell.reductions += 1,
                Action::Copy { .. } => cell.copies += 1,
            }
        }
        row
    };
    plans.iter().map(row).collect()
}

/// The collective and the algorithm.
fn title(calls: &[Call], plans: &[Plan]) -> String {
    match (calls.first(), plans.first()) {
        (Some(call), Some(plan)) => format!("{}/{}", call.collective(), plan.algorithm()),
        _ => "nothing".to_owned(),
    }
}

/// The arguments of the call.
fn arguments(calls: &[Call]) -> String {
    let Some(call) = calls.first() else { return String::new() };
    let mut parts = vec![counted(call.ranks as usize, "rank")];
    let left = call.operation.left();
    parts.extend(left.map(|left| format!("groups of {left} and {}", call.ranks - left)));
    let elements = |count: &usize| {
        format!("{} of {}", counted(*count, "element"), counted(call.element_bytes, "byte"))
    };
    let each = |count: &usize| format!("blocks of {}", elements(count));
    match &call.operation {
        Operation::Barrier | Operation::InterBarrier { .. } => {}
        Operation::Bcast { count, root }
        | Operation::Reduce { count, root, .. }
        | Operation::InterReduce { count, root, .. } => {
            parts.extend([elements(count), format!("root {root}")]);
        }
        Operation::Gather { count, root } | Operation::Scatter { count, root } => {
            parts.extend([each(count), format!("root {root}")]);
        }
        Operation::Gatherv { root, .. } | Operation::Scatterv { root, .. } => {
            let elements = format!("elements of {}", counted(call.element_bytes, "byte"));
            parts.extend([elements, format!("root {root}")]);
        }
        Operation::Allreduce { count, .. }
        | Operation::InterAllreduce { count, .. }
        | Operation::Scan { count, .. }
        | Operation::Exscan { count, .. } => parts.push(elements(count)),
        Operation::ReduceScatterBlock { count, .. }
        | Operation::Allgather { count }
        | Operation::Alltoall { count }
        | Operation::Exchange { count, .. } => parts.push(each(count)),
        Operation::InterAllgather { counts: [first, second], .. }
        | Operation::InterReduceScatterBlock { counts: [first, second], .. } => {
            parts.push(format!("blocks of {first} and of {}", elements(second)));
        }
        Operation::ReduceScatter { .. }
        | Operation::Allgatherv { .. }
        | Operation::Alltoallv { .. }
        | Operation::Exchangev { .. }
        | Operation::NeighborReduce { .. }
        | Operation::NodeExchange { .. }
        | Operation::InterAllgatherv { .. }
        | Operation::InterReduceScatter { .. } => {
            parts.push(format!("elements of {}", counted(call.element_bytes, "byte")));
        }
    }
    if call.operation.commutative() == Some(false) {
        parts.push("operands in order".to_owned());
    }
    if calls.iter().any(|call| call.in_place) {
        parts.push("in place".to_owned());
    }
    parts.join(", ")
}

/// `1 rank`, `2 ranks`.
fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
