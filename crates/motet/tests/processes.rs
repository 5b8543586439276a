//! Ranks that are processes: collectives between them, and what happens when one is killed.
//!
//! The program runs each of its cases by running itself, under a time limit; a case that calls
//! `motet::launch` becomes several processes.

mod aligned;
mod cases;
#[path = "dropped_receives/rounds.rs"]
mod rounds;
mod collectives {
    pub(crate) mod elements;
    pub(crate) mod forms;
    pub(crate) mod perform;
}

use std::error::Error;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use cases::{CASE, Case, Expectation, end_of, main_of};
use collectives::forms::{Form, Trial};
use collectives::perform::{self, Graph};
use motet::raw::{self, Callbacks, Request};
use motet::{
    ANY_SOURCE, ANY_TAG, Block, BufferRoom, Datatype, ErrorHandler, ErrorKind, How, Info,
    MergeOrder, Phase, Reorder, Result, Root, Source, Sum, Tag, TypedBlock, World,
};

/// More than a case takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(30);
const TAG: Tag = Tag(1);
/// Address space of each process that is to run out of it. The segment takes a part of it.
const MEMORY_KIB: usize = 480_000;

/// What a case must come to.
enum Expected {
    /// All ranks succeed.
    Success,
    /// The job fails, and each of these texts is on its standard error.
    Words(&'static [&'static str]),
    /// The job fails with this code, and its standard error is one line, which has this text.
    Line(i32, &'static str),
    /// All ranks succeed, and each of these texts is on their standard error.
    Reports(&'static [&'static str]),
    /// The job fails, and each of these texts is on its standard error, with reports of waits.
    Failure(&'static [&'static str]),
    /// All ranks succeed, with little memory, and these texts are there.
    Refusal(&'static [&'static str]),
}

const CASES: [Case<Expected>; 32] = [
    Case {
        name: "dropped_receives_take_no_message_between_processes",
        body: || rounds::all(&motet::launch(2)?),
        expected: Expected::Success,
    },
    Case {
        name: "hints_and_wisdom_between_processes",
        body: hints,
        expected: Expected::Reports(&[
            "motet: MOTET_WISDOM: ",
            "lines are passed over, the first: ",
        ]),
    },
    Case { name: "collectives_between_processes", body: collectives, expected: Expected::Success },
    Case { name: "many_pending_between_processes", body: many, expected: Expected::Success },
    Case {
        name: "two_phase_collectives_between_processes",
        body: two_phase,
        expected: Expected::Success,
    },
    Case {
        name: "deterministic_reductions_have_the_bits_that_threads_have",
        body: deterministic,
        expected: Expected::Success,
    },
    Case {
        name: "sparse_collectives_between_processes",
        body: sparse,
        expected: Expected::Success,
    },
    Case { name: "large_messages_arrive_whole", body: large, expected: Expected::Success },
    Case {
        name: "memory_that_ranks_share_is_as_any_other",
        body: common,
        expected: Expected::Success,
    },
    Case {
        name: "memory_between_processes_is_aligned_for_every_element",
        body: alignments,
        expected: Expected::Success,
    },
    Case { name: "persistent_operations_restart", body: persistent, expected: Expected::Success },
    Case { name: "futures_between_processes", body: futures, expected: Expected::Success },
    Case {
        name: "collectives_between_groups_and_neighbours_of_processes",
        body: between_groups,
        expected: Expected::Success,
    },
    Case {
        name: "requests_of_every_kind_between_processes",
        body: requests,
        expected: Expected::Success,
    },
    Case { name: "messages_between_processes", body: messages, expected: Expected::Success },
    Case {
        name: "intercommunicators_between_processes",
        body: intercommunicators,
        expected: Expected::Success,
    },
    Case {
        name: "a_waiting_rank_takes_no_processor_time",
        body: idle,
        expected: Expected::Success,
    },
    Case {
        name: "a_wait_that_takes_long_is_reported_with_the_rank_that_is_late",
        body: late,
        expected: Expected::Reports(&[
            "motet: rank 0 has waited",
            "s for iallreduce(1 × i32, Sum) at",
            "collective number 3 of communicator world",
            "missing: rank 2\n",
            "rank 1 has made 3 collective calls on world, the last: iallreduce",
            "rank 2 has made 2 collective calls on world, the last: barrier() at",
            "motet: rank 1 has waited",
            "s for a message\n",
            "nothing has come from rank 0 with tag 1\n",
        ]),
    },
    Case {
        name: "a_mismatch_of_the_last_calls_is_told_as_the_world_is_left",
        body: ill_matched,
        expected: Expected::Failure(&[
            "motet: rank 0: rank 0 called bcast(1 × u8, root 0) at",
            "motet: rank 1: rank 0 called bcast(1 × u8, root 0) at",
            "collective number 2 of communicator world, rank 1 called reduce(1 × u8, Sum, root 0)",
        ]),
    },
    Case {
        name: "operations_without_end_are_refused_when_memory_is_short",
        body: exhausted,
        expected: Expected::Refusal(&["rank 0 has been refused", "no memory for"]),
    },
    Case {
        name: "a_killed_rank_is_named_to_the_others_within_a_second",
        body: killed,
        expected: Expected::Words(&["rank 0 has been told", "rank 1 has been told", "SIGKILL"]),
    },
    Case {
        name: "a_rank_killed_amid_long_gathers_is_named_to_the_others",
        body: killed_amid_gathers,
        expected: Expected::Words(&["rank 0 has been told", "rank 1 has been told", "SIGKILL"]),
    },
    Case {
        name: "a_rank_killed_while_others_read_its_memory_is_named_to_them",
        body: killed_amid_reading,
        expected: Expected::Words(&["rank 0 has been told", "rank 1 has been told", "SIGKILL"]),
    },
    Case {
        name: "a_rank_that_exits_is_named_to_the_others",
        body: exits,
        expected: Expected::Words(&["rank 0 has been told", "rank 1 has been told", "code 7"]),
    },
    Case {
        name: "a_fatal_error_ends_the_job_with_one_line",
        body: fatal,
        expected: Expected::Line(
            1,
            "motet: send on rank 3: destination 9 is not in a communicator of 4 ranks",
        ),
    },
    Case {
        name: "a_death_under_a_fatal_handler_is_one_line",
        body: dies_among_fatal_handlers,
        expected: Expected::Line(7, ") exited with code 7 before leaving the world; the other "),
    },
    Case {
        name: "abort_ends_the_job_with_its_code_and_one_line",
        body: abort,
        expected: Expected::Line(
            5,
            "motet: rank 3 of communicator \"world\" ends the job with code 5",
        ),
    },
    Case {
        name: "the_first_of_several_aborts_counts",
        body: abort_all,
        expected: Expected::Line(5, " of communicator \"world\" ends the job with code 5"),
    },
    Case {
        name: "an_abort_within_an_operator_ends_the_job",
        body: abort_in_operator,
        expected: Expected::Line(5, " of communicator \"world\" ends the job with code 5"),
    },
    Case {
        name: "an_abort_by_a_world_of_one_is_the_exit_code",
        body: abort_alone,
        expected: Expected::Line(
            5,
            "motet: rank 0 of communicator \"world\" ends the job with code 5",
        ),
    },
    Case {
        name: "a_wrong_session_is_told_before_ranks_start",
        body: || motet::launch(2).map(drop),
        expected: Expected::Line(1, "MOTET_SESSION is `mine`; expected `own` or `shared`\n"),
    },
    Case {
        name: "a_wrong_shared_heap_is_told_before_ranks_start",
        body: || motet::launch(2).map(drop),
        expected: Expected::Line(
            1,
            "MOTET_SHARED_HEAP is `yes`; expected `1`, `0`, `on` or `off`\n",
        ),
    },
];

fn main() -> ExitCode {
    main_of(&CASES)
}

impl Expectation for Expected {
    fn check(&self, case: &str) -> Result<(), Box<dyn Error>> {
        run(case, self)
    }
}

/// Runs a case as a program of its own.
fn run(case: &str, expected: &Expected) -> Result<(), Box<dyn Error>> {
    let written = tempfile::NamedTempFile::new()?;
    let mut program = Command::new(env::current_exe()?);
    if let Expected::Refusal(_) = expected {
        program = Command::new("sh");
        let limited = format!("ulimit -v {MEMORY_KIB} && exec \"$0\"");
        program.args(["-c", &limited]).arg(env::current_exe()?);
        // Each of the many calls would be told to the others, who have to take that in.
        program.env_remove(motet::env::HANG_SECONDS);
    }
    if case == "many_pending_between_processes" {
        // What is kept for reports would be counted too.
        program.env_remove(motet::env::HANG_SECONDS);
    }
    if let Expected::Reports(_) | Expected::Failure(_) = expected {
        program.env(motet::env::HANG_SECONDS, "0.3");
    }
    if case == "a_mismatch_of_the_last_calls_is_told_as_the_world_is_left" {
        program.env(motet::env::CHECK, "1");
    }
    if case == "hints_and_wisdom_between_processes" {
        // Anything but wisdom.
        program.env(motet::env::WISDOM, concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    }
    match case {
        "a_wrong_session_is_told_before_ranks_start" => {
            program.env(motet_fabric::launcher::SESSION, "mine");
        }
        "a_wrong_shared_heap_is_told_before_ranks_start" => {
            program.env(motet::env::SHARED_HEAP, "yes");
        }
        _ => {}
    }
    let mut job = program
        .env(CASE, case)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(written.reopen()?)
        .spawn()?;
    let ended = end_of(&mut job, Instant::now() + LIMIT)?;
    let succeeded = ended.map(|status| status.success());
    let words = fs::read_to_string(written.path())?;
    let right = match (expected, succeeded) {
        (_, None) => return Err(format!("not over after {LIMIT:?}:\n{words}").into()),
        (Expected::Success, Some(succeeded)) => succeeded,
        (Expected::Words(all) | Expected::Failure(all), Some(succeeded)) => {
            !succeeded && all.iter().all(|text| words.contains(text))
        }
        (Expected::Line(code, line), Some(_)) => {
            ended.and_then(|status| status.code()) == Some(*code)
                && words.contains(line)
                && words.lines().count() == 1
        }
        (Expected::Reports(all) | Expected::Refusal(all), Some(succeeded)) => {
            succeeded && all.iter().all(|text| words.contains(text))
        }
    };
    if right { Ok(()) } else { Err(format!("{ended:?}\n{words}").into()) }
}

/// Many operations are pending at once, take little memory, and are completed in reverse.
///
/// The system counts in pages and its allocator rounds up, so the bound is wider than that of
/// `memory.rs`.
///
/// spec: 8
fn many() -> Result<()> {
    const MANY: u64 = 100_000;
    let resident = || {
        let text = fs::read_to_string("/proc/self/statm").expect("Linux tells the size");
        let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
        pages.expect("the second number counts resident pages") * 4096
    };
    let world = motet::launch(2)?;
    let me = world.rank() as u64;
    let buffers: Vec<_> = (0..MANY).map(|at| vec![at + me]).collect();
    let mut pending = Vec::with_capacity(buffers.len());
    let before = resident();
    for buffer in buffers {
        pending.push(world.iallreduce(buffer, Sum)?);
    }
    let each = (resident() - before) / MANY;
    assert!(each <= 640, "a pending operation takes {each} bytes");
    while let Some(last) = pending.pop() {
        assert_eq!(last.wait()?, [2 * pending.len() as u64 + 1]);
    }
    Ok(())
}

/// Every sparse collective in every form, on graphs with loops, with edges that are there twice,
/// with ranks that have none, and with hubs; small blocks and large ones.
///
/// spec: 112, 114, 116, 117, 119, 120
fn sparse() -> Result<()> {
    let world = &motet::launch(5)?;
    let hub = (0..5).flat_map(|rank| [(rank, 0), (0, rank), (rank, rank)]).collect();
    let ring: Vec<_> = (0..5).flat_map(|rank| [(rank, (rank + 1) % 5), (rank, 3)]).collect();
    let graphs = [Vec::new(), hub, ring, vec![(1, 2), (2, 1), (1, 2)]];
    for (seed, edges) in graphs.into_iter().enumerate() {
        let graph = Graph { edges, seed };
        for form in Form::ALL {
            for count in [0, 3, 1000] {
                let trial = Trial { world, form, count, algorithm: "linear" };
                perform::moving::<i32>(&trial, &graph)?;
                perform::reducing::<i32>(&trial, &graph)?;
            }
        }
    }
    Ok(())
}

/// spec: 15, 25, 80
fn collectives() -> Result<()> {
    let world = motet::launch(4)?;
    let me = world.rank();
    for round in 0..200 {
        for count in [1, 5, 600] {
            let sum = world.iallreduce(vec![me + round; count], Sum)?.wait()?;
            assert_eq!(sum, vec![6 + 4 * round; count]);
            let mut all = vec![0; 4 * count];
            world.allgather(&vec![me; count], &mut all)?;
            assert!(all.chunks(count).enumerate().all(|(rank, part)| part == vec![rank; count]));
        }
        let first = motet::op::ordered(|left: usize, _right| left);
        assert_eq!(world.allreduce_one(me + 9, first)?, 9);
        let next = world.split(Some((me % 2) as u32), 0)?.expect("a member");
        assert_eq!(next.allreduce_one(1u8, Sum)?, 2);
    }
    world.barrier()
}

/// Nests of phases on two communicators, other collectives in between, and borrowed buffers.
///
/// spec: 133, 135, 139, 140
fn two_phase() -> Result<()> {
    fn deeper(outer: &mut Phase<'_, 'static, Vec<usize>>, depth: usize, me: usize) -> Result<()> {
        if depth == 0 {
            return Ok(());
        }
        let mut sum = outer.allreduce_begin(vec![depth + me; 1 + depth * 50], Sum)?;
        deeper(&mut sum, depth - 1, me)?;
        assert_eq!(sum.end()?, vec![3 * depth + 3; 1 + depth * 50]);
        Ok(())
    }
    let world = motet::launch(3)?;
    let (copy, me) = (world.dup()?, world.rank());
    let (mut here, mut there) = (world.phases()?, copy.phases()?);
    for round in 0..30 {
        let mut outer = here.allgatherv_begin(
            (vec![me; 1 + me], vec![9; 6]),
            &[0, 1, 3].map(|start| Block { start, count: 1 + usize::from(start > 0) + start / 3 }),
        )?;
        let other = there.scan_begin((vec![me + 1; 20_000], vec![0; 20_000]), Sum)?;
        let mut bcast = outer.bcast_begin(vec![me + round], 2)?;
        deeper(&mut bcast, 30, me)?;
        assert_eq!(world.allreduce_one(me, Sum)?, 3);
        assert_eq!(bcast.end()?, [2 + round]);
        assert_eq!(outer.end()?.1, [0, 1, 1, 2, 2, 2]);
        assert_eq!(other.end()?.1, vec![(me + 1) * (me + 2) / 2; 20_000]);
    }
    drop(here);
    let mut sum = [me; 700];
    world.scope(|scope| {
        let mut phases = scope.phases()?;
        let mut outer = phases.allreduce_begin(&mut sum[..], Sum)?;
        outer.barrier_begin()?.end()?;
        // The scope waits for what is not ended.
        drop(outer);
        Ok(())
    })?;
    assert_eq!(sum, [3; 700]);
    world.barrier()
}

/// spec: 83
fn deterministic() -> Result<()> {
    let sum_of = |world: &World, count: usize| -> Result<Vec<u64>> {
        let (me, info) = (world.rank(), Info::new().with(motet::hint::DETERMINISTIC, "true"));
        let value = |at: usize| (1.0 + at as f64) * 10f64.powi(((at * 31 + me * 17) % 23) as i32);
        let own: Vec<f64> = (0..count).map(value).collect();
        let mut sum = world.allreduce_init((own, vec![0.0; count]), Sum, &info)?;
        sum.run()?;
        Ok(sum.output().iter().map(|sum| sum.to_bits()).collect())
    };
    let world = motet::launch(5)?;
    for count in [1, 9, 50_000] {
        let of_threads = motet::threads(5, |world| sum_of(&world, count))?;
        assert_eq!(sum_of(&world, count)?, of_threads.into_iter().next().expect("five")?);
    }
    world.barrier()
}

/// spec: 2, 3
fn large() -> Result<()> {
    let world = motet::launch(3)?;
    let (me, count) = (world.rank(), 3_000_000);
    let value = |rank: usize, at: usize| (at * 7 + rank) as u32;
    let own: Vec<u32> = (0..count).map(|at| value(me, at)).collect();
    let swap = world.iexchange((own, vec![0; count]), &[(me + 1) % 3], &[(me + 2) % 3])?;
    let (mut own, received) = swap.wait()?;
    assert!(received.iter().enumerate().all(|(at, &found)| found == value((me + 2) % 3, at)));
    world.bcast(&mut own, 1)?;
    assert!(own.iter().enumerate().all(|(at, &found)| found == value(1, at)));
    Ok(())
}

/// Elements with alignments of their own, up to twice a page.
fn alignments() -> Result<()> {
    let world = motet::launch(3)?;
    aligned::allocations(&world)?;
    aligned::every_alignment(&world)
}

fn common() -> Result<()> {
    let world = motet::launch(3)?;
    let (me, ranks) = (world.rank(), world.size());
    for count in [0, 3, 3000, 30_000, 300_000] {
        let value = |rank: usize, at: usize| (at * 7 + rank) as u64;
        let own = |round: usize| move |at: usize| value(me, at) + round as u64;
        let mut part = world.allocate(count, 0u64);
        let mut whole = world.allocate(ranks * count, 0u64);
        assert!(part.is_common() && whole.is_common() && whole.len() == ranks * count);
        for (at, place) in part.iter_mut().enumerate() {
            *place = own(0)(at);
        }
        // From memory of the process alone, and to it, too.
        let mut other = vec![0; ranks * count];
        world.allgather(&part, &mut other)?;
        world.allgather(&other[me * count..][..count], &mut whole)?;
        let expected = |(at, &found): (usize, &u64)| found == value(at / count, at % count);
        assert!(whole.iter().enumerate().all(expected) && other[..] == whole[..]);
        let mut blocks = world.alltoall_init((whole, vec![0; ranks * count]), &Info::new())?;
        let mut sum = world.allreduce_init(part, Sum, &Info::new())?;
        for round in 0..3 {
            for (at, place) in sum.input_mut().iter_mut().enumerate() {
                *place = own(round)(at);
            }
            let running = sum.start()?;
            blocks.run()?;
            sum = running.wait()?;
            let total = |at| (0..ranks).map(|rank| value(rank, at) + round as u64).sum::<u64>();
            assert!(sum.output().iter().enumerate().all(|(at, &found)| found == total(at)));
            let expected = |(at, &found): (usize, &u64)| found == value(me, at % count);
            assert!(blocks.output().iter().enumerate().all(expected));
        }
        // One that is dropped while it is under way keeps its memory until it is over.
        let (part, into) = (world.allocate(count, 9u8), world.allocate(count, 0u8));
        drop(world.iexchange((part, into), &[(me + 1) % ranks], &[(me + 2) % ranks])?);
        world.barrier()?;
    }
    let more_than_there_is = world.allocate(300 << 20, 0u8);
    assert!(!more_than_there_is.is_common() && more_than_there_is.len() == 300 << 20);
    // All that was taken has come back.
    assert!(world.allocate(200 << 17, 1u64).is_common());
    Ok(())
}

/// spec: 50, 53
fn persistent() -> Result<()> {
    let world = motet::launch(3)?;
    let mut sum = world.allreduce_init(vec![0u64; 3], Sum, &Info::new())?;
    let mut bcast = world.bcast_init(vec![0u64; 100], 2, &Info::new())?;
    for round in 0..20_000 {
        sum.input_mut().fill(round);
        let running = sum.start()?;
        bcast.input_mut().fill(if world.rank() == 2 { round } else { 0 });
        bcast.run()?;
        sum = running.wait()?;
        assert_eq!((sum.output(), bcast.output()[99]), (&[3 * round; 3][..], round));
    }
    Ok(())
}

/// spec: 113, 125, 126, 127
fn hints() -> Result<()> {
    let world = motet::launch(4)?;
    let hints = |keys: &[&str]| keys.iter().fold(Info::new(), |info, key| info.with(*key, "true"));
    for keys in [
        &[motet::hint::ENFORCE, motet::hint::REUSE][..],
        &[motet::hint::PREVIOUS],
        &[motet::hint::NONBLOCKING],
    ] {
        let mut sum = world.allreduce_init(vec![1u64; 9], Sum, &hints(keys))?;
        let mut all = world.alltoall_init((vec![2u64; 8], vec![0; 8]), &hints(keys))?;
        for _ in 0..2 {
            sum.input_mut().fill(1);
            sum.run()?;
            all.run()?;
            assert_eq!((sum.output(), all.output()), (&[4; 9][..], &[2; 8][..]), "{keys:?}");
        }
    }
    assert_eq!(world.cache_counters().previous_hits, 2);
    let to: &[usize] = if world.rank() == 3 { &[1] } else { &[] };
    let buffers = (vec![0u8; to.len()], vec![0u8; 0]);
    let begun = Instant::now();
    let refused = world.exchange_init(buffers, to, &[], &hints(&[motet::hint::ENFORCE]));
    let text = refused.expect_err("rank 1 does not expect it").to_string();
    assert!(text.contains("what rank 3 sends to rank 1"), "{text}");
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert!(world.wisdom().contains("allreduce ranks=4..4 bytes=72..72 -> "));
    world.merge_wisdom()?;
    world.barrier()
}

/// spec: 100
fn futures() -> Result<()> {
    struct Unpark(thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let world = motet::launch(2)?;
    let waker = std::sync::Arc::new(Unpark(thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    for round in 0..500 {
        let mut sum = std::pin::pin!(world.iallreduce(vec![round], Sum)?);
        let result = loop {
            match sum.as_mut().poll(&mut context) {
                std::task::Poll::Ready(result) => break result?,
                std::task::Poll::Pending => thread::park(),
            }
        };
        assert_eq!(result, [2 * round]);
    }
    Ok(())
}

fn intercommunicators() -> Result<()> {
    let world = motet::launch(5)?;
    let me = world.rank();
    for left in 1..5 {
        let local = world.split(Some(u32::from(me >= left)), 0)?.expect("all have a colour");
        let remote_leader = if me < left { left } else { 0 };
        let across = local.intercomm_create(0, Some(&world), remote_leader, TAG)?;
        let sent: Result<Vec<_>> =
            (0..across.remote_size()).map(|to| across.isend(vec![me; 3000], to, TAG)).collect();
        for from in 0..across.remote_size() {
            let mut got = vec![0; 3000];
            assert_eq!(across.recv(&mut got, from, TAG)?.source, from);
            assert_eq!(got, vec![remote_leader + from; 3000]);
        }
        sent?.into_iter().try_for_each(|each| each.wait().map(drop))?;
        let order = if me < left { MergeOrder::Last } else { MergeOrder::First };
        let merged = across.dup()?.merge(order)?;
        assert_eq!(merged.group().rank_of(left), Some(0));
        assert_eq!(merged.allreduce_one(1, Sum)?, 5);
    }
    Ok(())
}

/// spec: 86, 88, 89, 90, 91, 97
fn between_groups() -> Result<()> {
    let world = motet::launch(5)?;
    let (me, info) = (world.rank(), Info::new());
    for left in 1..5 {
        let is_left = me < left;
        let local = world.split(Some(u32::from(!is_left)), 0)?.expect("all have a colour");
        let remote_leader = if is_left { left } else { 0 };
        let across = local.intercomm_create(0, Some(&world), remote_leader, TAG)?;
        let far: Vec<usize> = across.remote_group().world_ranks().collect();
        // Small data, and such as travels as addresses.
        for count in [1, 3000] {
            across.barrier()?;
            let (input, sum) = (vec![me; count], vec![far.iter().sum::<usize>(); count]);
            let mut output = vec![0; count];
            across.allreduce(&input, &mut output, Sum)?;
            assert_eq!(output, sum);
            let mut stored = across.allreduce_init((input.clone(), output), Sum, &info)?;
            stored.run()?;
            assert_eq!(stored.output(), sum);
            let all: Vec<usize> = far.iter().flat_map(|&rank| vec![rank; count]).collect();
            let buffers = (input.clone(), vec![0; count * far.len()]);
            assert_eq!(across.iallgather(buffers)?.wait()?.1, all);
            // Rank 0 of the world gathers from the right group.
            let root = match me {
                0 => Root::ThisRank,
                _ if is_left => Root::ProcNull,
                _ => Root::Rank(0),
            };
            let buffers = (input, vec![0; count * far.len()]);
            let (_, gathered) = across.igather(buffers, root)?.wait()?;
            assert_eq!(gathered, if me == 0 { all } else { vec![0; count * far.len()] });
        }
        let to: Vec<TypedBlock> =
            far.iter().map(|_| TypedBlock::new(8, 1, &Datatype::UINT64_T)).collect();
        let place = |at: usize| TypedBlock::new(16 * at as isize, 1, &Datatype::UINT64_T);
        let from: Vec<TypedBlock> = (0..far.len()).map(place).collect();
        let mut output = vec![7u64; 2 * far.len()];
        across.alltoallw(&[9, me as u64], &mut output, &to, &from)?;
        assert_eq!(output, far.iter().flat_map(|&rank| [rank as u64, 7]).collect::<Vec<_>>());
    }
    let ring = world.cartesian(&[5], &[true], Reorder::Never)?.expect("a place for each");
    let (input, mut output) = (vec![me; 3000], vec![0; 6000]);
    ring.scope(|scope| scope.ineighbor_allgather((&input[..], &mut output[..])).map(drop))?;
    assert_eq!((output[0], output[5999]), ((me + 4) % 5, (me + 1) % 5));
    Ok(())
}

/// spec: 31, 35, 36, 48, 99
fn requests() -> Result<()> {
    let world = motet::launch(2)?;
    let other = 1 - world.rank();
    let callbacks = Callbacks {
        query: Box::new(|_| Ok(())),
        free: Box::new(|| Ok(())),
        cancel: Box::new(|_| Ok(())),
    };
    let mut found = vec![];
    let mut stored: Vec<Request> = vec![
        world.recv_init(vec![0u8; 70_000], other, Tag(2))?.into(),
        world.send_init(vec![1u8; 70_000], other, Tag(2))?.into(),
        world.allreduce_init(vec![1.0], Sum, &Info::new())?.into(),
    ];
    let outside = Mutex::new(Some(callbacks));
    for round in 0..100 {
        raw::start_all(&mut stored)?;
        let mut set = std::mem::take(&mut stored);
        set.push(world.irecv(vec![0u8; 9], other, TAG)?.into());
        set.push(world.iallreduce(vec![1u32; 9], Sum)?.into());
        set.push(Request::null());
        set.push(world.isend(vec![0u8; 9], other, TAG)?.into());
        if let Some(callbacks) = outside.lock().expect("nobody panics with it").take() {
            let request = raw::grequest_start(&world, callbacks);
            let completer = request.completer().expect("a generalized one");
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(30));
                completer.complete().expect("its callbacks return no error");
            });
            set.push(request);
        }
        let mut open = set.iter().filter(|request| request.is_active()).count();
        let mut asked = set[3].get_status()?;
        while asked.is_none() && round % 2 == 0 {
            asked = set[3].get_status()?;
        }
        while let Some(count) = raw::wait_some(&mut set, &mut found)? {
            open -= count;
            for (_, status) in found.iter().filter(|(at, _)| [0, 3].contains(at)) {
                assert_eq!(status.source, Source::Rank(other));
            }
        }
        assert_eq!(open, 0);
        assert!(set[3..].iter().all(Request::is_null));
        set.truncate(3);
        stored = set;
    }
    Ok(())
}

/// Lengths below and above what fits a cell, of which the longer are copied by the kernel.
fn messages() -> Result<()> {
    let world = motet::launch(2)?;
    let other = 1 - world.rank();
    world.attach_buffer(BufferRoom::Automatic)?;
    for length in [0, 10, 9000, 400_000] {
        for round in 0..10u8 {
            let data = vec![round; length];
            world.bsend(&data, other, TAG)?;
            let sending = world.issend(data.clone(), other, Tag(2))?;
            let message = world.mprobe(ANY_SOURCE, Tag(2))?;
            let mut later = world.irecv(vec![0u8; 1], other, Tag(3))?;
            assert_eq!(message.imrecv(vec![99; length])?.wait()?, data);
            sending.wait()?;
            let mut got = vec![99; length];
            assert_eq!(world.recv(&mut got, other, ANY_TAG)?.bytes, length);
            assert_eq!(got, data);
            later.cancel()?;
            assert!(later.wait_with_status()?.1.cancelled);
            let swapped = world.isendrecv_replace(got, (other, Tag(4)), (other, Tag(4)))?;
            assert_eq!(swapped.wait()?, data);
        }
    }
    // One that nobody receives is let go on both sides.
    let sending = world.isend(vec![1u8; 400_000], other, TAG)?;
    drop(world.mprobe(other, TAG)?);
    sending.wait()?;
    world.detach_buffer().map(drop)
}

/// Processor time that this process has used.
fn processor_time() -> Duration {
    let text =
        fs::read_to_string("/proc/self/schedstat").expect("Linux tells the time of a process");
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.expect("the first number is the time on a processor"))
}

/// spec: 102
fn idle() -> Result<()> {
    let world = motet::launch(2)?;
    world.barrier()?;
    if world.rank() == 1 {
        thread::sleep(Duration::from_secs(2));
        return world.send(&[1u8], 0, TAG);
    }
    let before = processor_time();
    world.recv(&mut [0u8], 1, TAG)?;
    let used = processor_time() - before;
    assert!(used < Duration::from_millis(100), "{used:?} of processor time in 2 s");
    Ok(())
}

/// spec: 49, 100: a rank that computes delays the others, who say on whom they wait, and nothing
/// else comes of it.
fn late() -> Result<()> {
    let world = motet::launch(3)?;
    for _ in 0..2 {
        world.barrier()?;
    }
    match world.rank() {
        0 => {
            assert_eq!(world.iallreduce(vec![1], Sum)?.wait()?, [3]);
            world.send(&[7u8], 1, TAG)?;
        }
        1 => {
            let sum = world.iallreduce(vec![1], Sum)?;
            world.recv(&mut [0u8], 0, TAG)?;
            assert_eq!(sum.wait()?, [3]);
        }
        _ => {
            thread::sleep(Duration::from_millis(900));
            assert_eq!(world.iallreduce(vec![1], Sum)?.wait()?, [3]);
        }
    }
    world.barrier()
}

/// spec: 11: neither rank waits for the other, so a call says what is wrong only if it has heard of
/// the other one before.
fn ill_matched() -> Result<()> {
    let world = motet::launch(2)?;
    world.barrier()?;
    let called = match world.rank() {
        0 => world.bcast(&mut [1u8], 0),
        _ => world.reduce(&[1u8], &mut [], Sum, 0),
    };
    if let Err(error) = called {
        eprintln!("motet: rank {}: {}", world.rank(), error.kind());
    }
    Ok(())
}

/// spec: 9
fn exhausted() -> Result<()> {
    let world = motet::launch(2)?;
    if world.rank() == 1 {
        return world.recv(&mut [0u8], 0, TAG).map(drop);
    }
    // What is set up before memory is short can be used when it is.
    let mut word = world.send_init(vec![1u8], 1, TAG)?;
    let begun = Instant::now();
    let mut pending = Vec::new();
    let refused = loop {
        // In portions, so that no large one is needed to keep the requests themselves.
        match (0..1000).map(|_| world.ibarrier()).collect::<Result<Vec<_>>>() {
            Ok(more) => pending.push(more),
            Err(refused) => break refused,
        }
        assert!(begun.elapsed() < LIMIT / 2, "{} thousand operations", pending.len());
    };
    eprintln!("rank 0 has been refused after {} thousand operations: {refused}", pending.len());
    assert_eq!(refused.class(), motet::ErrorClass::NoMem);
    word.run()
}

/// Makes the last rank die as it will, and tells what the others hear of it.
fn without_the_last(die: fn(&World), expected: How) -> Result<()> {
    let world = motet::launch(3)?;
    let mut sum = world.allreduce_init(vec![1u8], Sum, &Info::new())?;
    for _ in 0..10 {
        sum.run()?;
    }
    let explanation = sum.explain();
    assert!(explanation.contains(", compiled"), "dies in a round of another kind: {explanation}");
    if world.rank() == 2 {
        thread::sleep(Duration::from_millis(100));
        die(&world);
    }
    let begun = Instant::now();
    let outcome = if world.rank() == 0 { sum.run() } else { wait_for_the_last(&world) };
    let error = outcome.expect_err("rank 2 takes no part");
    let ErrorKind::PeerFailed(failure) = error.kind() else { return Err(error) };
    assert_eq!((failure.rank.index(), failure.how), (2, expected));
    let late = begun.elapsed();
    assert!(late < Duration::from_millis(1100), "told after {late:?}");
    eprintln!("rank {} has been told", world.rank());
    Err(error)
}

fn wait_for_the_last(world: &World) -> Result<()> {
    world.recv(&mut [0u8], 2, TAG).map(drop)
}

/// spec: 9
fn killed() -> Result<()> {
    let kill = |_: &World| {
        let me = process::id().to_string();
        let _ = Command::new("kill").args(["-KILL", &me]).status();
        thread::sleep(LIMIT);
    };
    without_the_last(kill, How::Signal(9))
}

/// Where ranks share cores, the root leaves copies to those who send: to the one that dies, too.
///
/// spec: 9
fn killed_amid_gathers() -> Result<()> {
    const BYTES: usize = 1 << 20;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let world = motet::launch((2 * cores).clamp(3, 16))?;
    let (block, root) = (vec![world.rank() as u8; BYTES], world.rank() == 0);
    let mut all = vec![0; if root { BYTES * world.size() } else { 0 }];
    until_the_last_is_killed(&world, || {
        world.gather(&block, &mut all, 0)?;
        let is_all = |(rank, block): (usize, &[u8])| block.iter().all(|&it| it == rank as u8);
        assert!(all.chunks_exact(BYTES).enumerate().all(is_all));
        Ok(())
    })
}

/// Operands are read, and blocks copied, in the memory of the one that dies.
///
/// spec: 9
fn killed_amid_reading() -> Result<()> {
    const COUNT: usize = 1 << 17;
    let world = motet::launch(3)?;
    let (mut sums, mut blocks) = (world.allocate(COUNT, 0u64), world.allocate(3 * COUNT, 0u64));
    let (ones, own) = (world.allocate(COUNT, 1u64), world.allocate(3 * COUNT, world.rank() as u64));
    assert!(ones.is_common() && own.is_common());
    until_the_last_is_killed(&world, || {
        world.allreduce(&ones, &mut sums, Sum)?;
        world.alltoall(&own, &mut blocks)?;
        assert!(sums.iter().all(|&sum| sum == 3));
        let is_all = |(rank, block): (usize, &[u64])| block.iter().all(|&it| it == rank as u64);
        assert!(blocks.chunks_exact(COUNT).enumerate().all(is_all));
        Ok(())
    })
}

/// Calls again and again, until the last rank is killed in the middle of it. Says what the others
/// are told.
fn until_the_last_is_killed(world: &World, mut call: impl FnMut() -> Result<()>) -> Result<()> {
    let last = world.size() - 1;
    call()?;
    if world.rank() == last {
        let kill = ["-c", "sleep 0.2; kill -KILL \"$0\""];
        let _killer = Command::new("sh").args(kill).arg(process::id().to_string()).spawn();
    }
    let begun = Instant::now();
    let error = loop {
        if let Err(error) = call() {
            break error;
        }
        assert!(begun.elapsed() < LIMIT / 2, "nobody has been told");
    };
    let ErrorKind::PeerFailed(failure) = error.kind() else { return Err(error) };
    assert_eq!((failure.rank.index(), failure.how), (last, How::Signal(9)));
    eprintln!("rank {} has been told", world.rank());
    Err(error)
}

/// spec: 9
fn exits() -> Result<()> {
    without_the_last(|_| process::exit(7), How::Exit(7))
}

/// The last rank ends the job as it will. The others, which wait in some way, hear nothing of it.
fn ended_by_the_last(end: fn(&World)) -> Result<()> {
    let world = motet::launch(4)?;
    let mut sum = world.allreduce_init(vec![1u8], Sum, &Info::new())?;
    sum.run()?;
    let outcome = match world.rank() {
        0 => sum.run(),
        1 => world.recv(&mut [0u8], 3, TAG).map(drop),
        2 => loop {
            if let Err(error) = world.iprobe(3, TAG) {
                break Err(error);
            }
        },
        _ => {
            thread::sleep(Duration::from_millis(100));
            end(&world);
            Ok(())
        }
    };
    eprintln!("rank {} goes on: {outcome:?}", world.rank());
    outcome
}

/// spec: 67
fn fatal() -> Result<()> {
    ended_by_the_last(|world| {
        world.set_error_handler(ErrorHandler::Fatal);
        let _ = world.send(&[1], 9, TAG);
    })
}

/// The launcher says it. Ranks that end because of it have nothing to add.
fn dies_among_fatal_handlers() -> Result<()> {
    let world = motet::launch(4)?;
    world.set_error_handler(ErrorHandler::Fatal);
    world.barrier()?;
    if world.rank() == 3 {
        process::exit(7);
    }
    let outcome = world.allreduce(&[1u8], &mut [0u8], Sum);
    eprintln!("rank {} goes on: {outcome:?}", world.rank());
    Ok(())
}

fn abort() -> Result<()> {
    ended_by_the_last(|world| world.abort(5))
}

/// All at once: each with the same code, so that it is known.
fn abort_all() -> Result<()> {
    let world = motet::launch(3)?;
    world.barrier()?;
    world.abort(5)
}

fn abort_in_operator() -> Result<()> {
    let world = std::sync::Arc::new(motet::launch(3)?);
    let other = world.clone();
    let end = motet::op::commutative(move |_: u64, _: u64| -> u64 { other.abort(5) });
    world.allreduce_one(1u64, end).map(drop)
}

fn abort_alone() -> Result<()> {
    motet::init()?.abort(5)
}
