//! Plans as text: a table of rounds, and the steps of each rank.

use std::fmt::Write;

use super::{Cell, arguments, cells, counted, title};
use crate::call::{Call, Rank};
use crate::plan::{Action, Plan, StepId};
use crate::timeline::{Timeline, TimelineError};

/// The plans of all ranks as text. `calls` and `plans` are in rank order, one of each for each
/// rank.
///
/// # Errors
/// If the plans do not fit together.
pub fn text(calls: &[Call], plans: &[Plan]) -> Result<String, TimelineError> {
    let timeline = Timeline::new(plans)?;
    let messages = timeline.matching().messages().len();
    let mut text = format!(
        "{}: {}\n{} in {}\n\n",
        title(calls, plans),
        arguments(calls),
        counted(messages, "message"),
        counted(timeline.rounds(), "round"),
    );
    table(&mut text, &cells(plans, &timeline));
    text.push_str("\n→ sends to   ← receives from   ∘ reduces   = copies\n");
    for plan in plans {
        steps(&mut text, plan);
    }
    Ok(text)
}

/// One row for each rank, one column for each round.
fn table(text: &mut String, rows: &[Vec<Cell>]) {
    let columns = rows.first().map_or(0, Vec::len);
    // Round 0 is shown only if something happens in it.
    let first = usize::from(rows.iter().all(|row| summary(&row[0]).is_empty()));
    let mut lines = vec![String::from("round")];
    lines.extend((0..rows.len()).map(|rank| format!("rank {rank}")));
    pad(&mut lines);
    for column in first..columns {
        lines[0].push_str(&format!("   {column}"));
        for (line, row) in lines[1..].iter_mut().zip(rows) {
            line.push_str("   ");
            line.push_str(&summary(&row[column]));
        }
        pad(&mut lines);
    }
    for line in lines {
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// Makes all lines as long as the longest.
fn pad(lines: &mut [String]) {
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    for line in lines {
        let missing = width - line.chars().count();
        line.extend(std::iter::repeat_n(' ', missing));
    }
}

fn summary(cell: &Cell) -> String {
    let peers = |mark: &str, ranks: &[Rank]| {
        ranks.iter().map(|rank| format!("{mark}{rank}")).collect::<Vec<_>>()
    };
    let mut words = peers("→", &cell.sends);
    words.extend(peers("←", &cell.receives));
    for (mark, times) in [("∘", cell.reductions), ("=", cell.copies)] {
        match times {
            0 => {}
            1 => words.push(mark.to_owned()),
            _ => words.push(format!("{times}{mark}")),
        }
    }
    words.join(" ")
}

/// The steps of one rank, each with those it waits for.
fn steps(text: &mut String, plan: &Plan) {
    let mut before: Vec<Vec<StepId>> = vec![Vec::new(); plan.steps().len()];
    plan.edges().for_each(|(first, second)| before[second.index()].push(first));
    let scratch = match plan.scratch_len() {
        0 => String::new(),
        len => format!(", scratch[0..{len}]"),
    };
    line(text, format_args!("\nrank {}{scratch}", plan.rank()));
    let actions: Vec<_> = plan.steps().iter().map(Action::to_string).collect();
    let width = actions.iter().map(|action| action.chars().count()).max().unwrap_or(0);
    for ((step, action), before) in plan.ids().zip(actions).zip(before) {
        if before.is_empty() {
            line(text, format_args!("  {step:>3}  {action}"));
        } else {
            let before: Vec<_> = before.iter().map(StepId::to_string).collect();
            line(text, format_args!("  {step:>3}  {action:<width$}  after {}", before.join(" ")));
        }
    }
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("writing to a string does not fail");
}
