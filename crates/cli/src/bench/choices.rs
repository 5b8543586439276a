//! `motet bench --algorithms`: compares the choice of the cost model with the measured times of all
//! algorithms.
//!
//! Each algorithm that accepts the call gets a duplicate of the communicator with an override, and
//! an operation on it. The windows of these operations alternate, like those of the forms in other
//! measurements. The choice of the model is one of them. Its **loss** is its time divided by that
//! of the fastest, so it is at least 1.

use motet::{Communicator, Info};
use motet_fabric::host;
use motet_plan::{Algorithm, Call, algo};

use super::case::{Case, ELEMENT_BYTES, Form};
use super::environment;
use super::measure::{TimeWindow, in_turns, nearest, percentiles};
use super::report::microseconds;
use super::subjects::Measured;
use crate::quantity;

/// A loss that the table marks.
const MUCH: f64 = 1.5;

/// One algorithm at one point: its predicted and its measured time, in nanoseconds.
struct Timing {
    name: &'static str,
    predicted: f64,
    measured: f64,
}

/// Measures all points, and prints a table: the chosen algorithm, the fastest one, and the loss.
pub(super) fn compare(
    world: &Communicator,
    points: Vec<(Measured, usize)>,
    form: Form,
    seconds: f64,
) -> anyhow::Result<()> {
    let heading = format!(
        "{:<24}{:>8}  {:<24}  {:<24} {:>5}  all, by the model in brackets (µs)\n",
        "collective", "size", "chosen", "fastest", "loss"
    );
    say(world, &heading)?;
    let mut losses = Vec::new();
    for (measured, bytes) in points {
        let call = environment::call(measured.collective(), world.size() as u32, bytes)?;
        let rows: Vec<_> =
            algo::of(call.collective()).filter(|row| row.accepts(&call).is_ok()).collect();
        // Between groups, and in exchanges, the ranks do not choose on a duplicate of this
        // communicator.
        if rows.len() < 2 || measured.is_between_groups() {
            continue;
        }
        let timings = timings(world, (measured, bytes), &call, &rows, (form, seconds))?;
        let (line, loss) = row(measured, bytes, &timings);
        losses.push(loss);
        say(world, &line)?;
    }
    say(world, &summary(losses))
}

/// Prints text on the first rank.
fn say(world: &Communicator, text: &str) -> anyhow::Result<()> {
    if world.rank() == 0 {
        crate::output::show(text)?;
    }
    Ok(())
}

/// The times of all algorithms, that of the chosen one first.
fn timings(
    world: &Communicator,
    (measured, bytes): (Measured, usize),
    call: &Call,
    rows: &[&'static dyn Algorithm],
    (form, seconds): (Form, f64),
) -> anyhow::Result<Vec<Timing>> {
    let mut tuning = crate::plan::tuning()?;
    tuning.machine = motet::machine::shared(tuning.machine, world.size(), host::cores().usable);
    // The choice also depends on whether ranks share nodes, which the library knows.
    let chosen = Case::new(world, measured, bytes / ELEMENT_BYTES)?.algorithm()?;
    let copies = rows
        .iter()
        .map(|row| {
            let copy = world.dup()?;
            copy.advise(&format!("{} -> {}", call.collective(), row.name()));
            Ok(copy)
        })
        .collect::<motet::Result<Vec<_>>>()?;
    let cases = copies
        .iter()
        .map(|copy| Case::new(copy, measured, bytes / ELEMENT_BYTES))
        .collect::<motet::Result<Vec<_>>>()?;
    let subjects = rows
        .iter()
        .zip(&cases)
        .map(|(row, case)| {
            assert_eq!(case.algorithm()?, row.name(), "advice is followed");
            Ok((row.name(), case.subject(form, &Info::new())?))
        })
        .collect::<motet::Result<Vec<_>>>()?;
    let measured = in_turns(world, subjects, seconds)?;
    let mut timings: Vec<_> = rows
        .iter()
        .zip(measured)
        .map(|(row, (name, windows))| Timing {
            name,
            predicted: row.time(call, &tuning.machine),
            measured: percentiles(windows.iter().map(TimeWindow::nanoseconds))[0],
        })
        .collect();
    timings.sort_by_key(|timing| timing.name != chosen);
    Ok(timings)
}

/// A line of the table, and the loss.
fn row(measured: Measured, bytes: usize, timings: &[Timing]) -> (String, f64) {
    let by_time = |one: &&Timing, other: &&Timing| one.measured.total_cmp(&other.measured);
    let chosen = timings.first().expect("the chosen one is timed");
    let fastest = timings.iter().min_by(by_time).expect("the chosen one is timed");
    let loss = chosen.measured / fastest.measured;
    let all: Vec<_> = timings
        .iter()
        .map(|Timing { name, predicted, measured }| {
            format!("{name} {} [{}]", microseconds(*measured), microseconds(*predicted))
        })
        .collect();
    let size = if bytes == 0 { "-".to_owned() } else { quantity::bytes(bytes) };
    let mark = if loss > MUCH { "!" } else { " " };
    let line = format!(
        "{:<24}{size:>8}  {:<24}  {:<24} {loss:>5.2}{mark} {}\n",
        measured.name(),
        chosen.name,
        fastest.name,
        all.join(", ")
    );
    (line, loss)
}

fn summary(mut losses: Vec<f64>) -> String {
    if losses.is_empty() {
        return "nothing to choose from\n".into();
    }
    losses.sort_by(f64::total_cmp);
    let at = |percent| nearest(&losses, percent);
    let much = losses.iter().filter(|loss| **loss > MUCH).count();
    format!(
        "loss at {} points: {:.2} (median), {:.2} (p90), {:.2} (worst); above {MUCH}: {much}\n",
        losses.len(),
        at(50),
        at(90),
        at(100)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use motet_plan::Collective;

    #[test]
    fn the_loss_is_against_the_fastest() {
        let timing = |name, measured| Timing { name, predicted: 100.0, measured };
        let timings = [timing("ring", 3000.0), timing("linear", 1500.0), timing("bruck", 9000.0)];
        let (line, loss) = row(Measured::Planned(Collective::Allgather), 4096, &timings);
        let words: Vec<_> = line.split_whitespace().take(6).collect();
        assert_eq!(words, ["allgather", "4", "KiB", "ring", "linear", "2.00!"], "{line}");
        let text = summary(vec![loss]);
        assert!(text.starts_with("loss at 1 points: 2.00 (median)"), "{text}");
        assert!(text.contains("above 1.5: 1"), "{text}");
    }
}
