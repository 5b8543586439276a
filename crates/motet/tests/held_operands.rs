//! Operands that a rank holds where they lie, until it has those that come before them: a rank is
//! late, or a rank dies meanwhile. Ranks are threads or processes.
//!
//! The program runs each of its cases by running itself, under a time limit.

mod cases;

use std::env;
use std::io::Read;
use std::panic;
use std::process::{self, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cases::{CASE, TestCase, end_of, main_of};
use motet::{Communicator, Error, ErrorKind, Info, Result, SharedAllocator, Sum, Tag};

#[global_allocator]
static ALLOCATOR: SharedAllocator = SharedAllocator;

/// More than a case takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(60);
const ALGORITHMS: &str = "reduce=linear,allreduce=linear_reduce_scatter_allgather";
const RANKS: usize = 4;
/// The rank whose operand the root holds.
const HELD: usize = RANKS - 1;
/// Elements of 8 bytes, which go by address: 1 MiB and a little.
const COUNT: usize = 131_072 + 3;
/// How often the root looks for messages while it holds an operand.
const POLLS: usize = 200;
const BEGUN: Tag = Tag(1);
const GO: Tag = Tag(2);
/// The exit code of a process that has been aborted, as the launcher reports it.
const ABORTED: i32 = 128 + 6;

/// What happens while the root holds the operand of the last rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// The other ranks come late.
    Late,
    /// The last rank dies.
    HeldDies,
    /// The root dies.
    HolderDies,
    /// Ranks reduce again and again, and one dies at any moment.
    AnyMoment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Threads,
    Processes,
}

struct Case {
    name: &'static str,
    event: Event,
    kind: Kind,
}

const CASES: [Case; 7] = [
    Case { name: "late_threads", event: Event::Late, kind: Kind::Threads },
    Case { name: "late_processes", event: Event::Late, kind: Kind::Processes },
    Case { name: "held_dies_threads", event: Event::HeldDies, kind: Kind::Threads },
    Case { name: "held_dies_processes", event: Event::HeldDies, kind: Kind::Processes },
    Case { name: "holder_dies_threads", event: Event::HolderDies, kind: Kind::Threads },
    Case { name: "holder_dies_processes", event: Event::HolderDies, kind: Kind::Processes },
    Case { name: "any_moment_processes", event: Event::AnyMoment, kind: Kind::Processes },
];

fn main() -> ExitCode {
    main_of(&CASES)
}

impl TestCase for Case {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run_body(&self) -> Result<()> {
        if self.kind == Kind::Processes {
            let world = motet::launch(RANKS)?;
            return self.play(&world);
        }
        let survivors = AtomicUsize::new(0);
        let ended = motet::threads(RANKS, |world| {
            self.play(&world).unwrap_or_else(|error| panic!("rank {}: {error}", world.rank()));
            survivors.fetch_add(1, Ordering::Relaxed);
        });
        let expected = if self.event == Event::Late { RANKS } else { RANKS - 1 };
        assert_eq!(survivors.into_inner(), expected, "ranks that came to the end");
        match (self.event, ended) {
            (Event::Late, ended) => ended.map(drop),
            (_, ended) => {
                assert_is_of(self.dead(), &ended.expect_err("a rank has died"));
                Ok(())
            }
        }
    }

    fn run(&self) -> std::result::Result<(), String> {
        let moments = if self.event == Event::AnyMoment { 8 } else { 1 };
        (0..moments).try_for_each(|moment| self.run_at(moment))
    }
}

impl Case {
    /// Runs the case once; in some cases the moment of a death depends on the number.
    fn run_at(&self, moment: usize) -> std::result::Result<(), String> {
        let program = env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.env(CASE, self.name).env(motet::env::ALGORITHM, ALGORITHMS);
        command.env("MOTET_TEST_MOMENT", moment.to_string()).stderr(Stdio::piped());
        let mut job = command.spawn().map_err(|error| error.to_string())?;
        let mut errors = job.stderr.take().expect("it was asked for");
        let told = thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).map(|_| text)
        });
        let end = end_of(&mut job, Instant::now() + LIMIT).map_err(|error| error.to_string())?;
        let told = told.join().expect("it does not panic").map_err(|error| error.to_string())?;
        let is_of_dead = self.kind == Kind::Processes && self.event != Event::Late;
        let expected = if is_of_dead { ABORTED } else { 0 };
        if end.and_then(|status| status.code()) == Some(expected) && !told.contains("panicked") {
            return Ok(());
        }
        Err(format!("{}, moment {moment}: {end:?} within {LIMIT:?}: {told}", self.name))
    }

    /// The rank that dies.
    fn dead(&self) -> usize {
        match self.event {
            Event::HolderDies => 0,
            _ => HELD,
        }
    }

    fn die(&self) -> ! {
        match self.kind {
            Kind::Threads => panic::resume_unwind(Box::new("it dies")),
            Kind::Processes => process::abort(),
        }
    }

    /// The last rank begins a reduction; the root begins it, too, and takes the operand, which is
    /// to be reduced after those of the other ranks.
    fn play(&self, world: &Communicator) -> Result<()> {
        if self.event == Event::AnyMoment {
            return self.die_at_any_moment(world);
        }
        let own = vec![world.rank() as u64 + 1; COUNT];
        match world.rank() {
            HELD => {
                let sum = world.ireduce(own, Sum, 0)?;
                world.send(&[0_u8], 0, BEGUN)?;
                let go = world.recv(&mut [0_u8], 0, GO);
                match self.event {
                    Event::HeldDies => self.die(),
                    Event::HolderDies => {
                        assert_is_of(0, &sum.wait().expect_err("the root is dead"));
                    }
                    _ => go.and(sum.wait()).map(drop)?,
                }
            }
            0 => self.hold(world, own)?,
            _ => match (world.recv(&mut [0_u8], 0, GO), self.event) {
                (go, Event::Late) => {
                    go?;
                    world.reduce(&own, &mut [], Sum, 0)?;
                }
                (go, _) => assert_is_of(self.dead(), &go.expect_err("a rank is dead")),
            },
        }
        Ok(())
    }

    /// The root: it holds the operand of the last rank.
    fn hold(&self, world: &Communicator, own: Vec<u64>) -> Result<()> {
        world.recv(&mut [0_u8], HELD, BEGUN)?;
        let mut sum = world.ireduce(own, Sum, 0)?;
        for _ in 0..POLLS {
            assert!(!sum.test()?, "no other rank has begun");
        }
        match self.event {
            Event::HolderDies => self.die(),
            Event::HeldDies => {
                world.send(&[0_u8], HELD, GO)?;
                assert_is_of(HELD, &sum.wait().expect_err("its operand is lost"));
            }
            _ => {
                for rank in 1..RANKS {
                    world.send(&[0_u8], rank, GO)?;
                }
                let sum = sum.wait()?;
                assert!(sum.iter().all(|&sum| sum == (RANKS * (RANKS + 1) / 2) as u64));
            }
        }
        Ok(())
    }

    /// Each reduction that ends well has the right result; the others say who has died.
    fn die_at_any_moment(&self, world: &Communicator) -> Result<()> {
        let moment = env::var("MOTET_TEST_MOMENT").ok().and_then(|text| text.parse().ok());
        if world.rank() == HELD {
            let moment = Duration::from_micros(5_000 + 2_711 * moment.unwrap_or(0));
            thread::spawn(move || {
                thread::sleep(moment);
                process::abort();
            });
        }
        let buffers = (vec![0; COUNT], vec![0; COUNT]);
        let mut persistent = world.allreduce_init(buffers, Sum, &Info::new())?;
        for round in 0_u64.. {
            let own = vec![world.rank() as u64 + round; COUNT];
            let expected = (RANKS * (RANKS - 1) / 2) as u64 + RANKS as u64 * round;
            let mut result = vec![0; COUNT];
            if let Err(error) = world.allreduce(&own, &mut result, Sum) {
                assert_is_of(HELD, &error);
                return Ok(());
            }
            assert!(result.iter().all(|&sum| sum == expected), "round {round}");
            persistent.input_mut().copy_from_slice(&own);
            match persistent.start().and_then(|running| running.wait()) {
                Ok(ended) => persistent = ended,
                Err(error) => {
                    assert_is_of(HELD, &error);
                    return Ok(());
                }
            }
            assert!(persistent.output().iter().all(|&sum| sum == expected), "round {round}");
        }
        Ok(())
    }
}

#[track_caller]
fn assert_is_of(rank: usize, error: &Error) {
    match error.kind() {
        ErrorKind::PeerFailed(failure) => assert_eq!(failure.rank.index(), rank, "{error}"),
        _ => panic!("not the death of rank {rank}: {error}"),
    }
}
