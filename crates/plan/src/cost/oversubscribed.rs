//! Predicts the time of a call if ranks share cores (oversubscription).

use super::work::{AggregateWork, DistancePattern, SendRecvCount};
use super::{Cost, CostParams, ProtocolLengths};

/// What is left of the price of messages that are sent in cells. A part of it is that the receiver
/// waits for one after the other; where ranks share cores, others have the core meanwhile.
const SHARED_CELLS: f64 = 0.8;

/// Messages that are halved in each round are in bounce buffers in part if their average length is
/// at most so many times the longest one in a buffer.
const MOSTLY_BOUNCED: usize = 3;
/// The sender's copy, of the two copies of a message in a bounce buffer. If it goes to several
/// ranks that share cores and memory, its sender makes one copy for all of them.
const SENDERS_COPY: f64 = 0.5;

/// What a rank sends on, of that which it has received or reduced, lies in the cache of its core,
/// and is fetched from there, which takes so many times as long as a copy, and those after it wait.
/// Messages in blocks are spared: nobody sends many of them before they are read, so all wait. So
/// are those between ranks of one core.
const SENT_ON: f64 = 4.0;
/// The same of a message that is longer than a block: most of it has left the cache by then.
const LONG_SENT_ON: f64 = 1.5;
/// What it takes to wait for such a message, of the price to send one.
const AWAITED: f64 = 0.5;

/// How much of a hand-over it takes to wait once more in the same call. Whoever has waited once
/// finds more often than not that the others of its core have run meanwhile, and so have those of
/// other cores.
const WAIT_MORE: f64 = 0.5;

/// What each rank beyond two on a core adds to a hand-over, of its price: the more there are, the
/// more of them look in vain before the one runs that can go on.
const ONE_MORE_ON_CORE: f64 = 0.25;

/// What a core receives in one call stays in its cache up to about this many bytes. Of more, what
/// comes into a place that was just read, and so is near, saves a copy. Of twice as many and more,
/// what comes from a rank of the same core comes from as far away as all else.
const STAYS_NEAR: f64 = (2 << 20) as f64;

impl CostParams {
    /// The time of a call with this chain and this work.
    pub(super) fn time_oversubscribed(&self, cost: &Cost, work: &AggregateWork) -> f64 {
        if work.waits == 0 {
            let messages = work.messages as f64 * self.send_ns;
            let bytes = self.passing(work) - messages;
            return messages * self.share_of_busiest_core(work, self.send_share)
                + bytes * self.share_of_busiest_core(work, 0.5)
                + self.computing(work) * self.share_of_busiest_core(work, 0.0)
                + self.sending_on(work);
        }
        let of_one_core = |all: f64| all / work.ranks.max(1) as f64 * self.ranks_per_core;
        let more = (self.ranks_per_core - 2.0).max(0.0);
        let hand_over_ns = self.context_switch_ns * (1.0 + ONE_MORE_ON_CORE * more);
        let waits = of_one_core(hand_overs(work)) * hand_over_ns;
        if work.busiest != SendRecvCount::default() {
            return cost.rounds as f64 * hand_over_ns + waits + self.core_of_busiest(work);
        }
        let later = cost.rounds.saturating_sub(1) as f64 * WAIT_MORE * hand_over_ns;
        // Those who receive the same do it at the same time.
        let once = Cost { bytes: cost.bytes.saturating_sub(cost.repeated), ..*cost };
        let read_there = self.within(0, self.read_in_blocks(work, once.reduced, once.bytes));
        let saved = read_there + self.saved_in_chain(&once, work);
        let chain = self.chain(&once, self.send_ns) - saved + later;
        let done = of_one_core(self.passing(work) + self.computing(work));
        hand_over_ns + chain.max(waits + done)
    }

    /// What the core does whose rank has one end of all messages; and one message more, since that
    /// rank begins when somebody has sent, and somebody ends when it has sent.
    ///
    /// Messages that are too long to wait for anybody keep both ends busy all the time.
    fn core_of_busiest(&self, work: &AggregateWork) -> f64 {
        let messages = work.messages.max(1) as f64;
        let is_long = work.bytes > work.messages.saturating_mul(self.lengths.bounce_max);
        let share_of_end =
            if is_long { 1.0 } else { work.busiest.done(self.send_share) / messages };
        let all = Share::of_both(1.0);
        let near = self.near(work).messages;
        let (far_ns, near_ns) = (self.passing_far(work, all), self.passing_near(work, all));
        let passing = (1.0 - near) * share_of_end * far_ns + near * near_ns;
        passing + far_ns / messages + self.computing(work)
    }

    /// The share of work that flows one way which the core has whose ranks are the busiest one and
    /// others, if the sender of a message does such a share of it.
    fn share_of_busiest_core(&self, work: &AggregateWork, send_share: f64) -> f64 {
        let (all, ranks) = (work.messages as f64, work.ranks as f64);
        if work.messages == 0 || work.ranks < 2 {
            return 1.0;
        }
        // Where the ends of a message differ much, the busiest may be another one.
        let receiver = SendRecvCount::new(0, work.most_received).done(send_share);
        let busiest = work.busiest.done(send_share).max(receiver).max(all / ranks);
        let of_another = (all - busiest) / (ranks - 1.0);
        (busiest + (self.ranks_per_core - 1.0) * of_another) / all
    }

    /// What it takes longer that ranks send on what flows one way.
    fn sending_on(&self, work: &AggregateWork) -> f64 {
        if work.messages == 0 || self.is_in_blocks(work) {
            return 0.0;
        }
        let far = (1.0 - self.near(work).messages) * work.messages as f64;
        let sent_on = far.min(work.sent_on as f64);
        let bytes = sent_on / work.messages as f64 * work.bytes as f64;
        let is_long = work.bytes > work.messages.saturating_mul(self.longest_in_blocks(work));
        let fetching = if is_long { LONG_SENT_ON } else { SENT_ON };
        sent_on * self.send_ns * AWAITED + bytes * self.copy_ns_per_byte * fetching
    }

    /// What ranks reduce and copy.
    fn computing(&self, work: &AggregateWork) -> f64 {
        let read_there = self.read_in_blocks(work, work.reduced, work.bytes);
        self.within(work.reduced, work.copied) - self.within(0, read_there) - self.saved_near(work)
    }

    /// How many of these bytes are operands that come in blocks: they are not copied out of them,
    /// but read there, and that copy is part of their messages' price.
    fn read_in_blocks(&self, work: &AggregateWork, reduced: usize, bytes: usize) -> usize {
        let longest = match work.reach {
            DistancePattern::Growing | DistancePattern::Shrinking => {
                MOSTLY_BOUNCED * self.lengths.bounce_max
            }
            _ => self.longest_in_blocks(work),
        };
        let in_blocks = work.bytes <= work.messages.saturating_mul(longest);
        if in_blocks { reduced.min(bytes) } else { 0 }
    }

    /// What is saved where messages come into places that were just read.
    fn saved_near(&self, work: &AggregateWork) -> f64 {
        work.in_turn as f64 * self.copy_ns_per_byte * self.received(work).min(1.0)
    }

    /// What is saved in the chain of ranks that meet in pairs, since some of these share a core.
    /// Nothing is saved if messages are long: the kernel takes as long to copy them between any two
    /// ranks.
    fn saved_in_chain(&self, chain: &Cost, work: &AggregateWork) -> f64 {
        let meets_in_pairs = matches!(
            work.reach,
            DistancePattern::Doubling | DistancePattern::Growing | DistancePattern::Shrinking
        );
        let longest = self.longest_in_blocks(work);
        if !meets_in_pairs || work.bytes > work.messages.saturating_mul(longest) {
            return 0.0;
        }
        let far_ns = self.data(chain.messages() as f64, chain.bytes as f64);
        let near_ns = 2.0 * chain.bytes as f64 * self.copy_ns_per_byte;
        self.near(work).bytes * (far_ns - near_ns).max(0.0)
    }

    /// What a core receives, in terms of what stays in its cache.
    fn received(&self, work: &AggregateWork) -> f64 {
        work.bytes as f64 / self.cores / STAYS_NEAR
    }

    /// For messages, both ends of each.
    fn passing(&self, work: &AggregateWork) -> f64 {
        let near = self.near(work);
        let far = Share { messages: 1.0 - near.messages, bytes: 1.0 - near.bytes };
        self.passing_far(work, far) + self.passing_near(work, near)
    }

    /// For such a share of the messages, between ranks on several cores.
    fn passing_far(&self, work: &AggregateWork, share: Share) -> f64 {
        let (messages, bytes) = share.of(work);
        let data = self.data(messages, bytes) * self.copies_left(work);
        let in_cells = bytes <= messages * self.lengths.eager_max as f64;
        messages * self.send_ns + if in_cells { data * SHARED_CELLS } else { data }
    }

    /// The same between ranks that share a core: what one of them writes is in the cache of the
    /// other, so that their bytes are copied in and out, and that is all.
    fn passing_near(&self, work: &AggregateWork, share: Share) -> f64 {
        let (messages, bytes) = share.of(work);
        let copies = 2.0 * bytes * self.copy_ns_per_byte * self.copies_left(work);
        (messages * self.send_ns + copies).min(self.passing_far(work, share))
    }

    /// The share of messages, and of their bytes, that is between ranks of the same core.
    fn near(&self, work: &AggregateWork) -> Share {
        let ranks = work.ranks as f64;
        let on_core = ranks / self.cores;
        if on_core <= 1.0 {
            return Share::default();
        }
        let stays = (2.0 - self.received(work)).clamp(0.0, 1.0);
        // The distances that are a multiple of the cores, of all that are doubled; and so many
        // others that share the core.
        let distances = stays * on_core.log2() / ranks.log2();
        let others = stays * (on_core - 1.0) / (ranks - 1.0);
        let mostly_far = stays * (ranks - self.cores) / (ranks - 1.0);
        match work.reach {
            DistancePattern::Neighbours => Share::default(),
            DistancePattern::Alike => Share::of_both(others),
            DistancePattern::Doubling => Share::of_both(distances),
            DistancePattern::Growing => Share { messages: distances, bytes: mostly_far },
            DistancePattern::Halving => Share::of_both(mostly_far),
            DistancePattern::Shrinking => Share { messages: distances, bytes: others },
        }
    }

    /// Whether messages are too long for a cell, on average, and not too long for a block.
    fn is_in_blocks(&self, work: &AggregateWork) -> bool {
        let up_to = |longest: usize| work.bytes <= work.messages.saturating_mul(longest);
        up_to(self.longest_in_blocks(work)) && !up_to(self.lengths.cell_max)
    }

    /// Bytes of the longest message that goes in a block.
    fn longest_in_blocks(&self, work: &AggregateWork) -> usize {
        let flows_to_be_reduced = work.waits == 0 && work.reduced > 0;
        let ProtocolLengths { bounce_max, operand_bounce_max, .. } = self.lengths;
        if flows_to_be_reduced { operand_bounce_max } else { bounce_max }
    }

    /// What is left of the copies of messages whose sender makes one for several, of 1.
    fn copies_left(&self, work: &AggregateWork) -> f64 {
        let repeated =
            if self.is_in_blocks(work) { work.repeated as f64 / work.bytes as f64 } else { 0.0 };
        // In an exchange all ranks fetch all messages, and one of those on a core fetches each from
        // the cache of another one, which takes as long as the copy that is saved.
        let saved = if work.waits > 0 { 1.0 - 1.0 / self.ranks_per_core } else { 1.0 };
        1.0 - SENDERS_COPY * saved * repeated
    }
}

/// A share of messages and of their bytes, of 1.
#[derive(Clone, Copy, Default)]
struct Share {
    messages: f64,
    bytes: f64,
}

impl Share {
    fn of_both(share: f64) -> Self {
        Self { messages: share, bytes: share }
    }

    /// The share of the messages and of the bytes of this work.
    fn of(self, work: &AggregateWork) -> (f64, f64) {
        (self.messages * work.messages as f64, self.bytes * work.bytes as f64)
    }
}

/// How many whole hand-overs the waits of all ranks are.
fn hand_overs(work: &AggregateWork) -> f64 {
    let once = work.waits.min(work.ranks);
    once as f64 + (work.waits - once) as f64 * WAIT_MORE
}
