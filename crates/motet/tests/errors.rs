//! Errors: their classes, the codes that a program adds, and the handlers of communicators.

mod worlds;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use motet::{
    Communicator, Error, ErrorClass, ErrorCode, ErrorCodes, ErrorHandler, ErrorKind, Group, Info,
    Sum, Tag, TopologyError, World, wait_all,
};
use worlds::{Watchdog, on_ranks};

const TAG: Tag = Tag(3);

#[test]
fn classes_have_the_codes_of_the_standard() {
    let known = [
        (1, "MPI_ERR_BUFFER"),
        (7, "MPI_ERR_REQUEST"),
        (15, "MPI_ERR_TRUNCATE"),
        (19, "MPI_ERR_IN_STATUS"),
        (36, "MPI_ERR_KEYVAL"),
        (55, "MPI_ERR_UNSUPPORTED_OPERATION"),
        (62, "MPI_ERR_ABI"),
    ];
    for (code, name) in known {
        assert_eq!(ErrorClass::from_code(code).map(ErrorClass::name), Some(name));
    }
    assert_eq!(ErrorClass::ALL.len(), 62);
    for &class in ErrorClass::ALL {
        assert_eq!(ErrorClass::from_code(class.code()), Some(class));
        assert!(class.name().starts_with("MPI_ERR_") && !class.description().is_empty());
    }
    for code in [0, -1, 63, 16383, i32::MAX, i32::MIN] {
        assert_eq!(ErrorClass::from_code(code), None);
    }
}

#[test]
fn every_kind_tells_its_class() {
    let text = String::new;
    let kinds = [
        (ErrorKind::Request { problem: text() }, ErrorClass::Request),
        (ErrorKind::Tag { what: "tag", tag: 9, most: 8 }, ErrorClass::Tag),
        (ErrorKind::Buffer { which: "input", problem: text() }, ErrorClass::Buffer),
        (ErrorKind::Op { operator: text(), problem: text() }, ErrorClass::Op),
        (ErrorKind::Root { root: 3, size: 2 }, ErrorClass::Root),
        (ErrorKind::Communicator { problem: text() }, ErrorClass::Comm),
        (ErrorKind::Pending, ErrorClass::Pending),
        (ErrorKind::InStatus { failed: 1, operations: 2, exception: None }, ErrorClass::InStatus),
        (ErrorKind::Keyval { problem: "is not known" }, ErrorClass::Keyval),
        (ErrorKind::Unsupported { what: text(), instead: "" }, ErrorClass::UnsupportedOperation),
        (ErrorKind::NoMemory { what: "a list", bytes: 1 << 50 }, ErrorClass::NoMem),
        (TopologyError::Missing { found: "no", needed: "a graph" }.into(), ErrorClass::Topology),
        (TopologyError::Empty { dimension: 0 }.into(), ErrorClass::Dims),
        (ErrorKind::User { code: ErrorCode(15), text: text() }, ErrorClass::Truncate),
        (ErrorKind::User { code: ErrorCode(20000), text: text() }, ErrorClass::Other),
    ];
    for (kind, class) in kinds {
        let error = motet::Error::from(kind);
        assert_eq!(error.class(), class, "{error}");
    }
}

#[test]
fn a_program_adds_classes_codes_and_texts() -> motet::Result<()> {
    let mut codes = ErrorCodes::new();
    let last = codes.last_used();
    let weather = codes.add_class()?;
    assert!(weather > last && codes.last_used() == weather);
    assert_eq!(codes.class_of(weather), Some(weather));
    let storm = codes.add_code(weather)?;
    let short = codes.add_code(ErrorClass::Truncate.into())?;
    assert_eq!(
        (codes.class_of(storm), codes.class_of(short)),
        (Some(weather), Some(ErrorCode(15)))
    );
    assert_eq!(codes.text_of(storm).as_deref(), Some(""));
    codes.set_text(storm, "a storm")?;
    assert_eq!(codes.text_of(storm).as_deref(), Some("a storm"));
    assert!(codes.text_of(ErrorCode(15)).is_some_and(|text| text.contains("MPI_ERR_TRUNCATE")));
    assert_eq!((codes.text_of(ErrorCode(99)), codes.class_of(ErrorCode(99))), (None, None));
    codes.remove_class(weather).expect_err("it has a code");
    codes.remove_code(storm).expect_err("it has a text");
    codes.remove_text(storm)?;
    codes.remove_text(storm).expect_err("it has no text any more");
    codes.remove_code(storm)?;
    codes.remove_class(weather)?;
    assert_eq!(codes.class_of(storm), None);
    assert_ne!(codes.add_class()?, weather, "a number is not used twice");
    Ok(())
}

#[test]
fn codes_that_the_program_has_not_added_are_left_alone() -> motet::Result<()> {
    let mut codes = ErrorCodes::new();
    let before = codes.clone();
    let refused = [
        codes.add_code(ErrorCode(5000)).map(drop),
        codes.set_text(ErrorCode(15), "other"),
        codes.remove_class(ErrorCode(15)),
        codes.remove_code(ErrorCode(15)),
        codes.remove_text(ErrorCode(15)),
    ];
    for refused in refused {
        assert_eq!(refused.expect_err("refused").class(), ErrorClass::Arg);
    }
    assert_eq!(codes, before);
    let class = codes.add_class()?;
    let code = codes.add_code(class)?;
    codes.remove_code(class).expect_err("it is a class");
    codes.remove_class(code).expect_err("it is a code");
    codes.add_code(code).expect_err("it is no class");
    codes.set_text(code, "x".repeat(511))?;
    codes.set_text(code, "x".repeat(512)).expect_err("too long");
    Ok(())
}

/// What a handler has seen.
type Seen = Arc<Mutex<Vec<String>>>;

/// A handler that writes down who was told what.
fn notes(seen: &Seen, who: &'static str) -> ErrorHandler {
    let seen = seen.clone();
    ErrorHandler::user(move |site, error| {
        let note = format!("{who} {} of {} {:?}", site.rank(), site.size(), error.class());
        seen.lock().expect("no handler panics").push(note);
    })
}

fn taken(seen: &Seen) -> Vec<String> {
    std::mem::take(&mut *seen.lock().expect("no handler panics"))
}

/// spec: 67
#[test]
fn errors_of_calls_go_to_the_handler_of_their_communicator() {
    on_ranks(2, |world| {
        let (seen, copy) = (Seen::default(), world.dup()?);
        assert!(matches!(world.error_handler(), ErrorHandler::Return));
        copy.set_error_handler(notes(&seen, "copy"));
        let size = world.size();
        type Call<'a> = &'a dyn Fn(&Communicator) -> motet::Result<()>;
        let failing: [Call<'_>; 9] = [
            &|comm| comm.send(&[1], size, TAG),
            &|comm| comm.iprobe(size, TAG).map(drop),
            &|comm| comm.bcast(&mut [0], size),
            &|comm| comm.ibcast(vec![0], size).map(drop),
            &|comm| comm.bcast_init(vec![0], size, &Info::new()).map(drop),
            &|comm| comm.cartesian(&[0], &[true], motet::Reorder::Never).map(drop),
            &|comm| comm.graph_adjacent([size], [size]).map(drop),
            &|comm| comm.scope(|scope| scope.isend(vec![1], size, TAG)?.wait().map(drop)),
            &|comm| comm.create_group(&Group::empty(), TAG).map(drop),
        ];
        for (place, fails) in failing.into_iter().enumerate() {
            fails(world).expect_err("refused");
            assert!(taken(&seen).is_empty(), "call {place}");
            let error = fails(&copy).expect_err("refused");
            let note = format!("copy {} of 2 {:?}", copy.rank(), error.class());
            assert_eq!(taken(&seen), [note], "call {place}");
        }
        Ok(())
    });
}

/// A message that is too long for its receive.
fn truncated(comm: &Communicator) -> motet::Result<motet::Request<Vec<u8>>> {
    comm.isend(vec![1u8, 2, 3], comm.rank(), TAG)?.wait()?;
    comm.irecv(vec![0u8], comm.rank(), TAG)
}

/// spec: 67
#[test]
fn errors_of_operations_go_to_the_handler_of_their_communicator_once() {
    on_ranks(2, |world| {
        let seen = Seen::default();
        let note = format!("copy {} of 2 Truncate", world.rank());
        let pending = {
            let copy = world.dup()?;
            copy.set_error_handler(notes(&seen, "copy"));
            truncated(&copy)?
        };
        // The communicator is gone, and its handler still there.
        pending.wait().expect_err("too long");
        assert_eq!(taken(&seen), [note.as_str()]);

        let copy = world.dup()?;
        copy.set_error_handler(notes(&seen, "copy"));
        let (mut one, mut other) = (truncated(&copy)?, truncated(world)?);
        wait_all(&mut [&mut one, &mut other]).expect_err("too long");
        assert_eq!(taken(&seen), [note.as_str()]);
        one.test().expect_err("too long");
        one.wait().expect_err("too long");
        other.wait().expect_err("too long");
        assert_eq!(taken(&seen), [""; 0]);

        // What is set now counts, also for an operation that has begun before.
        let pending = truncated(&copy)?;
        copy.set_error_handler(ErrorHandler::Return);
        pending.wait().expect_err("too long");
        assert_eq!(taken(&seen), [""; 0]);

        copy.set_error_handler(notes(&seen, "copy"));
        let ended = copy.scope(|scope| {
            let sent = scope.isend(vec![1u8, 2], copy.rank(), TAG)?;
            drop(scope.irecv(vec![0u8], copy.rank(), TAG)?);
            sent.wait().map(drop)
        });
        ended.expect_err("too long");
        assert_eq!(taken(&seen), [note]);
        Ok(())
    });
}

/// spec: 67
#[test]
fn what_is_made_of_a_communicator_inherits_its_handler() {
    on_ranks(2, |world| {
        let (seen, me) = (Seen::default(), world.rank());
        world.set_error_handler(notes(&seen, "inherited"));
        let grid = world.cartesian(&[2], &[true], motet::Reorder::Never)?.expect("a place");
        let made = [
            world.dup()?,
            world.idup()?.wait()?,
            world.split(Some(0), 0)?.expect("a member"),
            world.create(world.group())?.expect("a member"),
            world.create_group(world.group(), TAG)?,
            world.alone(),
            grid.dup()?.into_communicator(),
            world.dup()?.dup()?,
        ];
        // Theirs is their own: it stays when the parent's changes.
        world.set_error_handler(ErrorHandler::Return);
        for (place, made) in made.iter().enumerate() {
            made.send(&[1], 9, TAG).expect_err("no such rank");
            let (rank, size) = (made.rank(), made.size());
            assert_eq!(taken(&seen), [format!("inherited {rank} of {size} Rank")], "{place}");
            assert!(rank == me || size == 1);
        }
        world.send(&[1], 9, TAG).expect_err("no such rank");
        assert_eq!(taken(&seen), [""; 0]);
        Ok(())
    });
}

#[test]
fn a_handler_may_use_its_communicator_and_is_called_by_name() {
    on_ranks(1, |world| {
        let copy = Arc::new(world.dup()?);
        copy.set_name("the copy");
        let (weak, seen) = (Arc::downgrade(&copy), Seen::default());
        let told = seen.clone();
        copy.set_error_handler(ErrorHandler::user(move |site, error| {
            let comm = weak.upgrade().expect("alive");
            comm.set_error_handler(ErrorHandler::Return);
            comm.barrier().expect("a communicator of one");
            told.lock().expect("alone").push(format!("{}: {error}", site.name()));
        }));
        let mut sum = copy.allreduce_init(vec![1], Sum, &Info::new())?;
        copy.iprobe(8, TAG).expect_err("no such rank");
        sum.run()?;
        let told = taken(&seen);
        assert!(told.len() == 1 && told[0].starts_with("the copy: iprobe on rank 0"), "{told:?}");

        copy.set_error_handler(notes(&seen, "called"));
        let own = Error::from(ErrorKind::User { code: ErrorCode(20001), text: "mine".into() });
        assert_eq!((own.code(), own.class()), (ErrorCode(20001), ErrorClass::Other));
        copy.call_error_handler(&own);
        assert_eq!(taken(&seen), ["called 0 of 1 Other"]);
        Ok(())
    });
}

/// Whoever is given a number finds out what has happened.
#[test]
fn codes_of_errors_keep_their_texts() {
    on_ranks(2, |world| {
        let codes = ErrorCodes::new();
        let error = world.send(&[1], 9, TAG).expect_err("there is no such rank");
        let code = error.code_with_text();
        assert_eq!((code.class(), error.code()), (Some(ErrorClass::Rank), ErrorCode(6)));
        assert_eq!(codes.class_of(code), Some(ErrorCode(6)));
        assert_eq!(codes.text_of(code), Some(format!("MPI_ERR_RANK: {error}")));
        assert!(code < codes.last_used() && code.0 > 255);
        let several = ErrorKind::InStatus { failed: 1, operations: 2, exception: None };
        for kept in [ErrorKind::Pending, several] {
            let error = Error::from(kept);
            assert_eq!(error.code_with_text(), error.code());
        }
        let own = Error::from(ErrorKind::User { code: ErrorCode(20001), text: "mine".into() });
        assert_eq!(own.code_with_text(), ErrorCode(20001));
        Ok(())
    });
}

/// spec: 67
#[test]
fn a_fatal_error_ends_the_rank_and_the_others_are_told() {
    type Death = fn(&World);
    let endings: [(ErrorHandler, Death); 4] = [
        (ErrorHandler::Fatal, |world| drop(world.send(&[1], 9, TAG))),
        (ErrorHandler::Abort, |world| drop(world.bcast(&mut [1], 9))),
        (ErrorHandler::Abort, |world| drop(truncated(world).map(|mut each| each.test()))),
        (ErrorHandler::Return, |world| world.abort(3)),
    ];
    for (handler, die) in endings {
        let _watchdog = Watchdog::start();
        let others = Mutex::new(Vec::new());
        let ended = motet::threads(3, |world| {
            if world.rank() == 1 {
                world.set_error_handler(handler.clone());
                die(&world);
                unreachable!("the error was fatal");
            }
            let error = world.barrier().expect_err("rank 1 has ended");
            others.lock().expect("no panic here").push(error.class());
        });
        let error = ended.expect_err("rank 1 has ended");
        let ErrorKind::PeerFailed(failure) = error.kind() else { panic!("{error}") };
        assert_eq!(failure.rank.index(), 1);
        assert_eq!(*others.lock().expect("no panic here"), [ErrorClass::ProcAborted; 2]);
    }
}

/// Ranks that disagree about the length of a message, on which it depends whether it goes through
/// a channel: nobody waits for a channel that never comes, and what has another length is refused.
#[test]
fn ranks_that_disagree_about_a_length_do_not_wait_for_a_channel() {
    const LENGTHS: [usize; 5] = [8, 600, 2000, 5000, 20_000];
    let _watchdog = Watchdog::with(Duration::from_secs(30));
    for sent in LENGTHS {
        for room in LENGTHS.into_iter().filter(|room| *room != sent) {
            on_ranks(2, |world| {
                let is_root = world.rank() == 0;
                let data = vec![7u8; if is_root { sent } else { room }];
                let bcast = world.bcast_init(data, 0, &Info::new())?;
                let ended = bcast.start().and_then(|pending| pending.wait());
                let class = ended.err().map(|error| error.class());
                let expected = match is_root {
                    true => None,
                    false if sent > room => Some(ErrorClass::Truncate),
                    false => Some(ErrorClass::Count),
                };
                // The root has done its part, or has been told before.
                let is_told = is_root && class == Some(ErrorClass::Other);
                assert!(is_told || class == expected, "{sent} in place of {room}: {class:?}");
                Ok(())
            });
        }
    }
}
