//! Which message meets which receive, and what if they do not fit.

use motet_fabric::{Label, Peer, Received, Selector, Sender, TransferError, TypeCode};

use super::{EAGER, LARGE, Random, SOME_CELLS_BYTES, anyone, from, label, pattern, step};
use crate::support::{Kind, ranks, run};

/// Messages of one label arrive in the order of sending, whatever their sizes, while receives of
/// several labels take turns.
pub(crate) fn order_per_pair_and_label(kind: Kind) {
    const MESSAGES: u64 = 300;
    let bytes = |tag: u64, message: u64| match (tag + message) % 4 {
        0 => LARGE,
        1 => 0,
        2 => EAGER,
        _ => 8,
    };
    run(kind, 2, |rank| {
        let other = 1 - rank.me();
        let mut sent = Vec::new();
        for message in 0..MESSAGES {
            for tag in 0..3 {
                let data = pattern(message << 8 | tag, bytes(tag, message));
                sent.push(rank.send(other, label(tag), data));
            }
        }
        for tag in [2, 0, 1] {
            for message in 0..MESSAGES {
                let receive = rank.recv(from(other, tag), LARGE);
                let expected = pattern(message << 8 | tag, bytes(tag, message));
                assert_eq!(rank.wait(receive).data(), expected, "tag {tag}, message {message}");
            }
        }
        rank.wait_all(sent);
    });
}

/// Every part of a label tells messages apart.
pub(crate) fn context_tag_and_ordinal_keep_apart(kind: Kind) {
    let mut world = ranks(kind, 2);
    let mut labels = Vec::new();
    for context in [0, 7, u64::MAX] {
        for tag in [0, 7, u64::MAX] {
            labels.extend([0, 7, u32::MAX].map(|ordinal| Label { context, tag, ordinal }));
        }
    }
    for early in [true, false] {
        let mut receives = Vec::new();
        for (number, &label) in labels.iter().enumerate().rev() {
            if !early {
                let ticket = world[1].recv(Selector::exactly(Peer(0), label), LARGE);
                receives.push((number, ticket));
            }
        }
        for (number, &label) in labels.iter().enumerate() {
            let bytes = if number % 2 == 0 { 16 } else { LARGE };
            world[0].send(1, label, pattern(number as u64, bytes));
        }
        step(&mut world);
        for (number, &label) in labels.iter().enumerate().rev() {
            if early {
                let ticket = world[1].recv(Selector::exactly(Peer(0), label), LARGE);
                receives.push((number, ticket));
            }
        }
        step(&mut world);
        for (number, ticket) in receives {
            let bytes = if number % 2 == 0 { 16 } else { LARGE };
            let ended = world[1].take(ticket).expect("arrives");
            assert_eq!(ended.data(), pattern(number as u64, bytes));
            assert_eq!({ ended.outcome.unwrap().tag }, labels[number].tag);
        }
    }
}

/// Wildcards: what was posted first, or sent first, goes first, and the receive learns what it got.
pub(crate) fn any_source_and_any_tag(kind: Kind) {
    let mut world = ranks(kind, 3);
    let any = world[2].recv(anyone(None), LARGE);
    let exact = world[2].recv(from(1, 4), LARGE);
    let tagged = world[2].recv(anyone(4), LARGE);
    world[1].send(2, label(4), pattern(1, 9));
    step(&mut world);
    world[1].send(2, label(4), pattern(2, LARGE));
    world[0].send(2, label(4), pattern(3, 10));
    step(&mut world);
    let received = |source, bytes| Ok(Received { source: Peer(source), tag: 4, bytes });
    assert_eq!(world[2].take(any).unwrap().outcome, received(1, 9));
    assert_eq!(world[2].take(exact).unwrap().outcome, received(1, LARGE));
    assert_eq!(world[2].take(tagged).unwrap().outcome, received(0, 10));

    for message in 0..6 {
        world[message % 2].send(2, label(message as u64 / 2), vec![message as u8; message]);
        step(&mut world);
    }
    for message in 0..6_u8 {
        let ticket = world[2].recv(anyone(None), 8);
        let ended = world[2].take(ticket).expect("is there already");
        assert_eq!(ended.data(), vec![message; message.into()]);
    }
}

/// A look at a message that is there, without receiving it.
pub(crate) fn probe_finds_what_a_receive_would_get(kind: Kind) {
    let mut world = ranks(kind, 2);
    assert_eq!(world[1].endpoint().probe(anyone(None)), None);
    world[0].send(1, label(1), pattern(1, LARGE));
    world[0].send(1, label(2), pattern(2, 5));
    step(&mut world[1..]);
    let received = |tag, bytes| Some(Received { source: Peer(0), tag, bytes });
    assert_eq!(world[1].endpoint().probe(anyone(None)), received(1, LARGE));
    assert_eq!(world[1].endpoint().probe(from(0, 2)), received(2, 5));
    assert_eq!(world[1].endpoint().probe(from(0, 3)), None);
    let ticket = world[1].recv(anyone(None), LARGE);
    step(&mut world);
    assert_eq!(world[1].take(ticket).unwrap().data(), pattern(1, LARGE));
    assert_eq!(world[1].endpoint().probe(anyone(None)), received(2, 5));
}

/// A message that is too long is an error of its receive alone: nothing is written, its sender
/// and all other messages go on, whichever side came first.
pub(crate) fn truncation_is_the_receivers_error_alone(kind: Kind) {
    for sent in [9, EAGER, SOME_CELLS_BYTES, LARGE] {
        for room in [0, 8, sent - 1] {
            truncate(kind, sent, room, true);
            truncate(kind, sent, room, false);
        }
    }
}

fn truncate(kind: Kind, sent: usize, room: usize, early: bool) {
    let mut world = ranks(kind, 2);
    let rooms = [8, room, LARGE];
    let mut receives = None;
    if !early {
        receives = Some(rooms.map(|room| world[1].recv(from(0, 1), room)));
    }
    let mut message = 0;
    let sends = [8, sent, LARGE].map(|bytes| {
        message += 1;
        world[0].send(1, label(1), pattern(message, bytes))
    });
    step(&mut world);
    let receives = receives.unwrap_or_else(|| rooms.map(|room| world[1].recv(from(0, 1), room)));
    step(&mut world);

    let [before, long, after] = receives.map(|ticket| world[1].take(ticket).expect("ends"));
    assert_eq!(before.data(), pattern(1, 8));
    assert_eq!(long.outcome, Err(TransferError::truncated(Sender::new(Peer(0), 1), sent, room)));
    assert!(long.memory.iter().all(|&byte| byte == 0xee), "nothing is written");
    assert_eq!(after.data(), pattern(3, LARGE));
    assert!(sends.iter().all(|&ticket| world[0].take(ticket).unwrap().outcome.is_ok()));
    assert!(world[0].endpoint().all_sent());
}

/// Elements of another type are an error of the receive alone; bytes go with everything.
pub(crate) fn types_are_compared(kind: Kind) {
    let (one, two) = (TypeCode(1), TypeCode(2));
    let mut world = ranks(kind, 2);
    for bytes in [0, 8, SOME_CELLS_BYTES, LARGE] {
        for (sent, expected) in
            [(one, two), (one, one), (TypeCode::BYTES, two), (one, TypeCode::BYTES)]
        {
            for early in [true, false] {
                let receive = (!early).then(|| world[1].recv_as(expected, from(0, 1), bytes));
                let send = world[0].send_as(sent, 1, label(1), pattern(1, bytes));
                step(&mut world);
                let receive =
                    receive.unwrap_or_else(|| world[1].recv_as(expected, from(0, 1), bytes));
                step(&mut world);
                assert!(world[0].take(send).unwrap().outcome.is_ok());
                let ended = world[1].take(receive).unwrap();
                if sent.fits(expected) {
                    assert_eq!(ended.data(), pattern(1, bytes));
                } else {
                    let error = TransferError::TypeMismatch {
                        sent,
                        expected,
                        from: Sender::new(Peer(0), 1),
                    };
                    assert_eq!(ended.outcome, Err(error));
                }
            }
        }
    }
}

/// Lengths where the way of a message changes, and those where nothing is there to send.
pub(crate) fn sizes_around_every_limit(kind: Kind) {
    let sizes = [0, 1, 7, 8, 24, 25, EAGER - 1, EAGER, EAGER + 1, 2 * EAGER, 1 << 20, 5 << 20];
    run(kind, 2, |rank| {
        for (tag, bytes) in (0..).zip(sizes) {
            if rank.me() == 0 {
                let ticket = rank.send(1, label(tag), pattern(tag, bytes));
                rank.wait(ticket);
            } else {
                // Room to spare must stay as it was.
                let ticket = rank.recv(from(0, tag), bytes + 64);
                let ended = rank.wait(ticket);
                assert!(ended.data() == pattern(tag, bytes), "{bytes} bytes");
                assert!(ended.memory[bytes..].iter().all(|&byte| byte == 0xee));
            }
        }
    });
}

/// A rank may talk to itself, in either order, at any size.
pub(crate) fn messages_to_oneself(kind: Kind) {
    let mut world = ranks(kind, 1);
    let mut random = Random(11);
    for early in [true, false] {
        for bytes in [0, 8, EAGER, LARGE, 200 * LARGE] {
            let seed = random.next();
            let receive = (!early).then(|| world[0].recv(from(0, 1), bytes));
            let send = world[0].send(0, label(1), pattern(seed, bytes));
            step(&mut world);
            let receive = receive.unwrap_or_else(|| world[0].recv(from(0, 1), bytes));
            step(&mut world);
            assert!(world[0].take(receive).unwrap().data() == pattern(seed, bytes));
            assert!(world[0].take(send).unwrap().outcome.is_ok());
        }
    }
}
