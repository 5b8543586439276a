//! Communicators: how they are made, that they keep apart, and how they come and go.

mod worlds;

use std::fs;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, PoisonError, RwLock, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use motet::{
    ANY_SOURCE, ANY_TAG, Communicator, CommunicatorRequest, Comparison, Error, ErrorClass, Group,
    Info, Pending, Result, SplitType, Sum, Tag, World, raw, wait_all, wait_any,
};

const WORLDS: [usize; 6] = [1, 2, 3, 4, 5, 7];
const TAG: Tag = Tag(5);

/// Held for reading by all tests, for writing by the one that measures the process.
static CALM: RwLock<()> = RwLock::new(());

/// Runs `body` on each rank, while nobody measures.
fn on_ranks<T: Send>(ranks: usize, body: impl Fn(&World) -> Result<T> + Sync) -> Vec<T> {
    let _calm = CALM.read().unwrap_or_else(PoisonError::into_inner);
    worlds::on_ranks(ranks, body)
}

/// Runs `body` on each rank of a world of each size.
fn on_worlds(body: impl Fn(&World) -> Result<()> + Sync) {
    for ranks in WORLDS {
        on_ranks(ranks, &body);
    }
}

/// That a communicator has these ranks of the world and carries operations of all forms.
#[track_caller]
fn works(comm: &Communicator, world_ranks: &[usize]) -> Result<()> {
    assert!(comm.group().world_ranks().eq(world_ranks.iter().copied()), "{:?}", comm.group());
    assert_eq!(comm.place_in(comm.group()), Some(comm.rank()));
    let me = world_ranks[comm.rank()];
    let sum: usize = world_ranks.iter().sum();
    assert_eq!(comm.allreduce_one(me, Sum)?, sum);
    let all = comm.iallgather((vec![me], vec![0; comm.size()]))?;
    assert_eq!(all.wait()?.1, world_ranks);
    let persistent = comm.allreduce_init(vec![me], Sum, &Info::new())?;
    assert_eq!(persistent.start()?.wait()?.output(), [sum]);
    let (next, last) = ((comm.rank() + 1) % comm.size(), comm.rank() + comm.size() - 1);
    let sent = comm.isend(vec![me], next, TAG)?;
    let (got, status) = comm.irecv(vec![0], ANY_SOURCE, ANY_TAG)?.wait_with_status()?;
    sent.wait()?;
    assert_eq!((got[0], status.source), (world_ranks[last % comm.size()], last % comm.size()));
    Ok(())
}

fn everybody(world: &World) -> Vec<usize> {
    (0..world.size()).collect()
}

/// The ranks of one parity, the highest first.
fn of_parity(world: &World, parity: usize) -> Vec<usize> {
    (0..world.size()).rev().filter(|rank| rank % 2 == parity).collect()
}

#[test]
fn comparison_tells_context_order_and_members() {
    on_worlds(|world| {
        let (ranks, me) = (world.size(), world.rank());
        let copy = world.dup()?;
        assert_eq!(world.compare(world), Comparison::Identical);
        assert_eq!((world.compare(&copy), copy.compare(world)), both(Comparison::Congruent));
        let turned = world.split(Some(0), -(me as i64))?.expect("all have the colour");
        let same = if ranks == 1 { Comparison::Congruent } else { Comparison::Similar };
        assert_eq!((world.compare(&turned), turned.compare(&copy)), both(same));
        let alone = world.alone();
        let other = if ranks == 1 { Comparison::Congruent } else { Comparison::Unequal };
        assert_eq!((world.compare(&alone), alone.compare(world)), both(other));
        Ok(())
    });
}

fn both<T: Copy>(value: T) -> (T, T) {
    (value, value)
}

#[test]
fn communicators_of_other_worlds_are_unequal() {
    on_ranks(1, |world| {
        let _other = motet::threads(1, |other| {
            assert_eq!(world.compare(&other), Comparison::Unequal);
        })?;
        Ok(())
    });
}

#[test]
fn names_are_local_and_not_inherited() {
    on_ranks(2, |world| {
        assert_eq!((world.name(), world.alone().name()), ("world".into(), "alone".into()));
        let copy = world.dup()?;
        assert_eq!(copy.name(), "");
        copy.set_name(format!("copy of rank {}", world.rank()));
        assert_eq!(copy.name(), format!("copy of rank {}", world.rank()));
        assert_eq!(copy.dup()?.name(), "");
        copy.set_name("");
        assert_eq!(copy.name(), "");
        Ok(())
    });
}

#[test]
fn hints_stay_with_the_communicator_they_were_given_to() {
    on_ranks(3, |world| {
        let info = Info::new().with("nobody_knows_this", "yes");
        assert_eq!(world.info(), Info::new());
        for hinted in [world.dup_with_info(&info)?, world.idup_with_info(&info)?.wait()?] {
            assert_eq!(hinted.info().get("nobody_knows_this"), Some("yes"));
            works(&hinted, &everybody(world))?;
            assert_eq!(hinted.dup()?.info(), Info::new());
        }
        Ok(())
    });
}

/// spec: 23
#[test]
fn a_rank_alone_needs_nobody() {
    on_worlds(|world| {
        // Ranks that do this a different number of times still agree on what they make together.
        for _ in 0..=world.rank() {
            let alone = world.alone();
            works(&alone, &[world.rank()])?;
            works(&alone.dup()?, &[world.rank()])?;
            let again = alone.create_group(alone.group(), TAG)?;
            works(&again, &[world.rank()])?;
            assert_eq!(alone.compare(&world.alone()), Comparison::Congruent);
        }
        works(&world.dup()?, &everybody(world))
    });
}

#[test]
fn create_serves_members_and_gives_others_nothing() {
    on_worlds(|world| {
        let even = of_parity(world, 0);
        let group = world.group().include(&even)?;
        let made = world.create(&group)?;
        assert_eq!(made.is_some(), group.rank_of(world.rank()).is_some());
        if let Some(made) = made {
            works(&made, &even)?;
        }
        assert!(world.create(&Group::empty())?.is_none());
        works(&world.create(world.group())?.expect("a member"), &everybody(world))
    });
}

#[test]
fn create_makes_disjoint_groups_at_once() {
    on_worlds(|world| {
        let own = of_parity(world, world.rank() % 2);
        let made = world.create(&world.group().include(&own)?)?.expect("a member");
        works(&made, &own)?;
        // Once more, of a communicator whose ranks are not those of the world.
        let turned = made.group().include(&(0..made.size()).rev().collect::<Vec<_>>())?;
        let made = made.create(&turned)?.expect("a member");
        works(&made, &own.into_iter().rev().collect::<Vec<_>>())
    });
}

#[test]
fn create_finds_groups_that_differ() {
    on_ranks(3, |world| {
        let order: &[usize] = if world.rank() == 2 { &[1, 0, 2] } else { &[0, 1, 2] };
        let error = world.create(&world.group().include(order)?).unwrap_err();
        let other = if world.rank() == 2 { 1 } else { 2 };
        let text = format!(
            "rank {other} is in the group, but passed another group; pass one group on all members"
        );
        assert_eq!(error.to_string(), format!("create on rank {}: {text}", world.rank()));
        assert_eq!(error.class(), ErrorClass::Group);
        works(&world.dup()?, &everybody(world))
    });
}

#[test]
fn groups_that_do_not_fit_are_refused() {
    on_ranks(3, |world| {
        let rest = world.split((world.rank() > 0).then_some(0), 0)?;
        if let Some(rest) = rest {
            let refusals = [
                rest.create(world.group()).map(drop),
                rest.create_group(world.group(), TAG).map(drop),
            ];
            for (refusal, call) in refusals.into_iter().zip(["create", "create_group"]) {
                let error = refusal.unwrap_err();
                let text = "rank 0 of the world is in the group, but not in the communicator; \
                            pass a group of members of the communicator";
                assert_eq!(error.to_string(), format!("{call} on rank {}: {text}", rest.rank()));
                assert_eq!(error.class(), ErrorClass::Group);
            }
            works(&rest, &[1, 2])?;
        }
        let others = world.group().exclude(&[world.rank()])?;
        let error: Error = world.create_group(&others, TAG).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Group);
        Ok(())
    });
}

/// spec: 12
#[test]
fn create_group_asks_members_only() {
    on_worlds(|world| {
        let odd = of_parity(world, 1);
        if world.rank() % 2 == 1 {
            let group = world.group().include(&odd)?;
            for _ in 0..3 {
                works(&world.create_group(&group, TAG)?, &odd)?;
            }
        }
        // The others are here already, and count the same collectives.
        works(&world.dup()?, &everybody(world))
    });
}

/// spec: 10, 12, 16
#[test]
fn create_group_meets_no_other_traffic_of_its_parent() {
    on_worlds(|world| {
        let wild = world.irecv(vec![0u64; 4], ANY_SOURCE, ANY_TAG)?;
        let pending = world.iallreduce(vec![1; 3000], Sum)?;
        let persistent = world.allreduce_init(vec![1], Sum, &Info::new())?.start()?;
        // Its number would be that of the first collective, and its tag that of the messages.
        let made: Vec<Communicator> = [Tag(0), TAG, Tag(u32::MAX)]
            .map(|tag| world.create_group(world.group(), tag))
            .into_iter()
            .collect::<Result<_>>()?;
        world.send(&[7u64], (world.rank() + 1) % world.size(), TAG)?;
        assert_eq!(wild.wait()?[0], 7);
        assert_eq!(pending.wait()?, vec![world.size(); 3000]);
        assert_eq!(persistent.wait()?.output(), [world.size()]);
        for (at, one) in made.iter().enumerate() {
            works(one, &everybody(world))?;
            assert!(made[..at].iter().all(|other| other.compare(one) == Comparison::Congruent));
        }
        Ok(())
    });
}

/// Every pair of ranks makes a communicator, while the pairs overlap.
///
/// spec: 10
#[test]
fn create_group_of_overlapping_groups() {
    on_worlds(|world| {
        let me = world.rank();
        for (low, high) in (0..world.size()).flat_map(|a| (0..a).map(move |b| (b, a))) {
            // Of two pairs with a common member both lead now and then.
            let pair = if (low + high) % 2 == 0 { [low, high] } else { [high, low] };
            if pair.contains(&me) {
                let made = world.create_group(&world.group().include(&pair)?, TAG)?;
                works(&made, &pair)?;
            }
        }
        Ok(())
    });
}

/// What the third rank sends for its communicator reaches the first one while that waits for
/// another rank in a call with the same tag.
#[test]
fn create_group_while_another_one_has_the_same_tag() {
    on_ranks(3, |world| {
        let make = |members: [usize; 2]| {
            let made = world.create_group(&world.group().include(&members)?, TAG)?;
            works(&made, &members)
        };
        for turn in 0..4 {
            let pair = |other| if turn % 2 == 0 { [0, other] } else { [other, 0] };
            if world.rank() == 1 {
                thread::sleep(Duration::from_millis(50));
            }
            for other in [1, 2].into_iter().filter(|&other| [0, other].contains(&world.rank())) {
                make(pair(other))?;
            }
            world.barrier()?;
        }
        Ok(())
    });
}

#[test]
fn create_group_from_several_threads_by_tag() {
    const THREADS: u32 = 4;
    on_ranks(3, |world| {
        let making = |tag: u32| {
            // The threads of odd ranks come in the opposite order.
            let turn = if world.rank() % 2 == 0 { tag } else { THREADS - 1 - tag };
            thread::sleep(Duration::from_millis(20) * turn);
            let made = world.create_group(world.group(), Tag(tag))?;
            let mut tags = [0; 3];
            made.allgather(&[tag], &mut tags)?;
            assert_eq!(tags, [tag; 3], "threads with different tags have met");
            works(&made, &everybody(world))
        };
        thread::scope(|scope| {
            let all: Vec<_> = (0..THREADS).map(|tag| scope.spawn(move || making(tag))).collect();
            all.into_iter().try_for_each(|each| each.join().expect("no thread panics"))
        })
    });
}

#[test]
fn split_type_brings_the_machine_together() {
    on_worlds(|world| {
        let key = -(world.rank() as i64);
        let shared = world.split_type(Some(SplitType::Shared), key)?.expect("it asked");
        let turned: Vec<_> = (0..world.size()).rev().collect();
        works(&shared, &turned)?;
        let some = world.split_type((world.rank() > 0).then_some(SplitType::Shared), 0)?;
        assert_eq!(some.is_some(), world.rank() > 0);
        some.map_or(Ok(()), |some| works(&some, &everybody(world)[1..]))
    });
}

#[test]
fn idup_overlaps_with_other_operations_of_its_parent() {
    on_worlds(|world| {
        let mut copies = Vec::new();
        let mut sums = Vec::new();
        for round in 0..10 {
            copies.push(world.idup()?);
            sums.push(world.iallreduce(vec![round; 700], Sum)?);
        }
        // In the opposite order.
        while let (Some(copy), Some(sum)) = (copies.pop(), sums.pop()) {
            assert_eq!(sum.wait()?, vec![world.size() * copies.len(); 700]);
            works(&copy.wait()?, &everybody(world))?;
        }
        Ok(())
    });
}

/// Whoever is first told that it is complete has the copy delivered, also if the request stays.
#[test]
fn a_copy_is_delivered_by_a_request_without_a_type() {
    on_worlds(|world| {
        let pending = || {
            let (here, copy) = mpsc::channel();
            let deliver = move |made| {
                let _ = here.send(made);
            };
            Ok::<_, Error>((world.idup()?.into_raw(deliver), copy))
        };
        let (mut waited, copy) = pending()?;
        assert!(copy.try_recv().is_err(), "nobody has been told yet");
        waited.wait()?;
        works(&copy.recv().expect("it is there"), &everybody(world))?;

        let (asked, copy) = pending()?;
        let (mut asked, mut statuses) = ([asked], Vec::new());
        while !raw::get_status_all(&mut asked, &mut statuses)? {}
        works(&copy.try_recv().expect("it is there"), &everybody(world))?;
        assert!(asked[0].is_active());
        raw::wait_all(&mut asked, &mut statuses)?;
        assert!(asked[0].is_null() && copy.try_recv().is_err(), "it comes once");

        // One that is given up is never there, and nobody waits for it.
        let (given_up, copy) = pending()?;
        drop(given_up);
        world.barrier()?;
        assert!(copy.try_recv().is_err());
        works(world, &everybody(world))
    });
}

#[test]
fn idup_waits_for_nobody_and_outlives_its_parent() {
    on_ranks(3, |world| {
        let parent = world.dup()?;
        let mut pending = parent.idup()?;
        drop(parent);
        world.barrier()?;
        while !pending.test()? {
            thread::yield_now();
        }
        let copy = pending.wait()?;
        works(&copy, &everybody(world))?;
        // Nobody waits for these; they go on and hinder nobody.
        drop(copy.idup()?);
        let again = copy.dup()?;
        drop(copy);
        works(&again, &everybody(world))
    });
}

#[test]
fn idup_in_sets_with_others() {
    on_worlds(|world| {
        let mut copies = [world.idup()?, world.idup()?];
        let mut sum = world.iallreduce(vec![1], Sum)?;
        let [first, second] = &mut copies;
        let mut named = Vec::new();
        while let Some(at) = wait_any(&mut [first, &mut sum, second])? {
            named.push(at);
        }
        named.sort_unstable();
        assert_eq!(named, [0, 1, 2]);
        wait_all(&mut copies.each_mut().map(|copy| copy as &mut dyn Pending))?;
        copies.into_iter().try_for_each(|copy| works(&copy.wait()?, &everybody(world)))
    });
}

#[test]
fn idup_can_be_awaited() {
    on_worlds(|world| {
        let copy = block_on(world.idup()?)?;
        works(&copy, &everybody(world))
    });
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs one future, asleep between its wake-ups.
fn block_on(future: CommunicatorRequest) -> Result<Communicator> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park(),
        }
    }
}

/// spec: 7, 55
#[test]
fn operations_outlive_every_kind_of_communicator() {
    on_worlds(|world| {
        let made = [
            world.dup()?,
            world.idup()?.wait()?,
            world.create(world.group())?.expect("a member"),
            world.create_group(world.group(), TAG)?,
            world.split_type(Some(SplitType::Shared), 0)?.expect("it asked"),
        ];
        let mut begun = Vec::new();
        for comm in made {
            let sum = comm.allreduce_init(vec![1; 10], Sum, &Info::new())?;
            begun.push((comm.iallreduce(vec![1; 10], Sum)?, sum));
            drop(comm);
        }
        for (pending, persistent) in begun {
            let running = persistent.start()?;
            assert_eq!(pending.wait()?, vec![world.size(); 10]);
            let persistent = running.wait()?.start()?.wait()?;
            assert_eq!(persistent.output(), vec![world.size() * world.size(); 10]);
        }
        Ok(())
    });
}

/// spec: 48
#[test]
fn starts_of_several_communicators_mix() {
    on_worlds(|world| {
        let (mut one, mut other) = (world.dup()?, world.create_group(world.group(), TAG)?);
        if world.rank() % 2 == 1 {
            // The order on one rank means nothing to another.
            std::mem::swap(&mut one, &mut other);
        }
        let inits = [&one, &other].map(|comm| comm.allreduce_init(vec![1], Sum, &Info::new()));
        let [first, second] = inits;
        let next = (world.rank() + 1) % world.size();
        let (first, second) = motet::start_all((first?, second?))?;
        let sent = world.isend(vec![world.rank()], next, TAG)?;
        let got = world.irecv(vec![0], ANY_SOURCE, TAG)?;
        assert_eq!(second.wait()?.output(), [world.size()]);
        assert_eq!(got.wait()?, [(world.rank() + world.size() - 1) % world.size()]);
        assert_eq!(first.wait()?.output(), [world.size()]);
        sent.wait().map(drop)
    });
}

#[test]
fn errors_name_the_call_that_was_made() {
    on_ranks(2, |world| {
        if world.rank() == 0 {
            return Ok(());
        }
        // Rank 0 has left, or is about to.
        let errors = [
            ("dup", world.dup().map(drop)),
            ("idup", world.idup()?.wait().map(drop)),
            ("split", world.split(Some(0), 0).map(drop)),
            ("split_type", world.split_type(Some(SplitType::Shared), 0).map(drop)),
            ("create", world.create(world.group()).map(drop)),
            ("create_group", world.create_group(world.group(), TAG).map(drop)),
        ];
        for (call, result) in errors {
            let text = result.unwrap_err().to_string();
            assert!(text.starts_with(&format!("{call} on rank 1: ")), "{call}: {text}");
        }
        Ok(())
    });
}

/// Memory of this process, in bytes.
fn resident() -> usize {
    let text = fs::read_to_string("/proc/self/statm").expect("Linux tells the size of a process");
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.expect("the second number counts resident pages") * 4096
}

/// spec: 138
#[test]
fn communicators_of_every_kind_come_and_go_without_a_trace() {
    const WARM: u32 = 1_000;
    const ROUNDS: u32 = 100_000;
    let _alone = CALM.write().unwrap_or_else(PoisonError::into_inner);
    worlds::on_ranks(2, |world| {
        let mut before = 0;
        for round in 0..ROUNDS + WARM {
            if round == WARM {
                before = resident();
            }
            let key = i64::from(round);
            match round % 5 {
                0 => drop(world.idup()?.wait()?),
                1 => drop(world.create(world.group())?),
                2 => drop(world.create_group(world.group(), Tag(round))?),
                3 => drop(world.split_type(Some(SplitType::Shared), key)?),
                _ => drop(world.alone().dup()?),
            }
        }
        assert!(resident().saturating_sub(before) < 8 << 20, "memory grew");
        Ok(())
    });
}
