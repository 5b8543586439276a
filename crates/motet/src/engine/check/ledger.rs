//! A call log holds the calls of all ranks on one communicator that are not compared completely
//! yet.

use std::collections::{HashMap, VecDeque};

use motet_fabric::{Peer, printable};

use super::account::{ANY, CallDescription};
use super::record::{Kind, Record};
use crate::base::group::Group;

/// The log of one communicator on one rank.
pub(crate) struct CallLog {
    communicator: u64,
    /// This rank and the group; unknown until this rank has created the communicator.
    group: Option<(Peer, Group)>,
    pub(crate) name: String,
    /// The number of the next call of this rank.
    next: u64,
    /// The number of the first entry.
    first: u64,
    entries: VecDeque<Entry>,
    /// The number and text of the last call of each rank.
    latest: HashMap<Peer, (u64, String)>,
    broken: Option<Broken>,
    /// The number of ranks that have freed it.
    freed: usize,
}

/// The calls of all ranks under one number.
#[derive(Default)]
struct Entry {
    /// The calls of other ranks.
    remote: Vec<RemoteCall>,
    own: Option<OwnCall>,
}

struct OwnCall {
    kind: Kind,
    account: CallDescription,
    /// The number in the labels of its messages, or that of the next call that has one.
    tag: u64,
}

struct RemoteCall {
    peer: Peer,
    record: Record,
}

/// Whether other ranks must be told of a mismatch, because they cannot see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tell {
    Nobody,
    Others,
}

/// A broken communicator: its calls mismatch from some number on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) number: u64,
    /// The first number in labels of this rank that belongs to a call from there on.
    pub(crate) tag: u64,
    pub(crate) reason: &'static str,
}

/// The mismatch of a communicator, and who must be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) communicator: u64,
    pub(crate) broken: Broken,
    pub(crate) tell: Tell,
}

/// The result of entering a call of this rank.
pub(crate) struct Own {
    pub(crate) number: u64,
    /// The record for each other rank of the communicator.
    pub(crate) records: Vec<(Peer, Record)>,
    pub(crate) verdict: Option<Verdict>,
    /// Why this call must not be made.
    pub(crate) refusal: Option<&'static str>,
}

impl CallLog {
    /// Creates a log of a communicator whose calls are counted from here.
    pub(crate) fn new(communicator: u64, first: u64) -> CallLog {
        CallLog {
            communicator,
            group: None,
            name: String::new(),
            next: first,
            first,
            entries: VecDeque::new(),
            latest: HashMap::new(),
            broken: None,
            freed: 0,
        }
    }

    /// Sets the group, when this rank has created the communicator.
    pub(crate) fn meet(&mut self, me: Peer, group: Group) {
        self.group.get_or_insert((me, group));
    }

    /// The group; empty while this rank has not created the communicator.
    pub(crate) fn group(&self) -> Group {
        self.group.as_ref().map_or(Group::empty(), |(_, group)| group.clone())
    }

    /// Whether all ranks have freed it.
    pub(crate) fn is_over(&self) -> bool {
        self.group.is_some() && self.freed == self.group().size()
    }

    /// Whether nothing more can be detected: the communicator is broken, or the log was created by
    /// a record that arrived when all had freed it.
    pub(crate) fn is_pointless(&self) -> bool {
        self.broken.is_some() || self.group.is_none()
    }

    /// Enters a record of another rank. Returns a verdict if it breaks the communicator.
    pub(crate) fn enter(&mut self, peer: Peer, record: Record) -> Option<Verdict> {
        if record.kind == Kind::Verdict {
            return self.break_from(record.number, record.text, Tell::Nobody);
        }
        self.note_latest(peer, &record);
        if self.broken.is_some() {
            return None;
        }
        let number = record.number;
        let entry = self.entry(number)?;
        entry.remote.push(RemoteCall { peer, record });
        let entry = &self.entries[(number - self.first) as usize];
        let (first, last) = (&entry.remote[0], &entry.remote[entry.remote.len() - 1]);
        let found = match &entry.own {
            Some(own) => self.compare_with_own(number, own, last),
            None => self.compare_kinds(first, last),
        };
        self.judge(number, found)
    }

    /// Enters the next call of this rank. `tag` is the number in the labels of its messages, or
    /// that of the next call that has one.
    pub(crate) fn enter_own(&mut self, kind: Kind, account: CallDescription, tag: u64) -> Own {
        let number = self.next;
        self.next += 1;
        let (me, group) = self.group.clone().expect("a communicator of this rank is known to it");
        let others = group.peers().filter(|&peer| peer != me);
        let records = others.map(|peer| (peer, self.record_for(peer, number, kind, &account)));
        let records = records.collect();
        self.note_latest(me, &self.record_for(me, number, kind, &account));
        let mut verdict = None;
        if self.broken.is_none() {
            let own = OwnCall { kind, account, tag };
            self.entry(number).expect("own calls come in their order");
            let remote = &self.entries[(number - self.first) as usize].remote;
            let found = remote.iter().find_map(|call| self.compare_with_own(number, &own, call));
            self.entry(number).expect("it was there just now").own = Some(own);
            verdict = self.judge(number, found);
        }
        let broken = self.broken.filter(|broken| broken.number <= number);
        Own { number, records, verdict, refusal: broken.map(|broken| broken.reason) }
    }

    fn entry(&mut self, number: u64) -> Option<&mut Entry> {
        let at = number.checked_sub(self.first)? as usize;
        while self.entries.len() <= at {
            self.entries.push_back(Entry::default());
        }
        self.entries.get_mut(at)
    }

    /// The record of an own call for a peer.
    fn record_for(&self, peer: Peer, number: u64, kind: Kind, account: &CallDescription) -> Record {
        let (sends, expects) = self.rank_of(peer).map_or((0, 0), |rank| account.with(rank));
        let CallDescription { fingerprint, shared, element, ref text, .. } = *account;
        Record {
            communicator: self.communicator,
            number,
            kind,
            fingerprint,
            group: account.of_group(),
            shared,
            includes: account.includes(peer),
            element,
            sends,
            expects,
            text: text.clone(),
        }
    }

    fn note_latest(&mut self, peer: Peer, record: &Record) {
        self.freed += usize::from(record.kind == Kind::Freed);
        self.latest.insert(peer, (record.number, record.text.clone()));
    }

    /// What is wrong between the own call of this number and a record, if anything.
    fn compare_with_own(
        &self,
        number: u64,
        own: &OwnCall,
        theirs: &RemoteCall,
    ) -> Option<(String, Tell)> {
        let (me, _) = self.group.as_ref()?;
        let record = self.record_for(theirs.peer, number, own.kind, &own.account);
        let local = RemoteCall { peer: *me, record };
        self.compare_kinds(&local, theirs).or_else(|| {
            let (local, peer, theirs) = (&local.record, theirs.peer, &theirs.record);
            let finding =
                |remark| Some((self.describe(*me, local, peer, theirs) + remark, Tell::Others));
            // A rank in two groups has passed one of them at most.
            if (local.includes || theirs.includes) && local.group != theirs.group {
                return finding("; who is in the group must pass it");
            }
            let fit = local.sends == theirs.expects && local.expects == theirs.sends;
            if fit { None } else { finding("; what they send to each other does not fit") }
        })
    }

    /// What every rank can see to be wrong between two records of one number, if anything.
    fn compare_kinds(&self, one: &RemoteCall, other: &RemoteCall) -> Option<(String, Tell)> {
        let (first, second) = (&one.record, &other.record);
        let agree = |one: u64, other: u64| one == other || one == ANY || other == ANY;
        // Disjoint groups make calls of their own.
        let are_apart = first.group != second.group;
        let equal = first.kind == second.kind
            && first.fingerprint == second.fingerprint
            && (are_apart
                || (agree(first.shared, second.shared) && agree(first.element, second.element)));
        // Ranks outside a group cannot compare arguments that they do not know.
        let tell = match (first.group, second.group) {
            (ANY, ANY) => Tell::Nobody,
            _ => Tell::Others,
        };
        (!equal).then(|| (self.describe(one.peer, first, other.peer, second), tell))
    }

    /// The text that names two calls of one number.
    fn describe(&self, one: Peer, first: &Record, other: Peer, second: &Record) -> String {
        let (one, other) = match self.rank_of(one) <= self.rank_of(other) {
            true => ((one, first), (other, second)),
            false => ((other, second), (one, first)),
        };
        format!(
            "{} as collective number {} of communicator {}, {}",
            self.describe_call(one.0, one.1),
            first.number + 1,
            self.title(),
            self.describe_call(other.0, other.1),
        )
    }

    fn describe_call(&self, peer: Peer, Record { kind, text, .. }: &Record) -> String {
        let rank = self
            .rank_of(peer)
            .map_or(format!("rank {peer} of the world"), |rank| format!("rank {rank}"));
        match kind {
            Kind::Call => format!("{rank} called {text}"),
            Kind::Refused => format!("{rank} made a call that was refused: {text}"),
            Kind::Freed | Kind::Verdict => format!("{rank} had freed it"),
        }
    }

    /// The name of the communicator, or the parts of its id.
    pub(crate) fn title(&self) -> String {
        match self.name.as_str() {
            "" => format!("{}.{}", self.communicator >> 48, self.communicator & ((1 << 48) - 1)),
            name => printable(name).to_string(),
        }
    }

    /// The rank of a peer in this communicator.
    pub(crate) fn rank_of(&self, peer: Peer) -> Option<usize> {
        self.group.as_ref()?.1.rank_of_peer(peer)
    }

    /// Breaks the communicator if a mismatch was found, else discards entries on which all ranks
    /// agree.
    fn judge(&mut self, number: u64, found: Option<(String, Tell)>) -> Option<Verdict> {
        if let Some((reason, tell)) = found {
            return self.break_from(number, reason, tell);
        }
        self.settle();
        None
    }

    fn settle(&mut self) {
        let others = self.group().size().wrapping_sub(1);
        let agreed = |entry: &Entry| entry.own.is_some() && entry.remote.len() == others;
        while self.entries.front().is_some_and(agreed) {
            self.entries.pop_front();
            self.first += 1;
        }
    }

    /// Breaks the communicator from this number on. The reason is leaked: there is at most one for
    /// each communicator, and errors of operations that may never be taken refer to it.
    fn break_from(&mut self, number: u64, reason: String, tell: Tell) -> Option<Verdict> {
        if self.broken.is_some() {
            return None;
        }
        let at = number.saturating_sub(self.first) as usize;
        let own = self.entries.iter().skip(at).find_map(|entry| entry.own.as_ref());
        let tag = own.map_or(u64::MAX, |own| own.tag);
        let broken = Broken { number, tag, reason: reason.leak() };
        self.broken = Some(broken);
        self.entries.clear();
        Some(Verdict { communicator: self.communicator, broken, tell })
    }

    /// The ranks that have not made the call of this number.
    pub(crate) fn missing(&self, number: u64) -> Vec<usize> {
        let has_called = |peer| self.latest.get(&peer).is_some_and(|&(last, _)| last >= number);
        let group = self.group();
        (0..group.size()).filter(|&rank| !has_called(group.peer(rank))).collect()
    }

    /// The number of calls that a rank has made here, and the text of the last.
    pub(crate) fn latest(&self, rank: usize) -> Option<(u64, &str)> {
        let group = self.group();
        let peer = (rank < group.size()).then(|| group.peer(rank))?;
        self.latest.get(&peer).map(|(number, text)| (number + 1, text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(number: u64, fingerprint: u64, text: &str) -> Record {
        let (kind, text) = (Kind::Call, text.to_owned());
        Record {
            communicator: 5,
            number,
            kind,
            fingerprint,
            group: ANY,
            shared: ANY,
            includes: false,
            element: ANY,
            sends: 0,
            expects: 0,
            text,
        }
    }

    fn ledger(first: u64) -> CallLog {
        CallLog::new(5, first)
    }

    #[test]
    fn what_all_agree_on_is_forgotten() {
        let mut ledger = ledger(10);
        for number in 10..1000 {
            assert_eq!(ledger.enter(Peer(4), record(number, 0, "")), None);
        }
        ledger.meet(Peer(2), Group::new(vec![Peer(4), Peer(2)]));
        for number in 10..1000 {
            assert_eq!(ledger.entries.len() as u64, 1000 - number);
            let own = ledger.enter_own(Kind::Call, CallDescription::freed(), 0);
            assert_eq!((own.number, own.records.len(), own.records[0].0), (number, 1, Peer(4)));
            assert_eq!((own.verdict, own.refusal), (None, None));
        }
        assert_eq!(ledger.entries.len(), 0);
    }

    #[test]
    fn two_others_may_disagree_before_this_rank_calls() {
        let mut ledger = ledger(0);
        ledger.meet(Peer(0), Group::world(3));
        assert_eq!(ledger.enter(Peer(2), record(0, 7, "two()")), None);
        let verdict = ledger.enter(Peer(1), record(0, 8, "one()")).expect("7 is not 8");
        let calls = "rank 1 called one() as collective number 1 of communicator 0.5, rank 2 called";
        assert_eq!(verdict.broken.reason, format!("{calls} two()"));
        let own = ledger.enter_own(Kind::Refused, CallDescription::freed(), 3);
        assert_eq!(own.refusal, Some(verdict.broken.reason));
        assert_eq!(own.verdict, None, "it is known already");
    }

    #[test]
    fn those_who_are_behind_are_missing() {
        let mut ledger = ledger(0);
        ledger.meet(Peer(3), Group::new(vec![Peer(7), Peer(3), Peer(1)]));
        ledger.enter(Peer(7), record(0, 0, ""));
        ledger.enter(Peer(7), record(1, 0, "last"));
        ledger.enter_own(Kind::Call, CallDescription::freed(), 0);
        assert_eq!(ledger.missing(0), [2]);
        assert_eq!(ledger.missing(1), [1, 2]);
        assert_eq!(ledger.latest(0), Some((2, "last")));
        assert_eq!(ledger.latest(2), None);
    }
}
