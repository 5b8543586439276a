//! Message matching: the queue of posted receives and the queue of unexpected messages.
//!
//! Posted receives that name sender and tag are searched one by one while they are few, or while
//! messages arrive in about the order of their receives; otherwise they are found by hashing, so
//! the time does not grow with their number. A receive with a wildcard is searched for in the order
//! of posting. The order is that of the standard: of two receives that accept a message, the one
//! posted first gets it; of two messages from one sender that a receive accepts, it gets the one
//! sent first.
//!
//! Only memory limits the two queues: a smaller bound would make a program hang that merely
//! receives in another order.
//!
//! Most programs have few receives posted at a time, or send in the order in which they receive.
//! Receives that name sender and tag are kept in a list in the order of their posts
//! (`LISTED_MAX`), and a message is compared with the first of them (`COMPARED_MAX`): that
//! takes less time than a hash. If the list is full, if a receive with a wildcard is posted, or if
//! the message belongs to none of the first receives, all of the list join the queues, as their
//! first entries; the next list begins when no exact receive is queued.

mod index;
mod queue;

use std::collections::VecDeque;
use std::mem;

use crate::{Label, Peer, Selector};
use queue::{Key, Queue};

/// Where a posted receive was put, for a caller that withdraws it later. For a receive that did not
/// have to be posted it has no meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticket(u64);

/// Marks the ticket of a receive with a wildcard: the other bits are the number of its post. The
/// ticket of an exact receive is its slot.
const WILD: u64 = 1 << 63;

/// The receives that are posted without a hash. A stream of messages often has a window of 64, and
/// some have 256.
const LISTED_MAX: usize = 256;
/// The receives that a message is compared with before all are hashed. An exchange with six
/// neighbours posts six, and their messages come in any order.
const COMPARED_MAX: usize = 8;

/// Posted receives of type `R` and unexpected messages of type `M`.
#[derive(Debug)]
pub struct Matching<R, M> {
    /// Exact receives in the order of their posts. If there are any, no other receive is posted.
    listed: VecDeque<(Key, R)>,
    exact: Queue<R>,
    wild: VecDeque<(u64, Selector, R)>,
    unexpected: Queue<M>,
    /// Counts posts. The count tells which of two receives was posted first.
    posts: u64,
}

impl<R, M> Default for Matching<R, M> {
    fn default() -> Self {
        Matching {
            listed: VecDeque::with_capacity(LISTED_MAX),
            exact: Queue::default(),
            wild: VecDeque::new(),
            unexpected: Queue::default(),
            posts: 0,
        }
    }
}

impl<R: Default, M: Default> Matching<R, M> {
    /// Takes the unexpected message that this receive gets, if one has arrived.
    pub fn take_unexpected(&mut self, selector: &Selector) -> Option<(Peer, Label, M)> {
        let key = match exact_key(selector) {
            Some(key) => key,
            None => self.unexpected.find(|key| selector.accepts(key.source(), key.label()))?,
        };
        self.unexpected.pop(&key).map(|message| (key.source(), key.label(), message))
    }

    /// The unexpected message that this receive would get; it stays in the queue.
    pub fn peek_unexpected(&self, selector: &Selector) -> Option<(Peer, Label, &M)> {
        let key = match exact_key(selector) {
            Some(key) => key,
            None => self.unexpected.find(|key| selector.accepts(key.source(), key.label()))?,
        };
        self.unexpected.front(&key).map(|(_, message)| (key.source(), key.label(), message))
    }

    /// Posts a receive for which no message has arrived yet.
    pub fn post(&mut self, selector: Selector, receive: R) -> Ticket {
        match exact_key(&selector) {
            Some(key) if self.has_room_in_list() => self.put_in_list(key, receive),
            key => self.post_in_queues(key, selector, receive),
        }
    }

    /// Posts a receive that names sender and tag, if the list has room for it. Returns whether it
    /// did; the ticket of the receive is the default one.
    #[inline]
    pub fn post_in_list(&mut self, source: Peer, label: Label, receive: R) -> bool {
        let has_room = self.has_room_in_list();
        if has_room {
            self.put_in_list(Key::new(source, label), receive);
        }
        has_room
    }

    #[inline]
    fn has_room_in_list(&self) -> bool {
        self.listed.len() < LISTED_MAX && self.exact.len() == 0 && self.wild.is_empty()
    }

    #[inline]
    fn put_in_list(&mut self, key: Key, receive: R) -> Ticket {
        self.posts += 1;
        if self.listed.is_empty() {
            self.listed.clear(); // Begins again at the start, which is in the cache.
        }
        self.listed.push_back((key, receive));
        Ticket::default()
    }

    /// Has the receives of the list join the queue of exact receives, which is empty.
    #[inline(never)] // most messages arrive in the order of their receives
    fn hash_listed(&mut self) {
        let first = self.posts + 1 - self.listed.len() as u64;
        for (post, (key, receive)) in (first..).zip(self.listed.drain(..)) {
            self.exact.push(key, post, receive);
        }
    }

    fn post_in_queues(&mut self, key: Option<Key>, selector: Selector, receive: R) -> Ticket {
        self.hash_listed();
        self.posts += 1;
        match key {
            Some(key) => Ticket(u64::from(self.exact.push(key, self.posts, receive))),
            None => {
                self.wild.push_back((self.posts, selector, receive));
                Ticket(WILD | self.posts)
            }
        }
    }

    /// Withdraws the posted receive of this ticket, for which `is_it` returns `true`. `None` if it
    /// is no longer posted.
    pub fn withdraw_one(&mut self, ticket: Ticket, is_it: impl Fn(&R) -> bool) -> Option<R> {
        if !self.listed.is_empty() {
            let at = self.listed.iter().position(|(_, receive)| is_it(receive))?;
            return self.listed.remove(at).map(|(_, receive)| receive);
        }
        if ticket.0 & WILD == 0 {
            // The ticket of a receive that was listed names no slot, but these receives are the
            // oldest in the queue.
            return self.exact.take_one(ticket.0 as u32, is_it);
        }
        let post = ticket.0 & !WILD;
        let at = self.wild.binary_search_by_key(&post, |(posted, ..)| *posted).ok()?;
        let (.., receive) = self.wild.get(at)?;
        if is_it(receive) { self.wild.remove(at).map(|(.., receive)| receive) } else { None }
    }

    /// The receive that was posted before all others, if it is listed: its source, its label and
    /// itself. Of the messages from this source with this label it gets the next.
    #[inline]
    pub fn first(&self) -> Option<(Peer, Label, &R)> {
        let (key, receive) = self.listed.front()?;
        Some((key.source(), key.label(), receive))
    }

    /// Removes the first receive of the list: it has met its message.
    #[inline]
    pub fn meet_first(&mut self) {
        self.listed.pop_front();
    }

    /// Takes the posted receive that this message meets, if there is one.
    #[inline]
    pub fn take_posted(&mut self, source: Peer, label: Label) -> Option<R> {
        let key = Key::new(source, label);
        if let Some((first, _)) = self.listed.front()
            && *first == key
        {
            return self.listed.pop_front().map(|(_, receive)| receive);
        }
        self.take_behind_first(key)
    }

    /// As [`Matching::take_posted`], for a message that the first of the list does not accept.
    #[inline(never)] // most messages arrive in the order of their receives
    fn take_behind_first(&mut self, key: Key) -> Option<R> {
        let mut compared = self.listed.iter().take(COMPARED_MAX);
        if let Some(at) = compared.position(|(its, _)| *its == key) {
            return self.listed.remove(at).map(|(_, receive)| receive);
        }
        if self.listed.len() > COMPARED_MAX {
            self.hash_listed();
        }
        let (source, label) = (key.source(), key.label());
        if !self.wild.is_empty() {
            let exact_at = self.exact.front(&key).map(|(posted, _)| posted);
            let wild = self.wild.iter().position(|(_, wanted, _)| wanted.accepts(source, label));
            if let Some(place) = wild
                && exact_at.is_none_or(|posted| self.wild[place].0 < posted)
            {
                return self.wild.remove(place).map(|(_, _, receive)| receive);
            }
        }
        self.exact.pop(&key)
    }

    /// Keeps an unexpected message until its receive is posted.
    pub fn keep(&mut self, source: Peer, label: Label, message: M) {
        self.unexpected.push(Key::new(source, label), 0, message);
    }

    /// Withdraws all posted receives for which the predicate holds. Takes time in the number
    /// posted.
    pub fn withdraw(&mut self, mut gone: impl FnMut(Option<Peer>, &R) -> bool) -> Vec<R> {
        if !self.listed.is_empty() {
            let gone = |(key, receive): &(Key, R)| gone(Some(key.source()), receive);
            let (taken, kept) = mem::take(&mut self.listed).into_iter().partition(gone);
            self.listed = kept;
            return Vec::from(taken).into_iter().map(|(_, receive)| receive).collect();
        }
        let mut taken = self.exact.drain_where(|key, receive| gone(Some(key.source()), receive));
        for _ in 0..self.wild.len() {
            let Some((posted, selector, receive)) = self.wild.pop_front() else { break };
            if gone(selector.source, &receive) {
                taken.push(receive);
            } else {
                self.wild.push_back((posted, selector, receive));
            }
        }
        taken
    }

    /// Calls the function for each unexpected message.
    pub fn each_early(&self, mut visit: impl FnMut(Peer, Label, &M)) {
        self.unexpected.iter().for_each(|(key, message)| visit(key.source(), key.label(), message));
    }

    /// Calls the function for each posted receive.
    pub fn each_posted(&self, mut visit: impl FnMut(Selector, &R)) {
        let listed = self.listed.iter().map(|(key, receive)| (key, receive));
        for (key, receive) in listed.chain(self.exact.iter()) {
            visit(Selector::exactly(key.source(), key.label()), receive);
        }
        self.wild.iter().for_each(|(_, selector, receive)| visit(*selector, receive));
    }

    /// Number of posted receives.
    #[inline]
    pub fn posted(&self) -> usize {
        self.listed.len() + self.exact.len() + self.wild.len()
    }

    /// Number of unexpected messages.
    pub fn unexpected_len(&self) -> usize {
        self.unexpected.len()
    }
}

fn exact_key(selector: &Selector) -> Option<Key> {
    let label = Label { context: selector.context, tag: selector.tag?, ordinal: selector.ordinal };
    Some(Key::new(selector.source?, label))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(tag: u64) -> Label {
        Label { context: 5, tag, ordinal: 0 }
    }

    fn any(source: Option<u32>, tag: Option<u64>) -> Selector {
        Selector { context: 5, source: source.map(Peer), tag, ordinal: 0 }
    }

    #[test]
    fn of_two_receives_the_one_posted_first_wins() {
        let mut matching = Matching::<&str, ()>::default();
        matching.post(any(None, Some(7)), "anyone");
        matching.post(any(Some(1), Some(7)), "one");
        matching.post(any(Some(1), None), "any tag");
        assert_eq!(matching.take_posted(Peer(1), label(7)), Some("anyone"));
        assert_eq!(matching.take_posted(Peer(1), label(7)), Some("one"));
        assert_eq!(matching.take_posted(Peer(1), label(8)), Some("any tag"));
        assert_eq!(matching.take_posted(Peer(1), label(7)), None);
        assert_eq!(matching.posted(), 0);
    }

    #[test]
    fn one_that_is_alone_is_the_first_when_it_gets_company() {
        let mut matching = Matching::<&str, ()>::default();
        matching.post(any(Some(1), Some(7)), "alone");
        let first = Some((Peer(1), label(7), &"alone"));
        assert_eq!(matching.first(), first);
        matching.post(any(Some(1), Some(7)), "company");
        assert_eq!((matching.first(), matching.posted()), (first, 2));
        matching.meet_first();
        assert_eq!(matching.first(), Some((Peer(1), label(7), &"company")));
        assert_eq!(matching.withdraw(|_, _| true), ["company"]);
        let alone = matching.post(any(Some(1), Some(7)), "alone");
        matching.post(any(Some(1), Some(7)), "company");
        matching.post(any(None, Some(7)), "anyone");
        assert_eq!((matching.first(), matching.posted()), (None, 3), "none is listed");
        let take = |matching: &mut Matching<_, _>| matching.take_posted(Peer(1), label(7));
        assert_eq!(take(&mut matching), Some("alone"));
        assert_eq!(matching.withdraw_one(alone, |&each| each == "alone"), None);
        assert_eq!(take(&mut matching), Some("company"));
        assert_eq!((take(&mut matching), matching.posted()), (Some("anyone"), 0));
        // What was alone when it was posted is found by its ticket, in company or not.
        for company in [false, true] {
            matching.post(any(Some(2), Some(7)), "before");
            matching.post(any(Some(2), Some(7)), "before");
            assert_eq!(matching.withdraw(|_, _| true).len(), 2);
            let alone = matching.post(any(Some(1), Some(7)), "alone");
            if company {
                matching.post(any(Some(1), Some(7)), "company");
            }
            assert_eq!(matching.withdraw_one(alone, |&each| each == "nobody"), None);
            assert_eq!(matching.withdraw_one(alone, |&each| each == "alone"), Some("alone"));
            assert_eq!(matching.withdraw_one(alone, |&each| each == "alone"), None);
            assert_eq!(matching.withdraw(|_, _| true).len(), usize::from(company));
        }
    }

    #[test]
    fn one_that_is_alone_meets_only_its_message() {
        let mut matching = Matching::<u32, ()>::default();
        assert!(matching.post_in_list(Peer(1), label(7), 1));
        let others = [(Peer(2), label(7)), (Peer(1), label(8))];
        for (source, label) in others {
            assert_eq!(matching.take_posted(source, label), None);
        }
        let mut seen = Vec::new();
        matching.each_posted(|selector, &receive| seen.push((selector, receive)));
        assert_eq!(seen, [(any(Some(1), Some(7)), 1)]);
        assert!(matching.withdraw(|source, _| source != Some(Peer(1))).is_empty());
        assert_eq!(matching.take_posted(Peer(1), label(7)), Some(1));
        assert_eq!((matching.take_posted(Peer(1), label(7)), matching.posted()), (None, 0));
    }

    #[test]
    fn the_list_joins_the_queues_as_the_first_entries() {
        let mut matching = Matching::<usize, ()>::default();
        let exact = any(Some(1), Some(7));
        let tickets: Vec<_> = (0..LISTED_MAX).map(|each| matching.post(exact, each)).collect();
        assert!(!matching.post_in_list(Peer(1), label(7), 99), "that is one too many");
        matching.post(any(None, Some(7)), LISTED_MAX);
        matching.post(exact, LISTED_MAX + 1);
        assert_eq!(matching.withdraw_one(tickets[3], |&each| each == 3), Some(3));
        let taken: Vec<_> =
            std::iter::from_fn(|| matching.take_posted(Peer(1), label(7))).collect();
        let all: Vec<_> = (0..LISTED_MAX + 2).filter(|&each| each != 3).collect();
        assert_eq!((taken, matching.posted()), (all, 0));
    }

    #[test]
    fn a_message_for_none_of_the_first_receives_has_them_hashed() {
        let mut matching = Matching::<usize, ()>::default();
        let post = |matching: &mut Matching<_, _>, count| {
            for receive in 0..count {
                assert!(matching.post_in_list(Peer(1), label(receive as u64), receive));
            }
        };
        // Few receives stay listed, whatever comes.
        post(&mut matching, COMPARED_MAX);
        assert_eq!(matching.take_posted(Peer(2), label(0)), None);
        assert_eq!((matching.listed.len(), matching.exact.len()), (COMPARED_MAX, 0));
        post(&mut matching, 1);
        let last = label(COMPARED_MAX as u64 - 1);
        assert_eq!(matching.take_posted(Peer(1), last), Some(COMPARED_MAX - 1), "it is compared");
        assert_eq!(matching.take_posted(Peer(1), label(0)), Some(0), "the older of two");
        post(&mut matching, 2);
        assert_eq!(matching.take_posted(Peer(2), label(0)), None);
        assert_eq!((matching.listed.len(), matching.exact.len()), (0, COMPARED_MAX + 1));
        for expected in [Some(0), Some(0), None] {
            assert_eq!(matching.take_posted(Peer(1), label(0)), expected);
        }
        assert!(!matching.post_in_list(Peer(1), label(0), 0), "older ones are queued");
        assert_eq!(matching.withdraw(|_, _| true).len(), COMPARED_MAX - 1);
        post(&mut matching, LISTED_MAX);
        assert_eq!(matching.listed.len(), LISTED_MAX);
    }

    /// Receives that are posted, met and withdrawn at random, against a plain list of them.
    #[test]
    fn every_message_meets_the_first_receive_that_accepts_it() {
        for seed in 0..40_u64 {
            let mut random = seed;
            let mut next = move |below: u64| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 33) % below
            };
            let (mut matching, mut list) = (Matching::<u32, ()>::default(), Vec::new());
            let wilds = if seed % 2 == 0 { 0 } else { 4 };
            for receive in 0..2000_u32 {
                let (source, tag) = (next(2) as u32, next(3));
                match next(if seed % 4 < 2 { 2 } else { 3 }) {
                    0 => {
                        let is_wild = next(20) < wilds;
                        let selector = any((!is_wild).then_some(source), Some(tag));
                        let ticket = matching.post(selector, receive);
                        list.push((selector, receive, ticket));
                    }
                    1 if next(8) == 0 && !list.is_empty() => {
                        let (_, gone, ticket) = list.remove(next(list.len() as u64) as usize);
                        let withdrawn = matching.withdraw_one(ticket, |&each| each == gone);
                        assert_eq!(withdrawn, Some(gone), "seed {seed}");
                    }
                    _ => {
                        let first = list
                            .iter()
                            .position(|(selector, ..)| selector.accepts(Peer(source), label(tag)));
                        let expected = first.map(|at| list.remove(at).1);
                        let met = matching.take_posted(Peer(source), label(tag));
                        assert_eq!(met, expected, "seed {seed}");
                    }
                }
                assert_eq!(matching.posted(), list.len(), "seed {seed}");
            }
        }
    }

    #[test]
    fn of_two_messages_the_one_sent_first_is_taken() {
        let mut matching = Matching::<(), u32>::default();
        for message in 0..6 {
            matching.keep(Peer(message % 2), label(u64::from(message) % 3), message);
        }
        let taken = matching.take_unexpected(&any(Some(1), None)).unwrap();
        assert_eq!(taken, (Peer(1), label(1), 1));
        assert_eq!(matching.peek_unexpected(&any(None, None)).unwrap().2, &0);
        assert_eq!(matching.take_unexpected(&any(None, Some(0))).unwrap().2, 0);
        assert_eq!(matching.take_unexpected(&any(None, Some(0))).unwrap().2, 3);
        assert!(matching.take_unexpected(&any(Some(0), Some(0))).is_none());
        assert_eq!(matching.unexpected_len(), 3);
    }

    #[test]
    fn contexts_and_ordinals_keep_apart() {
        let mut matching = Matching::<(), u32>::default();
        matching.keep(Peer(0), Label { context: 6, tag: 1, ordinal: 0 }, 1);
        matching.keep(Peer(0), Label { context: 5, tag: 1, ordinal: 1 }, 2);
        assert!(matching.take_unexpected(&any(None, None)).is_none());
    }

    #[test]
    fn withdrawing_keeps_the_order_of_the_rest() {
        let mut matching = Matching::<u32, ()>::default();
        for receive in 0..10 {
            let source = (receive % 2 == 0).then_some(1);
            matching.post(any(source, Some(1)), receive);
        }
        let gone = matching.withdraw(|_, receive| receive % 3 == 0);
        assert_eq!(gone.len(), 4);
        let rest: Vec<_> = std::iter::from_fn(|| matching.take_posted(Peer(1), label(1))).collect();
        assert_eq!(rest, [1, 2, 4, 5, 7, 8]);
    }

    #[test]
    fn one_is_withdrawn_from_wherever_it_is() {
        for (source, among) in [(Some(1), 1), (Some(1), 2), (None, 2)] {
            let mut matching = Matching::<u32, ()>::default();
            let post = |receive: u32| (any(source, Some(u64::from(receive) % among)), receive);
            let mut tickets: Vec<_> =
                (0..9).map(post).map(|(selector, each)| matching.post(selector, each)).collect();
            for gone in [4, 8, 0] {
                let ticket = tickets[gone as usize];
                assert_eq!(matching.withdraw_one(ticket, |&each| each == gone), Some(gone));
                assert_eq!(matching.withdraw_one(ticket, |&each| each == gone), None);
            }
            // A slot that is used again belongs to another.
            tickets.push(matching.post(any(source, Some(9 % among)), 9));
            // Values are put elsewhere.
            assert_eq!(matching.withdraw(|_, &each| each == 1), [1]);
            let ticket = tickets[5];
            assert_eq!(matching.withdraw_one(ticket, |&each| each == 5), Some(5));
            let mut rest: Vec<u32> = (0..among)
                .flat_map(|tag| {
                    std::iter::from_fn(|| matching.take_posted(Peer(1), label(tag)))
                        .collect::<Vec<_>>()
                })
                .collect();
            if among > 1 {
                assert!(rest.is_sorted_by_key(|each| (each % 2, *each)), "{rest:?}");
            }
            rest.sort_unstable();
            assert_eq!(rest, [2, 3, 6, 7, 9]);
            assert_eq!(matching.posted(), 0);
        }
    }

    #[test]
    fn a_hundred_thousand_are_withdrawn_one_by_one() {
        let mut matching = Matching::<u64, ()>::default();
        let post =
            |tag: u64| matching.post(any(tag.is_multiple_of(2).then_some(0), Some(tag)), tag);
        let tickets: Vec<_> = (0..100_000).map(post).collect();
        for (tag, &ticket) in tickets.iter().enumerate().rev() {
            assert_eq!(matching.withdraw_one(ticket, |&each| each == tag as u64), Some(tag as u64));
        }
        assert_eq!(matching.posted(), 0);
    }

    #[test]
    fn a_hundred_thousand_in_reverse_order() {
        let mut matching = Matching::<u64, ()>::default();
        let all = 100_000;
        for tag in 0..all {
            matching.post(any(Some(0), Some(tag)), tag);
        }
        for tag in (0..all).rev() {
            assert_eq!(matching.take_posted(Peer(0), label(tag)), Some(tag));
        }
        assert_eq!(matching.posted(), 0);
    }
}
