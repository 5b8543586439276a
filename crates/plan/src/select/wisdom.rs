//! Wisdom: measured choices of algorithms, and their text form.

use std::fmt;
use std::str::FromStr;

use super::{ParseError, Row};
use crate::algo::Algorithm;
use crate::call::Call;
use crate::order::sort_by_number;

/// The largest number of lines: more lines displace the oldest ones.
const MOST_LINES: usize = 4096;

/// What was learned by measurement, parsed from lines; see [the module](super).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wisdom(Vec<Line>);

/// One thing that was learned: which algorithm is best for a call, and what else is to be told.
#[derive(Clone, Debug)]
pub struct Lesson {
    /// The algorithm, and so the collective.
    pub algorithm: &'static dyn Algorithm,
    /// How many ranks.
    pub ranks: u32,
    /// The size by which an algorithm is selected, [`Call::bytes`].
    pub bytes: usize,
    /// For people: what stands behind the line. An end of a line in it becomes a space.
    pub note: String,
}

/// One piece of wisdom.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    line: usize,
    row: Row,
    ranks: Range,
    bytes: Range,
    note: String,
}

/// A range with both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: u64,
    last: u64,
}

impl Wisdom {
    /// Reads as many lines as can be read, and says of the others what is wrong with them.
    pub fn read(text: &str) -> (Self, Vec<ParseError>) {
        let (mut lines, mut wrong) = (Vec::new(), Vec::new());
        for (index, text) in text.lines().enumerate() {
            match Line::parse(index + 1, text) {
                Ok(line) => lines.extend(line),
                Err(error) => wrong.push(error),
            }
        }
        (Self(lines), wrong)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The algorithm that the first line that fits a call names, and which line that is.
    pub fn find(&self, call: &Call) -> Option<(&'static dyn Algorithm, usize)> {
        let line = self.0.iter().find(|line| line.applies(call))?;
        Some((line.row.0, line.line))
    }

    /// Takes in what was learned just now: it counts before all that was known.
    pub fn learn(&mut self, lesson: Lesson) {
        let Lesson { algorithm, ranks, bytes, note } = lesson;
        let only = |value: u64| Range { first: value, last: value };
        let (row, ranks, bytes) = (Row(algorithm), only(ranks.into()), only(bytes as u64));
        let note = note.replace(['\n', '\r'], " ");
        self.put_first(Line { line: 0, row, ranks, bytes, note });
        self.number();
    }

    /// Takes in what somebody else knows: his lines count before those that are here, in their
    /// order. What is known here already is not put down twice.
    pub fn absorb(&mut self, newer: &Self) {
        newer.0.iter().rev().for_each(|line| self.put_first(line.clone()));
        self.number();
    }

    /// The same with fewer lines: of lines that say the same of sizes that lie side by side among
    /// those that are named, one is made, which says it of the sizes in between, too. Only lines
    /// that do not overlap are joined.
    #[must_use]
    pub fn joined(mut self) -> Self {
        if self.overlaps() {
            return self;
        }
        // Each sort keeps the order of the one before it among equal numbers.
        sort_by_number(&mut self.0, |line| line.bytes.first);
        sort_by_number(&mut self.0, |line| line.ranks.last);
        sort_by_number(&mut self.0, |line| line.ranks.first);
        sort_by_number(&mut self.0, |line| line.row.0.collective() as u64);
        let mut joined: Vec<Line> = Vec::new();
        for line in self.0 {
            match joined.last_mut() {
                Some(last) if last.row == line.row && last.ranks == line.ranks => {
                    last.bytes.last = line.bytes.last;
                    last.note = [last.note.as_str(), line.note.as_str()].join(" .. ");
                }
                _ => joined.push(line),
            }
        }
        let mut wisdom = Self(joined);
        wisdom.number();
        wisdom
    }

    fn overlaps(&self) -> bool {
        let lines = self.0.iter().enumerate();
        lines.clone().any(|(at, line)| self.0[..at].iter().any(|other| line.meets(other)))
    }

    fn put_first(&mut self, line: Line) {
        // The first line that has to do with all of it says so already.
        let known = self.0.iter().find(|other| line.meets(other));
        if known.is_some_and(|known| known.row == line.row && line.is_within(known)) {
            return;
        }
        self.0.retain(|other| !other.is_within(&line));
        self.0.insert(0, line);
        self.0.truncate(MOST_LINES);
    }

    fn number(&mut self) {
        (1..).zip(&mut self.0).for_each(|(number, line)| line.line = number);
    }
}

impl Line {
    fn applies(&self, call: &Call) -> bool {
        self.row.0.collective() == call.collective()
            && self.ranks.contains(u64::from(call.ranks))
            && self.bytes.contains(call.bytes() as u64)
            && self.row.0.accepts(call).is_ok()
    }

    /// Whether both speak of some call.
    fn meets(&self, other: &Self) -> bool {
        self.row.0.collective() == other.row.0.collective()
            && self.ranks.meets(other.ranks)
            && self.bytes.meets(other.bytes)
    }

    /// Whether the other one speaks of all that this one speaks of.
    fn is_within(&self, other: &Self) -> bool {
        self.row.0.collective() == other.row.0.collective()
            && self.ranks.is_within(other.ranks)
            && self.bytes.is_within(other.bytes)
    }

    /// Reads a line; one that is empty or a comment says nothing.
    fn parse(line: usize, text: &str) -> Result<Option<Self>, ParseError> {
        let (text, note) = text.split_once('#').unwrap_or((text, ""));
        let (text, note) = (text.trim(), note.trim().to_owned());
        if text.is_empty() {
            return Ok(None);
        }
        let malformed = || ParseError::Wisdom { line, text: text.to_owned() };
        let (left, algorithm) = text.split_once("->").ok_or_else(malformed)?;
        let mut words = left.split_whitespace();
        let collective = words.next().ok_or_else(malformed)?;
        let row = Row::parse(line, collective, algorithm.trim())?;
        let mut wisdom = Self { line, row, ranks: Range::ALL, bytes: Range::ALL, note };
        for word in words {
            match word.split_once('=') {
                Some(("ranks", range)) => wisdom.ranks = Range::parse(line, range)?,
                Some(("bytes", range)) => wisdom.bytes = Range::parse(line, range)?,
                _ => return Err(malformed()),
            }
        }
        Ok(Some(wisdom))
    }
}

impl Range {
    const ALL: Self = Self { first: 0, last: u64::MAX };

    fn contains(self, value: u64) -> bool {
        (self.first..=self.last).contains(&value)
    }

    fn meets(self, other: Self) -> bool {
        self.first.max(other.first) <= self.last.min(other.last)
    }

    fn is_within(self, other: Self) -> bool {
        other.first <= self.first && self.last <= other.last
    }

    fn parse(line: usize, text: &str) -> Result<Self, ParseError> {
        let number = |text: &str, default| match text {
            "" => Some(default),
            digits => digits.parse().ok(),
        };
        let range = match text.split_once("..") {
            Some((first, last)) => number(first, 0).zip(number(last, u64::MAX)),
            None => text.parse().ok().map(|value| (value, value)),
        };
        match range {
            Some((first, last)) if first <= last => Ok(Self { first, last }),
            _ => Err(ParseError::Range { line, text: text.to_owned() }),
        }
    }
}

impl FromStr for Wisdom {
    type Err = ParseError;

    /// Reads wisdom, one piece for each line; what follows a `#` is a comment.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (wisdom, wrong) = Self::read(text);
        wrong.into_iter().next().map_or(Ok(wisdom), Err)
    }
}

impl fmt::Display for Wisdom {
    /// Writes lines that [`Wisdom::from_str`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Line { row, ranks, bytes, note, .. } in &self.0 {
            let collective = row.0.collective();
            write!(f, "{collective} ranks={ranks} bytes={bytes} -> {}", row.0.name())?;
            if note.is_empty() { writeln!(f) } else { writeln!(f, " # {note}") }?;
        }
        Ok(())
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..", self.first)?;
        if self.last == u64::MAX { Ok(()) } else { self.last.fmt(f) }
    }
}
