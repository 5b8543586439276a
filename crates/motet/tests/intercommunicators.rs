//! Intercommunicators: how they are made and what is made of them, and messages across.

mod worlds;

use std::sync::{Arc, Mutex};

use motet::{
    ANY_SOURCE, ANY_TAG, BufferRoom, Communicator, Comparison, ErrorClass, ErrorHandler, ErrorKind,
    Group, Info, Intercommunicator, Keyval, MergeOrder, PROC_NULL, Result, Sum, Tag, World,
    start_all,
};
use worlds::on_ranks;

const TAG: Tag = Tag(5);

/// How the ranks of a world are parted: for each rank its colour and its key.
type Parting = fn(usize, usize) -> (u32, i64);

/// By halves, odd and even, one against the others, and the same with the ranks turned round.
const PARTINGS: [Parting; 5] = [
    |rank, ranks| (u32::from(rank >= ranks / 2), 0),
    |rank, _| ((rank % 2) as u32, 0),
    |rank, _| (u32::from(rank == 0), 0),
    |rank, ranks| (u32::from(rank == ranks - 1), -(rank as i64)),
    |rank, _| ((rank % 2) as u32, -(rank as i64)),
];

/// The ranks of the world with a colour, in the order of their keys.
fn side(parting: Parting, ranks: usize, colour: u32) -> Vec<usize> {
    let all = (0..ranks).filter(|&rank| parting(rank, ranks).0 == colour);
    let mut all: Vec<usize> = all.collect();
    all.sort_by_key(|&rank| (parting(rank, ranks).1, rank));
    all
}

/// The two sides of the caller: its own, and the other one.
fn sides(world: &World, parting: Parting) -> [Vec<usize>; 2] {
    let (colour, _) = parting(world.rank(), world.size());
    [side(parting, world.size(), colour), side(parting, world.size(), 1 - colour)]
}

/// An intercommunicator of the two sides, whose leaders are their last ranks.
fn across(world: &World, parting: Parting) -> Result<Intercommunicator> {
    let (colour, key) = parting(world.rank(), world.size());
    let local = world.split(Some(colour), key)?.expect("all have a colour");
    let [_, remote] = sides(world, parting);
    let leader = *remote.last().expect("no side is empty");
    local.intercomm_create(local.size() - 1, Some(world), leader, TAG)
}

fn on_partings(body: impl Fn(&World, Parting) -> Result<()> + Sync) {
    for ranks in [2, 3, 5, 8] {
        for parting in PARTINGS {
            on_ranks(ranks, |world| body(world, parting));
        }
    }
}

/// That an intercommunicator has these groups (as ranks of the world), and carries messages.
#[track_caller]
fn works(across: &Intercommunicator, me: usize, local: &[usize], remote: &[usize]) -> Result<()> {
    assert!(across.group().world_ranks().eq(local.iter().copied()), "{:?}", across.group());
    assert!(across.remote_group().world_ranks().eq(remote.iter().copied()));
    assert_eq!((across.size(), across.remote_size()), (local.len(), remote.len()));
    assert_eq!(local[across.rank()], me);
    let sent: Vec<_> =
        (0..remote.len()).map(|to| across.isend(vec![me, to], to, TAG)).collect::<Result<_>>()?;
    for from in (0..remote.len()).rev() {
        let mut got = [0; 2];
        let status = across.recv(&mut got, from, TAG)?;
        assert_eq!((got, status.source), ([remote[from], across.rank()], from));
    }
    sent.into_iter().try_for_each(|each| each.wait().map(drop))
}

#[test]
fn groups_of_all_shapes_talk_across() {
    on_partings(|world, parting| {
        let [local, remote] = sides(world, parting);
        let across = across(world, parting)?;
        works(&across, world.rank(), &local, &remote)?;
        let copies = [
            across.dup()?,
            across.idup()?.wait()?,
            across.dup_with_info(&Info::new().with("a", "1"))?,
        ];
        assert_eq!(copies[2].info().get("a"), Some("1"));
        for copy in &copies {
            assert_eq!(across.compare(copy), Comparison::Congruent);
            works(copy, world.rank(), &local, &remote)?;
        }
        assert_eq!(across.compare(&across), Comparison::Identical);
        Ok(())
    });
}

#[test]
fn messages_of_every_kind_cross() {
    on_partings(|world, parting| {
        let across = across(world, parting)?;
        let (me, copy) = (across.rank(), across.dup()?);
        let pairs = across.size().min(across.remote_size());
        if me < pairs {
            // What is sent in another communicator is not seen here, nor what is sent to ranks of
            // the own group elsewhere.
            copy.send(&[9u8], me, TAG)?;
            world.send(&[8u8], world.rank(), TAG)?;
            let sent = across.issend(vec![me as u32, 3], me, Tag(1))?;
            let status = across.probe(ANY_SOURCE, ANY_TAG)?;
            assert_eq!((status.source, status.tag, status.bytes), (me, Tag(1), 8));
            let found = across.iprobe(me, Tag(1))?.expect("it has been seen");
            assert_eq!((found.source, across.iprobe(me, TAG)?), (me, None));
            let pending = across.irecv(vec![0u32; 2], ANY_SOURCE, ANY_TAG)?;
            let (got, status) = pending.wait_with_status()?;
            assert_eq!((got, status.source), (vec![me as u32, 3], me));
            sent.wait()?;
            let mut got = [0usize];
            let outgoing = (&[world.rank()][..], me, TAG);
            let status = across.sendrecv(outgoing, (&mut got[..], ANY_SOURCE, TAG))?;
            let remote = across.remote_group().world_ranks().nth(me);
            assert_eq!((status.source, Some(got[0])), (me, remote));
            copy.recv(&mut [0u8], me, TAG)?;
            world.recv(&mut [0u8], world.rank(), TAG)?;
        }
        let beyond = across.remote_size();
        let refused = across.send(&[1], beyond, TAG).expect_err("no such rank");
        assert_eq!((refused.class(), refused.rank()), (ErrorClass::Rank, Some(me)));
        Ok(())
    });
}

/// That a communicator has these ranks of the world, and that its collectives work.
#[track_caller]
fn is_whole(merged: &Communicator, world_ranks: &[usize]) -> Result<()> {
    assert!(merged.group().world_ranks().eq(world_ranks.iter().copied()), "{:?}", merged.group());
    assert_eq!(merged.allreduce_one(1, Sum)?, world_ranks.len());
    let me = world_ranks[merged.rank()];
    let all = merged.iallgather((vec![me], vec![0; merged.size()]))?.wait()?.1;
    assert_eq!(all, world_ranks);
    Ok(())
}

#[test]
fn merged_groups_are_in_the_order_they_ask_for() {
    use MergeOrder::{First, Last};
    on_partings(|world, parting| {
        let across = across(world, parting)?;
        let (colour, _) = parting(world.rank(), world.size());
        let zero = side(parting, world.size(), 0);
        let one = side(parting, world.size(), 1);
        let (zero_first, one_first) =
            ([&zero[..], &one[..]].concat(), [&one[..], &zero[..]].concat());
        let left = if zero[0] < one[0] { &zero_first } else { &one_first };
        let cases = [
            (First, Last, &zero_first),
            (Last, First, &one_first),
            (First, First, left),
            (Last, Last, left),
        ];
        for (of_zero, of_one, expected) in cases {
            let merged = across.merge(if colour == 0 { of_zero } else { of_one })?;
            is_whole(&merged, expected)?;
        }
        Ok(())
    });
}

#[test]
fn ranks_that_do_not_agree_on_the_order_are_told() {
    on_ranks(4, |world| {
        let across = across(world, PARTINGS[0])?;
        let order = if world.rank() == 3 { MergeOrder::Last } else { MergeOrder::First };
        let refused = across.merge(order).expect_err("ranks 2 and 3 do not agree");
        assert_eq!(refused.class(), ErrorClass::NotSame);
        is_whole(&across.merge(MergeOrder::First)?, &[0, 1, 2, 3])
    });
}

#[test]
fn split_pairs_the_colours_of_both_groups() {
    on_ranks(7, |world| {
        // Left 0 2 4 6, right 1 3 5. Colours: 0 of {0, 4} and {1}; 1 of {2} and {3}; 2 of {6} only;
        // none at rank 5.
        let across = across(world, PARTINGS[1])?;
        let me = world.rank();
        let colour = [Some(0), Some(0), Some(1), Some(1), Some(0), None, Some(2)][me];
        let part = across.split(colour, -(me as i64))?;
        assert_eq!(part.is_some(), me < 5);
        let Some(part) = part else { return Ok(()) };
        match me {
            0 | 4 => works(&part, me, &[4, 0], &[1]),
            1 => works(&part, me, &[1], &[4, 0]),
            2 => works(&part, me, &[2], &[3]),
            _ => works(&part, me, &[3], &[2]),
        }
    });
}

#[test]
fn create_takes_a_part_of_each_group() {
    on_ranks(7, |world| {
        let across = across(world, PARTINGS[1])?;
        let (me, even) = (world.rank(), world.rank() % 2 == 0);
        let [left, right] = [[4, 0], [5, 3]].map(|ranks| world.group().include(&ranks));
        let part = across.create(&if even { left? } else { right? })?;
        assert_eq!(part.is_some(), [0, 3, 4, 5].contains(&me));
        if let Some(part) = part {
            let sides: [&[usize]; 2] = [&[4, 0], &[5, 3]];
            works(&part, me, sides[usize::from(!even)], sides[usize::from(even)])?;
        }
        // With nobody on one side there is nothing to talk to.
        let empty = if even { across.group().clone() } else { Group::empty() };
        assert!(across.create(&empty)?.is_none());
        let own = across.group().include(&[if me == 2 { 1 } else { 0 }])?;
        let refused = across.create(&own).expect_err("rank 2 passes another group");
        assert_eq!(refused.class(), ErrorClass::Group);
        let foreign = across.create(across.remote_group()).expect_err("not of the local group");
        assert_eq!(foreign.class(), ErrorClass::Group);
        works(&across, me, &if even { vec![0, 2, 4, 6] } else { vec![1, 3, 5] }, &{
            if even { vec![1, 3, 5] } else { vec![0, 2, 4, 6] }
        })
    });
}

#[test]
fn several_threads_make_several_at_once() {
    on_ranks(4, |world| {
        let half = world.split(Some((world.rank() % 2) as u32), 0)?.expect("all have a colour");
        let copies: Vec<Communicator> = (0..4).map(|_| half.dup()).collect::<Result<_>>()?;
        let me = world.rank();
        let make = &|tag: usize, local: &Communicator| -> Result<()> {
            let across = local.intercomm_create(0, Some(world), 1 - me % 2, Tag(tag as u32))?;
            let [even, odd] = [[0, 2], [1, 3]];
            let (here, there) = if me % 2 == 0 { (even, odd) } else { (odd, even) };
            works(&across, me, &here, &there)
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = copies
                .iter()
                .enumerate()
                .map(|(tag, local)| scope.spawn(move || make(tag, local)))
                .collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
        })
    });
}

#[test]
fn groups_with_a_rank_in_common_are_refused() {
    on_ranks(3, |world| {
        // {0, 1} and {1, 2}: rank 1 calls for both, from two threads.
        let left = world.group().include(&[0, 1])?;
        let right = world.group().include(&[1, 2])?;
        let me = world.rank();
        let left = if me < 2 { Some(world.create_group(&left, Tag(1))?) } else { None };
        let right = if me > 0 { Some(world.create_group(&right, Tag(2))?) } else { None };
        let class = |made: Result<Intercommunicator>| made.expect_err("rank 1 is in both").class();
        std::thread::scope(|scope| {
            if let Some(left) = &left {
                scope.spawn(move || {
                    let made = left.intercomm_create(0, Some(world), 2, TAG);
                    assert_eq!(class(made), ErrorClass::Group);
                });
            }
            if let Some(right) = &right {
                let made = right.intercomm_create(1, Some(world), 0, TAG);
                assert_eq!(class(made), ErrorClass::Group);
            }
        });
        Ok(())
    });
}

#[test]
fn an_error_of_a_leader_is_one_of_its_group() {
    on_ranks(4, |world| {
        let half = world.split(Some((world.rank() / 2) as u32), 0)?.expect("all have a colour");
        let class = |made: Result<Intercommunicator>| made.expect_err("refused").class();
        let leads = half.rank() == 0;
        let wrong = class(half.intercomm_create(0, Some(world), 9, TAG));
        assert_eq!(wrong, if leads { ErrorClass::Rank } else { ErrorClass::Comm });
        assert_eq!(class(half.intercomm_create(0, None, 0, TAG)), ErrorClass::Comm);
        assert_eq!(class(half.intercomm_create(2, Some(world), 0, TAG)), ErrorClass::Rank);
        let itself = class(half.intercomm_create(0, Some(world), world.rank(), TAG));
        assert_eq!(itself, if leads { ErrorClass::Group } else { ErrorClass::Comm });
        let [here, there] = if world.rank() < 2 { [[0, 1], [2, 3]] } else { [[2, 3], [0, 1]] };
        let peer = leads.then_some(&**world);
        let across = half.intercomm_create(0, peer, there[0], TAG)?;
        works(&across, world.rank(), &here, &there)
    });
}

/// spec: 67
#[test]
fn names_handlers_and_attributes_belong_to_the_whole() {
    on_ranks(3, |world| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let told = seen.clone();
        world.set_error_handler(ErrorHandler::user(move |site, error| {
            let note = (site.rank(), site.size(), site.name(), error.class());
            told.lock().expect("no handler panics").push(note);
        }));
        let across = across(world, PARTINGS[2])?;
        across.set_name("bridge");
        let me = across.rank();
        across.send(&[1], 7, TAG).expect_err("no such rank");
        let notes = std::mem::take(&mut *seen.lock().expect("no handler panics"));
        assert_eq!(notes[0], (me, across.size(), "bridge".into(), ErrorClass::Rank));
        across.set_error_handler(ErrorHandler::Return);
        across.send(&[1], 7, TAG).expect_err("no such rank");
        assert!(seen.lock().expect("no handler panics").is_empty());

        let count = Keyval::new(
            |across: &Intercommunicator, count: &usize| Ok(Some(Arc::new(count + across.rank()))),
            |_, _| Ok(()),
        );
        across.set_attribute(&count, 10)?;
        assert_eq!(across.dup()?.attribute(&count).as_deref(), Some(&(10 + me)));
        assert_eq!(across.dup()?.name(), "");
        assert!(across.delete_attribute(&count)?);
        let stubborn = Keyval::new(
            |_: &Intercommunicator, _: &u8| {
                Err(ErrorKind::Argument { which: "copy", problem: "is refused".into() }.into())
            },
            |_, _| Ok(()),
        );
        across.set_attribute(&stubborn, 1)?;
        across.dup().expect_err("the callback refuses");
        across.free()
    });
}

/// spec: 7
#[test]
fn messages_outlive_their_intercommunicator() {
    on_ranks(2, |world| {
        let across = across(world, PARTINGS[0])?;
        let pending = across.irecv(vec![0; 50_000], 0, TAG)?;
        let sent = across.isend(vec![world.rank(); 50_000], 0, TAG)?;
        drop(across);
        assert_eq!(pending.wait()?, vec![1 - world.rank(); 50_000]);
        sent.wait().map(drop)
    });
}

/// Every way to send and to receive goes to the other group, to rank 0 of it from all.
#[test]
fn messages_of_every_kind_go_across() {
    on_partings(|world, parting| {
        let [local, remote] = sides(world, parting);
        let (across, me) = (across(world, parting)?, world.rank());
        across.attach_buffer(BufferRoom::Automatic)?;
        for length in [0, 7, 20_000] {
            let own = || vec![me; length];
            across.bsend(&own(), 0, TAG)?;
            across.ibsend(own(), 0, TAG)?.wait()?;
            let mut pending = vec![across.irsend(own(), 0, TAG)?, across.issend(own(), 0, TAG)?];
            let stored = vec![
                across.send_init(own(), 0, TAG)?,
                across.ssend_init(own(), 0, TAG)?,
                across.bsend_init(own(), 0, TAG)?,
                across.rsend_init(own(), 0, TAG)?,
            ];
            let stored = start_all(stored)?;
            if across.rank() == 0 {
                takes_all(&across, &remote, length)?;
            }
            pending.drain(..).try_for_each(|each| each.wait().map(drop))?;
            stored.into_iter().try_for_each(|each| each.wait().map(drop))?;
            across.iflush_buffer()?.wait()?;
            across.flush_buffer()?;
            // Who receives from anybody must not meet the next length too early.
            world.barrier()?;
        }
        assert_eq!(across.detach_buffer()?, BufferRoom::Automatic);
        assert_eq!((across.size(), across.remote_size()), (local.len(), remote.len()));
        Ok(())
    });
}

/// Takes eight messages of each rank of the other group: by a matched probe, by a persistent
/// receive, and from whoever has sent.
fn takes_all(across: &Intercommunicator, remote: &[usize], length: usize) -> Result<()> {
    for (from, &sender) in remote.iter().enumerate() {
        let sent = vec![sender; length];
        let message = across.mprobe(from, ANY_TAG)?;
        assert_eq!((message.status().source, message.status().tag), (from, TAG));
        let mut got = vec![0; length];
        assert_eq!(message.mrecv(&mut got)?.source, from);
        assert_eq!(got, sent);
        let message = loop {
            if let Some(message) = across.improbe(from, TAG)? {
                break message;
            }
        };
        assert_eq!(message.imrecv(vec![0; length])?.wait()?, sent);
        let mut receive = across.recv_init(vec![0; length], from, TAG)?;
        for _ in 0..2 {
            receive.run()?;
            assert_eq!(receive.output(), sent);
        }
    }
    for _ in 0..4 * remote.len() {
        let (got, status) =
            across.irecv(vec![0; length], ANY_SOURCE, ANY_TAG)?.wait_with_status()?;
        assert_eq!(got, vec![remote[status.source]; length]);
    }
    Ok(())
}

/// Both groups send and receive at once, in every form and from borrowed buffers; a rank without a
/// partner has nobody.
#[test]
fn ranks_of_both_groups_swap_or_have_nobody() {
    on_partings(|world, parting| {
        let [_, remote] = sides(world, parting);
        let (across, me) = (across(world, parting)?, world.rank());
        let partner = if across.rank() < across.remote_size() { across.rank() } else { PROC_NULL };
        let kept = 9;
        let theirs = remote.get(across.rank()).copied().unwrap_or(kept);
        let (mut got, source) = ([kept; 3], partner);
        let status = across.sendrecv((&[me; 3], partner, TAG), (&mut got[..], partner, TAG))?;
        assert_eq!((got, status.source), ([theirs; 3], source));
        let incoming = (vec![kept; 3], partner, TAG);
        let both = across.isendrecv((vec![me; 3], partner, TAG), incoming)?;
        assert_eq!(both.wait()?.1, [theirs; 3]);
        let kept_own = if partner == PROC_NULL { me } else { theirs };
        let mut replaced = [me; 3];
        across.sendrecv_replace(&mut replaced, (partner, TAG), (partner, ANY_TAG))?;
        assert_eq!(replaced, [kept_own; 3]);
        let replaced =
            across.isendrecv_replace(vec![me; 3], (partner, TAG), (partner, ANY_TAG))?.wait()?;
        assert_eq!(replaced, [kept_own; 3]);
        let (own, mut got) = ([me; 3], [[kept; 3]; 6]);
        let [first, second, third, fourth, fifth, sixth] = &mut got;
        across.attach_buffer(BufferRoom::Automatic)?;
        across.scope(|scope| {
            for got in [first, second, third, fourth] {
                drop(scope.irecv(&mut got[..], partner, Tag(1))?);
            }
            drop(scope.isend(&own[..], partner, Tag(1))?);
            drop(scope.issend(&own[..], partner, Tag(1))?);
            drop(scope.ibsend(&own[..], partner, Tag(1))?);
            drop(scope.irsend(&own[..], partner, Tag(1))?);
            let incoming = (&mut fifth[..], partner, Tag(2));
            drop(scope.isendrecv((&own[..], partner, Tag(2)), incoming)?);
            drop(scope.isend(&own[..], partner, Tag(3))?);
            drop(scope.imrecv(across.mprobe(partner, Tag(3))?, &mut sixth[..])?);
            Ok(())
        })?;
        assert_eq!(got, [[theirs; 3]; 6]);
        across.detach_buffer().map(drop)
    });
}
