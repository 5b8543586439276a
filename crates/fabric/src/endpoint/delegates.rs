//! The methods of an endpoint that one of its parts does alone.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::sync::Arc;

use super::Endpoint;
use super::cancel::Copied;
use super::channels::{Attached, Channels};
use super::in_place::InPlaceCounters;
use super::introspect::{self, Transit};
use super::mprobe::MatchedMessage;
use super::pipeline::Pipelines;
use crate::channel::InChannel;
use crate::matching::Ticket;
use crate::net::Network;
use crate::{
    Failure, Label, Peer, Received, Selector, SharedSegment, Token, TransferError, TypeCode,
};

impl Endpoint {
    /// This rank.
    pub fn me(&self) -> Peer {
        self.transport.me
    }

    /// The segment that the ranks of this host share.
    pub fn segment(&self) -> &Arc<SharedSegment> {
        &self.transport.segment
    }

    /// The first death in the world, if there was one.
    #[inline]
    pub fn failure(&self) -> Option<Failure> {
        self.transport.failure()
    }

    /// Whether anything waits for room in a ring.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        self.transport.waiting > 0
    }

    /// Packets that this rank has put into rings since the beginning. A short message is one, or
    /// one for each cell; a large one or a synchronous one is one, and another that comes back when
    /// it has been received, or two if both ends copy it, or one for each piece. One in a remote
    /// bounce buffer or a bounce buffer is one. Takes time in the number of ranks.
    pub fn packets(&self) -> u64 {
        self.transport.packets()
    }

    /// Wakes a rank of this host after a store to memory that it polls.
    #[inline]
    pub fn wake(&self, peer: Peer) {
        self.transport.wake(peer);
    }

    /// How many cells this rank has put into its rings to ranks on other hosts: one for each short
    /// message, several for a long one.
    pub fn cells_to_other_hosts(&self) -> u64 {
        self.transport.network.as_ref().map_or(0, |network| network.offered())
    }

    /// The network to ranks on other hosts, if there are any.
    pub fn network(&self) -> Option<&Network> {
        self.transport.network.as_deref()
    }

    /// Sends the cells that wait in rings to other hosts, and puts arrived cells into rings; reads
    /// none of them.
    pub fn progress_network(&mut self) {
        if let Some(network) = &mut self.transport.network {
            network.progress();
        }
    }

    /// Whether a rank is on another host.
    #[inline]
    pub fn reaches(&self, peer: Peer) -> bool {
        self.transport.reaches(peer)
    }

    /// Withdraws a send that has not been announced. After it returns, its memory is not used any
    /// more, and it will not complete. `false` if there is no such send.
    pub fn take_back_send(&mut self, token: Token) -> bool {
        self.transport.take_back_send(token)
    }

    /// Opens a channel of `cells` cells for one message of a persistent operation and notifies its
    /// sender. `None` if that message must be sent as an ordinary message (too long, no cells, no
    /// room, or from another host): both sides then know.
    pub fn open_channel(
        &mut self,
        from: Peer,
        label: Label,
        element: TypeCode,
        bytes: usize,
        cells: usize,
    ) -> Option<InChannel> {
        self.channels.open(&mut self.transport, from, (label, element), bytes, cells)
    }

    /// Reports that the message of this label, of `bytes` bytes, uses no channel. The sender knows
    /// that, and [forgets](Endpoint::forget_channel) the report, unless the ranks disagree about
    /// the message: then the sender may be waiting for a channel.
    pub fn refuse_channel(&mut self, from: Peer, label: Label, element: TypeCode, bytes: usize) {
        Channels::refuse(&mut self.transport, from, (label, element), bytes);
    }

    /// Bytes of the segment that the channels of this rank have taken, with free rings.
    pub fn channel_bytes(&self) -> usize {
        let streams = self.rndv.pipelines.as_ref().map_or(0, Pipelines::bytes);
        self.transport.arena.taken() - self.bounce.bytes() - streams
    }

    /// Frees the receiving end of a channel. All messages that were sent through it have been
    /// received.
    pub fn close_channel(&mut self, channel: InChannel) {
        self.transport.arena.give_back(channel.ring());
    }

    /// Queries the sending end of a channel. After a final answer the query must not be repeated.
    pub fn attach_channel(
        &mut self,
        to: Peer,
        label: Label,
        element: TypeCode,
        bytes: usize,
    ) -> Attached {
        self.channels.attach(&self.transport, to, (label, element), bytes)
    }

    /// Reports that the sending end of a channel will never be queried. Only while the answer was
    /// [`Attached::Unknown`]: after any other answer there is nothing to forget.
    pub fn forget_channel(&mut self, to: Peer, label: Label) {
        self.channels.forget(to, label);
    }

    /// Whether there are unexpected messages, or opened channels that this rank has not attached.
    #[inline]
    pub fn has_unmatched(&self) -> bool {
        self.recv_queues.matching.unexpected_len() > 0 || self.channels.has_offered()
    }

    /// Calls `look` with each unexpected message: its sender, its label, the type of its elements,
    /// and its length in bytes.
    pub fn each_early(&self, mut visit: impl FnMut(Peer, Label, TypeCode, usize)) {
        self.recv_queues
            .matching
            .each_early(|from, label, early| visit(from, label, early.element, early.bytes));
    }

    /// Calls `look` with each opened channel that this rank has not attached: its receiver and its
    /// label.
    pub fn each_announced(&self, mut visit: impl FnMut(Peer, Label)) {
        self.channels.announced().for_each(|(to, label)| visit(to, label));
    }

    /// This rank will start no new operation; it only finishes what other ranks may wait for.
    pub fn begin_leaving(&mut self) {
        self.transport.begin_leaving();
    }

    /// Whether no rank will start a new operation.
    pub fn all_leaving(&self) -> bool {
        self.transport.all_leaving()
    }

    /// This rank leaves the world in good order. It notifies all ranks that may wait for it. It has
    /// left completely when [`Endpoint::is_gone`] is `true`, and makes progress until then.
    pub fn leave(&mut self) {
        self.disconnect.leave(&mut self.transport);
    }

    /// Whether every rank knows that this one has left, and so has received all that was sent to
    /// it.
    pub fn is_gone(&self) -> bool {
        self.disconnect.is_gone(&self.transport)
    }

    /// Whether a rank has left the world in good order and this rank has read all that it sent.
    ///
    /// After a death the answer is `false` for all ranks: some leave because of the death, and a
    /// rank that waits for them should report the death. The death is checked last, since a rank
    /// that leaves for that reason has known of it before.
    pub fn has_left(&self, peer: Peer) -> bool {
        self.transport.has_left(peer)
    }

    /// Why nothing more comes from a rank that has left the world in good order and whose messages
    /// have all been read: that it has left or, after a death, that death.
    pub fn why_silent(&self, peer: Peer) -> Option<TransferError> {
        self.transport.why_silent(peer)
    }

    /// The known deaths, the first one first: those of ranks of this host, and others as far as
    /// they have been reported.
    pub fn deaths(&self) -> impl Iterator<Item = Failure> + '_ {
        self.transport.deaths()
    }

    /// Whether all deaths are known, and not only the first one: that is so on one host.
    pub fn knows_all_deaths(&self) -> bool {
        self.transport.network.is_none()
    }

    /// Sends the rest of an announced message from a copy, so that its memory is not used any more.
    /// Its completion has the token of the stand-in. `None` if there is no such message, if the
    /// network uses its memory already, or if this rank is the receiver: then the send waits for no
    /// other rank, and a synchronous send must not end before this rank has received it.
    ///
    /// # Safety
    /// The copy stays until the completion of the stand-in, or until that is cancelled.
    pub unsafe fn copy_send(&mut self, token: Token, stand_in: Token) -> Option<Copied> {
        // SAFETY: passed on.
        unsafe { self.rndv.copy_send(&mut self.transport, token, stand_in) }
    }

    /// The message that such a receive would get now, without receiving it.
    pub fn probe(&self, selector: Selector) -> Option<Received> {
        self.recv_queues.probe(selector)
    }

    /// Takes the message that a receive with this selector would get now, if there is one.
    pub fn mprobe(&mut self, selector: Selector) -> Option<MatchedMessage> {
        self.recv_queues.mprobe(selector)
    }

    /// Discards a message that a probe has taken: for its sender it has been received.
    pub fn discard(&mut self, taken: MatchedMessage) {
        taken.discard(&mut self.transport);
    }

    /// Cancels a receive that has met no message yet. After it returns, its memory is not used any
    /// more, and it will not complete. `false` if it has met a message: then it completes.
    pub fn cancel_receive(&mut self, ticket: Ticket, token: Token) -> bool {
        self.recv_queues.cancel_receive(ticket, token)
    }

    /// Lists the incomplete transfers of an operation. Takes time linear in the number of all.
    pub fn transits(&self, operation: u64) -> Vec<Transit> {
        introspect::transits(&self.transport, &self.recv_queues, &self.rndv, operation)
    }

    /// What reductions of this rank have read in place.
    pub fn in_place_counters(&self) -> InPlaceCounters {
        self.bounce.in_place.counters
    }

    /// Counts a reduction, or a pass of several, that has read these messages in place.
    #[inline]
    pub fn count_in_place(&mut self, read: InPlaceCounters) {
        let counters = &mut self.bounce.in_place.counters;
        counters.operands += read.operands;
        counters.passes += read.passes;
    }
}
