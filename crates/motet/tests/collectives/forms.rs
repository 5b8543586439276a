//! One call in each of its forms, each several times over with other data.

#![allow(dead_code)] // each test program needs a part of it

use std::fmt;

use motet::World;

use super::elements::Sample;

/// Elements of canary on each side of a borrowed output.
pub(crate) const PAD: usize = 3;
/// How often each call is made; nonblocking ones are all under way together.
pub(crate) const ROUNDS: usize = 3;

/// How a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Blocking,
    Owned,
    Scoped,
    TwoPhase,
    Persistent,
}

impl Form {
    pub(crate) const ALL: [Form; 5] =
        [Form::Blocking, Form::Owned, Form::Scoped, Form::TwoPhase, Form::Persistent];
}

/// What is tried.
pub(crate) struct Trial<'a> {
    pub(crate) world: &'a World,
    pub(crate) form: Form,
    pub(crate) count: usize,
    pub(crate) algorithm: &'static str,
}

impl Trial<'_> {
    pub(crate) fn ranks(&self) -> usize {
        self.world.size()
    }

    /// The first and the last rank.
    pub(crate) fn some_ranks(&self) -> impl Iterator<Item = usize> {
        let last = self.ranks() - 1;
        [0, last].into_iter().take(if last == 0 { 1 } else { 2 })
    }
}

impl fmt::Debug for Trial<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Trial { world, form, count, algorithm } = self;
        write!(out, "{algorithm}, {form:?}, {count} elements, {world:?}", world = **world)
    }
}

/// The contents of the buffers by round: the input, and the output before and after.
pub(crate) struct Data<I, B, A> {
    pub(crate) input: I,
    pub(crate) before: B,
    pub(crate) after: A,
}

impl<T, I, B, A> Data<I, B, A>
where
    T: Sample,
    I: Fn(usize) -> Vec<T>,
    B: Fn(usize) -> Vec<T>,
    A: Fn(usize) -> Vec<T>,
{
    pub(crate) fn new(input: I, before: B, after: A) -> Data<I, B, A> {
        Data { input, before, after }
    }

    /// The output before, between canaries.
    pub(crate) fn padded(&self, round: usize) -> Vec<T> {
        let pad = [T::CANARY; PAD];
        [&pad[..], &(self.before)(round), &pad[..]].concat()
    }

    /// Whether an output, and the input if there is one, are as they should be afterwards.
    pub(crate) fn check(&self, trial: &Trial<'_>, round: usize, send: &[T], receive: &[T]) {
        same(trial, "output", receive, &(self.after)(round));
        same(trial, "input", send, &(self.input)(round));
    }

    /// The same for an output between canaries.
    pub(crate) fn check_padded(&self, trial: &Trial<'_>, round: usize, send: &[T], all: &[T]) {
        let (first, rest) = all.split_at(PAD);
        let (receive, last) = rest.split_at(rest.len() - PAD);
        same(trial, "what lies before the output", first, &[T::CANARY; PAD]);
        same(trial, "what lies behind the output", last, &[T::CANARY; PAD]);
        self.check(trial, round, send, receive);
    }
}

fn same<T: Sample>(trial: &Trial<'_>, what: &str, found: &[T], expected: &[T]) {
    if found == expected {
        return;
    }
    let at = found.iter().zip(expected).position(|(found, expected)| found != expected);
    let at = at.unwrap_or(found.len().min(expected.len()));
    panic!(
        "{trial:?}: {what} differs from element {at} on: {:?} of {}, expected {:?} of {}",
        found.get(at),
        found.len(),
        expected.get(at),
        expected.len(),
    );
}

/// Whether the algorithm that was asked for refuses such calls; then all ranks are told so.
pub(crate) fn is_refused(error: &motet::Error) -> bool {
    matches!(error.kind(), motet::ErrorKind::Select(_))
}

/// The part of a padded buffer between the canaries.
pub(crate) fn inner<T>(all: &mut [T]) -> &mut [T] {
    let end = all.len() - PAD;
    &mut all[PAD..end]
}

/// Makes a call with an input and an output in the form of the trial.
macro_rules! in_pair {
    ($trial:expr, $data:expr, $blocking:ident, $nonblocking:ident, $begin:ident,
     $init:ident($($argument:expr),*)) => {{
        use $crate::collectives::forms::{Form, ROUNDS, inner, is_refused};
        let (trial, data): (&Trial<'_>, _) = ($trial, $data);
        let world = trial.world;
        let fresh = |round| ((data.input)(round), (data.before)(round));
        let attempt = || -> motet::Result<()> {
            match trial.form {
                Form::Blocking => for round in 0..ROUNDS {
                    let (send, mut all) = ((data.input)(round), data.padded(round));
                    world.$blocking(&send, inner(&mut all) $(, $argument)*)?;
                    data.check_padded(trial, round, &send, &all);
                },
                Form::Owned => {
                    let begin = |round| world.$nonblocking(fresh(round) $(, $argument)*);
                    let begun = (0..ROUNDS).map(begin).collect::<motet::Result<Vec<_>>>()?;
                    for (round, request) in begun.into_iter().enumerate().rev() {
                        let (send, receive) = request.wait()?;
                        data.check(trial, round, &send, &receive);
                    }
                }
                Form::Scoped => {
                    let buffers_of = |round| ((data.input)(round), data.padded(round));
                    let mut buffers: Vec<_> = (0..ROUNDS).map(buffers_of).collect();
                    world.scope(|scope| {
                        for (send, all) in &mut buffers {
                            let pair = (&send[..], inner(all));
                            drop(scope.$nonblocking(pair $(, $argument)*)?);
                        }
                        Ok(())
                    })?;
                    for (round, (send, all)) in buffers.iter().enumerate() {
                        data.check_padded(trial, round, send, all);
                    }
                }
                Form::TwoPhase => {
                    let mut phases = world.phases()?;
                    let mut outer = phases.$begin(fresh(0) $(, $argument)*)?;
                    let mut middle = outer.$begin(fresh(1) $(, $argument)*)?;
                    let inner = middle.$begin(fresh(2) $(, $argument)*)?;
                    let third = inner.end()?;
                    let second = middle.end()?;
                    let all = [outer.end()?, second, third];
                    for (round, (send, receive)) in all.iter().enumerate() {
                        data.check(trial, round, send, receive);
                    }
                }
                Form::Persistent => {
                    let info = motet::Info::new();
                    let mut ready = world.$init(fresh(0) $(, $argument)*, &info)?;
                    assert_eq!(ready.algorithm(), trial.algorithm);
                    for round in 0..ROUNDS {
                        ready.input_mut().copy_from_slice(&(data.input)(round));
                        ready.output_mut().copy_from_slice(&(data.before)(round));
                        ready = ready.start()?.wait()?;
                        data.check(trial, round, ready.input(), ready.output());
                    }
                }
            }
            Ok(())
        };
        match attempt() {
            Err(error) if is_refused(&error) => {}
            other => other?,
        }
    }};
}

/// Makes a call with one buffer in the form of the trial.
macro_rules! in_one {
    ($trial:expr, $data:expr, $blocking:ident, $nonblocking:ident, $begin:ident,
     $init:ident($($argument:expr),*)) => {{
        use $crate::collectives::forms::{Form, ROUNDS, inner, is_refused};
        let (trial, data): (&Trial<'_>, _) = ($trial, $data);
        let world = trial.world;
        let attempt = || -> motet::Result<()> {
            match trial.form {
                Form::Blocking => for round in 0..ROUNDS {
                    let mut all = data.padded(round);
                    world.$blocking(inner(&mut all) $(, $argument)*)?;
                    data.check_padded(trial, round, &[], &all);
                },
                Form::Owned => {
                    let begin = |round| world.$nonblocking((data.before)(round) $(, $argument)*);
                    let begun = (0..ROUNDS).map(begin).collect::<motet::Result<Vec<_>>>()?;
                    for (round, request) in begun.into_iter().enumerate().rev() {
                        data.check(trial, round, &[], &request.wait()?);
                    }
                }
                Form::Scoped => {
                    let mut buffers: Vec<_> =
                        (0..ROUNDS).map(|round| data.padded(round)).collect();
                    world.scope(|scope| {
                        for all in &mut buffers {
                            drop(scope.$nonblocking(inner(all) $(, $argument)*)?);
                        }
                        Ok(())
                    })?;
                    for (round, all) in buffers.iter().enumerate() {
                        data.check_padded(trial, round, &[], all);
                    }
                }
                Form::TwoPhase => {
                    let mut phases = world.phases()?;
                    let mut outer = phases.$begin((data.before)(0) $(, $argument)*)?;
                    let mut middle = outer.$begin((data.before)(1) $(, $argument)*)?;
                    let inner = middle.$begin((data.before)(2) $(, $argument)*)?;
                    let third = inner.end()?;
                    let second = middle.end()?;
                    let all = [outer.end()?, second, third];
                    for (round, buffer) in all.iter().enumerate() {
                        data.check(trial, round, &[], buffer);
                    }
                }
                Form::Persistent => {
                    let info = motet::Info::new();
                    let mut ready = world.$init((data.before)(0) $(, $argument)*, &info)?;
                    assert_eq!(ready.algorithm(), trial.algorithm);
                    for round in 0..ROUNDS {
                        ready.input_mut().copy_from_slice(&(data.before)(round));
                        ready = ready.start()?.wait()?;
                        data.check(trial, round, &[], ready.output());
                    }
                }
            }
            Ok(())
        };
        match attempt() {
            Err(error) if is_refused(&error) => {}
            other => other?,
        }
    }};
}

pub(crate) use {in_one, in_pair};
