//! Which process of a graph has which rank: what may be asked for, and what came of it.

use std::fmt;

use motet_plan::mapping::{Cut, Objective};

use super::GraphCommunicator;

/// How much a rank sends to a neighbour, in a span of time of the program's choice; made of the
/// two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Load {
    /// Messages.
    pub messages: u64,
    /// Bytes in all of them.
    pub bytes: u64,
}

impl From<(u64, u64)> for Load {
    fn from((messages, bytes): (u64, u64)) -> Load {
        Load { messages, bytes }
    }
}

/// The hint that the number of messages between nodes is to be small. (The proposal of 2008,
/// `Graph_create`)
pub const LATENCY: &str = "latency";
/// The hint that the bytes between nodes are to be few. (The proposal of 2008, `Graph_create`)
pub const BANDWIDTH: &str = "bandwidth";
/// The hint that no node is to have much traffic with others. (The proposal of 2008,
/// `Graph_create`)
pub const MAXCUT: &str = "maxcut";
/// The hint that there is to be little traffic between nodes in sum, which is also what counts
/// without a hint. (The proposal of 2008, `Graph_create`)
pub const TOTALCUT: &str = "totalcut";

/// How the processes of a graph came to their ranks; see [`GraphCommunicator::mapping`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    pub(crate) reason: MappingReason,
    pub(crate) moved: usize,
    pub(crate) cuts: Option<[Cut; 2]>,
}

/// Why processes have the ranks that they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MappingReason {
    /// All keep theirs: they are on one node, so that no other order is better.
    OneNode,
    /// All keep theirs: none allows another.
    NotAsked,
    /// They have been mapped to nodes, so that this became small.
    Mapped(Objective),
}

impl Mapping {
    /// Why processes have the ranks that they have.
    pub fn reason(&self) -> MappingReason {
        self.reason
    }

    /// Processes that have another rank than they came with.
    pub fn moved(&self) -> usize {
        self.moved
    }

    /// What would cross between nodes if all had kept their ranks, and what crosses now. The
    /// weights are those that the hints ask for. `None` if the graph was not looked at.
    pub fn cuts(&self) -> Option<[Cut; 2]> {
        self.cuts
    }
}

impl fmt::Display for Mapping {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mapping { reason, moved, .. } = self;
        let what = match reason {
            MappingReason::OneNode => return out.write_str("identity: one node"),
            MappingReason::NotAsked => {
                return out.write_str("identity: no rank may be given to another process");
            }
            MappingReason::Mapped(Objective::Total) => "total",
            MappingReason::Mapped(Objective::Maximum) => "largest",
        };
        let [before, after] = self.cuts.unwrap_or_default();
        write!(out, "{moved} ranks moved for a small {what} cut: before ")?;
        for (cut, then) in [(before, ", now "), (after, "")] {
            let Cut { edges, total, maximum } = cut;
            write!(out, "{edges} edges of weight {total} between nodes, {maximum} at one{then}")?;
        }
        Ok(())
    }
}

impl GraphCommunicator {
    /// How processes came to their ranks; `None` of a graph that was made by a call that does not
    /// reorder.
    pub fn mapping(&self) -> Option<&Mapping> {
        self.placed()?.mapping.as_ref()
    }

    /// How processes came to their ranks, for people.
    pub fn explain(&self) -> String {
        let unasked = || "identity: made by a call that does not reorder".to_owned();
        self.mapping().map_or_else(unasked, Mapping::to_string)
    }
}
