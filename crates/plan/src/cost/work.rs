//! The aggregate work of a call: the messages, copies and reductions of all ranks together.

use super::Cost;

/// Messages of one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendRecvCount {
    /// Those that it sends.
    pub sends: usize,
    /// Those that it receives.
    pub receives: usize,
}

impl SendRecvCount {
    /// Counts of the messages that a rank sends and receives.
    pub fn new(sends: usize, receives: usize) -> Self {
        Self { sends, receives }
    }

    /// How many whole messages that is, if the sender of one does such a share of it.
    pub(super) fn done(self, send_share: f64) -> f64 {
        self.sends as f64 * send_share + self.receives as f64 * (1.0 - send_share)
    }
}

/// Messages that flow one way, from a root, to it, or from rank to rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OneWayFlow {
    /// How many there are.
    pub messages: usize,
    /// What the busiest rank has of them.
    pub busiest: SendRecvCount,
    /// The most that one rank receives, which may be another one.
    pub most_received: usize,
    /// Those that their sender sends on: it must have received some before.
    pub sent_on: usize,
}

/// How far from each other the ranks are that swap data. Ranks take the cores in turns, so those at
/// a distance of a multiple of the cores share one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DistancePattern {
    /// Neighbours, so none that share a core; or it is not said.
    #[default]
    Neighbours,
    /// Each with all others, the same with each.
    Alike,
    /// At distances of 1, 2, 4 and so on, the same at each.
    Doubling,
    /// At those distances, with as much as the distance.
    Growing,
    /// At those distances, with half as much at twice the distance.
    Shrinking,
    /// At those distances, with half as many messages at half the distance.
    Halving,
}

/// What all ranks of one call do together, the same on all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AggregateWork {
    /// How many ranks there are.
    pub ranks: usize,
    /// How often a rank looks for a message in vain and gives its core to another one, summed up
    /// over the ranks; none if data flows one way, so that ranks run ahead of others from one
    /// operation to the next. In a tree and in a fold, all ranks wait in each round.
    pub waits: usize,
    /// Messages.
    pub messages: usize,
    /// What the rank has of them that has most; of those that flow one way, or pass one rank.
    pub busiest: SendRecvCount,
    /// The most that one rank receives of those that flow one way.
    pub most_received: usize,
    /// Those of the messages that flow one way which their sender sends on: it must have received
    /// some of them before.
    pub sent_on: usize,
    /// Bytes in those messages.
    pub bytes: usize,
    /// Those of them that their sender sends to another rank before, one after the other.
    pub repeated: usize,
    /// Those of them that come into a place of which a rank has just read others.
    pub in_turn: usize,
    /// Bytes of results of reductions.
    pub reduced: usize,
    /// Bytes copied inside ranks.
    pub copied: usize,
    /// How far the messages go.
    pub reach: DistancePattern,
}

impl AggregateWork {
    /// Each rank does as much as the longest chain says.
    #[inline(never)] // most algorithms ask for it
    pub fn alike(ranks: u32, cost: &Cost) -> Self {
        let ranks = ranks as usize;
        let of_all = |one: usize| one.saturating_mul(ranks);
        Self {
            ranks,
            waits: of_all(cost.rounds),
            messages: of_all(cost.messages()),
            busiest: SendRecvCount::default(),
            most_received: 0,
            sent_on: 0,
            bytes: of_all(cost.bytes),
            repeated: of_all(cost.repeated),
            in_turn: 0,
            reduced: of_all(cost.reduced),
            copied: of_all(cost.copied),
            reach: DistancePattern::Alike,
        }
    }

    /// One rank has this end of all messages, so the chain is the work.
    pub fn of_one(ranks: u32, busiest: SendRecvCount, cost: &Cost) -> Self {
        let Cost { bytes, repeated, reduced, copied, .. } = *cost;
        let (ranks, messages) = (ranks as usize, cost.messages());
        let most_received = busiest.receives;
        Self {
            ranks,
            messages,
            busiest,
            most_received,
            bytes,
            repeated,
            reduced,
            copied,
            ..Self::default()
        }
    }

    /// Messages of one size that flow one way.
    pub fn flow(
        ranks: u32,
        OneWayFlow { messages, busiest, most_received, sent_on }: OneWayFlow,
        bytes: usize,
    ) -> Self {
        let (ranks, bytes) = (ranks as usize, bytes.saturating_mul(messages));
        Self { ranks, messages, busiest, most_received, sent_on, bytes, ..Self::default() }
    }

    /// This and, by other ranks, `other`; with messages that go as far as those of this.
    #[must_use]
    pub fn beside(self, other: Self) -> Self {
        Self {
            ranks: self.ranks + other.ranks,
            waits: self.waits.saturating_add(other.waits),
            messages: self.messages.saturating_add(other.messages),
            sent_on: self.sent_on.saturating_add(other.sent_on),
            bytes: self.bytes.saturating_add(other.bytes),
            repeated: self.repeated.saturating_add(other.repeated),
            in_turn: self.in_turn.saturating_add(other.in_turn),
            reduced: self.reduced.saturating_add(other.reduced),
            copied: self.copied.saturating_add(other.copied),
            ..self
        }
    }

    /// The same with messages that go so far.
    #[must_use]
    pub fn reaching(self, reach: DistancePattern) -> Self {
        Self { reach, ..self }
    }

    /// The same where no memory is shared, so that each message is on its own, and keeps both of
    /// its ends busy.
    #[must_use]
    pub fn apart(self) -> Self {
        let busiest = if self.waits > 0 { SendRecvCount::default() } else { self.busiest };
        Self { repeated: 0, busiest, reach: DistancePattern::default(), ..self }
    }
}
