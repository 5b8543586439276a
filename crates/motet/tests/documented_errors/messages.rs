//! Arguments of messages that a rank refuses by itself, in all their forms.

use motet::ErrorClass::{Buffer, Rank, Tag as OfTag};
use motet::{BufferRoom, Request, Result, Tag};

use super::refused::{are_refused, refusal};

const RANKS: usize = 2;
const TAG: Tag = Tag(3);
const TOO_LARGE: Tag = Tag(u32::MAX);

#[test]
fn a_destination_that_there_is_not() {
    are_refused(RANKS, |world| {
        let data = || vec![1u8];
        let scoped = |begin: fn(&motet::Scope<'_, '_>) -> Result<()>| refusal(world.scope(begin));
        Ok(vec![
            ("send", Rank, refusal(world.send(&[1u8], RANKS, TAG))),
            ("ssend", Rank, refusal(world.ssend(&[1u8], RANKS, TAG))),
            ("bsend", Rank, refusal(world.bsend(&[1u8], RANKS, TAG))),
            ("rsend", Rank, refusal(world.rsend(&[1u8], RANKS, TAG))),
            ("isend", Rank, refusal(world.isend(data(), RANKS, TAG))),
            ("issend", Rank, refusal(world.issend(data(), RANKS, TAG))),
            ("ibsend", Rank, refusal(world.ibsend(data(), RANKS, TAG))),
            ("irsend", Rank, refusal(world.irsend(data(), RANKS, TAG))),
            ("send_init", Rank, refusal(world.send_init(data(), RANKS, TAG))),
            ("ssend_init", Rank, refusal(world.ssend_init(data(), RANKS, TAG))),
            ("bsend_init", Rank, refusal(world.bsend_init(data(), RANKS, TAG))),
            ("rsend_init", Rank, refusal(world.rsend_init(data(), RANKS, TAG))),
            ("sendrecv", Rank, refusal(world.sendrecv((&[1u8], RANKS, TAG), (&mut [0u8], 0, TAG)))),
            (
                "sendrecv_replace",
                Rank,
                refusal(world.sendrecv_replace(&mut [1u8], (RANKS, TAG), (0, TAG))),
            ),
            ("isendrecv", Rank, refusal(world.isendrecv((data(), RANKS, TAG), (data(), 0, TAG)))),
            (
                "isendrecv_replace",
                Rank,
                refusal(world.isendrecv_replace(data(), (RANKS, TAG), (0, TAG))),
            ),
            ("sparse_exchange", Rank, refusal(world.sparse_exchange([(RANKS, &[1u8][..])]))),
            ("isparse_exchange", Rank, refusal(world.isparse_exchange(vec![(RANKS, vec![1u8])]))),
            (
                "isend in a scope",
                Rank,
                scoped(|scope| scope.isend(&[1u8][..], 7, TAG)?.wait().map(drop)),
            ),
            (
                "issend in a scope",
                Rank,
                scoped(|scope| scope.issend(&[1u8][..], 7, TAG)?.wait().map(drop)),
            ),
            (
                "irsend in a scope",
                Rank,
                scoped(|scope| scope.irsend(&[1u8][..], 7, TAG)?.wait().map(drop)),
            ),
        ])
    });
}

#[test]
fn a_source_that_there_is_not() {
    are_refused(RANKS, |world| {
        let room = || vec![0u8];
        Ok(vec![
            ("recv", Rank, refusal(world.recv(&mut [0u8], RANKS, TAG))),
            ("irecv", Rank, refusal(world.irecv(room(), RANKS, TAG))),
            ("recv_init", Rank, refusal(world.recv_init(room(), RANKS, TAG))),
            ("probe", Rank, refusal(world.probe(RANKS, TAG))),
            ("iprobe", Rank, refusal(world.iprobe(RANKS, TAG))),
            ("mprobe", Rank, refusal(world.mprobe(RANKS, TAG).map(drop))),
            ("improbe", Rank, refusal(world.improbe(RANKS, TAG).map(drop))),
            ("sendrecv", Rank, refusal(world.sendrecv((&[1u8], 0, TAG), (&mut [0u8], RANKS, TAG)))),
        ])
    });
}

#[test]
fn a_tag_that_is_too_large() {
    are_refused(RANKS, |world| {
        Ok(vec![
            ("send", OfTag, refusal(world.send(&[1u8], 0, TOO_LARGE))),
            ("isend", OfTag, refusal(world.isend(vec![1u8], 0, TOO_LARGE))),
            ("send_init", OfTag, refusal(world.send_init(vec![1u8], 0, TOO_LARGE))),
            ("recv", OfTag, refusal(world.recv(&mut [0u8], 0, TOO_LARGE))),
            ("irecv", OfTag, refusal(world.irecv(vec![0u8], 0, TOO_LARGE))),
            ("recv_init", OfTag, refusal(world.recv_init(vec![0u8], 0, TOO_LARGE))),
            ("probe", OfTag, refusal(world.probe(0, TOO_LARGE))),
            ("iprobe", OfTag, refusal(world.iprobe(0, TOO_LARGE))),
        ])
    });
}

#[test]
fn rooms_for_buffered_sends() {
    are_refused(RANKS, |world| {
        let me = world.rank();
        let none = refusal(world.detach_buffer());
        let full = refusal(world.bsend(&[1u8; 100], me, TAG));
        world.attach_buffer(BufferRoom::Bytes(64))?;
        let twice = refusal(world.attach_buffer(BufferRoom::Bytes(64)));
        let small = refusal(world.bsend(&[1u8; 100], me, TAG));
        world.detach_buffer()?;
        let none_of_rank = refusal(world.detach_rank_buffer());
        world.attach_rank_buffer(BufferRoom::Bytes(64))?;
        let twice_of_rank = refusal(world.attach_rank_buffer(BufferRoom::Bytes(64)));
        world.detach_rank_buffer()?;
        Ok(vec![
            ("detach_buffer", Buffer, none),
            ("bsend without a buffer", Buffer, full),
            ("attach_buffer", Buffer, twice),
            ("bsend into a small buffer", Buffer, small),
            ("detach_rank_buffer", Buffer, none_of_rank),
            ("attach_rank_buffer", Buffer, twice_of_rank),
        ])
    });
}

/// Only messages can be cancelled.
#[test]
fn collectives_are_not_cancelled() {
    are_refused(RANKS, |world| {
        let mut pending: Request<()> = world.ibarrier()?;
        let refused = refusal(pending.cancel());
        pending.wait()?;
        let mut running = world.barrier_init(&motet::Info::new())?.start()?;
        let running_refused = refusal(running.cancel());
        running.wait()?;
        let class = motet::ErrorClass::Request;
        Ok(vec![
            ("cancel of a request", class, refused),
            ("cancel of a run", class, running_refused),
        ])
    });
}

/// A message that does not fit is an error in each way to receive it, and the buffer is as it was.
#[test]
fn messages_that_do_not_fit() {
    use motet::ErrorClass::{Truncate, Type};
    are_refused(RANKS, |world| {
        let other = 1 - world.rank();
        let mut calls = Vec::new();
        for (class, wrong_type) in [(Truncate, false), (Type, true)] {
            let send = || match wrong_type {
                false => world.isend(vec![5u8; 3], other, TAG).map(drop),
                true => world.isend(vec![5.0f32; 1], other, TAG).map(drop),
            };
            let mut room = [9u8; 2];
            send()?;
            calls.push(("recv", class, refusal(world.recv(&mut room, other, TAG))));
            send()?;
            calls.push(("irecv", class, refusal(world.irecv(vec![0u8; 2], other, TAG)?.wait())));
            send()?;
            let receive = world.recv_init(vec![0u8; 2], other, TAG)?;
            calls.push(("recv_init", class, refusal(receive.start()?.wait())));
            send()?;
            calls.push(("mrecv", class, refusal(world.mprobe(other, TAG)?.mrecv(&mut room))));
            send()?;
            let taken = world.mprobe(other, TAG)?.imrecv(vec![0u8; 2])?;
            calls.push(("imrecv", class, refusal(taken.wait())));
            assert_eq!(room, [9; 2], "nothing is written");
        }
        Ok(calls)
    });
}
