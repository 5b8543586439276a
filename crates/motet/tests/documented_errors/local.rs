//! Arguments of calls that concern one rank alone: groups, hints, datatypes, settings, phases.

use motet::ErrorClass::{Arg, Count, InfoKey, InfoNokey, InfoValue, Op as OfOp, Rank};
use motet::buffer::Items;
use motet::{Datatype, Info, Op, RankRange, Settings, Sum, reduce_local};

use super::refused::{are_refused, refusal};

#[test]
fn groups_of_ranks_that_there_are_not() {
    are_refused(3, |world| {
        let all = world.group();
        let range = |first, last, stride| [RankRange { first, last, stride }];
        let twice = [range(0, 1, 1), range(1, 2, 1)].concat();
        Ok(vec![
            ("include", Rank, refusal(all.include(&[3]))),
            ("include twice", Rank, refusal(all.include(&[1, 1]))),
            ("exclude", Rank, refusal(all.exclude(&[3]))),
            ("exclude twice", Rank, refusal(all.exclude(&[1, 1]))),
            ("range_include that does not end", Arg, refusal(all.range_include(&range(0, 2, -1)))),
            ("range_include without steps", Arg, refusal(all.range_include(&range(0, 2, 0)))),
            ("range_include of no rank", Rank, refusal(all.range_include(&range(0, 5, 1)))),
            ("range_include twice", Rank, refusal(all.range_include(&twice))),
            ("range_exclude", Arg, refusal(all.range_exclude(&range(0, 2, -1)))),
        ])
    });
}

#[test]
fn hints_that_there_cannot_be() {
    are_refused(1, |_| {
        let mut info = Info::new().with("key", "value");
        let long = |bytes: usize| "x".repeat(bytes);
        Ok(vec![
            ("an empty key", InfoKey, refusal(info.set("", "1"))),
            ("a long key", InfoKey, refusal(info.set(long(motet::MAX_INFO_KEY + 1), "1"))),
            ("a long value", InfoValue, refusal(info.set("a", long(motet::MAX_INFO_VALUE + 1)))),
            ("delete", InfoNokey, refusal(info.delete("nothing"))),
            ("nth_key", Arg, refusal(info.nth_key(1).map(str::to_owned))),
        ])
    });
}

#[test]
fn items_that_do_not_lie_in_their_buffer() {
    are_refused(1, |_| {
        let items = |count| refusal(Items::new(vec![0i32; 4], &Datatype::INT32_T, count).map(drop));
        let other = refusal(Items::new(vec![0i32; 4], &Datatype::DOUBLE, 1).map(drop));
        let at = refusal(Items::at(vec![0i32; 4], 4, &Datatype::INT32_T, 1).map(drop));
        Ok(vec![
            ("too many items", motet::ErrorClass::Buffer, items(5)),
            ("items of other elements", Arg, other),
            ("items behind the buffer", motet::ErrorClass::Buffer, at),
        ])
    });
}

#[test]
fn operators_and_lengths_that_do_not_fit() {
    are_refused(1, |_| {
        Ok(vec![
            ("applies_to", OfOp, refusal(Op::BAND.applies_to(&Datatype::DOUBLE))),
            ("reduce_local", Count, refusal(reduce_local(&[1, 2], &mut [1], Sum))),
        ])
    });
}

#[test]
fn settings_that_cannot_be_read() {
    are_refused(1, |_| {
        Ok(vec![
            ("algorithms", Arg, refusal(Settings::new().algorithms("allreduce").map(drop))),
            ("algorithms", Arg, refusal(Settings::new().algorithms("allreduce=none").map(drop))),
            ("wisdom", Arg, refusal(Settings::new().wisdom("no line of wisdom").map(drop))),
            ("machine", Arg, refusal(Settings::new().machine("no prices").map(drop))),
        ])
    });
}

#[test]
fn worlds_that_there_cannot_be() {
    are_refused(1, |_| {
        let panicked = motet::threads(2, |world| assert_eq!(world.rank(), 0, "on purpose"));
        Ok(vec![
            ("threads without ranks", Arg, refusal(motet::threads(0, drop))),
            ("threads of too many ranks", Arg, refusal(motet::threads(usize::MAX, drop))),
            ("a rank that panics", motet::ErrorClass::ProcAborted, refusal(panicked)),
        ])
    });
}

#[test]
fn a_second_root_of_phases() {
    are_refused(2, |world| {
        let first = world.phases()?;
        let second = refusal(world.phases().map(drop));
        drop(first);
        Ok(vec![("phases", motet::ErrorClass::Other, second)])
    });
}
