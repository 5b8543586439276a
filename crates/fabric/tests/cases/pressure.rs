//! More under way than there is room for.

use motet_fabric::Peer;

use super::{EAGER, LARGE, Random, anyone, from, label, pattern};
use crate::support::{Kind, Rank, run};

/// A sender far ahead of its receiver: nothing is lost, nothing blocks, the order stays.
pub(crate) fn many_sends_before_the_first_receive(kind: Kind) {
    const MESSAGES: u64 = 100_000;
    run(kind, 2, |rank| {
        if rank.me() == 0 {
            let sent: Vec<_> = (0..MESSAGES)
                .map(|message| rank.send(1, label(message % 10), message.to_le_bytes().into()))
                .collect();
            rank.send(1, label(99), Vec::new());
            rank.wait_all(sent);
        } else {
            let last = rank.recv(from(0, 99), 0);
            rank.wait(last);
            for tag in (0..10).rev() {
                for message in (tag..MESSAGES).step_by(10) {
                    let ticket = rank.recv(from(0, tag), 8);
                    assert_eq!(rank.wait(ticket).data(), message.to_le_bytes());
                }
            }
        }
    });
}

/// A receiver far ahead of its sender, whose messages come in the opposite order.
pub(crate) fn many_receives_before_the_first_send(kind: Kind) {
    const MESSAGES: u64 = 100_000;
    run(kind, 2, |rank| {
        if rank.me() == 0 {
            let begin = rank.recv(from(1, u64::MAX), 0);
            rank.wait(begin);
            for message in (0..MESSAGES).rev() {
                rank.send(1, label(message), message.to_le_bytes().into());
            }
        } else {
            let receives: Vec<_> =
                (0..MESSAGES).map(|message| rank.recv(from(0, message), 8)).collect();
            rank.send(0, label(u64::MAX), Vec::new());
            for (message, ticket) in (0..MESSAGES).zip(receives) {
                assert_eq!(rank.wait(ticket).data(), message.to_le_bytes());
            }
        }
    });
}

/// Everybody sends to everybody, itself included, in every size, with a few receives from anyone
/// among the others. Contents prove order and wholeness.
pub(crate) fn random_traffic_between_all(kind: Kind) {
    for ranks in 2..=5 {
        let seed = 0x5eed << 8 | ranks as u64;
        println!("seed {seed:#x}");
        run(kind, ranks, |rank| traffic(rank, seed));
    }
}

/// Messages that each rank sends to each.
const EACH: u64 = 150;

/// The length of one message, known to both sides.
fn size(seed: u64, from: u32, to: u32, message: u64) -> usize {
    let mut random = Random(seed ^ u64::from(from) << 48 ^ u64::from(to) << 32 ^ message);
    let most = match random.below(10) {
        0..5 => 64,
        5..8 => EAGER as u64 + 2,
        8 => LARGE as u64,
        _ => 20 * LARGE as u64,
    };
    random.below(most + 1) as usize
}

fn contents(seed: u64, from: u32, to: u32, message: u64) -> Vec<u8> {
    let name = u64::from(from) << 40 | u64::from(to) << 32 | message;
    pattern(seed ^ name, size(seed, from, to, message))
}

fn traffic(rank: &mut Rank, seed: u64) {
    let (me, world) = (rank.me(), rank.world());
    let mut random = Random(seed ^ u64::from(me) << 56);
    // For each peer, how many messages to it and from it have been posted.
    let mut posted = vec![[0; 2]; world as usize];
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    while posted.iter().flatten().sum::<u64>() < 2 * EACH * u64::from(world) {
        let peer = random.below(world.into()) as u32;
        let direction = random.below(2) as usize;
        let message = posted[peer as usize][direction];
        if message == EACH {
            continue;
        }
        posted[peer as usize][direction] += 1;
        if direction == 0 {
            let data = contents(seed, me, peer, message);
            sends.push(rank.send(peer, label(peer.into()), data));
        } else {
            let room = size(seed, peer, me, message) + random.below(9) as usize;
            receives.push((rank.recv(from(peer, me.into()), room), peer, message));
        }
        if random.below(3) == 0 {
            rank.progress();
        }
    }
    for (ticket, peer, message) in receives {
        let ended = rank.wait(ticket);
        let is_whole = ended.data() == contents(seed, peer, me, message);
        assert!(is_whole, "message {message} from {peer} to {me} with seed {seed:#x}");
    }
    rank.wait_all(sends);
}

/// Receives from anyone get every message once.
pub(crate) fn everyone_to_one(kind: Kind) {
    const MESSAGES: u64 = 2000;
    run(kind, 4, |rank| {
        if rank.me() > 0 {
            for message in 0..MESSAGES {
                let bytes = if message % 50 == 0 { LARGE } else { 8 };
                rank.send(0, label(message), pattern(message, bytes));
            }
            return;
        }
        let mut next = [0; 4];
        for _ in 0..3 * MESSAGES {
            let ticket = rank.recv(anyone(None), LARGE);
            let ended = rank.wait(ticket);
            let received = ended.outcome.as_ref().unwrap();
            let Peer(source) = received.source;
            assert_eq!({ received.tag }, next[source as usize], "in the order of sending");
            assert!(ended.data() == pattern(received.tag, ended.data().len()));
            next[source as usize] += 1;
        }
        assert_eq!(next, [0, MESSAGES, MESSAGES, MESSAGES]);
    });
}
