//! Ranks that leave in good order.

use motet_fabric::{Failure, How, Peer, TransferError};

use super::{EAGER, LARGE, SOME_CELLS_BYTES, anyone, from, label, pattern, step};
use crate::support::{Kind, Rank, ranks, run};

/// A message for a remote bounce buffer, where there are any.
const REMOTE_BOUNCED: usize = 40 << 10;

/// Leaves without a look at what still comes in, as a program may that needs nothing any more.
fn leave_at_once(rank: &mut Rank) {
    let me = Peer(rank.me());
    rank.endpoint().segment().leave(me);
}

/// Words for one that has left must not keep those that stay from leaving.
pub(crate) fn channels_for_one_that_left_hold_up_nobody(kind: Kind) {
    let mut world = ranks(kind, 2);
    let channels: Vec<_> = (0..100).map(|tag| world[0].open(1, label(tag), 8)).collect();
    assert!(channels.iter().all(Option::is_some));
    assert!(!world[0].endpoint().all_sent(), "more than a lane takes");
    leave_at_once(&mut world[1]);
    world[0].progress_thoroughly();
    assert!(world[0].endpoint().all_sent(), "nobody is there to read the rest");
}

/// A receive that gets pieces ends when their sender has left without sending them all.
pub(crate) fn pieces_of_one_that_left_end(kind: Kind) {
    let mut world = ranks(kind, 2);
    world[0].send(1, label(1), pattern(1, 100 * EAGER));
    let receive = world[1].recv(from(0, 1), 100 * EAGER);
    world[1].progress();
    world[0].progress();
    leave_at_once(&mut world[0]);
    while world[1].progress_thoroughly() {}
    let ended = world[1].take(receive).expect("ends");
    let expected = if kind.is_in_pieces() { Err(TransferError::Left(Peer(0))) } else { Ok(()) };
    assert_eq!(ended.outcome.map(drop), expected);
}

/// What a rank has sent before it left arrives, whatever its size; what it never sent ends with
/// an error; both exactly once.
pub(crate) fn messages_outlive_their_sender(kind: Kind) {
    run(kind, 3, |rank| {
        let sizes = [0, 1, EAGER, EAGER + 1, SOME_CELLS_BYTES, LARGE, 40 * LARGE];
        if rank.me() < 2 {
            for (tag, bytes) in (0..).zip(sizes) {
                rank.send(2, label(tag), pattern(tag, bytes));
            }
            return;
        }
        let never = rank.recv(from(0, 99), 8);
        let nobody = rank.recv(anyone(98), 8);
        std::thread::sleep(std::time::Duration::from_millis(20));
        for source in 0..2 {
            for (tag, bytes) in (0..).zip(sizes) {
                let ticket = rank.recv(from(source, tag), bytes);
                assert_eq!(rank.wait(ticket).data(), pattern(tag, bytes));
            }
        }
        assert_eq!(rank.wait(never).outcome, Err(TransferError::Left(Peer(0))));
        assert!(matches!(rank.wait(nobody).outcome, Err(TransferError::Left(_))));
    });
}

/// Sends that nobody will receive any more end, those that wait for room and those exposed.
pub(crate) fn sends_to_one_that_left_end(kind: Kind) {
    let mut world = ranks(kind, 2);
    let exposed = world[0].send(1, label(1), pattern(1, LARGE));
    let small: Vec<_> = (0..100).map(|_| world[0].send(1, label(2), vec![7; 8])).collect();
    leave_at_once(&mut world[1]);
    world[0].progress_thoroughly();
    let left = Err(TransferError::Left(Peer(1)));
    assert_eq!(world[0].take(exposed).expect("ends").outcome, left);
    let outcomes: Vec<_> = small
        .into_iter()
        .map(|ticket| world[0].take(ticket).expect("ends").outcome.map(drop))
        .collect();
    assert!(outcomes.contains(&Ok(())) && outcomes.contains(&left.map(drop)));
    step(&mut world[..1]);
    assert!(world[0].endpoint().all_sent());
}

/// An error for those who have left is not one for those who are there.
pub(crate) fn those_that_stay_go_on(kind: Kind) {
    run(kind, 3, |rank| match rank.me() {
        0 => {}
        me => {
            let lost = rank.recv(from(0, 1), 8);
            assert_eq!(rank.wait(lost).outcome, Err(TransferError::Left(Peer(0))));
            let other = 3 - me;
            let receive = rank.recv(anyone(None), LARGE);
            rank.send(other, label(5), pattern(u64::from(me), LARGE));
            assert_eq!(rank.wait(receive).data(), pattern(u64::from(other), LARGE));
        }
    });
}

/// Who leaves because of a death is no reason for others to give up: of the death they are to hear.
pub(crate) fn who_leaves_after_a_death_has_not_left_in_good_order(kind: Kind) {
    let mut world = ranks(kind, 3);
    let receives = [from(1, 1), from(2, 1), anyone(1)].map(|source| world[0].recv(source, 8));
    let send = world[0].send(2, label(1), pattern(1, LARGE));
    let died = Failure { rank: Peer(1), how: How::Panic };
    let segment = std::sync::Arc::clone(world[0].endpoint().segment());
    segment.fail(died);
    world[1..].iter_mut().for_each(leave_at_once);
    (1..3).for_each(|rank| segment.leave(Peer(rank)));
    while world[0].progress_thoroughly() {}
    let is_told = |outcome| outcome == Some(Err(TransferError::Failed(died)));
    let is_on_one_host = world[0].endpoint().knows_all_deaths();
    for receive in receives {
        let ended = world[0].take(receive).map(|ended| ended.outcome);
        // Elsewhere nobody is told who has left after a death.
        assert!(is_told(ended) || ended.is_none() && !is_on_one_host, "{ended:?}");
    }
    let sent = world[0].take(send).map(|ended| ended.outcome);
    assert!(matches!(sent, None | Some(Ok(_))) || is_told(sent), "{sent:?}");
    assert!(!world[0].endpoint().has_left(Peer(2)));
    assert_eq!(world[0].endpoint().failure(), Some(died));
}

/// Whoever is left alone still hears itself: also what waits for room in its own lane.
pub(crate) fn one_left_alone_hears_itself(kind: Kind) {
    const MESSAGES: u64 = 200;
    let mut world = ranks(kind, 2);
    leave_at_once(&mut world[1]);
    let receives: Vec<_> = (0..MESSAGES).map(|tag| world[0].recv(anyone(tag), 8)).collect();
    for tag in 0..MESSAGES {
        world[0].send(0, label(tag), pattern(tag, 8));
    }
    while world[0].progress_thoroughly() {}
    for (tag, receive) in (0..).zip(receives) {
        assert_eq!(world[0].take(receive).expect("ends").data(), pattern(tag, 8));
    }
}

/// Nobody is held up by what it sends to a rank that is gone: neither by short messages nor by long
/// ones, and so it can leave as well.
pub(crate) fn what_is_sent_to_one_that_is_gone_holds_up_nobody(kind: Kind) {
    let mut world = ranks(kind, 2);
    // So that remote bounce buffers are there to be used.
    let receive = world[1].recv(from(0, 0), REMOTE_BOUNCED);
    let sent = world[0].send(1, label(0), pattern(0, REMOTE_BOUNCED));
    until(&mut world, |world| world[0].has_ended(sent) && world[1].has_ended(receive));
    world[1].endpoint().leave();
    until(&mut world, |world| world[1].endpoint().is_gone());
    drop(world.pop());
    let sizes = [0, 1, 300, EAGER, REMOTE_BOUNCED, 40 * LARGE];
    let sends: Vec<_> = (0..60)
        .map(|round| world[0].send(1, label(round), pattern(round, sizes[round as usize % 6])))
        .collect();
    for ended in world[0].wait_all(sends) {
        let outcome = ended.outcome.map(drop);
        assert!(matches!(outcome, Ok(()) | Err(TransferError::Left(Peer(1)))), "{outcome:?}");
    }
    world[0].leave();
}

/// Ranks that never spoke to each other all leave at the same time: nobody is taken for lost.
pub(crate) fn all_leave_at_once(kind: Kind) {
    for _ in 0..8 {
        let together = std::sync::Barrier::new(4);
        run(kind, 4, |_| {
            together.wait();
        });
    }
}

/// Moves ranks by hand until something is so.
fn until(ranks: &mut [Rank], mut is_so: impl FnMut(&mut [Rank]) -> bool) {
    while !is_so(ranks) {
        for rank in ranks.iter_mut() {
            rank.progress();
        }
    }
}

/// Ranks that leave at the same time say so once each, and nothing more: who has heard it may be
/// gone, and would be told for ever. One that stays says that it has heard it.
pub(crate) fn who_says_that_it_leaves_has_said_all(kind: Kind) {
    for stay in [false, true] {
        let mut world = ranks(kind, 2);
        let leaving = if stay { &mut world[1..] } else { &mut world[..] };
        leaving.iter_mut().for_each(|rank| rank.endpoint().leave());
        let told = world.iter_mut().map(|rank| rank.endpoint().cells_to_other_hosts());
        assert_eq!(told.collect::<Vec<_>>(), [u64::from(!stay), 1], "at once");
        loop {
            for rank in &mut world {
                rank.progress();
            }
            let is_gone = |rank: &mut Rank| rank.endpoint().is_gone();
            if world[usize::from(stay)..].iter_mut().all(is_gone) {
                break;
            }
        }
        let told = world.iter_mut().map(|rank| rank.endpoint().cells_to_other_hosts());
        assert_eq!(told.collect::<Vec<_>>(), [1, 1], "one stays: {stay}");
        if stay {
            leave_at_once(&mut world[0]);
        }
    }
}
