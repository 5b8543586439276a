//! Which algorithm is taken, and what is said where a text is wrong.

mod cases;

use cases::calls;
use motet_plan::select::{Overrides, Reason, Wisdom, choose};
use motet_plan::{Call, Machine, Operation, Rank, Tuning};

fn allreduce(ranks: u32, count: usize, commutative: bool) -> Call {
    calls(ranks, false, |_| Operation::Allreduce { count, commutative }).remove(0)
}

fn chosen(call: &Call, tuning: &Tuning) -> (&'static str, Reason) {
    let choice = choose(call, tuning).expect("the call can be planned");
    (choice.algorithm.name(), choice.reason)
}

fn wisdom(text: &str) -> Tuning {
    Tuning { wisdom: text.parse().expect("the text is wisdom"), ..Tuning::default() }
}

#[test]
fn short_data_by_latency_and_long_data_by_bytes() {
    let tuning = Tuning::default();
    assert_eq!(chosen(&allreduce(8, 1, true), &tuning).0, "recursive_doubling");
    assert_eq!(chosen(&allreduce(8, 1 << 20, true), &tuning).0, "reduce_scatter_allgather");
    assert_eq!(chosen(&allreduce(7, 1 << 20, true), &tuning).0, "ring");
    let bcast = |count| calls(8, false, |_| Operation::Bcast { count, root: Rank(3) }).remove(0);
    assert_eq!(chosen(&bcast(1), &tuning).0, "binomial");
    assert_eq!(chosen(&bcast(1 << 20), &tuning).0, "scatter_allgather");
    let allgather =
        |ranks, count| calls(ranks, false, |_| Operation::Allgather { count }).remove(0);
    assert_eq!(chosen(&allgather(8, 1), &tuning).0, "recursive_doubling");
    assert_eq!(chosen(&allgather(7, 1), &tuning).0, "bruck");
    assert_eq!(chosen(&allgather(7, 1 << 20), &tuning).0, "ring");
}

#[test]
fn the_model_names_the_runner_up() {
    let machine = Machine { latency_ns: 1000.0, ..Machine::default() };
    let tuning = Tuning { machine, ..Tuning::default() };
    let (_, reason) = chosen(&allreduce(2, 0, false), &tuning);
    let runner_up = Some(("reduce_scatter_allgather", 2000.0));
    assert_eq!(reason, Reason::Cost { nanoseconds: 1000.0, runner_up });
    assert_eq!(reason.to_string(), "1000 ns by the model; reduce_scatter_allgather takes 2000 ns");
}

#[test]
fn an_override_comes_first_and_the_last_one_counts() {
    let mut tuning = wisdom("allreduce -> reduce_scatter_allgather");
    tuning.overrides =
        "bcast=binomial; allreduce=recursive_doubling,allreduce = ring".parse().unwrap();
    assert_eq!(chosen(&allreduce(4, 1, true), &tuning), ("ring", Reason::Override));
}

#[test]
fn an_override_that_refuses_is_an_error() {
    let overrides = "allreduce=ring".parse().unwrap();
    let tuning = Tuning { overrides, ..Tuning::default() };
    let error = choose(&allreduce(4, 1, false), &tuning).unwrap_err();
    assert_eq!(
        error.to_string(),
        "allreduce was set to ring, which refuses this call: it needs an operator that commutes"
    );
}

#[test]
fn wisdom_applies_within_its_ranges() {
    let tuning = wisdom(
        "# learned\n\
         allreduce ranks=2..4 bytes=8..64 -> ring   # both ends included\n\
         \n\
         allreduce bytes=..8 -> reduce_scatter_allgather\n\
         allreduce ranks=9 -> ring",
    );
    let line = |line| Reason::Wisdom(line);
    assert_eq!(chosen(&allreduce(4, 8, true), &tuning), ("ring", line(2)));
    assert_eq!(chosen(&allreduce(4, 1, true), &tuning), ("ring", line(2)));
    assert_eq!(chosen(&allreduce(5, 1, true), &tuning), ("reduce_scatter_allgather", line(4)));
    assert_eq!(chosen(&allreduce(9, 2, true), &tuning), ("ring", line(5)));
    assert!(matches!(chosen(&allreduce(4, 9, true), &tuning).1, Reason::Cost { .. }));
}

/// Wisdom that is wrong for a call does no harm.
#[test]
fn wisdom_that_refuses_is_passed_over() {
    let tuning = wisdom("allreduce -> ring\nallreduce -> reduce_scatter_allgather");
    let found = chosen(&allreduce(4, 1, false), &tuning);
    assert_eq!(found, ("reduce_scatter_allgather", Reason::Wisdom(2)));
}

#[test]
fn wisdom_is_written_as_it_is_read() {
    let text =
        "allreduce ranks=2..64 bytes=0.. -> ring\nbarrier ranks=0.. bytes=3..3 -> dissemination\n";
    let wisdom: Wisdom = text.parse().unwrap();
    assert_eq!(wisdom.to_string(), text);
}

#[test]
fn what_is_wrong_in_a_text_is_named() {
    let of_wisdom = |text: &str| text.parse::<Wisdom>().unwrap_err().to_string();
    let of_override = |text: &str| text.parse::<Overrides>().unwrap_err().to_string();
    assert_eq!(of_override("allreduce"), "`allreduce` is not of the form collective=algorithm");
    assert_eq!(
        of_override("allreduce=rung"),
        "line 1: allreduce has no algorithm `rung`; \
         it has recursive_doubling, ring, reduce_scatter_allgather"
    );
    assert_eq!(
        of_wisdom("\nalreduce -> ring"),
        "line 2: no collective `alreduce`; there are barrier, bcast, reduce, allreduce, allgather, \
         allgatherv, exchange, exchangev"
    );
    assert_eq!(
        of_wisdom("allreduce ranks=4..2 -> ring"),
        "line 1: `4..2` is not a range such as 2..64, 4097.., ..16 or 8"
    );
    assert_eq!(
        of_wisdom("allreduce size=4 -> ring"),
        "line 1: `allreduce size=4 -> ring` is not of the form \
         collective [ranks=first..last] [bytes=first..last] -> algorithm"
    );
}

#[test]
fn a_wrong_call_is_not_planned() {
    let call = calls(4, false, |_| Operation::Bcast { count: 1, root: Rank(4) }).remove(0);
    let error = choose(&call, &Tuning::default()).unwrap_err();
    assert_eq!(error.to_string(), "root 4 is not below the number of ranks, 4");
}
