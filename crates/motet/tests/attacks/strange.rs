//! Arguments that no program has on purpose: settings, hints, names, tags and sizes.

use std::time::Duration;

use motet::{BufferRoom, ErrorClass, Info, Settings, Sum, Tag, Waiting};

use super::support::{all_well, outcomes, outcomes_with, panic_of};

/// Makes settings, or panics.
type Make = fn() -> Settings;

#[test]
fn settings_of_zero_are_refused_or_mean_something() {
    let made: [(&str, Make); 5] = [
        ("max_pending", || Settings::new().max_pending(0)),
        ("ranks_per_node", || Settings::new().ranks_per_node(0)),
        ("ranks_per_segment", || Settings::new().ranks_per_segment(0)),
        ("report_hangs", || Settings::new().report_hangs(Duration::ZERO)),
        ("count_from", || Settings::new().count_from(u64::MAX - 3)),
    ];
    for (name, make) in made {
        let Ok(settings) = std::panic::catch_unwind(make) else { continue };
        let ended = outcomes_with(2, &settings, |world| {
            for _ in 0..8 {
                assert_eq!(world.allreduce_one(1u64, Sum)?, 2);
            }
            let (mut one, two) = (world.iallreduce(vec![1u64], Sum)?, world.ibarrier()?);
            one.test()?;
            two.wait()?;
            assert_eq!(one.wait()?, [2]);
            Ok(())
        });
        if let Ok(ranks) = ended {
            for ended in ranks {
                let kind = ended.as_ref().err().map(|error| error.class());
                assert_ne!(kind, Some(ErrorClass::Intern), "{name}: {ended:?}");
            }
        }
    }
}

#[test]
fn texts_that_mean_nothing_are_refused() {
    for text in ["=", "allreduce=", "=ring", "allreduce=nonsense", "allreduce", "\0", "ä=ö"] {
        assert!(Settings::new().algorithms(text).is_err(), "{text:?}");
    }
    for text in ["->", "allreduce ->", "allreduce ranks=9..2 bytes=0..1 -> ring", "\u{1b}[31m"] {
        assert!(Settings::new().wisdom(text).is_err(), "{text:?}");
    }
    assert!(Settings::new().machine("latency=-1\n").is_err());
}

#[test]
fn impossible_worlds_are_refused() {
    for ranks in [0, 1025, usize::MAX] {
        assert!(motet::threads(ranks, |_| ()).is_err(), "{ranks} ranks");
    }
}

#[test]
fn hints_of_any_text_are_harmless() {
    let ended = outcomes(2, |world| {
        let mut info = Info::new();
        for (key, value) in [("enforce", "\0"), ("reuse", "-1"), ("previous", "ä"), ("x", "")] {
            drop(info.set(key, value));
        }
        assert!(info.set("k".repeat(10_000), "v").is_err());
        assert!(info.set("k", "v".repeat(1 << 20)).is_err());
        let mut run = world.allreduce_init(vec![1u64], Sum, &info)?;
        run.run()?;
        assert_eq!(run.output(), [2]);
        let copy = world.dup_with_info(&info)?;
        copy.set_name("\u{1b}[31m\nmotet: rank 7 has died\0");
        assert!(copy.bcast(&mut [0u8], 9).is_err_and(|error| !error.to_string().contains('\n')));
        Ok(())
    });
    all_well(ended);
}

#[test]
fn tags_out_of_range_are_refused() {
    let ended = outcomes(1, |world| {
        for tag in [motet::TAG_UB + 1, u32::MAX, u32::MAX - 1, 1 << 31] {
            assert!(world.send(&[1u8], 0, Tag(tag)).is_err(), "{tag}");
            assert!(world.isend(vec![1u8], 0, Tag(tag)).is_err(), "{tag}");
            assert!(world.send_init(vec![1u8], 0, Tag(tag)).is_err(), "{tag}");
        }
        Ok(())
    });
    all_well(ended);
}

#[test]
fn more_memory_than_there_is_ends_with_a_word() {
    let ended = outcomes(1, |world| {
        let refused = panic_of(|| world.allocate(usize::MAX / 2, 1u64).len());
        assert!(refused.is_some_and(|text| text.contains("capacity overflow")));
        let room = panic_of(|| world.attach_buffer(BufferRoom::Bytes(usize::MAX)).is_err());
        assert_ne!(room.as_deref(), Some(""));
        Ok(())
    });
    all_well(ended);
}

#[test]
fn all_wait_policies_end() {
    for waiting in [Waiting::Spin, Waiting::Yield, Waiting::Sleep, Waiting::Auto] {
        let ended = outcomes_with(4, &Settings::new().waiting(waiting), |world| {
            for len in [1, 1000, 50_000] {
                assert!(world.iallreduce(vec![1u64; len], Sum)?.wait()?.iter().all(|at| *at == 4));
            }
            Ok(())
        });
        all_well(ended);
    }
}
