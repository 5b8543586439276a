//! A receive that is dropped before its message comes, while it comes, and after it has come.

use motet::{ANY_SOURCE, ANY_TAG, Result, Tag, World};

const TAG: Tag = Tag(6);
/// What goes by different ways: nothing, a cell, several cells, and memory of its own.
const LENS: [usize; 4] = [0, 8, 5000, 1 << 20];

/// On two ranks: rank 0 sends, rank 1 receives.
pub(crate) fn all(world: &World) -> Result<()> {
    for len in LENS {
        for round in [before, race, after, other_requests] {
            round(world, len)?;
            world.barrier()?;
        }
    }
    Ok(())
}

/// Receives a message that must have this in it.
fn receive(world: &World, len: usize, value: u8) -> Result<()> {
    let mut room = vec![0u8; len];
    assert_eq!(world.recv(&mut room, 0, TAG)?.bytes, len);
    assert!(room.iter().all(|&byte| byte == value), "another message was received");
    Ok(())
}

/// The message is sent when the receive has been dropped, whatever that was for.
fn before(world: &World, len: usize) -> Result<()> {
    if world.rank() == 1 {
        drop(world.irecv(vec![9u8; len], 0, TAG)?);
        drop(world.irecv(vec![9u8; len], ANY_SOURCE, ANY_TAG)?);
        drop(world.recv_init(vec![9u8; len], 0, TAG)?.start()?);
        let mut in_field = world.recv_init(vec![9u8; len], 0, TAG)?;
        in_field.begin()?;
        drop(in_field);
        world.send(&[0u8], 0, Tag(1))?;
        return receive(world, len, 4);
    }
    world.recv(&mut [0u8], 1, Tag(1))?;
    world.send(&vec![4u8; len], 1, TAG)
}

/// Whether the message has come first or not: it is received twice or never by nobody.
fn race(world: &World, len: usize) -> Result<()> {
    const ROUNDS: u8 = 50;
    if world.rank() == 0 {
        let sent: Vec<_> =
            (0..ROUNDS).map(|at| world.isend(vec![at; len], 1, TAG)).collect::<Result<_>>()?;
        let end = world.isend(vec![ROUNDS; len], 1, Tag(7))?;
        sent.into_iter().try_for_each(|sent| sent.wait().map(drop))?;
        return end.wait().map(drop);
    }
    let mut dropped = 0;
    for _ in 0..ROUNDS / 2 {
        drop(world.irecv(vec![0u8; len], 0, TAG)?);
        dropped += 1;
    }
    // Those that have met a message have taken it: what is left comes in its order.
    let mut last = None;
    world.recv(&mut vec![0u8; len], 0, Tag(7))?;
    let mut left = 0;
    while let Some(message) = world.improbe(0, TAG)? {
        let mut room = vec![0u8; len];
        assert_eq!(message.mrecv(&mut room)?.bytes, len);
        assert!(len == 0 || last < Some(room[0]), "out of order");
        (last, left) = (room.first().copied(), left + 1);
    }
    assert!(left >= u32::from(ROUNDS) - dropped, "{left} messages are left");
    Ok(())
}

/// The message has come and has been met: the receive has taken it, and the next one is another's.
fn after(world: &World, len: usize) -> Result<()> {
    if world.rank() == 0 {
        world.send(&vec![1u8; len], 1, TAG)?;
        return world.send(&vec![2u8; len], 1, TAG);
    }
    world.probe(0, TAG)?;
    let mut taken = world.irecv(vec![0u8; len], 0, TAG)?;
    while !taken.test()? {}
    drop(taken);
    receive(world, len, 2)
}

/// What is no receive goes on as it did.
fn other_requests(world: &World, len: usize) -> Result<()> {
    let other = 1 - world.rank();
    drop(world.isend(vec![3u8; len], other, Tag(2))?);
    drop(world.ibarrier()?);
    let both = (vec![4u8; len], other, Tag(3));
    drop(world.isendrecv(both, (vec![0u8; len], other, Tag(3)))?);
    let mut room = vec![0u8; len];
    world.recv(&mut room, other, Tag(2))?;
    assert!(room.iter().all(|&byte| byte == 3));
    Ok(())
}
