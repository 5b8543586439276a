//! How the ranks of an enforced init agree that their calls fit together, and who is told what if
//! not. (2008 proposal §2.3)
//!
//! The good case is one small allreduce, of the least of each word. Each fact that must be equal
//! goes in twice, as it is and with all bits turned: the least of the first is the least value, and
//! the least of the second, turned back, the greatest; where both are equal all ranks have said
//! the same. A rank to which a fact means nothing says the greatest value both times. This is also
//! what makes the init collective: nobody has the result before all have entered.
//!
//! What only two ranks have to do with each other (who sends how much to whom) they tell each other
//! in a sparse exchange, which costs each rank as much as it has neighbours; a second allreduce
//! says whether somebody has found something.
//!
//! Whether all members of a group have passed it the sum of their number tells.
//!
//! In the bad case there is time. Two ranks are named, the lowest ones of their kind, and both
//! broadcast what they have called; all ranks make the same error of it. So nobody is left waiting
//! for a rank that has given up.

use super::{CollectiveArgs, blocking::output};
use crate::base::error::{ErrorKind, Result};
use crate::comm::communicator::Communicator;
use crate::data::kernel::kernel;
use crate::data::op::{Min, Operator, Sum};
use crate::engine::check::CallDescription;

/// Says nothing about a fact.
const ANY: u64 = u64::MAX;
/// The number of no lesson.
const NO_LESSON: u64 = u64::MAX - 1;
/// Facts that must be equal wherever they are known.
const FACTS: usize = 4;
/// The words of the first agreement.
const WORDS: usize = 2 * FACTS + 7;
/// Bytes of a call for people.
const TEXT: usize = 512;

/// What a rank says of its init.
pub(super) struct Statement {
    pub(super) account: CallDescription,
    /// Whether the call was refused here.
    is_refused: bool,
    /// Whether this rank takes no part in the operation.
    pub(super) is_idle: bool,
    /// Algorithms that may be measured.
    pub(super) candidates: usize,
    /// Bytes that each of them needs.
    pub(super) bytes: usize,
    /// Which init has learned what is known of this call.
    pub(super) lesson: Option<u64>,
}

/// What all ranks know of an init then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agreed {
    /// The most candidates that a rank may measure.
    pub(super) candidates: usize,
    /// The most bytes that a rank needs for one.
    pub(super) bytes: usize,
    /// Whether all have learned the same of this call before.
    pub(super) knows_lesson: bool,
}

/// What is wrong, as all ranks see it.
struct Wrong {
    which: &'static str,
    /// Two ranks, which are not always different.
    ranks: [u64; 2],
    how: How,
}

/// How two calls do not fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Refused,
    Differ,
    /// The first sends the second what that does not expect, or not so.
    Pair,
    /// The second is a member of the group that the first has passed, and has passed an empty one.
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

    /// Of a rank whose call was refused for this reason.
    pub(super) fn refused(reason: &str) -> Statement {
        let account = CallDescription::told(reason.to_owned());
        Statement { is_refused: true, ..Statement::new(account) }
    }

    /// What must be equal wherever it is known.
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
    /// Calls that do not fit together, the same error on all ranks; that a rank has died.
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

    /// The least of each word over all ranks.
    pub(super) fn least(&self, call: &'static str, words: &mut [u64]) -> Result<()> {
        self.combined(call, words, Min)
    }

    /// Each word combined over all ranks.
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

    /// Names two ranks that have said different things of a fact.
    fn tell_difference(
        &self,
        call: &'static str,
        own: &Statement,
        fact: usize,
        least: u64,
    ) -> Result<crate::base::error::Error> {
        let (mine, rank) = (own.facts()[fact], self.rank() as u64);
        let mut ranks = [ANY; 2];
        if mine != ANY {
            ranks[usize::from(mine != least)] = rank;
        }
        self.least(call, &mut ranks)?;
        let which = ["call", "group", "call among the members", "type of the elements"][fact];
        self.name_two(call, own, &Wrong { which, ranks, how: How::Differ })
    }

    /// Whoever is in the group must have passed it.
    fn agree_on_members(&self, call: &'static str, own: &Statement) -> Result<()> {
        let passed = own.account.group().filter(|group| !group.is_empty());
        let size = passed.map_or(0, |group| group.size() as u64);
        // As many members as each of them says.
        let mut sums = if own.is_idle { [0, 0] } else { [1, size] };
        self.combined(call, &mut sums, Sum)?;
        if sums[0] * sums[0] == sums[1] {
            return Ok(());
        }
        // The lowest rank that has passed an empty group, if it is in that of anybody.
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

    /// What two ranks send to each other must fit.
    fn agree_in_pairs(&self, call: &'static str, own: &Statement) -> Result<()> {
        // What a rank has for itself its own arguments tell.
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

    /// The error that names two ranks and what they have called.
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

    /// What a rank says, on all ranks.
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
