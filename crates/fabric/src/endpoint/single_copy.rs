//! Single-copy rendezvous: a large message is copied once from memory to memory, by the receiver or
//! by both ends, at once or deferred. Protocols and proofs: `../README.md`, "Read leases" and
//! "Cooperative copies".

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ops::Range;

use super::message::Message;
use super::pipeline::Pipelines;
use super::shared_heap::is_in_heap;
use super::{Completion, Endpoint, PostedRecv, RndvOffer, RndvRecv, RndvSend};
use crate::cma::{self, SingleCopy};
use crate::cooperative_copy::{self, Copied};
use crate::packet::Packet;
use crate::read_lease::{self, ReadLease};
use crate::slab::Id;
use crate::{Peer, Received, RegionMut, TransferError, memcheck};

/// The copies that a rank defers while it copies for itself, so that the other end may do them.
#[derive(Debug, Default)]
pub(super) struct DeferredCopies {
    copies_for_itself: bool,
    /// Messages that are copied to this rank, and whose leases are taken.
    receives: Vec<LeasedCopy>,
    /// Messages that are copied from it, and the addresses that their receivers have named.
    sends: Vec<(Id, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct LeasedCopy {
    message: Message,
    offer: RndvOffer,
    lease: ReadLease,
    receive: PostedRecv,
}

impl DeferredCopies {
    fn is_empty(&self) -> bool {
        self.receives.is_empty() && self.sends.is_empty()
    }
}

impl Endpoint {
    /// As [`Endpoint::progress`], for a rank that copies for itself: of copies that it shares with
    /// other ranks it leaves to them as much as they can do. It must [catch
    /// up](Endpoint::flush_deferred) when its own copy is done, and do nothing else before.
    pub fn progress_deferring(&mut self, done: &mut Vec<Completion>) -> bool {
        let before = std::mem::replace(&mut self.deferred_copies.copies_for_itself, true);
        let moved = self.progress(done);
        self.deferred_copies.copies_for_itself = before;
        moved
    }

    /// Where ranks share cores: from here on, of several large messages, those from ranks on other
    /// cores are left to their senders while there is something else to do. Says whether that
    /// begins here; then it must [end](Endpoint::end_deferring), and nothing else be done
    /// before that may take a message back.
    #[inline]
    pub fn begin_deferring(&mut self) -> bool {
        let begins = self.thresholds.is_oversubscribed && !self.deferred_copies.copies_for_itself;
        self.deferred_copies.copies_for_itself |= begins;
        begins
    }

    /// Copies what was left to senders and they have not begun with, if leaving it has begun.
    #[inline]
    pub fn end_deferring(&mut self, has_begun: bool, done: &mut Vec<Completion>) {
        if has_begun {
            self.deferred_copies.copies_for_itself = false;
            if !self.deferred_copies.is_empty() {
                self.flush_deferred(done);
            }
        }
    }

    /// Does the deferred copies that the other end has not done.
    pub fn flush_deferred(&mut self, done: &mut Vec<Completion>) {
        while let Some((send, address)) = self.deferred_copies.sends.pop() {
            self.help(send, address);
        }
        while let Some(LeasedCopy { message, offer, lease, receive }) =
            self.deferred_copies.receives.pop()
        {
            let into = receive.into.part(0, message.bytes);
            let copied = self.copy_parts((message.source, lease), &offer, into);
            match self.settle((message.source, lease), &offer, copied) {
                Some(outcome) => done.push(message.completion(receive.token(), outcome)),
                None => self.rndv.request_fragments(&mut self.transport, message, offer, receive),
            }
        }
    }

    /// If this rank copies for itself, takes the lease of a message that its sender can copy
    /// meanwhile, and sends the sender the address. `false` if the message is to be copied now.
    pub(super) fn try_defer(
        &mut self,
        message: &Message,
        offer: &RndvOffer,
        receive: &PostedRecv,
    ) -> bool {
        let (source, bytes) = (message.source, message.bytes);
        let may_put_off = self.deferred_copies.copies_for_itself && self.can_copy(offer);
        let Some(lease) = offer.lease.filter(|_| may_put_off) else { return false };
        let is_left =
            self.is_shared(message, receive) || self.is_for_another_core(message, receive);
        if !is_left || !read_lease::take(&self.transport.segment, source, lease) {
            return false;
        }
        self.share((source, lease), offer, receive.into.part(0, bytes));
        let claimed = LeasedCopy { message: *message, offer: *offer, lease, receive: *receive };
        self.deferred_copies.receives.push(claimed);
        true
    }

    /// Whether a message can be copied straight from its sender, as far as is known.
    fn can_copy(&self, offer: &RndvOffer) -> bool {
        self.single_copy != SingleCopy::Off || is_in_heap(offer.address)
    }

    /// Copies straight from the sender. `None` if the message has no lease; if its sender has taken
    /// the lease back, and sends pieces of a copy or that nothing comes; or if the system refuses
    /// the copy: then this rank does not try it again.
    pub(super) fn copy_once(
        &mut self,
        message: &Message,
        offer: &RndvOffer,
        receive: &PostedRecv,
    ) -> Option<Result<(), TransferError>> {
        let (source, bytes) = (message.source, message.bytes);
        if bytes == 0 {
            self.transport.send_control(source, Packet::Finished { send: offer.send });
            return Some(Ok(()));
        }
        if !self.can_copy(offer) {
            return None;
        }
        let lease = offer.lease?;
        if !read_lease::take(&self.transport.segment, source, lease) {
            return None;
        }
        let into = receive.into.part(0, bytes);
        if !self.is_shared(message, receive) {
            return self.copy_taken((source, lease), offer, into);
        }
        self.share((source, lease), offer, into);
        let copied = self.copy_parts((source, lease), offer, into);
        self.settle((source, lease), offer, copied)
    }

    /// Copies a message whose lease is taken, alone, and lets the lease go. `None` if the system
    /// does not let us.
    pub(super) fn copy_taken(
        &mut self,
        (source, lease): (Peer, ReadLease),
        offer: &RndvOffer,
        into: RegionMut,
    ) -> Option<Result<(), TransferError>> {
        let copied = self.copy_part(source, offer, into)(0..into.bytes());
        let copied = copied.map_or(Copied::Refused, |()| Copied::All);
        self.settle((source, lease), offer, copied)
    }

    /// Gets the rest of the first message that comes in pieces without its sender. Says whether
    /// there was one. The sender may be back when it is here: then the others come by themselves.
    pub(super) fn read_rest(&mut self, done: &mut Vec<Completion>) -> bool {
        while let Some(first) = self.rndv.pipelines.as_mut().and_then(Pipelines::take_first) {
            if self.pull_one(first, done) {
                return true;
            }
        }
        false
    }

    /// Gets the rest of this message without its sender, if that is possible. Returns whether it
    /// was.
    pub(super) fn pull_one(&mut self, id: Id, done: &mut Vec<Completion>) -> bool {
        let Some(recv) = self.rndv.recvs.get_mut(id) else { return false };
        let RndvRecv { receive, source, tag, bytes, missing, .. } = *recv;
        let Some(RndvOffer { address, lease: Some(lease), send }) = recv.offer.take() else {
            return false;
        };
        if self.single_copy == SingleCopy::Off
            || !read_lease::take(&self.transport.segment, source, lease)
        {
            return false; // The rest comes, or word that it does not.
        }
        let offset = bytes - missing;
        let offer = RndvOffer { address: address + offset as u64, lease: Some(lease), send };
        let into = receive.into.part(offset, missing);
        let Some(outcome) = self.copy_taken((source, lease), &offer, into) else {
            return false;
        };
        self.rndv.recvs.remove(id);
        let outcome = outcome.map(|()| Received { source, tag, bytes });
        done.push(Completion { token: receive.token(), outcome });
        true
    }

    /// Lets a lease go after its copy, and tells the sender.
    pub(super) fn settle(
        &mut self,
        (source, lease): (Peer, ReadLease),
        offer: &RndvOffer,
        copied: Copied,
    ) -> Option<Result<(), TransferError>> {
        if !read_lease::release(&self.transport.segment, source, lease)
            || matches!(copied, Copied::Gone)
        {
            return Some(Err(TransferError::Revoked(source)));
        }
        if matches!(copied, Copied::Refused) {
            self.single_copy = SingleCopy::Off;
            return None;
        }
        self.transport.send_control(source, Packet::Finished { send: offer.send });
        Some(Ok(()))
    }

    /// Whether both ends of a message copy it: if it is long enough, and its sender has nothing
    /// better to do. If we have one under way, too, its receiver has: probably both ranks exchange.
    fn is_shared(&self, message: &Message, receive: &PostedRecv) -> bool {
        let &Message { source, bytes, .. } = message;
        let has_a_helper = source != self.transport.me && self.rndv.sends.is_empty();
        self.thresholds.is_cooperative(bytes, receive.may_stay_in_place()) && has_a_helper
    }

    /// Where ranks share cores: whether a message is one of several, and its sender has another
    /// core, which has nothing to do but to wait for this rank, or to copy as well. All that is not
    /// in a bounce buffer there is long enough.
    fn is_for_another_core(&self, message: &Message, receive: &PostedRecv) -> bool {
        let &Message { source, bytes, .. } = message;
        let is_copied_alone = self.thresholds.is_copied_alone(bytes, receive.may_stay_in_place());
        if !self.thresholds.is_oversubscribed || is_copied_alone || !self.rndv.sends.is_empty() {
            return false;
        }
        // Ranks have the cores in turns.
        let is_far = !source
            .index()
            .abs_diff(self.transport.me.index())
            .is_multiple_of(self.transport.segment.cores());
        let others = self.recv_queues.matching.unexpected_len()
            + self.recv_queues.matching.posted()
            + self.deferred_copies.receives.len();
        is_far && others > 0
    }

    /// Tells the sender of a message whose lease was taken where its parts go.
    fn share(
        &mut self,
        (source, lease): (Peer, ReadLease),
        &RndvOffer { send, .. }: &RndvOffer,
        into: RegionMut,
    ) {
        cooperative_copy::open(&self.transport.segment, source, lease);
        let address = self.heap_address(source, into.as_region());
        self.transport.send_control(source, Packet::Share { send, address });
    }

    /// Copies those parts of a shared message that its sender does not.
    fn copy_parts(
        &self,
        (source, lease): (Peer, ReadLease),
        offer: &RndvOffer,
        into: RegionMut,
    ) -> Copied {
        let (segment, copy) = (&self.transport.segment, self.copy_part(source, offer, into));
        let copied = cooperative_copy::copy(segment, source, lease, into.bytes(), copy, || {
            segment.has_died(source)
        });
        if matches!(copied, Copied::All) {
            memcheck::mark_written(into.as_region()); // some of it by the sender
        }
        copied
    }

    /// Copies a part of a message whose lease was taken.
    fn copy_part(
        &self,
        source: Peer,
        &RndvOffer { address, .. }: &RndvOffer,
        into: RegionMut,
    ) -> impl Fn(Range<usize>) -> std::io::Result<()> + use<> {
        let (how, address) = self.locate(source, address, into.bytes());
        let process = self.transport.segment.process(source);
        move |part| {
            let (from, into) = (address + part.start as u64, into.part(part.start, part.len()));
            // SAFETY: the receive is posted; the source is exposed and its lease is taken, so its
            // owner keeps it readable and unchanged (README, "Read leases"); of its parts each is
            // copied by one.
            unsafe { cma::copy(how, process, from, into) }
        }
    }

    /// The receiver of a large message copies it to this address: do some of that, now or after
    /// what this rank copies for itself.
    pub(super) fn help_or_defer(&mut self, send: Id, address: u64) {
        if self.deferred_copies.copies_for_itself {
            self.deferred_copies.sends.push((send, address));
        } else {
            self.help(send, address);
        }
    }

    /// Does some of the copy of a message, unless it is over.
    fn help(&mut self, send: Id, address: u64) {
        let Some(&mut RndvSend { to, data, lease: Some(lease), .. }) =
            self.rndv.sends.get_mut(send)
        else {
            return;
        };
        let (segment, me) = (&self.transport.segment, self.transport.me);
        let (how, address) = self.locate(to, address, data.bytes());
        let process = segment.process(to);
        cooperative_copy::help(segment, me, lease, data.bytes(), |part| {
            let (into, from) = (address + part.start as u64, data.part(part.start, part.len()));
            // SAFETY: the send is posted; the receiver waits for the parts that we take, and leaves
            // their memory alone until then (README, "Cooperative copies").
            unsafe { cma::copy_to(how, process, into, from) }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::endpoint::protocol::{COOPERATIVE_MIN_BYTES, OPERAND_MAX_BYTES};
    use crate::endpoint::{Options, Posted};
    use crate::layout::Layout;
    use crate::watchdog::Watchdog;
    use crate::{Label, Region, Selector, SharedSegment, Token, TrafficHint, TypeCode};

    const BYTES: usize = (1 << 20) + 17;
    const LABEL: Label = Label { context: 1, tag: 2, ordinal: 0 };

    /// A sender and a receiver, each with a core, and what they have completed.
    struct Pair {
        ranks: [Endpoint; 2],
        done: [Vec<Completion>; 2],
        data: Vec<u8>,
        into: Vec<u8>,
    }

    impl Pair {
        /// The message is sent and its receive posted, and neither has looked.
        fn with(bytes: usize) -> Pair {
            Pair::of(bytes, Options::default())
        }

        /// The same, for a receiver with these options.
        fn of(bytes: usize, options: Options) -> Pair {
            Pair::new(bytes, options, false)
        }

        /// The same, where the receiver will reduce the message, or not.
        fn new(bytes: usize, options: Options, is_operand: bool) -> Pair {
            let (segment, _file) = SharedSegment::shared_by(Layout::new(2).unwrap(), 2).unwrap();
            let segment = Arc::new(segment);
            let ranks = [(0, Options::default()), (1, options)].map(|(rank, options)| {
                segment.enter(Peer(rank), std::process::id());
                Endpoint::new(segment.clone(), Peer(rank), options)
            });
            let data = (0..bytes).map(|at| (at % 251) as u8).collect();
            let mut pair = Pair { ranks, done: Default::default(), data, into: vec![0; bytes] };
            let token = |step| Token { operation: 7, step };
            let data = Region::of(&pair.data);
            // SAFETY: the test keeps the data until both have ended.
            let posted =
                unsafe { pair.ranks[0].send(Peer(1), LABEL, TypeCode::BYTES, data, token(0)) };
            assert_eq!(posted, Posted::Pending);
            let (selector, into) =
                (Selector::exactly(Peer(0), LABEL), RegionMut::of(&mut pair.into));
            let done = &mut pair.done[1];
            let receive = if is_operand { Endpoint::recv_lines } else { Endpoint::recv };
            // SAFETY: as above.
            unsafe { receive(&mut pair.ranks[1], selector, TypeCode::BYTES, into, token(1), done) };
            pair
        }

        fn progress(&mut self, rank: usize) {
            self.ranks[rank].progress(&mut self.done[rank]);
        }

        fn progress_meanwhile(&mut self, rank: usize) {
            self.ranks[rank].progress_deferring(&mut self.done[rank]);
        }

        fn catch_up(&mut self, rank: usize) {
            self.ranks[rank].flush_deferred(&mut self.done[rank]);
        }

        /// Completions of the sender and of the receiver.
        fn ended(&self) -> [usize; 2] {
            [0, 1].map(|rank| self.done[rank].len())
        }

        fn is_all_there(&self) -> bool {
            self.into == self.data
        }

        /// Both have ended well, once.
        fn check(mut self) {
            for rank in [0, 1, 0, 1] {
                self.progress(rank);
            }
            assert_eq!(self.ended(), [1, 1]);
            let whole = |done: &Vec<Completion>| {
                done[0].outcome.is_ok_and(|received| received.bytes == self.data.len())
            };
            assert!(self.done.iter().all(whole) && self.is_all_there());
            assert!(self.ranks[0].all_sent() && self.ranks[1].rndv.recvs.is_empty());
        }
    }

    #[test]
    fn a_receiver_that_copies_for_itself_leaves_a_message_to_its_sender() {
        let mut pair = Pair::with(BYTES);
        pair.progress_meanwhile(1);
        assert!(pair.ended() == [0, 0] && pair.into.iter().all(|&byte| byte == 0));
        pair.progress(0);
        assert!(pair.ended() == [0, 0] && pair.is_all_there(), "the sender has copied all");
        pair.catch_up(1);
        assert_eq!(pair.ended(), [0, 1]);
        pair.check();
    }

    #[test]
    fn what_its_sender_does_not_copy_it_copies_afterwards() {
        let mut pair = Pair::with(BYTES);
        pair.progress_meanwhile(1);
        pair.catch_up(1);
        assert!(pair.ended() == [0, 1] && pair.is_all_there());
        pair.check();
    }

    #[test]
    fn a_sender_that_copies_for_itself_helps_afterwards() {
        let mut pair = Pair::with(BYTES);
        pair.progress_meanwhile(1);
        pair.progress_meanwhile(0);
        assert!(pair.into.iter().all(|&byte| byte == 0), "both have put it off");
        pair.catch_up(0);
        assert!(pair.is_all_there());
        pair.catch_up(1);
        pair.check();
    }

    #[test]
    fn a_sender_that_copies_for_itself_does_not_help_when_the_message_is_over() {
        let mut pair = Pair::with(BYTES);
        pair.progress(1);
        assert!(pair.ended() == [0, 1] && pair.is_all_there());
        pair.into.fill(0); // The receive has ended: nobody may write there any more.
        pair.progress_meanwhile(0);
        pair.catch_up(0);
        assert!(pair.into.iter().all(|&byte| byte == 0));
        pair.into.copy_from_slice(&pair.data);
        pair.check();
    }

    #[test]
    fn who_may_not_copy_asks_for_pieces_at_once() {
        let _watchdog = Watchdog::start();
        let options = Options { single_copy: Some(false), ..Options::default() };
        let mut pair = Pair::of(BYTES, options);
        pair.progress_meanwhile(1);
        assert!(pair.ranks[1].deferred_copies.receives.is_empty());
        assert_eq!(pair.ranks[1].rndv.recvs.iter().count(), 1, "they come");
        while pair.ended() != [1, 1] {
            pair.progress(0);
            pair.progress(1);
        }
        pair.check();
    }

    #[test]
    fn a_short_message_is_copied_at_once() {
        let mut pair = Pair::with(COOPERATIVE_MIN_BYTES - 1);
        pair.progress_meanwhile(1);
        assert!(pair.ended() == [0, 1] && pair.is_all_there());
        pair.check();
    }

    #[test]
    fn an_operand_is_copied_by_its_receiver_alone_unless_it_is_very_long() {
        for (bytes, is_shared) in [(OPERAND_MAX_BYTES, false), (OPERAND_MAX_BYTES + 1, true)] {
            let mut pair = Pair::new(bytes, Options::default(), true);
            pair.progress_meanwhile(1);
            assert_eq!(pair.ended(), [0, usize::from(!is_shared)]);
            assert_ne!(pair.is_all_there(), is_shared, "what is shared is left to the sender");
            pair.catch_up(1);
            pair.check();
        }
    }

    /// Ranks 1 to `ranks - 1` have sent to rank 0, which has posted its receives; two cores.
    struct Gather {
        ranks: Vec<Endpoint>,
        done: Vec<Vec<Completion>>,
        data: Vec<u8>,
        into: Vec<Vec<u8>>,
    }

    impl Gather {
        fn of(bytes: usize, ranks: usize) -> Gather {
            let layout = Layout::new(4).unwrap(); // more ranks than cores
            let (segment, _file) = SharedSegment::shared_by(layout, 2).unwrap();
            let segment = Arc::new(segment);
            let endpoint = |rank| {
                segment.enter(Peer(rank), std::process::id());
                Endpoint::new(segment.clone(), Peer(rank), Options::default())
            };
            let mut gather = Gather {
                ranks: (0..ranks as u32).map(endpoint).collect(),
                done: (0..ranks).map(|_| Vec::new()).collect(),
                data: (0..bytes).map(|at| (at % 251) as u8).collect(),
                into: (0..ranks).map(|_| vec![0; bytes]).collect(),
            };
            for rank in 1..ranks {
                let (data, token) = (Region::of(&gather.data), Token { operation: 7, step: 0 });
                let sender = &mut gather.ranks[rank];
                let message = (LABEL, TypeCode::BYTES, data);
                let hint = TrafficHint::Untouched { among_several: true };
                // SAFETY: the test keeps the data until all have ended.
                let posted = unsafe { sender.send_with(hint, Peer(0), message, token) };
                assert_eq!(posted, Posted::Pending);
                let selector = Selector::exactly(Peer(rank as u32), LABEL);
                let into = RegionMut::of(&mut gather.into[rank]);
                let token = Token { operation: 8, step: rank as u32 };
                let (root, done) = (&mut gather.ranks[0], &mut gather.done[0]);
                // SAFETY: as above.
                unsafe { root.recv(selector, TypeCode::BYTES, into, token, done) };
            }
            gather
        }

        fn progress(&mut self, rank: usize) {
            self.ranks[rank].progress(&mut self.done[rank]);
        }

        /// The ranks whose data is at the root.
        fn there(&self) -> Vec<usize> {
            (1..self.ranks.len()).filter(|&rank| self.into[rank] == self.data).collect()
        }

        /// All has come, and all have ended well, once.
        fn check(mut self) {
            assert_eq!(self.there().len(), self.ranks.len() - 1);
            (1..self.ranks.len()).for_each(|rank| self.progress(rank));
            let ended: Vec<_> = self.done.iter().map(Vec::len).collect();
            assert_eq!(ended[0], self.ranks.len() - 1);
            assert!(ended[1..].iter().all(|&ended| ended == 1), "{ended:?}");
            assert!(self.done.iter().flatten().all(|completion| completion.outcome.is_ok()));
            assert!(self.ranks.iter().all(Endpoint::all_sent));
        }
    }

    #[test]
    fn where_ranks_share_cores_what_comes_from_another_is_left_to_its_sender() {
        for bytes in [40 << 10, 64 << 10, BYTES] {
            let mut gather = Gather::of(bytes, 4);
            let leaves = gather.ranks[0].begin_deferring();
            assert!(leaves && !gather.ranks[0].begin_deferring(), "it has begun");
            gather.progress(0);
            assert_eq!(gather.there(), [2], "the one on the core of the root");
            gather.progress(1);
            assert_eq!(gather.there(), [1, 2], "its sender has copied it");
            gather.ranks[0].end_deferring(leaves, &mut gather.done[0]);
            assert_eq!(gather.there(), [1, 2, 3], "the other one had no turn");
            gather.check();
        }
    }

    #[test]
    fn where_ranks_share_cores_nothing_is_left_after_a_poll() {
        let mut gather = Gather::of(BYTES, 4);
        gather.progress(0);
        gather.check();
    }

    #[test]
    fn where_ranks_share_cores_the_only_message_is_copied_at_once() {
        let mut gather = Gather::of(BYTES, 2);
        let leaves = gather.ranks[0].begin_deferring();
        gather.progress(0);
        assert!(gather.ranks[0].deferred_copies.is_empty());
        gather.ranks[0].end_deferring(leaves, &mut gather.done[0]);
        gather.check();
    }

    #[test]
    fn where_each_rank_has_a_core_nothing_is_left_unless_it_copies_for_itself() {
        assert!(!Pair::with(BYTES).ranks[1].begin_deferring());
    }
}
