//! The text form of the prices of a machine: parses and prints it.
//!
//! ```text
//! # a comment
//! latency = 540
//! send = 90
//! message 512 = 450
//! reduce = 0.03
//! copy = 0.03
//! hand_over = 1500
//! ```
//!
//! All prices are in nanoseconds. Those of `reduce` and `copy` are per byte. That of a `message` is
//! the time in addition to that of a short message. A `;` ends a line as well. A missing price has
//! its default.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use thiserror::Error;

use super::CostParams;

/// The most that anything may cost, so that sums of prices stay far from the end of numbers.
const MOST_NS: f64 = 1e12;

/// Why a text is not the prices of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: `{text}` {problem}")]
pub struct TextError {
    /// Which line, counted from 1.
    pub line: usize,
    /// The line.
    pub text: String,
    /// What is wrong with it.
    pub problem: PriceError,
}

/// What is wrong with a price.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PriceError {
    /// It is not of the form `name = number`.
    #[error("is not of the form name = nanoseconds")]
    Form,
    /// There is no such price.
    #[error("names no price; there are {}", names())]
    Name,
    /// Its value is not a time.
    #[error("has no number of nanoseconds from 0 to {MOST_NS:e}")]
    Number,
    /// It is there twice.
    #[error("names a price for the second time")]
    Twice,
}

const NAMES: [&str; 5] = ["latency", "send", "reduce", "copy", "hand_over"];

fn message(size: usize) -> String {
    format!("message {size}")
}

/// The names of all prices.
fn names() -> String {
    let sizes = CostParams::SIZES.map(message);
    let all = NAMES.iter().copied().chain(sizes.iter().map(String::as_str));
    all.collect::<Vec<_>>().join(", ")
}

impl CostParams {
    /// All prices by their names.
    pub fn prices(&self) -> Vec<(String, f64)> {
        let mut copy = *self;
        let of_names = NAMES.map(|name| (name.to_owned(), *copy.price(name).expect("it is named")));
        let of_sizes = Self::SIZES.into_iter().zip(self.bytes_ns);
        of_names.into_iter().chain(of_sizes.map(|(size, ns)| (message(size), ns))).collect()
    }

    fn price(&mut self, name: &str) -> Option<&mut f64> {
        Some(match name {
            "latency" => &mut self.latency_ns,
            "send" => &mut self.send_ns,
            "reduce" => &mut self.reduce_ns_per_byte,
            "copy" => &mut self.copy_ns_per_byte,
            "hand_over" => &mut self.context_switch_ns,
            _ => {
                let at = Self::SIZES.into_iter().position(|size| message(size) == name)?;
                &mut self.bytes_ns[at]
            }
        })
    }
}

impl FromStr for CostParams {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let mut machine = Self::default();
        let mut seen = Vec::new();
        for (index, line) in text.lines().enumerate() {
            for item in line.split('#').next().unwrap_or_default().split(';') {
                let item = item.trim();
                let error = |problem| TextError { line: index + 1, text: item.to_owned(), problem };
                if item.is_empty() {
                    continue;
                }
                let (name, value) = item.split_once('=').ok_or_else(|| error(PriceError::Form))?;
                let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
                let price = machine.price(&name).ok_or_else(|| error(PriceError::Name))?;
                let value = value.trim().parse().ok();
                let value = value.filter(|value| (0.0..=MOST_NS).contains(value));
                *price = value.ok_or_else(|| error(PriceError::Number))?;
                if seen.contains(&name) {
                    return Err(error(PriceError::Twice));
                }
                seen.push(name);
            }
        }
        Ok(machine)
    }
}

impl fmt::Display for CostParams {
    /// The prices as they are read, without the number of ranks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.prices().into_iter().try_for_each(|(name, ns)| writeln!(f, "{name} = {ns}"))
    }
}

impl CostParams {
    /// The prices as one line.
    pub fn line(&self) -> String {
        let mut text = String::new();
        for (name, ns) in self.prices() {
            write!(text, "{name}={ns};").expect("a string takes any text");
        }
        text
    }
}
