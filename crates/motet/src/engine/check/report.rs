//! Reports long waits: which rank waits for which call, and which ranks have not made it.

use std::fmt::Display;
use std::io::Write as _;
use std::time::Duration;

use motet_fabric::slab::Id;
use motet_fabric::{Endpoint, Peer, Transit, printable};

use super::{CallLog, CheckState, PendingCall};
use crate::engine::OpKey;
use crate::engine::context::{ContextKind, split_context};

/// The ranks of a communicator that a report lists; for the rest it gives the number.
const LISTED: usize = 16;
/// The operations that a report describes; for the rest it gives the number.
const DESCRIBED: usize = 4;

/// An operation for which a thread waits.
pub(crate) struct Awaited {
    pub(crate) id: Id,
    /// The number of a collective.
    pub(crate) number: Option<OpKey>,
    /// The ranks for whose channels a collective waits.
    pub(crate) blocked_by: Vec<Peer>,
}

/// A report, line by line: a name or source line inside a line cannot start another line.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn line(&mut self, text: impl Display) {
        self.0 += &format!("{}\n", printable(text));
    }
}

/// Writes a report to standard error in one piece, because the ranks share the stream.
pub(crate) fn report(
    books: &CheckState,
    endpoint: &Endpoint,
    waited: Duration,
    awaited: &[Awaited],
) {
    let mut text = Lines::default();
    let me = endpoint.me();
    let seconds = waited.as_secs_f64();
    for each in awaited.iter().take(DESCRIBED) {
        let transits = endpoint.transits(each.id.0);
        let live = each.number.and_then(|number| books.live(number));
        let ledger = books.ledgers.get(&community(each, &transits).unwrap_or(u64::MAX));
        let rank = |peer: Peer| name_of(ledger, peer);
        let what = match live {
            Some(live) => called(ledger, live),
            None => "a message".into(),
        };
        text.line(format_args!("motet: {} has waited {seconds:.1} s for {what}", rank(me)));
        for transit in &transits {
            text.line(format_args!("motet:   {}", in_words(transit, live.is_none(), &rank)));
        }
        for &peer in &each.blocked_by {
            text.line(format_args!("motet:   it waits for {}", rank(peer)));
        }
        if let Some(ledger) = ledger {
            tell_of_all(&mut text, ledger, live);
        }
    }
    if awaited.is_empty() {
        text.line(format_args!("motet: rank {me} of the world has waited {seconds:.1} s"));
        text.line(format_args!("motet:   in a probe, or to leave the world"));
        books.ledgers.values().for_each(|ledger| tell_of_all(&mut text, ledger, None));
    }
    if let Some(more) = awaited.len().checked_sub(DESCRIBED).filter(|&more| more > 0) {
        text.line(format_args!("motet:   and for {more} more operations"));
    }
    // A failure to write to standard error cannot be reported.
    let _ = std::io::stderr().write_all(text.0.as_bytes());
}

/// The communicator of an operation.
fn community(awaited: &Awaited, transits: &[Transit]) -> Option<u64> {
    let context = awaited.number.map(|number| number.context);
    let context = context.or_else(|| transits.iter().find_map(|transit| transit.context))?;
    Some(split_context(context).0)
}

/// The rank in the communicator, or else in the world.
fn name_of(ledger: Option<&CallLog>, peer: Peer) -> String {
    let rank = ledger.and_then(|ledger| ledger.rank_of(peer));
    rank.map_or_else(|| format!("rank {peer} of the world"), |rank| format!("rank {rank}"))
}

fn called(ledger: Option<&CallLog>, PendingCall { text, number, .. }: &PendingCall) -> String {
    let title = ledger.map_or_else(|| "one that is freed".into(), CallLog::title);
    format!("{text}, collective number {} of communicator {title}", number + 1)
}

fn in_words(transit: &Transit, is_message: bool, rank: &impl Fn(Peer) -> String) -> String {
    let other = transit.peer.map_or_else(|| "any rank".into(), rank);
    let tag = match (is_message, transit.tag) {
        (false, _) => String::new(),
        (true, Some(tag)) => format!(" with tag {tag}"),
        (true, None) => " with any tag".into(),
    };
    match transit.is_receive {
        true => format!("nothing has come from {other}{tag}"),
        false => format!("{other} has not received what was sent{tag}"),
    }
}

/// Lists the last call of each rank, and the missing ranks.
fn tell_of_all(text: &mut Lines, ledger: &CallLog, live: Option<&PendingCall>) {
    let title = ledger.title();
    let missing = live.map(|live| ledger.missing(live.number)).unwrap_or_default();
    let is_persistent = live.is_some_and(|live| live.traffic == ContextKind::Persistent);
    match missing.as_slice() {
        [] if live.is_some() && is_persistent => {
            text.line(format_args!("motet:   all ranks have made it; not all may have started it"));
        }
        [] if live.is_some() => {
            text.line(format_args!("motet:   all ranks have made this call"));
        }
        [] => {}
        missing => {
            let names: Vec<_> = missing.iter().take(LISTED).map(usize::to_string).collect();
            let dots = if missing.len() > LISTED { ", ..." } else { "" };
            text.line(format_args!("motet:   missing: rank {}{dots}", names.join(", rank ")));
        }
    }
    for rank in (0..ledger.group().size()).take(LISTED) {
        match ledger.latest(rank) {
            Some((_, "")) => {
                text.line(format_args!("motet:   rank {rank} has freed communicator {title}"))
            }
            Some((count, last)) => text.line(format_args!(
                "motet:   rank {rank} has made {count} collective calls on {title}, \
                 the last: {last}"
            )),
            None => text
                .line(format_args!("motet:   rank {rank} has made no collective call on {title}")),
        };
    }
    if let Some(more) = ledger.group().size().checked_sub(LISTED).filter(|&more| more > 0) {
        text.line(format_args!("motet:   and {more} more ranks"));
    }
}
