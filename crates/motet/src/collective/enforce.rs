//! Agreement of an enforced init: the ranks compare their calls, and all get the same error if they
//! do not match. (2008 proposal §2.3)
//!
//! If the calls match, the agreement is one small allreduce, of the minimum of each word. Each fact
//! that must be equal is sent twice: its value and its bitwise complement. The minimum of the
//! values is the least value, and the complement of the minimum of the complements is the greatest;
//! if both are equal, all ranks have the same value. A rank to which a fact does not apply sends
//! the greatest value both times. This also makes the init collective: no rank has the result
//! before all have entered.
//!
//! Facts that concern two ranks only (the lengths of the messages between them) are exchanged in a
//! sparse exchange, whose cost for a rank is proportional to its number of neighbours. A second
//! allreduce tells whether any rank has found a difference.
//!
//! Whether all members of a group have passed it is checked by the sum of their number.
//!
//! If the calls do not match, speed does not matter. The agreement names two ranks, the lowest ones
//! with the problem. Both broadcast their calls, and all ranks make the same error of them. So no
//! rank waits for a rank that has given up.

use super::{CollectiveArgs, blocking::output};
use crate::base::error::{ErrorKind, Result};
use crate::comm::communicator::Communicator;
use crate::data::kernel::kernel;
use crate::data::op::{Min, Operator, Sum};
use crate::engine::check::CallDescription;

/// The value for a fact that does not apply.
const ANY: u64 = u64::MAX;
/// The number for a call without a learned choice.
const NO_LESSON: u64 = u64::MAX - 1;
/// Number of facts that must be equal on all ranks to which they apply.
const FACTS: usize = 4;
/// Number of words of the first agreement.
const WORDS: usize = 2 * FACTS + 7;
/// Maximum length of the text of a call, in bytes.
const TEXT: usize = 512;

/// What a rank contributes to the agreement on its init.
pub(super) struct Statement {
    pub(super) account: CallDescription,
    /// Whether the call was refused on this rank.
    is_refused: bool,
    /// Whether this rank takes no part in the operation.
    pub(super) is_idle: bool,
    /// Number of algorithms that may be measured.
    pub(super) candidates: usize,
    /// Bytes that each of them needs.
    pub(super) bytes: usize,
    /// The number of the init that learned the choice for this call.
    pub(super) lesson: Option<u64>,
}

/// The result of the agreement, equal on all ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agreed {
    /// Maximum over all ranks of the number of candidates.
    pub(super) candidates: usize,
    /// Maximum over all ranks of the bytes that a candidate needs.
    pub(super) bytes: usize,
    /// Whether all ranks have learned the same choice for this call before.
    pub(super) knows_lesson: bool,
}

/// The mismatch, equal on all ranks.
struct Wrong {
    which: &'static str,
    /// The two ranks that it names; they may be equal.
    ranks: [u64; 2],
    how: How,
}

/// The way in which two calls do not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Refused,
    Differ,
    /// The first rank sends the second one a message that it does not expect, or expects
    /// differently.
    Pair,
    /// The second rank is a member of the group that the first one passed, and passed an empty
    /// group.
    Empty,
}

impl Statement {
    pub(super) fn new(account: CallDescription) -> Statement {
        Statement {
            account,
            is_refused: false,
            is_idle: false,
            candidates: 0,
            bytes: 0,
            lesson: None,
        }
    }

    /// Makes the statement of a rank whose call was refused for this reason.
    pub(super) fn refused(reason: &str) -> Statement {
        let account = CallDescription::from_text(reason.to_owned());
        Statement { is_refused: true, ..Statement::new(account) }
    }

    /// Returns the facts that must be equal on all ranks to which they apply.
    fn facts(&self) -> [u64; FACTS] {
        if self.is_refused {
            return [ANY; FACTS];
        }
        let account = &self.account;
        let known = |fact: u64| if fact == 0 { ANY } else { fact };
        let facts = [account.fingerprint, account.of_group(), account.shared, account.element];
        facts.map(known)
    }

    fn words(&self, rank: usize) -> [u64; WORDS] {
        let mut words = [ANY; WORDS];
        for (at, fact) in self.facts().into_iter().enumerate().filter(|(_, fact)| *fact != ANY) {
            (words[2 * at], words[2 * at + 1]) = (fact, !fact);
        }
        let [refused, candidates, bytes, lesson, other, pairs, grouped] =
            words.last_chunk_mut::<7>().expect("there are as many behind the facts");
        if self.is_refused {
            *refused = rank as u64;
            return words;
        }
        (*candidates, *bytes) = (!(self.candidates as u64), !(self.bytes as u64));
        if !self.is_idle {
            let number = self.lesson.unwrap_or(NO_LESSON);
            (*lesson, *other) = (number, !number);
        }
        *pairs = u64::from(!self.account.has_pairs());
        *grouped = u64::from(self.account.group().is_none());
        words
    }
}

impl Communicator {
    /// Agrees with all ranks on an init.
    ///
    /// # Errors
    /// The calls do not match (the same error on all ranks); or a rank has died.
    pub(super) fn agree(&self, call: &'static str, own: &Statement) -> Result<Agreed> {
        let mut words = own.words(self.rank());
        self.least(call, &mut words)?;
        let [refused, candidates, bytes, lesson, other, pairs, grouped] =
            *words.last_chunk::<7>().expect("there are as many behind the facts");
        if refused != ANY {
            let which = "success of the init";
            let wrong = Wrong { which, ranks: [refused; 2], how: How::Refused };
            return Err(self.name_two(call, own, &wrong)?);
        }
        let facts = words[..2 * FACTS].as_chunks::<2>().0;
        let differs = |[least, turned]: &[u64; 2]| *least != ANY && *least != !*turned;
        if let Some(at) = facts.iter().position(differs) {
            return Err(self.tell_difference(call, own, at, facts[at][0])?);
        }
        if grouped == 0 {
            self.agree_on_members(call, own)?;
        }
        if pairs == 0 {
            self.agree_in_pairs(call, own)?;
        }
        Ok(Agreed {
            candidates: !candidates as usize,
            bytes: !bytes as usize,
            knows_lesson: lesson == !other && lesson != NO_LESSON,
        })
    }

    /// Replaces each word by its minimum over all ranks.
    pub(super) fn least(&self, call: &'static str, words: &mut [u64]) -> Result<()> {
        self.combined(call, words, Min)
    }

    /// Combines each word over all ranks.
    pub(crate) fn combined<O: Operator<u64>>(
        &self,
        call: &'static str,
        words: &mut [u64],
        operator: O,
    ) -> Result<()> {
        let shape = CollectiveArgs::allreduce(None, output(words), true);
        let prepared = self.prepare_own::<u64>(call, shape, Some(kernel(operator)))?;
        self.blocking(prepared)
    }

    /// Finds two ranks that have different values of a fact.
    fn tell_difference(
        &self,
        call: &'static str,
        own: &Statement,
        fact: usize,
        least: u64,
    ) -> Result<crate::base::error::Error> {
        let (value, rank) = (own.facts()[fact], self.rank() as u64);
        let mut ranks = [ANY; 2];
        if value != ANY {
            ranks[usize::from(value != least)] = rank;
        }
        self.least(call, &mut ranks)?;
        let which = ["call", "group", "call among the members", "type of the elements"][fact];
        self.name_two(call, own, &Wrong { which, ranks, how: How::Differ })
    }

    /// Checks that each member of a group has passed the group.
    fn agree_on_members(&self, call: &'static str, own: &Statement) -> Result<()> {
        let passed = own.account.group().filter(|group| !group.is_empty());
        let size = passed.map_or(0, |group| group.size() as u64);
        // As many members as each of them says.
        let mut sums = if own.is_idle { [0, 0] } else { [1, size] };
        self.combined(call, &mut sums, Sum)?;
        if sums[0] * sums[0] == sums[1] {
            return Ok(());
        }
        // Find the lowest rank that passed an empty group and is a member of another rank's.
        let all = self.tell_all(call, [u64::from(passed.is_some())])?;
        let is_missing = |&rank: &usize| {
            let is_in = |passed: &&crate::base::group::Group| {
                passed.rank_of_peer(self.group().peer(rank)).is_some()
            };
            all[rank][0] == 0 && passed.filter(is_in).is_some()
        };
        let missing = (0..all.len()).find(is_missing);
        let mut found = [missing.map_or(ANY, |rank| rank as u64)];
        self.least(call, &mut found)?;
        let [missing] = found;
        if missing == ANY {
            return Ok(());
        }
        let member = all.iter().position(|&[passed]| passed == 1).expect("somebody missed it");
        let ranks = [member as u64, missing];
        Err(self.name_two(call, own, &Wrong { which: "group", ranks, how: How::Empty })?)
    }

    /// Checks that the messages between each pair of ranks match.
    fn agree_in_pairs(&self, call: &'static str, own: &Statement) -> Result<()> {
        // The blocks of a rank for itself need no exchange.
        let me = self.rank();
        let others = own.account.sends().filter(|&(to, _)| to != me);
        let sent: Vec<(usize, [u64; 1])> =
            others.map(|(to, signature)| (to, [signature])).collect();
        let sends = sent.iter().map(|(to, signature)| (*to, &signature[..]));
        let came = self.sparse_exchange_as::<u64>(call, sends)?;
        let of = |rank: usize| {
            let at = came.binary_search_by_key(&rank, |(from, _)| *from);
            at.map_or(0, |at| came[at].1.first().copied().unwrap_or(0))
        };
        let expected = own.account.expects().filter(|&(from, _)| from != me);
        let missing = expected.into_iter().find(|&(from, expected)| of(from) != expected);
        let unexpected = came.iter().map(|(from, _)| *from);
        let unexpected = unexpected.filter(|&from| own.account.with(from).1 != of(from)).min();
        let wrong = missing.map(|(from, _)| from).into_iter().chain(unexpected).min();
        let mut finder = [wrong.map_or(ANY, |_| me as u64)];
        self.least(call, &mut finder)?;
        let [finder] = finder;
        if finder == ANY {
            return Ok(());
        }
        let found = wrong.filter(|_| finder == me as u64);
        let mut from = [found.map_or(ANY, |from| from as u64)];
        self.least(call, &mut from)?;
        let ranks = [from[0], finder];
        let wrong = Wrong { which: "pattern of the exchange", ranks, how: How::Pair };
        Err(self.name_two(call, own, &wrong)?)
    }

    /// Makes the error that names two ranks and their calls.
    #[cold]
    fn name_two(
        &self,
        call: &'static str,
        own: &Statement,
        wrong: &Wrong,
    ) -> Result<crate::base::error::Error> {
        let Wrong { which, ranks: [first, second], how } = *wrong;
        let mut texts = Vec::new();
        for rank in [first, second] {
            texts.push(self.text_of(call, rank as usize, &own.account.text)?);
        }
        let [one, other] = &texts[..] else { unreachable!("two were asked") };
        let both = format!("rank {first} called {one}; rank {second} called {other}");
        let problem = match how {
            How::Refused => format!("it was refused at rank {first}: {one}"),
            How::Differ => both,
            How::Pair => format!(
                "what rank {first} sends to rank {second} is not what that expects from it: {both}"
            ),
            How::Empty => format!(
                "rank {second} has passed an empty one, but is in that of rank {first}: {both}"
            ),
        };
        let kind = ErrorKind::Differs { which, problem };
        // A rank that was refused has an error of its own, which the handler has seen.
        let is_own = how == How::Refused && first == self.rank() as u64;
        Ok(if is_own { self.home().silent_error(call, kind) } else { self.error(call, kind) })
    }

    /// Broadcasts the text of one rank to all ranks.
    pub(crate) fn text_of(&self, call: &'static str, root: usize, own: &str) -> Result<String> {
        let mut bytes = [0; TEXT];
        if self.rank() == root {
            let end = own.floor_char_boundary(TEXT);
            bytes[..end].copy_from_slice(&own.as_bytes()[..end]);
        }
        let shape = CollectiveArgs::bcast(self, output(&mut bytes), root);
        self.blocking(self.prepare_own::<u8>(call, shape, None)?)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.trim_end_matches('\0').to_owned())
    }
}
