//! Ranks that poll on one core: each kind of poll gives the core to the rank that it waits for.
//!
//! Counted are the polls that find nothing. A rank that keeps its core makes tens of thousands of
//! them until the scheduler gives the core to another.

mod worlds;

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use motet::raw::{self, Request};
use motet::{Communicator, Result, Tag};
use motet_fabric::host::stay_on_one_core;
use worlds::on_ranks;

const TAG: Tag = Tag(7);
const RANKS: usize = 4;
const ROUNDS: usize = 200;
/// Polls in vain for each message, on average: a few before the core is given away, and one each
/// time that it comes back too early, and those for which the rank keeps its core.
const MOST_POLLS: usize = 500;

/// A poll: whether what the rank waits for is there.
type PollFn<'a> = Box<dyn FnMut() -> Result<bool> + 'a>;

/// Receives a message from a rank. Says how many polls were in vain.
type Receive = fn(&Communicator, usize) -> Result<usize>;

/// Polls until it is there. Says how often it was not.
fn polls_until(mut poll: PollFn<'_>) -> Result<usize> {
    let mut polls = 0;
    while !poll()? {
        polls += 1;
    }
    Ok(polls)
}

/// A message goes round; each rank polls for it. Says how often in vain, for each message.
fn polls_of_ring(
    world: &Communicator,
    receive: impl Fn(&Communicator, usize) -> Result<usize>,
) -> Result<usize> {
    let (me, ranks) = (world.rank(), world.size());
    let (before, after) = ((me + ranks - 1) % ranks, (me + 1) % ranks);
    let mut polls = 0;
    for _ in 0..ROUNDS {
        if me == 0 {
            world.send(&[1u8], after, TAG)?;
        }
        polls += receive(world, before)?;
        if me != 0 {
            world.send(&[1u8], after, TAG)?;
        }
    }
    Ok(polls / ROUNDS)
}

/// Each kind of poll that receives a message.
fn receives() -> Vec<(&'static str, Receive)> {
    vec![
        ("test", |world, from| {
            let mut request = world.irecv(vec![0u8], from, TAG)?;
            polls_until(Box::new(|| request.test()))
        }),
        ("a future", |world, from| {
            let mut request = pin!(world.irecv(vec![0u8], from, TAG)?);
            let mut context = Context::from_waker(Waker::noop());
            polls_until(Box::new(|| match request.as_mut().poll(&mut context) {
                Poll::Ready(received) => received.map(|_| true),
                Poll::Pending => Ok(false),
            }))
        }),
        ("iprobe", |world, from| {
            let polls = polls_until(Box::new(|| Ok(world.iprobe(from, TAG)?.is_some())))?;
            world.recv(&mut [0u8], from, TAG)?;
            Ok(polls)
        }),
        ("improbe", |world, from| {
            let mut found = None;
            let polls = polls_until(Box::new(|| {
                found = world.improbe(from, TAG)?;
                Ok(found.is_some())
            }))?;
            found.expect("it was there").mrecv(&mut [0u8])?;
            Ok(polls)
        }),
        ("test_all", |world, from| {
            let mut request = world.irecv(vec![0u8], from, TAG)?;
            polls_until(Box::new(|| motet::test_all(&mut [&mut request])))
        }),
        ("test_any", |world, from| {
            let mut request = world.irecv(vec![0u8], from, TAG)?;
            polls_until(Box::new(|| Ok(motet::test_any(&mut [&mut request])?.is_some())))
        }),
        ("test_some", |world, from| {
            let mut request = world.irecv(vec![0u8], from, TAG)?;
            polls_until(Box::new(|| Ok(!motet::test_some(&mut [&mut request])?.is_empty())))
        }),
        ("raw test", |world, from| {
            let mut request: Request = world.irecv(vec![0u8], from, TAG)?.into();
            polls_until(Box::new(|| Ok(request.test()?.is_some())))
        }),
        ("raw get_status", |world, from| {
            let mut request: Request = world.irecv(vec![0u8], from, TAG)?.into();
            let polls = polls_until(Box::new(|| Ok(request.get_status()?.is_some())))?;
            request.wait()?;
            Ok(polls)
        }),
        ("raw test_all", |world, from| {
            let mut requests = [world.irecv(vec![0u8], from, TAG)?.into()];
            polls_until(Box::new(|| raw::test_all(&mut requests, &mut Vec::new())))
        }),
        ("raw test_any", |world, from| {
            let mut requests: [Request; 1] = [world.irecv(vec![0u8], from, TAG)?.into()];
            polls_until(Box::new(|| Ok(raw::test_any(&mut requests).is_ready())))
        }),
        ("raw test_some", |world, from| {
            let mut requests: [Request; 1] = [world.irecv(vec![0u8], from, TAG)?.into()];
            polls_until(Box::new(|| Ok(raw::test_some(&mut requests, &mut Vec::new())? != Some(0))))
        }),
    ]
}

#[test]
fn a_rank_that_polls_gives_its_core_to_the_one_that_it_waits_for() {
    stay_on_one_core().expect("a thread may choose one of its cores");
    for (name, receive) in receives() {
        let polls = on_ranks(RANKS, |world| polls_of_ring(world, receive));
        assert!(polls.iter().all(|&polls| polls < MOST_POLLS), "{name}: {polls:?} polls in vain");
    }
}

#[test]
fn a_rank_that_polls_for_a_collective_does_so_too() {
    stay_on_one_core().expect("a thread may choose one of its cores");
    let polls = on_ranks(RANKS, |world| {
        let mut polls = 0;
        for _ in 0..ROUNDS {
            let mut request = world.ibarrier()?;
            polls += polls_until(Box::new(|| request.test()))?;
        }
        Ok(polls / ROUNDS)
    });
    assert!(polls.iter().all(|&polls| polls < MOST_POLLS), "{polls:?} polls in vain");
}
