//! Plans as SVG: a line for each rank, a column for each round, an arrow for each message.

use std::fmt::Write;

use super::{Cell, arguments, cells, counted, title};
use crate::algo;
use crate::call::Call;
use crate::pairing::Message;
use crate::plan::Plan;
use crate::timeline::{Timeline, TimelineError};

/// The plans of all ranks as a self-contained SVG document. `calls` and `plans` are in rank order,
/// one of each for each rank.
///
/// # Errors
/// If the plans do not fit together.
pub fn svg(calls: &[Call], plans: &[Plan]) -> Result<String, TimelineError> {
    let timeline = Timeline::new(plans)?;
    let frame = Frame::new(plans.len(), timeline.rounds());
    let mut svg = Svg(String::new());
    head(&mut svg, &frame, calls, plans, &timeline);
    columns(&mut svg, &frame);
    ranks(&mut svg, &frame);
    let longest = timeline.matching().messages().iter().map(|message| message.len).max();
    for message in timeline.matching().messages() {
        let round = timeline.round(message.send);
        arrow(&mut svg, &frame, message, round, longest.unwrap_or(1));
    }
    for (rank, row) in cells(plans, &timeline).iter().enumerate() {
        for (round, cell) in row.iter().enumerate() {
            marks(&mut svg, &frame, rank, round, cell);
        }
    }
    legend(&mut svg, &frame);
    svg.line(format_args!("</svg>"));
    Ok(svg.0)
}

/// Where things are, in pixels.
struct Frame {
    ranks: usize,
    rounds: usize,
    /// Distance between the lines of two ranks.
    row: f64,
    /// Width of a round.
    column: f64,
}

impl Frame {
    const LEFT: f64 = 92.0;
    const RIGHT: f64 = 28.0;
    const TOP: f64 = 126.0;
    const BOTTOM: f64 = 64.0;
    const LEAST_WIDTH: f64 = 560.0;

    fn new(ranks: usize, rounds: usize) -> Self {
        let row = (720.0 / ranks.max(1) as f64).clamp(20.0, 48.0);
        let column = (1280.0 / rounds.max(1) as f64).clamp(56.0, 132.0);
        Self { ranks, rounds, row: row.floor(), column: column.floor() }
    }

    fn width(&self) -> f64 {
        let columns = self.rounds as f64 * self.column;
        (Self::LEFT + columns + self.margin() + Self::RIGHT).max(Self::LEAST_WIDTH)
    }

    fn height(&self) -> f64 {
        self.bottom() + Self::BOTTOM
    }

    /// Below the line of the last rank.
    fn bottom(&self) -> f64 {
        Self::TOP + self.ranks.saturating_sub(1) as f64 * self.row + 18.0
    }

    /// The height of the line of a rank.
    fn y(&self, rank: usize) -> f64 {
        Self::TOP + rank as f64 * self.row
    }

    /// Where a round, counted from 1, begins.
    fn x(&self, round: usize) -> f64 {
        Self::LEFT + (round as f64 - 1.0) * self.column
    }

    /// Where the arrows of a round start and end.
    fn arrow(&self, round: usize) -> (f64, f64) {
        (self.x(round) + self.margin(), self.x(round + 1) - self.margin())
    }

    /// The part of a column on either side of the arrows; marks of local work are in it.
    fn margin(&self) -> f64 {
        (self.column * 0.2).max(16.0)
    }
}

struct Svg(String);

impl Svg {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.0, "{line}").expect("writing to a string does not fail");
    }
}

const STYLE: &str = "\
text{font:13px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2933}\
.title{font-size:19px;font-weight:600}\
.note{fill:#616e7c}\
.round{fill:#616e7c;text-anchor:middle}\
.rank{text-anchor:end}\
.line{stroke:#cbd2d9;stroke-width:1.5}\
.band{fill:#f3f6f9}\
.message{stroke:#2563a8;fill:none;marker-end:url(#head)}\
.head{fill:#2563a8}\
.reduce{fill:#d9480f}\
.copy{fill:#fff;stroke:#52606d;stroke-width:1.6}";

fn head(svg: &mut Svg, frame: &Frame, calls: &[Call], plans: &[Plan], timeline: &Timeline) {
    let (width, height) = (frame.width(), frame.height());
    let title = title(calls, plans);
    let row = calls
        .first()
        .zip(plans.first())
        .and_then(|(call, plan)| algo::find(call.collective(), plan.algorithm()));
    let summary = row.map_or("", |row| row.summary());
    let messages = counted(timeline.matching().messages().len(), "message");
    let rounds = counted(timeline.rounds(), "round");
    svg.line(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\">"
    ));
    svg.line(format_args!("<title>{title}: {summary}</title>"));
    svg.line(format_args!("<style>{STYLE}</style>"));
    svg.line(format_args!(
        "<defs><marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"9\" \
         markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
         <path class=\"head\" d=\"M0 1 10 5 0 9z\"/></marker></defs>"
    ));
    svg.line(format_args!("<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>"));
    svg.line(format_args!("<text class=\"title\" x=\"24\" y=\"34\">{title}</text>"));
    svg.line(format_args!("<text x=\"24\" y=\"55\">{summary}</text>"));
    let facts = format!("{}; {messages} in {rounds}", arguments(calls));
    svg.line(format_args!("<text class=\"note\" x=\"24\" y=\"75\">{facts}</text>"));
}

/// The rounds, every second one on a band.
fn columns(svg: &mut Svg, frame: &Frame) {
    let (top, height) = (Frame::TOP - 18.0, frame.bottom() - Frame::TOP + 18.0);
    let (x, y) = (Frame::LEFT - 18.0, top - 5.0);
    svg.line(format_args!("<text class=\"note rank\" x=\"{x}\" y=\"{y}\">round</text>"));
    for round in 1..=frame.rounds {
        let (x, width) = (frame.x(round), frame.column);
        if round % 2 == 1 {
            svg.line(format_args!(
                "<rect class=\"band\" x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>"
            ));
        }
        let middle = x + width / 2.0;
        svg.line(format_args!("<text class=\"round\" x=\"{middle}\" y=\"{y}\">{round}</text>"));
    }
}

fn ranks(svg: &mut Svg, frame: &Frame) {
    let (left, right) = (Frame::LEFT - 10.0, frame.width() - Frame::RIGHT);
    for rank in 0..frame.ranks {
        let y = frame.y(rank);
        let (x, baseline) = (left - 8.0, y + 4.5);
        svg.line(format_args!(
            "<text class=\"rank\" x=\"{x}\" y=\"{baseline}\">rank {rank}</text>"
        ));
        svg.line(format_args!(
            "<line class=\"line\" x1=\"{left}\" y1=\"{y}\" x2=\"{right}\" y2=\"{y}\"/>"
        ));
    }
}

/// A message; the longer it is, compared with the longest, the thicker its arrow.
fn arrow(svg: &mut Svg, frame: &Frame, message: &Message, round: usize, longest: usize) {
    let (from, to) = (message.send.rank, message.recv.rank);
    let (x1, x2) = frame.arrow(round);
    let (y1, y2) = (frame.y(from.index()), frame.y(to.index()));
    let width = 1.0 + 1.4 * (message.len as f64 / longest as f64).sqrt();
    let elements = counted(message.len, "element");
    svg.line(format_args!(
        "<line class=\"message\" x1=\"{x1:.1}\" y1=\"{y1}\" x2=\"{x2:.1}\" y2=\"{y2}\" \
         stroke-width=\"{width:.1}\"><title>{from} to {to}: {elements}</title></line>"
    ));
}

/// The local work of a rank at the end of a round, one mark for each kind.
fn marks(svg: &mut Svg, frame: &Frame, rank: usize, round: usize, cell: &Cell) {
    let y = frame.y(rank);
    let mut x = frame.x(round + 1) - if round == 0 { 0.0 } else { frame.margin() / 2.0 };
    if cell.reductions > 0 {
        reduce_mark(svg, x, y);
        x += 15.0;
    }
    if cell.copies > 0 {
        copy_mark(svg, x, y);
    }
}

fn reduce_mark(svg: &mut Svg, x: f64, y: f64) {
    svg.line(format_args!("<circle class=\"reduce\" cx=\"{x:.1}\" cy=\"{y}\" r=\"5.5\"/>"));
}

fn copy_mark(svg: &mut Svg, x: f64, y: f64) {
    let (left, top) = (x - 4.5, y - 4.5);
    svg.line(format_args!(
        "<rect class=\"copy\" x=\"{left:.1}\" y=\"{top}\" width=\"9\" height=\"9\" rx=\"1.5\"/>"
    ));
}

fn legend(svg: &mut Svg, frame: &Frame) {
    let y = frame.bottom() + 34.0;
    let baseline = y + 4.5;
    let mut entry = |x: f64, text: &str| {
        svg.line(format_args!("<text class=\"note\" x=\"{x}\" y=\"{baseline}\">{text}</text>"));
    };
    entry(64.0, "message, thicker if longer");
    entry(268.0, "reduces");
    entry(360.0, "copies");
    svg.line(format_args!(
        "<line class=\"message\" x1=\"24\" y1=\"{y}\" x2=\"56\" y2=\"{y}\" stroke-width=\"2.2\"/>"
    ));
    reduce_mark(svg, 254.0, y);
    copy_mark(svg, 347.0, y);
}
