//! Mapping of the processes of a graph to ranks: hints for it, and its result.

use std::fmt;

use motet_plan::mapping::{Cut, Objective};

use super::GraphCommunicator;

/// Traffic from a rank to a neighbour, in a period of the program's choice. Made from the two
/// numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Load {
    /// Number of messages.
    pub messages: u64,
    /// Bytes in all these messages.
    pub bytes: u64,
}

impl From<(u64, u64)> for Load {
    fn from((messages, bytes): (u64, u64)) -> Load {
        Load { messages, bytes }
    }
}

/// Hint: minimize the number of messages between nodes. (The proposal of 2008, `Graph_create`)
pub const LATENCY: &str = "latency";
/// Hint: minimize the bytes between nodes. (The proposal of 2008, `Graph_create`)
pub const BANDWIDTH: &str = "bandwidth";
/// Hint: minimize the largest traffic of any node with other nodes. (The proposal of 2008,
/// `Graph_create`)
pub const MAXCUT: &str = "maxcut";
/// Hint: minimize the total traffic between nodes. This is the default. (The proposal of 2008,
/// `Graph_create`)
pub const TOTALCUT: &str = "totalcut";

/// The mapping of the processes of a graph to ranks; see [`GraphCommunicator::mapping`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    pub(crate) reason: MappingReason,
    pub(crate) moved: usize,
    pub(crate) cuts: Option<[Cut; 2]>,
}

/// The reason for a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MappingReason {
    /// The processes keep their ranks: all are on one node, so no other order is better.
    OneNode,
    /// The processes keep their ranks: none of them allows another order.
    NotAsked,
    /// The processes have been mapped to nodes to minimize this objective.
    Mapped(Objective),
}

impl Mapping {
    /// Returns the reason for the mapping.
    pub fn reason(&self) -> MappingReason {
        self.reason
    }

    /// Returns the number of processes whose rank has changed.
    pub fn moved(&self) -> usize {
        self.moved
    }

    /// Returns the traffic between nodes with the original ranks, and with the mapped ranks. The
    /// weights are those that the hints select. `None` if the graph was not examined.
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
    /// Returns the mapping of processes to ranks. `None` if the call that made the graph does not
    /// reorder.
    pub fn mapping(&self) -> Option<&Mapping> {
        self.placed()?.mapping.as_ref()
    }

    /// Describes the mapping of processes to ranks in text.
    pub fn explain(&self) -> String {
        let unasked = || "identity: made by a call that does not reorder".to_owned();
        self.mapping().map_or_else(unasked, Mapping::to_string)
    }
}
