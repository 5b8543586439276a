//! Compiles a datatype into its layout: adjacent runs are merged, and loops stay loops.

use std::sync::Arc;

use super::Datatype;
use super::form::Form;
use super::layout::{ByteRun, Node, Placed, PlacedPart};

/// Lists of runs up to this length are copied into the list around them. Longer ones are shared,
/// so that a layout takes no more memory than the arguments of the constructors did.
const SPREAD: usize = 8;

const EMPTY: Placed = Placed { at: 0, node: Node::EMPTY };

/// The layout of a datatype. Those of its parts are compiled once and shared.
pub(super) fn compile(datatype: &Datatype) -> Placed {
    if datatype.size() == 0 {
        return EMPTY;
    }
    match datatype.form() {
        Form::Named(named) => {
            let elements = named.elements().iter();
            list(elements.map(|element| run(element.at, element.basic.size.into())))
        }
        Form::Vector { count, stride, block, item } => {
            let item_layout = item.commit();
            let row = repeated(*block, item.extent(), item_layout.root());
            repeated(*count, *stride, &row)
        }
        Form::Blocks { blocks, item } => {
            let (item_layout, extent) = (item.commit(), item.extent());
            let row = |len| repeated(len, extent, item_layout.root());
            list(blocks.iter().map(|block| displaced(row(block.len), block.at)))
        }
        Form::Fields { fields } => list(fields.iter().map(|field| {
            let row = repeated(field.len, field.item.extent(), field.item.commit().root());
            displaced(row, field.at)
        })),
    }
}

fn run(at: i64, len: u64) -> Placed {
    Placed { at, node: Node::Strided { count: 1, stride: 0, block: len } }
}

fn displaced(placed: Placed, by: i64) -> Placed {
    // An empty part may be displaced by anything.
    Placed { at: placed.at.wrapping_add(by), ..placed }
}

/// A part `count` times, `stride` bytes apart.
fn repeated(count: u64, stride: i64, part: &Placed) -> Placed {
    let size = part.node.size();
    if count == 0 || size == 0 {
        return EMPTY;
    }
    if count == 1 {
        return part.clone();
    }
    let node = match part.node {
        Node::Strided { count: 1, block, .. } if i64::try_from(block) == Ok(stride) => {
            Node::Strided { count: 1, stride: 0, block: count * block }
        }
        Node::Strided { count: 1, block, .. } => Node::Strided { count, stride, block },
        Node::Strided { count: inner, stride: step, block }
            if i128::from(inner) * i128::from(step) == i128::from(stride) =>
        {
            Node::Strided { count: count * inner, stride: step, block }
        }
        _ => {
            return Placed {
                at: 0,
                node: Node::Loop { count, stride, size, body: Arc::new(part.clone()) },
            };
        }
    };
    Placed { at: part.at, node }
}

/// Parts one after the other.
fn list(parts: impl Iterator<Item = Placed>) -> Placed {
    let mut all = Vec::new();
    for part in parts.filter(|part| part.node.size() > 0) {
        spread(part, &mut all);
    }
    match all.len() {
        0 => EMPTY,
        1 => all.swap_remove(0),
        _ => runs(&all).unwrap_or_else(|| {
            let size = all.iter().map(|part| part.node.size()).sum();
            let mut start = 0;
            let parts = all.into_iter().map(|placed| {
                let part = PlacedPart { start, placed };
                start += part.placed.node.size();
                part
            });
            Placed { at: 0, node: Node::Parts { parts: parts.collect(), size } }
        }),
    }
}

/// Appends a part to a list: the parts of a short list one by one, and runs to the run that they
/// touch.
fn spread(part: Placed, all: &mut Vec<Placed>) {
    match &part.node {
        Node::Strided { count: 1, block, .. } => push_run(part.at, *block, all),
        Node::Strided { count, stride, block } if *count <= SPREAD as u64 => {
            for i in 0..*count as i64 {
                push_run(part.at + i * stride, *block, all);
            }
        }
        Node::Scattered { block, places } if places.len() <= SPREAD => {
            places.iter().for_each(|place| push_run(part.at + place, *block, all));
        }
        Node::Runs { runs, .. } if runs.len() <= SPREAD => {
            runs.iter().for_each(|run| push_run(part.at + run.at, run.len, all));
        }
        Node::Parts { parts, .. } if parts.len() <= SPREAD => {
            for inner in parts.iter() {
                // Its own short lists have been spread already.
                match displaced(inner.placed.clone(), part.at) {
                    Placed { at, node: Node::Strided { count: 1, block, .. } } => {
                        push_run(at, block, all);
                    }
                    other => all.push(other),
                }
            }
        }
        _ => all.push(part),
    }
}

fn push_run(at: i64, len: u64, all: &mut Vec<Placed>) {
    if let Some(Placed { at: last, node: Node::Strided { count: 1, block, .. } }) = all.last_mut()
        && i128::from(*last) + i128::from(*block) == i128::from(at)
    {
        *block += len;
        return;
    }
    all.push(run(at, len));
}

/// The most compact form of a list, if it consists of runs alone.
fn runs(all: &[Placed]) -> Option<Placed> {
    let mut start = 0;
    let run = |part: &Placed| match part.node {
        Node::Strided { count: 1, block, .. } => {
            let run = ByteRun { start, at: part.at, len: block };
            start += block;
            Some(run)
        }
        _ => None,
    };
    let runs: Vec<ByteRun> = all.iter().map(run).collect::<Option<_>>()?;
    let block = runs[0].len;
    if runs.iter().any(|run| run.len != block) {
        return Some(Placed { at: 0, node: Node::Runs { runs: runs.into(), size: start } });
    }
    let at = runs[0].at;
    let step = |pair: &[ByteRun]| pair[1].at.checked_sub(pair[0].at);
    if let Some(stride) = step(&runs[..2])
        && runs.windows(2).all(|pair| step(pair) == Some(stride))
    {
        let count = runs.len() as u64;
        return Some(Placed { at, node: Node::Strided { count, stride, block } });
    }
    let places = runs.iter().map(|run| run.at).collect();
    Some(Placed { at: 0, node: Node::Scattered { block, places } })
}
