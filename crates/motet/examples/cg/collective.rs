//! One collective operation in any of its three forms, and how long it keeps its caller.

use std::time::{Duration, Instant};

use anyhow::Result;
use motet::{Communicator, Info, Neighbour, Persistent, Request, Running, Sum};

use crate::options::Form;

/// How often an operation runs to find out what it costs when nothing else is done.
const CALIBRATION_RUNS: u32 = 200;
const WARM_UP_RUNS: u32 = 20;
/// One run of so many does its work first and communicates then, to see what overlap gains.
const SEPARATE_PERIOD: u32 = 8;

/// What is sent and what is received.
type Buffers = (Vec<f64>, Vec<f64>);

/// Which operation is called, and where.
struct Call<'w> {
    world: &'w Communicator,
    kind: Kind,
}

/// An operation without its buffers.
pub(crate) enum Kind {
    /// Sums over all ranks: an allreduce.
    Sum,
    /// Blocks to and from the neighbours: an exchangev.
    Exchange {
        /// The receivers.
        to: Vec<Neighbour>,
        /// The senders.
        from: Vec<Neighbour>,
    },
}

impl Call<'_> {
    fn blocking(&self, (input, mut output): Buffers) -> motet::Result<Buffers> {
        match &self.kind {
            Kind::Sum => self.world.allreduce(&input, &mut output, Sum)?,
            Kind::Exchange { to, from } => self.world.exchangev(&input, &mut output, to, from)?,
        }
        Ok((input, output))
    }

    fn nonblocking(&self, buffers: Buffers) -> motet::Result<Request<Buffers>> {
        match &self.kind {
            Kind::Sum => self.world.iallreduce(buffers, Sum),
            Kind::Exchange { to, from } => self.world.iexchangev(buffers, to, from),
        }
    }

    fn persistent(&self, buffers: Buffers) -> motet::Result<Persistent<Buffers>> {
        match &self.kind {
            Kind::Sum => self.world.allreduce_init(buffers, Sum, &Info::new()),
            Kind::Exchange { to, from } => {
                self.world.exchangev_init(buffers, to, from, &Info::new())
            }
        }
    }
}

/// An operation that is not running: its buffers can be touched.
enum Idle {
    Blocking(Buffers),
    Nonblocking(Buffers),
    Persistent(Persistent<Buffers>),
}

/// An operation that was started.
enum Started {
    Blocking(Buffers),
    Nonblocking(Request<Buffers>),
    Persistent(Running<Buffers>),
}

impl Idle {
    fn start(self, call: &Call<'_>) -> motet::Result<Started> {
        Ok(match self {
            Self::Blocking(buffers) => Started::Blocking(call.blocking(buffers)?),
            Self::Nonblocking(buffers) => Started::Nonblocking(call.nonblocking(buffers)?),
            Self::Persistent(operation) => Started::Persistent(operation.start()?),
        })
    }
}

impl Started {
    fn wait(self) -> motet::Result<Idle> {
        Ok(match self {
            Self::Blocking(buffers) => Idle::Blocking(buffers),
            Self::Nonblocking(request) => Idle::Nonblocking(request.wait()?),
            Self::Persistent(running) => Idle::Persistent(running.wait()?),
        })
    }
}

/// One operation of the iteration, to be run again and again.
pub(crate) struct Collective<'w> {
    call: Call<'w>,
    idle: Idle,
    /// The time of one run with nothing done meanwhile.
    alone: f64,
    /// The time in start and wait of the runs since the calibration whose work was done before.
    apart: Mean,
    /// The time in start and wait of those whose work was done meanwhile.
    overlapped: Mean,
    runs: u32,
}

/// The mean of some times.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: Duration,
    times: u32,
}

impl Mean {
    fn add(&mut self, time: Duration) {
        self.sum += time;
        self.times += 1;
    }

    fn seconds(self) -> f64 {
        self.sum.as_secs_f64() / f64::from(self.times.max(1))
    }
}

impl<'w> Collective<'w> {
    /// Sets up an operation that sends and receives so many numbers.
    pub(crate) fn new(
        world: &'w Communicator,
        form: Form,
        kind: Kind,
        (sent, received): (usize, usize),
    ) -> Result<Self> {
        let call = Call { world, kind };
        let buffers = (vec![0.0; sent], vec![0.0; received]);
        let idle = match form {
            Form::Blocking => Idle::Blocking(buffers),
            Form::Nonblocking => Idle::Nonblocking(buffers),
            Form::Persistent => Idle::Persistent(call.persistent(buffers)?),
        };
        let (apart, overlapped) = (Mean::default(), Mean::default());
        Ok(Self { call, idle, alone: 0.0, apart, overlapped, runs: 0 })
    }

    /// What the next run sends.
    pub(crate) fn input_mut(&mut self) -> &mut [f64] {
        match &mut self.idle {
            Idle::Blocking((input, _)) | Idle::Nonblocking((input, _)) => input,
            Idle::Persistent(operation) => operation.input_mut(),
        }
    }

    /// What the last run received.
    pub(crate) fn output(&self) -> &[f64] {
        match &self.idle {
            Idle::Blocking((_, output)) | Idle::Nonblocking((_, output)) => output,
            Idle::Persistent(operation) => operation.output(),
        }
    }

    /// Runs the operation; the work given is done while it is under way, or after it in the
    /// blocking form. Now and then, in the same runs on all ranks, it is done before.
    pub(crate) fn run(mut self, work: impl FnOnce()) -> Result<Self> {
        self.runs += 1;
        if self.runs.is_multiple_of(SEPARATE_PERIOD) {
            work();
            let begin = Instant::now();
            self.idle = self.idle.start(&self.call)?.wait()?;
            self.apart.add(begin.elapsed());
            return Ok(self);
        }
        let begin = Instant::now();
        let started = self.idle.start(&self.call)?;
        let begin_of_work = Instant::now();
        work();
        let end_of_work = Instant::now();
        self.idle = started.wait()?;
        self.overlapped.add((begin_of_work - begin) + end_of_work.elapsed());
        Ok(self)
    }

    /// Finds out what a run costs alone, and begins to count anew.
    pub(crate) fn calibrate(mut self) -> Result<Self> {
        for run in 0..WARM_UP_RUNS + CALIBRATION_RUNS {
            if run == WARM_UP_RUNS {
                self.overlapped = Mean::default();
            }
            self = self.run(|| ())?;
        }
        let alone = self.overlapped.seconds();
        let (apart, overlapped) = (Mean::default(), Mean::default());
        Ok(Self { alone, apart, overlapped, runs: 0, ..self })
    }

    /// What this operation cost so far.
    pub(crate) fn cost(&self) -> Cost {
        let (apart, overlapped) = (self.apart.seconds(), self.overlapped.seconds());
        Cost { alone: self.alone, apart, overlapped }
    }
}

/// Seconds that one run of an operation keeps its caller in start and wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Before the iterations, with nothing else to do.
    pub(crate) alone: f64,
    /// In the iterations, with the work done before.
    pub(crate) apart: f64,
    /// In the iterations, with the work done between start and wait.
    pub(crate) overlapped: f64,
}

impl Cost {
    /// The share of the communication that work has hidden.
    pub(crate) fn hidden(&self) -> f64 {
        (1.0 - self.overlapped / self.apart).max(0.0)
    }
}
