//! Attributes of communicators, hints, and what is known about the world.

mod worlds;

use std::sync::{Arc, Mutex};

use motet::{
    Attributes, Error, ErrorClass, ErrorCode, ErrorHandler, ErrorKind, Info, Keyval, Result,
};
use worlds::on_ranks;

/// What callbacks have been told.
type Told = Arc<Mutex<Vec<String>>>;

fn tell(told: &Told, what: String) {
    told.lock().expect("no callback panics").push(what);
}

fn taken(told: &Told) -> Vec<String> {
    std::mem::take(&mut *told.lock().expect("no callback panics"))
}

/// A key that is copied with one more letter, and writes down what happens.
fn letters(told: &Told) -> Keyval<String> {
    let (copies, deletes) = (told.clone(), told.clone());
    Keyval::new(
        move |_, value: &String| {
            tell(&copies, format!("copy {value}"));
            Ok(Some(Arc::new(format!("{value}'"))))
        },
        move |_, value: &String| {
            tell(&deletes, format!("delete {value}"));
            Ok(())
        },
    )
}

fn refused() -> Error {
    ErrorKind::User { code: ErrorCode(20000), text: "refused".into() }.into()
}

#[test]
fn values_are_set_replaced_and_taken_away() {
    on_ranks(2, |world| {
        let told = Told::default();
        let (one, other) = (letters(&told), letters(&told));
        assert_eq!(world.attribute(&one), None);
        world.set_attribute(&one, "a".into())?;
        world.set_attribute(&other, "b".into())?;
        assert_eq!(world.attribute(&one).as_deref().map(String::as_str), Some("a"));
        world.set_attribute(&one, "c".into())?;
        assert_eq!(taken(&told), ["delete a"]);
        assert_eq!(world.attribute(&one.clone()).as_deref().map(String::as_str), Some("c"));
        assert!(world.delete_attribute(&one)?);
        assert!(!world.delete_attribute(&one)?);
        assert_eq!((taken(&told), world.attribute(&one)), (vec!["delete c".into()], None));
        assert!(world.delete_attribute(&other)?);
        Ok(())
    });
}

#[test]
fn only_dup_copies_and_each_key_says_how() {
    on_ranks(2, |world| {
        let told = Told::default();
        let parent = world.dup()?;
        let (copied, stays) = (letters(&told), Keyval::<u8>::never_copied());
        let shared = Keyval::<Vec<u8>>::shared();
        parent.set_attribute(&copied, "a".into())?;
        parent.set_attribute(&stays, 1)?;
        parent.set_attribute(&shared, vec![1, 2])?;
        let copies = [parent.dup()?, parent.idup()?.wait()?, parent.dup_with_info(&Info::new())?];
        assert_eq!(taken(&told), ["copy a"; 3]);
        for copy in copies {
            assert_eq!(copy.attribute(&copied).as_deref().map(String::as_str), Some("a'"));
            assert_eq!(copy.attribute(&stays), None);
            let (here, there) = (parent.attribute(&shared), copy.attribute(&shared));
            assert!(Arc::ptr_eq(&here.expect("set"), &there.expect("shared")));
            drop(copy);
            assert_eq!(taken(&told), ["delete a'"]);
        }
        for made in [parent.split(Some(0), 0)?, parent.create(parent.group())?] {
            assert_eq!(made.expect("a member").attribute(&copied), None);
        }
        assert_eq!(parent.create_group(parent.group(), motet::Tag(1))?.attribute(&copied), None);
        assert_eq!(parent.graph([(0, 1)])?.attribute(&copied), None);
        assert_eq!(taken(&told), [""; 0]);
        // What is fixed when the call is made is not changed by what happens later.
        let pending = parent.idup()?;
        parent.set_attribute(&copied, "z".into())?;
        drop(parent);
        assert_eq!(pending.wait()?.attribute(&copied).as_deref().map(String::as_str), Some("a'"));
        Ok(())
    });
}

#[test]
fn delete_callbacks_run_in_reverse_order_when_a_communicator_ends() {
    on_ranks(2, |world| {
        let told = Told::default();
        let copy = world.dup()?;
        let keys: Vec<Keyval<String>> = (0..4).map(|_| letters(&told)).collect();
        for (key, value) in keys.iter().zip(["a", "b", "c", "d"]) {
            copy.set_attribute(key, value.into())?;
        }
        // Set anew, a value counts as set last.
        copy.set_attribute(&keys[1], "e".into())?;
        // A key that is freed stays in use where it is set.
        drop(keys);
        assert_eq!(taken(&told), ["delete b"]);
        copy.free()?;
        assert_eq!(taken(&told), ["delete e", "delete d", "delete c", "delete a"]);
        Ok(())
    });
    // The world ends as any communicator does.
    let told = Told::default();
    let of_world = told.clone();
    motet::threads(1, |world| {
        for value in ["a", "b"] {
            world.set_attribute(&letters(&of_world), value.into()).expect("nothing is replaced");
        }
    })
    .expect("a world of one");
    assert_eq!(taken(&told), ["delete b", "delete a"]);
}

/// spec: 67
#[test]
fn a_callback_that_fails_fails_the_call() {
    on_ranks(2, |world| {
        let parent = world.dup()?;
        let told = Told::default();
        let seen = told.clone();
        parent
            .set_error_handler(ErrorHandler::user(move |_, error| tell(&seen, error.to_string())));
        // Only one rank has the attribute: the other gets its copy.
        let stubborn = Keyval::new(|_, _: &u8| Err(refused()), |_, _| Err(refused()));
        if world.rank() == 0 {
            parent.set_attribute(&stubborn, 1)?;
            let failed = parent.dup().expect_err("refused");
            let expected = "dup on rank 0: error 20000 of the program: refused";
            assert_eq!(
                (failed.to_string().as_str(), taken(&told)),
                (expected, vec![expected.into()])
            );
            assert!(parent.idup().is_err() && taken(&told).len() == 1);
            parent.set_attribute(&stubborn, 2).expect_err("the former cannot be deleted");
            parent.delete_attribute(&stubborn).expect_err("it cannot be deleted");
            assert_eq!((parent.attribute(&stubborn).as_deref(), taken(&told).len()), (Some(&1), 2));
        } else {
            parent.dup()?;
            parent.idup()?.wait()?;
        }
        parent.barrier()?;
        let freed = parent.free();
        assert_eq!(freed.is_err(), world.rank() == 0);
        assert!(freed.is_ok_and(|()| true) || taken(&told).len() == 1);
        Ok(())
    });
}

#[test]
fn callbacks_may_use_the_attributes_of_their_object() {
    on_ranks(1, |world| {
        let count = Keyval::<u32>::never_copied();
        let inner = count.clone();
        let counting = Keyval::new(
            move |comm: &motet::Communicator, value: &u8| {
                let before = comm.attribute(&inner).map_or(0, |count| *count);
                comm.set_attribute(&inner, before + 1)?;
                Ok(Some(Arc::new(*value)))
            },
            |_, _| Ok(()),
        );
        world.set_attribute(&counting, 7)?;
        drop((world.dup()?, world.dup()?));
        assert_eq!(world.attribute(&count).as_deref(), Some(&2));
        Ok(())
    });
}

#[test]
fn other_objects_carry_attributes_too() -> Result<()> {
    struct Table(&'static str);
    let (told, table) = (Told::default(), Table("oak"));
    let deleted = told.clone();
    let keyval = Keyval::new(
        |table: &Table, value: &u8| Ok((table.0 == "oak").then(|| Arc::new(value + 1))),
        move |table: &Table, value| {
            tell(&deleted, format!("{} {value}", table.0));
            Ok(())
        },
    );
    let attributes = Attributes::default();
    attributes.set(&table, &keyval, Arc::new(1))?;
    let copied = attributes.copied(&table)?;
    assert_eq!(copied.get(&keyval).as_deref(), Some(&2));
    assert_eq!(attributes.copied(&Table("elm"))?.get(&keyval), None);
    attributes.clear(&table)?;
    copied.clear(&Table("oak too"))?;
    assert_eq!(taken(&told), ["oak 1", "oak too 2"]);
    Ok(())
}

#[test]
fn hints_have_keys_values_and_limits() -> Result<()> {
    let mut info = Info::new().with("b", "1").with("a", "2").with("b", "3");
    assert_eq!((info.len(), info.get("b"), info.get("c")), (2, Some("3"), None));
    assert_eq!((info.nth_key(0)?, info.nth_key(1)?), ("a", "b"));
    let class = |result: Result<()>| result.expect_err("refused").class();
    assert_eq!(class(info.nth_key(2).map(drop)), ErrorClass::Arg);
    assert_eq!(class(info.delete("c")), ErrorClass::InfoNokey);
    let copy = info.clone();
    info.delete("a")?;
    assert_eq!((info.len(), copy.len(), info.is_empty()), (1, 2, false));
    info.set("k".repeat(255), "v".repeat(1023))?;
    info.set("empty", "")?;
    assert_eq!(class(info.set("k".repeat(256), "")), ErrorClass::InfoKey);
    assert_eq!(class(info.set("", "v")), ErrorClass::InfoKey);
    assert_eq!(class(info.set("k", "v".repeat(1024))), ErrorClass::InfoValue);
    assert_eq!(info.len(), 3);
    let environment = Info::environment();
    assert_eq!(environment.get("arch"), Some(std::env::consts::ARCH));
    assert!(environment.get("command").is_some_and(|command| command.contains("attributes")));
    assert!(environment.get("wdir").is_some());
    assert_eq!(environment.get("thread_level"), None, "nobody has asked for one");
    std::env::set_current_dir("/").expect("there is a root");
    assert_eq!(Info::environment(), environment, "it is that of the start");
    Ok(())
}

/// What a user has named stays within the line that an error is.
#[test]
fn texts_of_errors_are_one_line() {
    let key = "k\u{1b}[31m\nmotet: rank 7 was killed";
    let shown = r"k\u{1b}[31m\nmotet: rank 7 was killed";
    let error = Info::new().delete(key).expect_err("there is no such key");
    assert_eq!(error.to_string(), format!("there is no hint with the key {shown}"));
    let long = Info::new().set(key, "v".repeat(1024)).expect_err("too long");
    assert!(long.to_string().contains(shown) && format!("{long:?}").contains(shown), "{long}");
    let problem = format!("of {key} is wrong");
    let error = Error::from(ErrorKind::Argument { which: "value", problem });
    assert_eq!(error.to_string(), format!("the value of {shown} is wrong"));
}

#[test]
fn hints_are_set_while_a_communicator_lives() {
    on_ranks(2, |world| {
        let copy = world.dup_with_info(&Info::new().with("a", "1").with("b", "1"))?;
        copy.set_info(&Info::new().with("b", "2").with("c", "2"));
        let expected = Info::new().with("a", "1").with("b", "2").with("c", "2");
        assert_eq!((copy.info(), copy.dup()?.info()), (expected, Info::new()));
        Ok(())
    });
}

#[test]
fn a_world_knows_itself() {
    on_ranks(3, |world| {
        assert_eq!((world.universe_size(), world.is_time_global()), (3, true));
        assert_eq!((world.application_number(), world.host()), (None, None));
        assert_eq!(world.io(), motet::ANY_SOURCE);
        let last = world.tag_upper_bound();
        let sent = world.isend(vec![7u8], world.rank(), last)?;
        assert_eq!(world.recv(&mut [0u8], world.rank(), last)?.tag, last);
        sent.wait().map(drop)
    });
}
