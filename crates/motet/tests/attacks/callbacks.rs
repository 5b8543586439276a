//! Code of the user inside of the library: operators, handlers, copiers and wakers that panic,
//! change their mind, or keep what they are given.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

use motet::op::{commutative, ordered};
use motet::{ErrorHandler, Info, Keyval, Sum};

use super::support::{all_well, outcomes, panic_of};

#[test]
fn an_operator_that_panics_ends_its_rank_and_nobody_hangs() {
    for persistent in [false, true] {
        let ended = outcomes(3, |world| {
            let rank = world.rank();
            let bad = commutative(move |left: u64, right: u64| {
                assert!(rank != 1, "on purpose");
                left + right
            });
            if persistent {
                world.allreduce_init(vec![1u64; 100], bad, &Info::new())?.run()?;
            } else {
                world.allreduce(&[1u64; 100], &mut [0; 100], bad)?;
            }
            world.barrier()
        });
        let failed = match ended {
            Err(_) => true,
            Ok(ranks) => ranks.iter().any(Result::is_err),
        };
        assert!(failed, "somebody is told");
    }
}

#[test]
fn an_operator_that_panics_leaves_the_buffers_valid() {
    let ended = outcomes(2, |world| {
        let mut values = [false; 50];
        let caught = panic_of(|| {
            let bad = commutative(|_: bool, _: bool| -> bool { panic!("on purpose") });
            world.allreduce(&[true; 50], &mut values, bad)
        });
        assert!(super::support::bytes_of(&values).iter().all(|byte| *byte <= 1), "{caught:?}");
        Ok(())
    });
    drop(ended);
}

#[test]
fn an_operator_that_is_not_a_function_gives_some_value_of_it() {
    let calls = AtomicUsize::new(0);
    let calls: &'static AtomicUsize = Box::leak(Box::new(calls));
    let ended = outcomes(3, |world| {
        let odd = ordered(move |left: u64, right: u64| {
            if calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) { left } else { right }
        });
        let mut values = [0u64; 200];
        world.allreduce(&[world.rank() as u64 + 1; 200], &mut values, odd)?;
        assert!(values.iter().all(|value| (1..=3).contains(value)));
        Ok(())
    });
    all_well(ended);
}

#[test]
fn operators_that_disagree_on_commuting_are_told_or_give_some_order() {
    let ended = outcomes(3, |world| {
        let mut values = [0u64; 4];
        let own = [world.rank() as u64 + 1; 4];
        let called = match world.rank() {
            0 => world.allreduce(&own, &mut values, commutative(|a: u64, b: u64| a + b)),
            _ => world.allreduce(&own, &mut values, ordered(|a: u64, b: u64| a + b)),
        };
        assert!(called.is_err() || values == [6; 4] || values.iter().all(|value| *value <= 6));
        Ok(())
    });
    drop(ended);
}

#[test]
fn a_handler_that_panics_unwinds_out_of_the_call() {
    let ended = outcomes(2, |world| {
        let alone = world.alone();
        alone.set_error_handler(ErrorHandler::user(|_, _| panic!("handled")));
        let unwound = panic_of(|| alone.bcast(&mut [0u8], 9));
        assert_eq!(unwound.as_deref(), Some("handled"));
        alone.set_error_handler(ErrorHandler::Return);
        alone.barrier()?;
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn a_handler_that_keeps_its_world_ends_with_it() {
    let ended = outcomes(2, |world| {
        let copy = Arc::new(Mutex::new(Some(world.dup()?)));
        let kept = copy.clone();
        world.set_error_handler(ErrorHandler::user(move |_, _| {
            let copy = kept.lock().expect("nobody panics").take();
            drop(copy);
        }));
        assert!(world.bcast(&mut [0u8], 9).is_err());
        assert!(copy.lock().expect("nobody panics").is_none());
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn attributes_whose_copy_panics_leave_the_communicator_whole() {
    let ended = outcomes(2, |world| {
        let key = Keyval::<u64>::new(|_, _| panic!("copied"), |_, _| Ok(()));
        world.set_attribute(&key, 7)?;
        let alone = world.alone();
        alone.set_attribute(&key, 7)?;
        assert_eq!(panic_of(|| alone.dup()).as_deref(), Some("copied"));
        alone.delete_attribute(&key)?;
        alone.dup()?.barrier()?;
        world.delete_attribute(&key)?;
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn attributes_of_one_key_have_one_type() {
    let ended = outcomes(1, |world| {
        let (one, two) = (Keyval::<u64>::shared(), Keyval::<String>::shared());
        world.set_attribute(&one, 7)?;
        world.set_attribute(&two, "seven".to_owned())?;
        assert_eq!(world.attribute(&one).as_deref(), Some(&7));
        let copy = world.dup()?;
        assert_eq!(copy.attribute(&two).as_deref().map(String::as_str), Some("seven"));
        let weak = one.downgrade();
        drop(one);
        assert!(weak.upgrade().is_none_or(|key| world.attribute(&key).as_deref() == Some(&7)));
        Ok(())
    });
    all_well(ended);
}

/// A waker that panics.
struct Bad;

impl Wake for Bad {
    fn wake(self: Arc<Self>) {
        panic!("woken");
    }
}

#[test]
fn a_waker_that_panics_does_not_stop_the_engine() {
    let ended = outcomes(2, |world| {
        let mut request = pin!(world.iallreduce(vec![1u64; 10], Sum)?);
        let waker = Waker::from(Arc::new(Bad));
        if world.rank() == 0 {
            let mut context = Context::from_waker(&waker);
            let polled = panic_of(|| request.as_mut().poll(&mut context).is_ready());
            assert!(polled.is_none() || polled.as_deref() == Some("woken"));
        }
        let caught = panic_of(|| world.barrier());
        if caught.is_some() {
            world.barrier()?;
        }
        Ok(())
    });
    drop(ended); // a panic may end the rank; the others are told
}
