//! Measured step times, and the same points in the model.

use super::costs::{COSTS, MS, Nanos, US};
use super::policy::Policy;
use super::ranks::{Disturber, Scene, Session, World};

pub(super) const NOTHING: &[Disturber] = &[];
pub(super) const LOOP: &[Disturber] = &[Disturber::Loop];
pub(super) const TWO_LOOPS: &[Disturber] = &[Disturber::Loop, Disturber::Loop];
pub(super) const PULSE: &[Disturber] = &[Disturber::Pulse];
pub(super) const SHORT_SLICE: Option<Nanos> = Some(100 * US);

/// Ranks and work of the columns.
const COLUMNS: [(usize, Nanos); 7] =
    [(2, 6 * US), (4, 6 * US), (8, 6 * US), (4, MS), (8, MS), (4, 10 * MS), (8, 10 * MS)];

struct Row {
    name: &'static str,
    disturbers: &'static [Disturber],
    session: Session,
    policy: Policy,
    slice: Option<Nanos>,
    /// The smallest and the largest mean of a run, in microseconds per step. Zero: not measured.
    measured: [(f64, f64); 7],
}

const fn at(time: f64) -> (f64, f64) {
    (time, time)
}

const NO: (f64, f64) = (0.0, 0.0);

/// Measured on a virtual machine of 2 cores with Linux 6.18.
const ROWS: [Row; 7] = [
    Row {
        name: "yield, no loop",
        disturbers: NOTHING,
        session: Session::Same,
        policy: Policy::Yield,
        slice: None,
        measured: [at(14.7), at(37.6), at(80.0), at(4870.0), at(10300.0), NO, NO],
    },
    Row {
        name: "yield, loop",
        disturbers: LOOP,
        session: Session::Same,
        policy: Policy::Yield,
        slice: None,
        measured: [NO, (2650.0, 2900.0), (5000.0, 6500.0), NO, NO, NO, NO],
    },
    Row {
        name: "sleep, loop",
        disturbers: LOOP,
        session: Session::Same,
        policy: Policy::Sleep,
        slice: None,
        measured: [
            (45.0, 69.0),
            (103.0, 153.0),
            (237.0, 420.0),
            at(8100.0),
            at(13600.0),
            at(71000.0),
            at(117_000.0),
        ],
    },
    Row {
        name: "yield, loop in a session of its own",
        disturbers: LOOP,
        session: Session::Own,
        policy: Policy::Yield,
        slice: None,
        measured: [
            (22.0, 39.0),
            (49.0, 66.0),
            (121.0, 161.0),
            at(9500.0),
            at(18500.0),
            at(94000.0),
            at(184_000.0),
        ],
    },
    Row {
        name: "yield with slices of 0.1 ms, loop",
        disturbers: LOOP,
        session: Session::Same,
        policy: Policy::Yield,
        slice: SHORT_SLICE,
        measured: [
            at(30.0),
            at(240.0),
            (400.0, 450.0),
            at(7670.0),
            at(12900.0),
            at(68000.0),
            at(114_000.0),
        ],
    },
    Row {
        name: "sleep with slices of 0.1 ms, loop",
        disturbers: LOOP,
        session: Session::Same,
        policy: Policy::Sleep,
        slice: SHORT_SLICE,
        measured: [NO, (107.0, 125.0), (257.0, 300.0), NO, NO, NO, NO],
    },
    Row {
        name: "auto, loop",
        disturbers: LOOP,
        session: Session::Same,
        policy: Policy::Auto,
        slice: None,
        measured: [(20.0, 28.0), NO, NO, NO, NO, NO, NO],
    },
];

/// A measured point.
pub(super) struct Point {
    pub(super) name: &'static str,
    pub(super) scene: Scene,
    /// The middle of the measured values, in microseconds per step.
    pub(super) measured: f64,
}

impl Row {
    fn points(&self) -> impl Iterator<Item = Point> {
        let Row { name, disturbers, session, policy, slice, measured } = *self;
        let columns = COLUMNS.into_iter().zip(measured).filter(|&(_, time)| time != NO);
        columns.map(move |((ranks, work), (least, greatest))| {
            let scene = Scene { cores: 2, ranks, work, disturbers, session, policy, slice };
            Point { name, scene, measured: f64::midpoint(least, greatest) }
        })
    }
}

/// All points, row by row. Those at odd places, counted from 1, were used to set the costs.
pub(super) fn points() -> Vec<Point> {
    ROWS.iter().flat_map(Row::points).collect()
}

/// Microseconds per step in the model, after a warm-up that does not count.
pub(super) fn time_per_step(scene: Scene) -> f64 {
    let (begin, end) = match scene.work {
        _ if scene.disturbers.is_empty() && scene.work < MS => (20 * MS, 60 * MS),
        work if work < MS => (300 * MS, 1300 * MS),
        work if work < 5 * MS => (300 * MS, 2300 * MS),
        _ => (500 * MS, 4500 * MS),
    };
    let mut world = World::new(scene, COSTS, 1);
    world.run_until(begin);
    let before = world.steps();
    world.run_until(end);
    (end - begin) as f64 / 1e3 / (world.steps() - before)
}

/// A program that was measured with different wait policies, on the same day.
pub(super) struct Comparison {
    pub(super) scene: Scene,
    /// Microseconds per step: with the former `auto`, with the present one, and with sleep.
    pub(super) before: f64,
    pub(super) auto: f64,
    pub(super) sleep: f64,
}

/// Ranks, work of a step in microseconds, and the measured values as in [`Comparison`].
type Times = (usize, Nanos, [f64; 3]);

const BESIDE_LOOP: [Times; 11] = [
    (3, 6, [92.0, 59.0, 109.0]),
    (4, 6, [190.0, 95.0, 180.0]),
    (8, 6, [470.0, 273.0, 450.0]),
    (4, 40, [350.0, 252.0, 340.0]),
    (8, 40, [770.0, 530.0, 740.0]),
    (4, 100, [634.0, 532.0, 590.0]),
    (8, 100, [1250.0, 1083.0, 1160.0]),
    (4, 250, [1250.0, 1240.0, 1190.0]),
    (8, 250, [2270.0, 2290.0, 2250.0]),
    (4, 1000, [4030.0, 3990.0, 3810.0]),
    (8, 1000, [7100.0, 7170.0, 7140.0]),
];
const BESIDE_OTHER_SESSION: [Times; 2] =
    [(4, 6, [179.0, 87.0, 161.0]), (8, 6, [362.0, 235.0, 384.0])];
const BESIDE_TWO_LOOPS: [Times; 2] =
    [(4, 6, [490.0, 515.0, 460.0]), (8, 6, [1170.0, 796.0, 1230.0])];

/// Measured on a virtual machine of 2 cores that was slower than that of the points: only ratios
/// can be compared.
pub(super) fn comparisons() -> Vec<Comparison> {
    let all: [(&'static [Disturber], Session, &'static [Times]); 3] = [
        (LOOP, Session::Same, &BESIDE_LOOP),
        (LOOP, Session::Own, &BESIDE_OTHER_SESSION),
        (TWO_LOOPS, Session::Same, &BESIDE_TWO_LOOPS),
    ];
    let comparisons = |(disturbers, session, times): (_, _, &'static [Times])| {
        times.iter().map(move |&(ranks, work, [before, auto, sleep])| {
            let (policy, slice) = (Policy::Auto, None);
            // A step works twice.
            let work = work * US / 2;
            let scene = Scene { cores: 2, ranks, work, disturbers, session, policy, slice };
            Comparison { scene, before, auto, sleep }
        })
    };
    all.into_iter().flat_map(comparisons).collect()
}
