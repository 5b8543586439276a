//! Calls of the typed API whose instructions `ci/instructions` counts.
//!
//! Two ranks. Rank 0 runs under callgrind, which counts the instructions inside [`counted`] and
//! writes their sum down each time that it returns. A rank that polls has no stable count, so rank
//! 0 makes a counted call only when the messages of its peer are there. The two ranks tell each
//! other so by two pipes in the folder `COUNTED_PIPES`, not by the library that is counted.
//!
//! Rank 0 prints a line for each counted call: `ROW TAB PORTIONS`, here always one portion.
//! `COUNTED_PLANT=ROW=LOOPS` adds so many loops to each call of a row, to show that
//! `ci/instructions` finds them.

use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::Duration;
use std::{env, thread};

use anyhow::{Context, Result};
use motet::buffer::Buffers;
use motet::{Communicator, Info, Persistent, Request, Running, Sum, Tag};

/// Calls that are not counted: the first ones set things up.
const WARM: usize = 8;
/// Calls that are counted. `ci/instructions` compares call k with call k + 32.
const TIMES: usize = 3 * 32;
/// A peer that has entered a blocking call has sent its message by then.
const PAUSE: Duration = Duration::from_millis(3);
const TAG: Tag = Tag(0);

fn main() -> Result<()> {
    let world = motet::init()?;
    let mut pipes = Pipes::open(world.rank())?;
    persistent(&world, &mut pipes)?;
    allreduces(&world, &mut pipes)?;
    messages(&world, &mut pipes, "Rust irecv, isend and wait, 8 B", 8)?;
    messages(&world, &mut pipes, "Rust irecv, isend and wait, 1 KiB", 1024)?;
    others(&world, &mut pipes)
}

/// Callgrind counts from the begin of this function to its end.
#[inline(never)]
fn counted<T>(loops: u64, call: impl FnOnce() -> T) -> T {
    let outcome = call();
    (0..loops).for_each(|at| _ = black_box(at));
    outcome
}

fn persistent(world: &Communicator, pipes: &mut Pipes) -> Result<()> {
    let info = Info::new();
    let sum = world.allreduce_init((vec![1.0], vec![0.0]), Sum, &info)?;
    starts(pipes, "Rust persistent allreduce of 8 B, start and wait", sum)?;
    let barrier = world.barrier_init(&info)?;
    starts(pipes, "Rust persistent barrier, start and wait", barrier)?;
    let (peer, buffers) = (1 - world.rank(), (vec![0_u8; 1024], vec![0_u8; 1024]));
    let exchange = world.exchange_init(buffers, &[peer, peer], &[peer, peer], &info)?;
    starts(pipes, "Rust persistent exchange of 2 x 512 B, start and wait", exchange)
}

fn starts<B: Buffers + 'static>(
    pipes: &mut Pipes,
    name: &str,
    operation: Persistent<B>,
) -> Result<()> {
    let row = Row {
        name,
        sends: Sends::Ahead,
        ahead: Persistent::start,
        behind: Running::wait,
        call: |operation: Persistent<B>| operation.start()?.wait(),
    };
    row.count(pipes, operation)
}

fn allreduces(world: &Communicator, pipes: &mut Pipes) -> Result<()> {
    blocking_allreduce(world, pipes, "Rust allreduce of 8 B", 1)?;
    let nonblocking = Row {
        name: "Rust iallreduce of 8 B and wait",
        sends: Sends::Ahead,
        ahead: |buffer: Vec<f64>| world.iallreduce(buffer, Sum),
        behind: Request::wait,
        call: |buffer| world.iallreduce(buffer, Sum)?.wait(),
    };
    nonblocking.count(pipes, vec![1.0])
}

fn blocking_allreduce(
    world: &Communicator,
    pipes: &mut Pipes,
    name: &str,
    count: usize,
) -> Result<()> {
    let add = |(input, mut output): (Vec<f64>, Vec<f64>)| {
        world.allreduce(&input, &mut output, Sum)?;
        Ok((input, output))
    };
    blocking(pipes, name, add, (vec![1.0; count], vec![0.0; count]))
}

/// Blocking collectives of more data, and others of one `f64` for each rank. Rows that begin after
/// long messages find rings in another state, so these come last.
fn others(world: &Communicator, pipes: &mut Pipes) -> Result<()> {
    blocking_allreduce(world, pipes, "Rust allreduce of 128 B", 16)?;
    blocking_allreduce(world, pipes, "Rust allreduce of 8 KiB", 1024)?;
    let from_root = |mut buffer: [f64; 1]| world.bcast(&mut buffer, 0).map(|()| buffer);
    blocking(pipes, "Rust bcast of 8 B at the root", from_root, [1.0])?;
    blocking(pipes, "Rust barrier", |()| world.barrier(), ())?;
    let all = |(input, mut output): ([f64; 1], [f64; 2])| {
        world.allgather(&input, &mut output).map(|()| (input, output))
    };
    blocking(pipes, "Rust allgather of 8 B", all, ([1.0], [0.0; 2]))?;
    let each = |(input, mut output): ([f64; 2], [f64; 2])| {
        world.alltoall(&input, &mut output).map(|()| (input, output))
    };
    blocking(pipes, "Rust alltoall of 2 x 8 B", each, ([1.0; 2], [0.0; 2]))
}

/// A blocking call that all ranks make alike.
fn blocking<S>(
    pipes: &mut Pipes,
    name: &str,
    call: impl Fn(S) -> motet::Result<S> + Copy,
    state: S,
) -> Result<()> {
    let row = Row { name, sends: Sends::InTheCall, ahead: Ok, behind: call, call };
    row.count(pipes, state)
}

fn messages(world: &Communicator, pipes: &mut Pipes, name: &str, bytes: usize) -> Result<()> {
    let row = Row {
        name,
        sends: Sends::Ahead,
        ahead: |(data, buffer): (Vec<u8>, Vec<u8>)| {
            Ok((world.isend(data, 0, TAG)?.wait()?, buffer))
        },
        behind: |(data, buffer): (Vec<u8>, Vec<u8>)| {
            Ok((data, world.irecv(buffer, 0, TAG)?.wait()?))
        },
        call: |(data, buffer)| {
            let receive = world.irecv(buffer, 1, TAG)?;
            let send = world.isend(data, 1, TAG)?;
            Ok((send.wait()?, receive.wait()?))
        },
    };
    row.count(pipes, (vec![0; bytes], vec![0; bytes]))
}

/// When the peer sends what a counted call of rank 0 needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sends {
    /// Before it waits for anything.
    Ahead,
    /// In the call in which it also waits for rank 0.
    InTheCall,
}

/// What is counted, and what the peer does. The calls pass a state on: what a call takes, it gives
/// back for the next one.
struct Row<'a, A, B, C> {
    name: &'a str,
    sends: Sends,
    /// The peer, before the call of rank 0.
    ahead: A,
    /// The peer, after that call, or during it.
    behind: B,
    /// Rank 0, counted.
    call: C,
}

impl<A, B, C> Row<'_, A, B, C> {
    fn count<S, R>(&self, pipes: &mut Pipes, mut state: S) -> Result<()>
    where
        A: Fn(S) -> motet::Result<R>,
        B: Fn(R) -> motet::Result<S>,
        C: Fn(S) -> motet::Result<S>,
    {
        let loops = self.planted();
        for turn in 0..WARM + TIMES {
            let is_counted = turn >= WARM;
            state = match pipes.rank {
                0 => self.turn_of_rank_0(pipes, state, is_counted.then_some(loops))?,
                _ => self.turn_of_peer(pipes, state, is_counted)?,
            };
        }
        Ok(())
    }

    fn turn_of_rank_0<S>(&self, pipes: &mut Pipes, state: S, counts: Option<u64>) -> Result<S>
    where
        C: Fn(S) -> motet::Result<S>,
    {
        pipes.hear()?;
        if self.sends == Sends::InTheCall {
            thread::sleep(PAUSE);
        }
        let state = match counts {
            Some(loops) => counted(loops, || (self.call)(state)),
            None => (self.call)(state),
        }?;
        pipes.tell()?;
        if counts.is_some() {
            println!("{}\t1", self.name);
        }
        Ok(state)
    }

    /// In a first call both ranks may need each other, so the peer does not wait for rank 0 outside
    /// the library then.
    fn turn_of_peer<S, R>(&self, pipes: &mut Pipes, state: S, is_counted: bool) -> Result<S>
    where
        A: Fn(S) -> motet::Result<R>,
        B: Fn(R) -> motet::Result<S>,
    {
        let is_patient = self.sends == Sends::Ahead && is_counted;
        let sent = (self.ahead)(state)?;
        pipes.tell()?;
        if is_patient {
            pipes.hear()?;
        }
        let state = (self.behind)(sent)?;
        if !is_patient {
            pipes.hear()?;
        }
        Ok(state)
    }

    /// The loops that are planted in this row.
    fn planted(&self) -> u64 {
        let plant = env::var("COUNTED_PLANT").unwrap_or_default();
        let loops = plant.rsplit_once('=').filter(|(row, _)| *row == self.name);
        loops.and_then(|(_, loops)| loops.parse().ok()).unwrap_or(0)
    }
}

/// How the two ranks tell each other that something is there.
struct Pipes {
    rank: usize,
    tells: File,
    hears: File,
}

impl Pipes {
    /// To open a pipe waits for its other end: both ranks begin with the same pipe.
    fn open(rank: usize) -> Result<Pipes> {
        let folder = env::var_os("COUNTED_PIPES").context("COUNTED_PIPES names no folder")?;
        let path = |name| PathBuf::from(&folder).join(name);
        let writing = |name| OpenOptions::new().write(true).open(path(name));
        if rank == 0 {
            let tells = writing("from-0")?;
            return Ok(Pipes { rank, tells, hears: File::open(path("from-1"))? });
        }
        let hears = File::open(path("from-0"))?;
        Ok(Pipes { rank, tells: writing("from-1")?, hears })
    }

    fn tell(&mut self) -> Result<()> {
        self.tells.write_all(&[0]).context("the other rank is gone")
    }

    fn hear(&mut self) -> Result<()> {
        self.hears.read_exact(&mut [0]).context("the other rank is gone")
    }
}
