//! Graph mapping: decides which process of a graph gets which rank, and distributes the decision.
//!
//! To map a graph, one rank must have all its edges. So only if there are several nodes, and at
//! least one rank allows reordering, all ranks send their edges to rank 0. Rank 0 maps them
//! ([`motet_plan::mapping`]) and broadcasts the process of each rank. Then each process passes its
//! edges to the process that now has its rank. Rank 0 needs memory for all edges, and each rank
//! needs memory proportional to the number of ranks.

use motet_plan::mapping::{Cut, Edge, Objective, map};

use super::sparse::Edges;
use crate::base::error::Result;
use crate::base::info::Info;
use crate::comm::communicator::Communicator;
use crate::comm::topology::{
    BANDWIDTH, LATENCY, Load, MAXCUT, Mapping, MappingReason, Reorder, TOTALCUT,
};
use crate::data::op::Max;

/// Number of bytes that cost as much as one additional message.
const MESSAGE: u64 = 4096;

/// Weight of the traffic on an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weigh {
    Messages,
    Bytes,
    Both,
}

/// The objective that the hints select.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wishes {
    weigh: Weigh,
    objective: Objective,
}

impl Wishes {
    /// Reads the hints. Any combination is allowed: two contradictory hints cancel each other.
    fn of(info: &Info) -> Wishes {
        let says = |key: &str| info.get(key).is_some_and(|value| value != "false");
        let weigh = match (says(LATENCY), says(BANDWIDTH)) {
            (true, false) => Weigh::Messages,
            (false, true) => Weigh::Bytes,
            _ => Weigh::Both,
        };
        let objective = match (says(MAXCUT), says(TOTALCUT)) {
            (true, false) => Objective::Maximum,
            _ => Objective::Total,
        };
        Wishes { weigh, objective }
    }

    fn weight(self, load: Option<Load>) -> u64 {
        let Load { messages, bytes } = load.unwrap_or(Load { messages: 1, bytes: 1 });
        match self.weigh {
            Weigh::Messages => messages,
            Weigh::Bytes => bytes,
            Weigh::Both => messages.saturating_mul(MESSAGE).saturating_add(bytes),
        }
    }
}

/// A communicator for a graph, in which each process has the edges of its rank.
pub(super) struct Arranged {
    pub(super) communicator: Communicator,
    pub(super) edges: Edges,
    pub(super) mapping: Mapping,
}

/// Number of words in which rank 0 reports the result, before the words for the ranks.
const FACTS: usize = 7;

impl Communicator {
    /// Maps processes to ranks, if that may reduce the traffic.
    #[track_caller]
    pub(super) fn arrange(
        &self,
        call: &'static str,
        edges: Edges,
        reorder: Reorder,
        info: &Info,
    ) -> Result<Arranged> {
        let kept = |reason| Mapping { reason, moved: 0, cuts: None };
        if self.is_on_one_node() {
            let communicator = self.bare_copy(call)?;
            return Ok(Arranged { communicator, edges, mapping: kept(MappingReason::OneNode) });
        }
        let fresh = if self.rank() == 0 { self.core().fresh_id() } else { 0 };
        let mut agreed = [u64::from(reorder == Reorder::Allowed), fresh];
        self.combined(call, &mut agreed, Max)?;
        let [asked, id] = agreed;
        if asked == 0 {
            let group = self.group().clone();
            let communicator = self.of_members(group, self.rank(), id);
            return Ok(Arranged { communicator, edges, mapping: kept(MappingReason::NotAsked) });
        }
        let words = self.mapped(call, &edges, reorder, Wishes::of(info))?;
        let (facts, processes) = words.split_at(FACTS);
        let processes: Vec<usize> = processes.iter().map(|&process| process as usize).collect();
        let edges = self.passed_on(call, edges, &processes)?;
        let rank = processes.iter().position(|&process| process == self.rank());
        let rank = rank.expect("every process has a rank");
        let communicator = self.of_members(self.group_of(&processes), rank, id);
        Ok(Arranged { communicator, edges, mapping: mapping_of(facts, &processes) })
    }

    /// Returns the facts of a mapping, and the process for each rank.
    #[track_caller]
    fn mapped(
        &self,
        call: &'static str,
        edges: &Edges,
        reorder: Reorder,
        wishes: Wishes,
    ) -> Result<Vec<u64>> {
        let weighed = edges.to.iter().flat_map(|(rank, load)| [*rank as u64, wishes.weight(*load)]);
        let own: Vec<u64> =
            [u64::from(reorder == Reorder::Allowed)].into_iter().chain(weighed).collect();
        let all = self.sparse_exchange_as(call, [(0, &own[..])])?;
        let words = if self.rank() == 0 {
            mapped_here(&all, &self.nodes(), wishes.objective)
        } else {
            vec![0; FACTS + self.size()]
        };
        self.tell_from(call, 0, words)
    }

    /// Receives the edges of the rank that this process now has, from the process that had the
    /// rank.
    #[track_caller]
    fn passed_on(&self, call: &'static str, edges: Edges, processes: &[usize]) -> Result<Edges> {
        if processes.iter().enumerate().all(|(rank, &process)| rank == process) {
            return Ok(edges);
        }
        let packed = edges.pack();
        let came = self.sparse_exchange_as(call, [(processes[self.rank()], &packed[..])])?;
        Ok(came.first().map(|(_, packed)| Edges::unpack(packed)).unwrap_or_default())
    }
}

/// Maps the edges of all ranks (at rank 0).
fn mapped_here(all: &[(usize, Vec<u64>)], nodes: &[usize], objective: Objective) -> Vec<u64> {
    let movable: Vec<bool> = all.iter().map(|(_, words)| words[0] == 1).collect();
    let edges = all.iter().flat_map(|&(from, ref words)| {
        let pairs = words[1..].as_chunks().0.iter();
        pairs.map(move |&[to, weight]| Edge { from, to: to as usize, weight })
    });
    let edges: Vec<Edge> = edges.collect();
    let mapping = map(&edges, nodes, &movable, objective);
    let facts = [mapping.before, mapping.after]
        .into_iter()
        .flat_map(|cut: Cut| [cut.edges as u64, cut.total, cut.maximum]);
    let objective = u64::from(objective == Objective::Maximum);
    let processes = mapping.processes.iter().map(|&process| process as u64);
    [objective].into_iter().chain(facts).chain(processes).collect()
}

fn mapping_of(facts: &[u64], processes: &[usize]) -> Mapping {
    let objective = if facts[0] == 1 { Objective::Maximum } else { Objective::Total };
    let cut =
        |at: usize| Cut { edges: facts[at] as usize, total: facts[at + 1], maximum: facts[at + 2] };
    let moved = processes.iter().enumerate().filter(|&(rank, &process)| rank != process).count();
    let cuts = Some([cut(1), cut(4)]);
    Mapping { reason: MappingReason::Mapped(objective), moved, cuts }
}
