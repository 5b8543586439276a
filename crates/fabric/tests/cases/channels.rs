//! Channels: fixed landing places for the messages of persistent operations.

use std::thread;
use std::time::Duration;

use motet_fabric::channel::CHANNEL_MAX_BYTES;
use motet_fabric::{Label, Peer, Sender, TransferError};

use super::{LARGE, from, label, pattern, step};
use crate::support::{Attachment, Inbound, Kind, Outbound, Rank, ranks, run};

/// Messages through a channel arrive whole and in order, at every size, at every pace.
pub(crate) fn order_and_contents(kind: Kind) {
    const ROUNDS: u64 = 2000;
    for bytes in [0, 1, 8, 56, 57, 1000, CHANNEL_MAX_BYTES] {
        run(kind, 2, |rank| {
            if rank.me() == 0 {
                let mut channel = rank.attached(1, label(1), bytes);
                for round in 0..ROUNDS {
                    let data = pattern(round, bytes);
                    rank.until(|rank| rank.try_put(&mut channel, &data).then_some(()));
                }
            } else {
                let mut channel = rank.open(0, label(1), bytes).expect("room");
                for round in 0..ROUNDS {
                    let data = rank.until(|rank| rank.try_take(&mut channel));
                    assert_eq!(data, pattern(round, bytes), "round {round}");
                }
                rank.close(channel);
            }
        });
    }
}

/// Sets up a channel from rank 0 to rank 1 of a world that is moved by hand.
fn pair(world: &mut [Rank], label: Label, bytes: usize) -> (Outbound, Inbound) {
    let inbound = world[1].open(0, label, bytes).expect("room");
    step(world);
    match world[0].attach(1, label, bytes) {
        Attachment::Open(outbound) => (outbound, inbound),
        _ => panic!("no channel"),
    }
}

/// A sender may be some rounds ahead; then the ring refuses, without harm, until there is room.
pub(crate) fn rounds_ahead_and_no_further(kind: Kind) {
    let mut world = ranks(kind, 2);
    let (mut outbound, mut inbound) = pair(&mut world, label(1), 8);
    let mut next = 0;
    for received in 0..100_u64 {
        while world[0].try_put(&mut outbound, &u64::to_le_bytes(next)) {
            next += 1;
            assert!(next <= received + 64, "a ring has an end");
        }
        assert!(next >= received + 4, "rounds ahead");
        assert_eq!(world[1].try_take(&mut inbound), Some(received.to_le_bytes().to_vec()));
    }
}

/// A sender asleep because the ring is full is woken when there is room.
pub(crate) fn a_full_ring_wakes_its_sender(kind: Kind) {
    run(kind, 2, |rank| {
        if rank.me() == 0 {
            let mut channel = rank.attached(1, label(1), 8);
            for round in 0..300_u64 {
                let data = round.to_le_bytes();
                rank.until(|rank| rank.try_put(&mut channel, &data).then_some(()));
            }
        } else {
            let mut channel = rank.open(0, label(1), 8).expect("room");
            for round in 0..300_u64 {
                if round % 10 == 0 {
                    thread::sleep(Duration::from_millis(3));
                }
                let data = rank.until(|rank| rank.try_take(&mut channel));
                assert_eq!(data, round.to_le_bytes());
            }
        }
    });
}

/// What the two sides disagree on is an error of the one that asks.
pub(crate) fn disagreement_is_an_error(kind: Kind) {
    let mut world = ranks(kind, 2);
    assert!(matches!(world[0].attach(1, label(1), 8), Attachment::Unknown));
    let inbound = world[1].open(0, label(1), 16).expect("room");
    step(&mut world);
    let error = TransferError::truncated(Sender::new(Peer(0), 1), 8, 16);
    assert!(
        matches!(world[0].attach(1, label(1), 8), Attachment::Mismatch(found) if found == error)
    );
    assert!(matches!(world[0].attach(1, label(1), 16), Attachment::Unknown), "asked for already");
    world[1].close(inbound);
}

/// Too long, or no room in the arena: both sides learn that it goes as a message.
pub(crate) fn refusal_is_told(kind: Kind) {
    let mut world = ranks(kind, 2);
    assert!(world[1].open(0, label(0), CHANNEL_MAX_BYTES + 1).is_none());
    assert!(matches!(world[0].attach(1, label(0), CHANNEL_MAX_BYTES + 1), Attachment::Refused));

    let mut channels = Vec::new();
    let full = (0..).find(|&tag| match world[1].open(0, label(tag), CHANNEL_MAX_BYTES) {
        None => true,
        Some(channel) => {
            channels.push(channel);
            false
        }
    });
    let full = full.expect("an arena has an end");
    step(&mut world);
    assert!(matches!(world[0].attach(1, label(full), CHANNEL_MAX_BYTES), Attachment::Refused));
    assert!(matches!(world[0].attach(1, label(full - 1), CHANNEL_MAX_BYTES), Attachment::Open(_)));
    // What comes back serves again.
    world[1].close(channels.pop().expect("there were some"));
    assert!(world[1].open(0, label(full + 1), CHANNEL_MAX_BYTES).is_some());
}

/// Opening and closing for ever takes no more room than once, and a ring that comes back carries
/// nothing over: neither messages nor credit of its former use.
pub(crate) fn a_hundred_thousand_lives(kind: Kind) {
    let mut world = ranks(kind, 2);
    for life in 0..100_000_u64 {
        let bytes = [8, 200][life as usize % 2];
        let (mut outbound, mut inbound) = pair(&mut world, label(life), bytes);
        assert_eq!(world[1].try_take(&mut inbound), None, "nothing of a former life");
        for round in 0..life % 12 {
            assert!(world[0].try_put(&mut outbound, &pattern(life + round, bytes)));
            assert_eq!(world[1].try_take(&mut inbound), Some(pattern(life + round, bytes)));
        }
        world[1].close(inbound);
    }
}

/// A sender that frees its operation before it has heard of the channel must not find that of a
/// later operation under the same label, nor keep anything.
pub(crate) fn freed_before_it_was_opened(kind: Kind) {
    let mut world = ranks(kind, 2);
    for order in 0..4 {
        let forget = |world: &mut [Rank]| world[0].endpoint().forget_channel(Peer(1), label(7));
        if order % 2 == 0 {
            forget(&mut world);
        }
        let inbound = world[1].open(0, label(7), 8).expect("room");
        step(&mut world);
        if order % 2 == 1 {
            forget(&mut world);
        }
        world[1].close(inbound);
        assert!(matches!(world[0].attach(1, label(7), 8), Attachment::Unknown));
        let (mut outbound, mut inbound) = pair(&mut world, label(7), 8);
        assert!(world[0].try_put(&mut outbound, &[order; 8]));
        assert_eq!(world[1].try_take(&mut inbound), Some(vec![order; 8]));
        world[1].close(inbound);
    }
}

/// Many channels and messages between the same ranks at once do not disturb each other.
pub(crate) fn beside_messages(kind: Kind) {
    const CHANNELS: u64 = 40;
    const ROUNDS: u64 = 100;
    run(kind, 3, |rank| {
        let (me, world) = (rank.me(), rank.world());
        let (right, left) = ((me + 1) % world, (me + world - 1) % world);
        let mut inbound: Vec<_> =
            (0..CHANNELS).map(|tag| rank.open(left, label(tag), 64).expect("room")).collect();
        let mut outbound: Vec<_> =
            (0..CHANNELS).map(|tag| rank.attached(right, label(tag), 64)).collect();
        for round in 0..ROUNDS {
            let receive = rank.recv(from(left, round), LARGE);
            rank.send(right, label(round), pattern(round, LARGE));
            for (tag, channel) in (0..).zip(&mut outbound) {
                let data = pattern(round << 8 | tag, 64);
                rank.until(|rank| rank.try_put(channel, &data).then_some(()));
            }
            for (tag, channel) in (0..).zip(&mut inbound) {
                let data = rank.until(|rank| rank.try_take(channel));
                assert_eq!(data, pattern(round << 8 | tag, 64));
            }
            assert_eq!(rank.wait(receive).data(), pattern(round, LARGE));
        }
    });
}
