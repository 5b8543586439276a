//! A rank that begins more operations than it may is refused, and goes on with those it has.

mod worlds;

use std::sync::Arc;

use motet::{
    ANY_SOURCE, ANY_TAG, ErrorClass, ErrorKind, Info, PROC_NULL, Result, Settings, Sum, Tag, World,
};
use worlds::on_ranks_with;

/// spec: 9
#[test]
fn operations_beyond_the_limit_are_refused() {
    let settings = Settings::new().max_pending(100);
    on_ranks_with(2, &settings, |world| {
        let mut kept = world.allreduce_init(vec![1], Sum, &Info::new())?;
        let pending: Vec<_> = (0..99).map(|_| world.ibarrier()).collect::<Result<_, _>>()?;
        let refused = world.ibarrier().expect_err("one more than a hundred");
        assert!(matches!(refused.kind(), ErrorKind::TooManyOperations { limit: 100 }), "{refused}");
        assert_eq!(refused.class(), ErrorClass::NoMem);
        assert!(world.barrier().is_err() && world.barrier_init(&Info::new()).is_err());
        let text = refused.to_string();
        assert!(text.contains("ibarrier on rank"), "{text}");
        // Those that have begun are whole, and there is room again when they are over.
        kept.run()?;
        assert_eq!(kept.output(), [2]);
        pending.into_iter().try_for_each(|each| each.wait())?;
        assert_eq!(world.allreduce_one(1, Sum)?, 2);
        Ok(())
    });
}

/// What each call says that begins a message, where no more operations may begin.
fn refusals(world: &World) -> Vec<(&'static str, Option<ErrorClass>)> {
    fn class<T>(result: Result<T>) -> Option<ErrorClass> {
        result.err().map(|error| error.class())
    }
    let (tag, data) = (Tag(9), Arc::<[u8]>::from([1u8; 9]));
    let sent = || data.clone();
    let (mut got, nobody) = ([0u8; 9], (PROC_NULL, ANY_TAG));
    let found = vec![
        ("send", class(world.send(&data, 0, tag))),
        ("recv", class(world.recv(&mut got, ANY_SOURCE, ANY_TAG))),
        ("isend", class(world.isend(sent(), 0, tag))),
        ("issend", class(world.issend(sent(), 0, tag))),
        ("ibsend", class(world.ibsend(sent(), 0, tag))),
        ("irecv", class(world.irecv(vec![0u8; 9], ANY_SOURCE, tag))),
        ("isendrecv", class(world.isendrecv((sent(), 0, tag), (vec![0u8; 9], 0, tag)))),
        ("isendrecv_replace", class(world.isendrecv_replace(vec![0u8; 9], (0, tag), nobody))),
        ("sendrecv", class(world.sendrecv((&data[..], 0, tag), (&mut got[..], 0, tag)))),
        ("send_init", class(world.send_init(sent(), 0, tag))),
        ("recv_init", class(world.recv_init(vec![0u8; 9], 0, tag))),
        ("iflush_buffer", class(world.iflush_buffer())),
    ];
    assert_eq!(Arc::strong_count(&data), 1, "the buffers of what is refused are given up");
    found
}

/// spec: 9
#[test]
fn messages_beyond_the_limit_are_refused() {
    let settings = Settings::new().max_pending(50);
    on_ranks_with(2, &settings, |world| {
        let other = 1 - world.rank();
        // One message is there already; it is taken when there is no room to receive it.
        world.send(&[1u8], other, Tag(1))?;
        let message = world.mprobe(other, Tag(1))?;
        let begin = |at: u32| world.irecv(vec![0u32], other, Tag(10 + at));
        let pending: Vec<_> = (0..50).map(begin).collect::<Result<_>>()?;
        for (call, class) in refusals(world) {
            assert_eq!(class, Some(ErrorClass::NoMem), "{call}");
        }
        let refused = message.imrecv(vec![0u8]).expect_err("one more than fifty");
        assert!(matches!(refused.kind(), ErrorKind::TooManyOperations { limit: 50 }), "{refused}");
        // What is under way is whole: so it ends when there is room to send what it waits for. Of
        // two ranks that are full neither has any, so one of them gives some up first.
        let mut pending: Vec<_> = pending.into_iter().enumerate().collect();
        let (_, mut last) = pending.pop().expect("fifty");
        last.cancel()?;
        drop(last);
        for at in 0..pending.len() as u32 {
            world.send(&[at], other, Tag(10 + at))?;
        }
        for (at, each) in pending {
            assert_eq!(each.wait()?, [at as u32]);
        }
        world.barrier()
    });
}
