//! `explain`: describes in text what an operation does.

use std::fmt::Write as _;

use motet_plan::plan::Load;

use crate::comm::op_handle::OpHandle;
use crate::engine::{CachedPlan, TransportSummary};

impl OpHandle {
    /// Describes the algorithm in use and the reason for it, in a few lines.
    pub(crate) fn explain(&self) -> String {
        let (call, core) = (self.origin.call, &self.origin.core);
        let mut engine = core.engine();
        let (planned, transport) = (engine.planned(self.id), engine.transport(self.id));
        drop(engine);
        let (Some(planned), Some((transport, reason))) = (planned, transport) else {
            return format!("{call}: no plan (it is over, or no collective)");
        };
        let reason = reason.as_deref().unwrap_or(&planned.reason);
        let rank = format!("rank {} of {}", self.origin.rank, self.origin.group.size());
        format!(
            "{call}: {} on {rank}\n{}",
            planned.plan.algorithm(),
            lines(&planned, reason, transport)
        )
    }
}

fn lines(planned: &CachedPlan, reason: &str, transport: TransportSummary) -> String {
    let CachedPlan { plan, rounds, nanoseconds, element_bytes, .. } = planned;
    let data = |load: Load| {
        format!("{} of {}", counted(load.messages, "message"), bytes(load.elements * element_bytes))
    };
    let (sent, received) = (data(plan.sent()), data(plan.received()));
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        writeln!(text, "  {name:<11}{value}").expect("a string takes any text");
    };
    line("why", reason.into());
    line("rounds", format!("{rounds} over all ranks; at most {} wait here", plan.rounds()));
    let compiled = if transport.is_compiled { ", compiled" } else { "" };
    line("steps", format!("{}{compiled}", plan.steps().len()));
    line("sends", sent);
    let reduced = match transport.reduced {
        0 => String::new(),
        reduced => format!(", {reduced} of them reduced where they lie"),
    };
    line("receives", received + &reduced);
    let TransportSummary { channels_in, channels_out, known_out, tagged, open, .. } = transport;
    if open > 0 {
        line("travel", format!("{} to be linked by the first start", counted(open, "message")));
    } else {
        let known = format!("{channels_out} out ({known_out} linked by the receiver so far)");
        line("channels", format!("{channels_in} in, {known}"));
        line("tagged", counted(tagged, "message"));
    }
    line("scratch", bytes(plan.scratch_len() * element_bytes));
    line(
        "predicted",
        format!("{} by the model, for the data of this rank", duration(*nanoseconds)),
    );
    text
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn bytes(bytes: usize) -> String {
    counted(bytes, "byte")
}

/// Formats a time in three significant digits.
pub(crate) fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        ns if ns < 999.5 => format!("{ns:.0} ns"),
        ns if ns < 9.995e3 => format!("{:.2} µs", ns / 1e3),
        ns if ns < 99.95e3 => format!("{:.1} µs", ns / 1e3),
        ns if ns < 999.5e3 => format!("{:.0} µs", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn times_have_three_digits() {
        let cases = [
            (0.0, "0 ns"),
            (999.4, "999 ns"),
            (1234.0, "1.23 µs"),
            (12_345.0, "12.3 µs"),
            (123_456.0, "123 µs"),
            (1_234_567.0, "1.23 ms"),
        ];
        for (nanoseconds, text) in cases {
            assert_eq!(duration(nanoseconds), text);
        }
    }
}
