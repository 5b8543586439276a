//! Ranks the vertices: each has what walkers would bring there who follow any edge at random, and
//! now and then begin anew anywhere (PageRank).
//!
//! Who needs which vertices of whom never changes. So the exchange is set up once and started in
//! each iteration, and what needs no other rank's vertices is added up meanwhile.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use motet::{Communicator, Info, Persistent, Sum};

use crate::failure::alike;
use crate::graph::Graph;
use crate::options::Options;
use crate::progress::Progress;

/// The share of walkers that follow an edge.
const FOLLOW: f64 = 0.85;
/// The ranks are found when all together change by less.
const TOLERANCE: f64 = 1e-14;
/// How far the sum of all ranks may be from 1: so much, and for each vertex this.
const ACCEPTED: [f64; 2] = [1e-12, 1e-17];
/// One iteration of so many adds up first and communicates then, to see what overlap gains.
const SEPARATE_PERIOD: u64 = 8;

type Exchange = Persistent<(Vec<f64>, Vec<f64>)>;

/// The ranks of the own vertices, and what it took to find them.
pub(crate) struct Ranking {
    pub(crate) ranks: Vec<f64>,
    pub(crate) iterations: u64,
    /// Of an iteration.
    pub(crate) seconds: f64,
    /// Of an iteration: seconds in filling, start and wait of the exchange, and in the sums.
    pub(crate) visible: f64,
    /// Of the exchange, with work done before, and meanwhile.
    pub(crate) apart: f64,
    pub(crate) overlapped: f64,
    /// What the library tells about the exchange.
    pub(crate) explanation: String,
}

/// Time spent, and how often.
#[derive(Clone, Copy, Default)]
struct Spent(Duration, u32);

impl Spent {
    fn add(&mut self, time: Duration) {
        *self = Self(self.0 + time, self.1 + 1);
    }

    fn mean(self) -> f64 {
        self.0.as_secs_f64() / f64::from(self.1.max(1))
    }
}

/// What an iteration changes.
struct State<'g> {
    graph: &'g Graph,
    ranks: Vec<f64>,
    /// What each own vertex gives to each end of its edges.
    gifts: Vec<f64>,
    /// What each own vertex is given.
    given: Vec<f64>,
    /// For each own vertex, how many of its edges lead to own vertices: those are the first.
    inside: Vec<usize>,
    /// The share of vertices without edges, all over the graph: their walkers begin anew.
    stuck: f64,
}

impl<'g> State<'g> {
    fn new(world: &Communicator, graph: &'g Graph) -> Result<Self> {
        let (own, vertices) = (graph.own.len(), graph.partition.vertices as f64);
        let within = |vertex| graph.ends(vertex).partition_point(|&end| (end as usize) < own);
        let alone = (0..own).filter(|&vertex| graph.ends(vertex).is_empty()).count();
        let stuck = world.allreduce_one(alone as f64 / vertices, Sum)?;
        let [gifts, given] = [(); 2].map(|()| vec![0.0; own]);
        let inside = (0..own).map(within).collect();
        Ok(Self { graph, ranks: vec![1.0 / vertices; own], gifts, given, inside, stuck })
    }

    fn share_out(&mut self) {
        for (vertex, gift) in self.gifts.iter_mut().enumerate() {
            *gift = self.ranks[vertex] / self.graph.ends(vertex).len().max(1) as f64;
        }
    }

    /// Adds up what own vertices give each other.
    fn add_inside(&mut self) {
        for (vertex, given) in self.given.iter_mut().enumerate() {
            let ends = &self.graph.ends(vertex)[..self.inside[vertex]];
            *given = ends.iter().map(|&end| self.gifts[end as usize]).sum();
        }
    }

    /// Adds what the ghosts give.
    fn add_outside(&mut self, ghosts: &[f64]) {
        let own = self.ranks.len();
        for (vertex, given) in self.given.iter_mut().enumerate() {
            let ends = &self.graph.ends(vertex)[self.inside[vertex]..];
            *given += ends.iter().map(|&end| ghosts[end as usize - own]).sum::<f64>();
        }
    }

    /// Takes what is given. Returns how much has changed, and what is now on vertices without
    /// edges.
    fn take(&mut self) -> [f64; 2] {
        let everywhere = 1.0 / self.graph.partition.vertices as f64;
        let anew = (1.0 - FOLLOW + FOLLOW * self.stuck) * everywhere;
        let (mut change, mut stuck) = (0.0, 0.0);
        for (vertex, given) in self.given.iter().enumerate() {
            let rank = anew + FOLLOW * given;
            change += (rank - self.ranks[vertex]).abs();
            self.ranks[vertex] = rank;
            if self.graph.ends(vertex).is_empty() {
                stuck += rank;
            }
        }
        [change, stuck]
    }
}

/// Ranks all vertices. Collective.
pub(crate) fn rank(world: &Communicator, graph: &Graph, options: &Options) -> Result<Ranking> {
    let shown = world.rank() == 0 && !options.quiet;
    let progress = if shown { Progress::shown("iteration") } else { Progress::silent() };
    let mut exchange = set_up(world, graph)?;
    let mut sums = world.allreduce_init((vec![0.0; 2], vec![0.0; 2]), Sum, &Info::new())?;
    let mut state = State::new(world, graph)?;
    let [mut apart, mut overlapped, mut summing] = [Spent::default(); 3];
    let (mut iterations, mut change) = (0, f64::INFINITY);
    let begin = Instant::now();
    while change > TOLERANCE {
        if iterations == options.max_iterations {
            let error =
                anyhow!("no end: the ranks change by {change:.1e} in iteration {iterations}");
            return Err(alike(world, error));
        }
        iterations += 1;
        state.share_out();
        let time;
        let overlap = !iterations.is_multiple_of(SEPARATE_PERIOD);
        (exchange, time) = trade(exchange, &mut state, overlap)?;
        if overlap {
            overlapped.add(time)
        } else {
            apart.add(time)
        }
        state.add_outside(exchange.output());
        sums.input_mut().copy_from_slice(&state.take());
        let begin = Instant::now();
        sums.run()?;
        summing.add(begin.elapsed());
        (change, state.stuck) = (sums.output()[0], sums.output()[1]);
        progress.show(iterations, || format!("the ranks change by {change:.1e}"));
    }
    let each = 1.0 / iterations as f64;
    let visible = (apart.0 + overlapped.0 + summing.0).as_secs_f64() * each;
    Ok(Ranking {
        iterations,
        seconds: begin.elapsed().as_secs_f64() * each,
        visible,
        apart: apart.mean(),
        overlapped: overlapped.mean(),
        explanation: exchange.explain(),
        ranks: state.ranks,
    })
}

/// The exchange of what the vertices give, along the pattern of the graph.
fn set_up(world: &Communicator, graph: &Graph) -> Result<Exchange> {
    let pattern = &graph.pattern;
    let buffers = (vec![0.0; pattern.wanted.len()], vec![0.0; graph.ghosts.len()]);
    Ok(world.exchangev_init(buffers, &pattern.to, &pattern.from, &Info::new())?)
}

/// One run of the exchange, and the sums inside meanwhile or before. Returns the time of the first.
fn trade(
    mut exchange: Exchange,
    state: &mut State<'_>,
    overlap: bool,
) -> motet::Result<(Exchange, Duration)> {
    if !overlap {
        state.add_inside();
    }
    let begin = Instant::now();
    let wanted = &state.graph.pattern.wanted;
    for (value, &vertex) in exchange.input_mut().iter_mut().zip(wanted) {
        *value = state.gifts[vertex as usize];
    }
    let running = exchange.start()?;
    let started = begin.elapsed();
    if overlap {
        state.add_inside();
    }
    let begin = Instant::now();
    Ok((running.wait()?, started + begin.elapsed()))
}

impl Ranking {
    /// Fails if something was lost on the way.
    pub(crate) fn check(&self, world: &Communicator, graph: &Graph) -> Result<f64> {
        let sum = world.allreduce_one(self.ranks.iter().sum::<f64>(), Sum)?;
        let accepted = ACCEPTED[0] + ACCEPTED[1] * graph.partition.vertices as f64;
        let outcome = || {
            ensure!((sum - 1.0).abs() <= accepted, "the sum of all ranks is {sum}, not 1");
            Ok(sum)
        };
        outcome().map_err(|error| alike(world, error))
    }
}
