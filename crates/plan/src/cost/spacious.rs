//! The time of a call of ranks each of which has a core.
//!
//! Between two ranks it is that of the chain of messages; but operands that flow one way are read
//! where they lie, if they are not too long for a block.
//!
//! Prices are those of messages between two ranks. Among more of them a chain of messages takes
//! another time, as was found on 16 cores with all algorithms of nine collectives:
//!
//! * What flows one way, from a root or to it, does not wait for what came before: while one
//!   message is read, others are written. That holds for messages that wait for nobody.
//! * Where all ranks send at once, they keep each other waiting in the caches that all cores share:
//!   the more so, the more data each of them has on the way, and the more ranks there are.
//! * What a rank sends to several others it copies once for all of them, if that is too long for a
//!   cell and not too long for a block.

use super::{Cost, Machine, Work};

/// What the prices of messages become where each rank has a core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Company {
    /// A long operand that flows one way between two ranks, of the price of its bytes.
    pub operand: f64,
    /// A message beyond one for each round, of what it is between two.
    pub send: f64,
    /// What flows one way in messages that wait for nobody, of the sum of its prices.
    pub one_way: f64,
    /// What is sent to many, from the second of them on, of its price: by a root, and by all.
    pub repeated: [f64; 2],
    /// Bytes that all ranks can have on the way at once at the price of two. More of them take
    /// longer, as the root of how many times as many they are.
    pub at_once: f64,
    /// What each doubling of the ranks beyond two adds to long operands that flow one way.
    pub operands: f64,
}

impl Company {
    /// As between two, however many there are.
    pub(super) const NONE: Self = Self {
        operand: 1.0,
        send: 1.0,
        one_way: 1.0,
        repeated: [1.0; 2],
        at_once: f64::INFINITY,
        operands: 0.0,
    };
    /// As was measured.
    pub(super) const MEASURED: Self = Self {
        operand: 0.6,
        send: 1.8,
        one_way: 0.4,
        repeated: [0.1, 0.5],
        at_once: 128.0 * 1024.0,
        operands: 0.5,
    };
}

/// Bytes of the longest message of a flow that waits for nobody.
const LONGEST_AHEAD: f64 = 16.0 * 1024.0;
/// Where messages grow on their way through a tree, the longest one is so many times as long as
/// they are on average.
const GROWN: f64 = 2.0;
/// What is sent to several is copied once, if it is longer than a cell, up to the longest block.
const LONGEST_IN_CELL: f64 = 8.0 * 1024.0;
const LONGEST_IN_BLOCK: f64 = 512.0 * 1024.0;
/// Bytes of operands beyond which they are fetched from another core while they are reduced.
const LONG_OPERAND: f64 = 64.0 * 1024.0;

impl Machine {
    /// The time of a call with this chain and this work.
    pub(super) fn time_spacious(&self, cost: &Cost, work: &Work) -> f64 {
        let messages = cost.messages() as f64;
        if work.ranks <= 2 || messages == 0.0 {
            return self.chain(cost, self.latency_ns) - self.saved_between_two(cost, work);
        }
        let waiting = cost.rounds as f64 * self.latency_ns
            + cost.extra_sends as f64 * self.send_ns * self.company.send;
        let moving = if work.waits == 0 {
            self.one_way(cost, work, waiting)
        } else {
            waiting + self.at_once(cost, work)
        };
        moving + self.within(cost.reduced, cost.copied)
    }

    /// What two ranks save by operands that flow one way and go in blocks.
    fn saved_between_two(&self, cost: &Cost, work: &Work) -> f64 {
        let each = cost.bytes as f64 / cost.messages().max(1) as f64;
        let are_in_blocks = each > LONGEST_AHEAD && each <= LONGEST_IN_BLOCK;
        if work.waits > 0 || cost.reduced == 0 || !are_in_blocks {
            return 0.0;
        }
        (1.0 - self.company.operand) * self.data(cost.messages() as f64, cost.bytes as f64)
    }

    /// For messages that flow one way.
    fn one_way(&self, cost: &Cost, work: &Work, waiting: f64) -> f64 {
        let each = cost.bytes as f64 / cost.messages() as f64;
        let (first, again) = self.first_and_again(cost);
        let all = waiting + first + again * self.company.repeated[0];
        let grow = (work.bytes as f64) < each * work.messages as f64;
        let longest = if grow { GROWN * each } else { each };
        if longest <= LONGEST_AHEAD {
            return self.company.one_way * all;
        }
        let are_operands = cost.reduced > 0 && each > LONG_OPERAND;
        let doublings = (work.ranks as f64).log2() - 1.0;
        if are_operands { all * (1.0 + self.company.operands * doublings) } else { all }
    }

    /// For the bytes of messages that all ranks send at once.
    fn at_once(&self, cost: &Cost, work: &Work) -> f64 {
        let (first, again) = self.first_and_again(cost);
        let crowd = (cost.bytes as f64 / self.company.at_once).sqrt();
        let most = (work.ranks as f64).log2();
        first * crowd.clamp(1.0, most) + again * self.company.repeated[1]
    }

    /// The price of the bytes of messages, without and with those that are copied only once.
    fn first_and_again(&self, cost: &Cost) -> (f64, f64) {
        let each = cost.bytes as f64 / cost.messages() as f64;
        let all = self.data(cost.messages() as f64, cost.bytes as f64);
        if each <= LONGEST_IN_CELL || each > LONGEST_IN_BLOCK {
            return (all, 0.0);
        }
        let again = all * cost.repeated as f64 / cost.bytes as f64;
        (all - again, again)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ends;
    use super::*;

    const RANKS: u32 = 16;

    /// Messages of this length from a root to all others, the same ones or not.
    fn from_root(bytes: usize, are_same: bool) -> f64 {
        let others = RANKS as usize - 1;
        let repeated = if are_same { bytes * (others - 1) } else { 0 };
        let cost = Cost {
            rounds: 1,
            extra_sends: others - 1,
            bytes: bytes * others,
            repeated,
            ..Cost::default()
        };
        let work = Work::of_one(RANKS, Ends::new(others, 0), &cost);
        Machine::default().time(&cost, &work)
    }

    #[test]
    fn what_a_root_sends_to_all_is_copied_once_if_it_goes_in_a_block() {
        for bytes in [4 << 10, 8 << 10, 1 << 20] {
            assert_eq!(from_root(bytes, true), from_root(bytes, false), "{bytes}");
        }
        for bytes in [16 << 10, 64 << 10, 512 << 10] {
            assert!(from_root(bytes, true) < from_root(bytes, false) / 3.0, "{bytes}");
        }
    }

    #[test]
    fn operands_that_flow_one_way_between_two_cost_less_if_they_go_in_blocks() {
        let machine = Machine::default();
        let saved = |bytes: usize, waits: usize| {
            let cost = Cost { rounds: 1, bytes, reduced: bytes, ..Cost::default() };
            let work = Work { waits, ..Work::of_one(2, Ends::new(0, 1), &cost) };
            machine.chain(&cost, machine.latency_ns) - machine.time(&cost, &work)
        };
        for (kib, is_cheaper) in [(16, false), (17, true), (512, true), (513, false)] {
            assert_eq!(saved(kib << 10, 0) > 0.0, is_cheaper, "{kib} KiB");
            assert_eq!(saved(kib << 10, 1), 0.0, "an exchange");
        }
    }

    #[test]
    fn the_more_all_ranks_send_at_once_the_longer_each_byte_takes() {
        let machine = Machine::default();
        let time = |ranks: u32, bytes: usize| {
            let cost = Cost { rounds: 1, bytes, ..Cost::default() };
            machine.time(&cost, &Work::alike(ranks, &cost)) - machine.latency_ns
        };
        let of_two = |bytes| time(2, bytes);
        assert_eq!(time(16, 64 << 10), of_two(64 << 10));
        assert_eq!(time(16, 512 << 10), 2.0 * of_two(512 << 10));
        assert_eq!(time(16, 64 << 20), 4.0 * of_two(64 << 20), "no more than that");
        assert_eq!(time(4, 64 << 20), 2.0 * of_two(64 << 20));
    }

    /// Results that must be the same everywhere are chosen by prices that do not know of company.
    #[test]
    fn fixed_prices_are_those_of_two() {
        let cost = Cost { rounds: 3, extra_sends: 4, bytes: 1 << 20, ..Cost::default() };
        let chain = Machine::FIXED.chain(&cost, Machine::FIXED.latency_ns);
        let work = Work::alike(RANKS, &cost);
        for work in [work, Work { waits: 0, ..work }] {
            assert_eq!(Machine::FIXED.time(&cost, &work), chain);
        }
    }
}
