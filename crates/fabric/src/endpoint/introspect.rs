//! Introspection: lists the pending transfers of a rank, for the report of a hang.

use super::peer_tx::Outgoing;
use super::recv_queues::RecvQueues;
use super::rndv::Rendezvous;
use super::transfer::PostedRecv;
use super::transport::Transport;
use crate::Peer;

/// A transfer that is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transit {
    /// Whether the transfer is a receive, not a send.
    pub is_receive: bool,
    /// The other side; `None` for a receive from anyone.
    pub peer: Option<Peer>,
    /// Its context, as long as that matters.
    pub context: Option<u64>,
    /// Its tag; `None` for a receive of any.
    pub tag: Option<u64>,
}

/// Lists the incomplete transfers of an operation. Takes time linear in the number of all.
pub(super) fn transits(
    transport: &Transport,
    recv_queues: &RecvQueues,
    rndv: &Rendezvous,
    operation: u64,
) -> Vec<Transit> {
    let mut found = Vec::new();
    recv_queues.matching.each_posted(|selector, receive: &PostedRecv| {
        if receive.token().operation == operation {
            let (peer, tag) = (selector.source, selector.tag);
            let context = Some(selector.context);
            found.push(Transit { is_receive: true, peer, context, tag });
        }
    });
    for (_, recv) in rndv.recvs.iter() {
        if recv.receive.token().operation == operation {
            let (peer, tag) = (Some(recv.source), Some(recv.tag));
            found.push(Transit { is_receive: true, peer, context: None, tag });
        }
    }
    let sent = |peer: Peer, label: crate::Label| Transit {
        is_receive: false,
        peer: Some(peer),
        context: Some(label.context),
        tag: Some(label.tag),
    };
    for (_, large) in rndv.sends.iter() {
        if large.token.operation == operation {
            found.push(sent(large.to, large.label));
        }
    }
    for (peer, standing) in (0..).map(Peer).zip(&transport.peer_tx) {
        for outgoing in standing.waiting() {
            match *outgoing {
                Outgoing::Eager { label, token, .. } | Outgoing::Large { label, token, .. }
                    if token.operation == operation =>
                {
                    found.push(sent(peer, label));
                }
                _ => {}
            }
        }
    }
    found
}
