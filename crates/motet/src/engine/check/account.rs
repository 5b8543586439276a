//! A call description holds the facts of a collective call that ranks compare: arguments that must
//! be equal on all ranks, data that must fit between two ranks, and a text for people.
//!
//! The name of a call contains the operation and the form (`bcast`, `ibcast`, `bcast_init`), so
//! names must be equal. Roots, operators and the counts of operations without a `v` must be equal
//! too, and so must the lists of `allgatherv` and `reduce_scatter`. The lists of the other
//! irregular operations may differ and are compared pair by pair: the data that one rank sends to
//! another must be the data that the other expects.
//!
//! The description of a call that takes a group contains on all ranks the name, and that it takes a
//! group. A rank in a group that another rank passes must have passed the same one, so two groups
//! are equal or have no rank in common. Only the members compare all else: [`ANY`] stands for facts
//! that other ranks do not state.

use motet_fabric::{Peer, TypeCode};
use motet_plan::call::Blocks;
use motet_plan::order::sort_by_number;
use motet_plan::{Block, Operation, Rank};

use crate::base::group::Group;
use crate::base::hints::Hints;
use crate::engine::Selection;
use crate::types::element::{name_of, number_of};

/// A fingerprint that agrees with every other.
pub(crate) const ANY: u64 = 0;

/// The facts of a call that ranks compare.
#[derive(Clone, Debug)]
pub(crate) struct CallDescription {
    pub(crate) text: String,
    /// The fingerprint of the arguments that must be equal on all ranks.
    pub(crate) fingerprint: u64,
    /// The group, if the call takes one.
    group: Option<Group>,
    /// The fingerprint of the arguments that must be equal on all members of the group, or [`ANY`].
    pub(crate) shared: u64,
    /// The type of the elements, which must agree on all ranks; 0 if any type will do.
    pub(crate) element: u64,
    /// The data sent to each rank and expected from it; no entry for ranks without any.
    pairs: Vec<Pair>,
}

/// Fingerprints of the data that this rank sends to another rank and expects from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    rank: usize,
    sends: u64,
    expects: u64,
}

/// The elements of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    pub(crate) code: TypeCode,
    pub(crate) bytes: usize,
}

impl Elements {
    /// The bytes of so many elements: the part of the comparison that does not depend on the type.
    fn signature(self, count: usize) -> u64 {
        (count * self.bytes) as u64
    }

    /// The name of the type, for people.
    fn name(self) -> String {
        name_of(self.code)
    }
}

/// How a call reduces.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reducing {
    /// The name of the operator, if there is one.
    pub(crate) operator: Option<&'static str>,
    /// How the algorithm is chosen.
    pub(crate) selection: Selection,
}

/// The members that a text names; for the rest it gives the number.
const NAMED: usize = 16;

/// The group that a call takes, and the communicator that it is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within<'a> {
    pub(crate) group: &'a Group,
    pub(crate) all: &'a Group,
}

impl Within<'_> {
    /// The rank in the communicator of the member at this place.
    fn rank(self, place: usize) -> usize {
        self.group.translate(place, self.all).expect("members are in the communicator")
    }

    /// The members, for people.
    fn describe(self) -> String {
        let Within { group, all } = self;
        let ranks = (0..group.size()).filter_map(|place| group.translate(place, all));
        let named: Vec<String> = ranks.take(NAMED).map(|rank| rank.to_string()).collect();
        let more = match group.size() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("among [{}{more}]", named.join(", "))
    }
}

/// A fingerprint of the name of a call that takes a group.
fn of_call_with_group(call: &str) -> u64 {
    hash([hash_text(call), 1])
}

/// A fingerprint of some words.
fn hash(words: impl IntoIterator<Item = u64>) -> u64 {
    words.into_iter().fold(0x9e37_79b9_7f4a_7c15, |hash, word| {
        let mixed = (hash.rotate_left(23) ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 31)
    })
}

fn hash_text(text: &str) -> u64 {
    hash(text.bytes().map(u64::from))
}

impl CallDescription {
    /// Describes a call with its arguments, among all ranks or as a member of a group.
    pub(crate) fn of(
        call: &str,
        operation: &Operation,
        elements: Elements,
        Reducing { operator, selection }: Reducing,
        within: Option<Within<'_>>,
        place: &str,
    ) -> CallDescription {
        let Facts { root, signature, counts, pairs } = Facts::of(operation, elements);
        // Without elements there is no type. The pairs of an irregular operation may have one type
        // each: their messages detect a mismatch.
        let element = if signature == 0 { 0 } else { number_of(elements.code) };
        let commutes = commutes(operation).map_or(2, u64::from);
        let fingerprint = hash([
            hash_text(call),
            root.map_or(u64::MAX, |root| u64::from(root.0)),
            signature,
            hash_text(operator.unwrap_or_default()),
            commutes,
            selection as u64,
        ]);
        let mut arguments: Vec<String> = Vec::new();
        arguments.extend(counts.map(|counts| format!("{counts} × {}", elements.name())));
        arguments.extend(operator.map(str::to_owned));
        let rank = |place: usize| within.map_or(place, |within| within.rank(place));
        arguments.extend(root.map(|root| format!("root {}", rank(root.index()))));
        arguments.extend((selection == Selection::Fixed).then(|| "deterministic".into()));
        arguments.extend(within.map(Within::describe));
        let text = format!("{call}({}) at {}", arguments.join(", "), place);
        let account =
            CallDescription { text, fingerprint, group: None, shared: ANY, element, pairs };
        match within {
            Some(within) => account.within(call, within),
            None => account,
        }
    }

    /// Restricts it to the members of a group.
    fn within(mut self, call: &str, within: Within<'_>) -> CallDescription {
        let CallDescription { pairs, fingerprint: shared, .. } = &mut self;
        pairs.iter_mut().for_each(|pair| pair.rank = within.rank(pair.rank));
        sort_by_number(pairs, |pair| pair.rank as u64);
        let (fingerprint, shared) = (of_call_with_group(call), *shared | 1);
        CallDescription { fingerprint, shared, group: Some(within.group.clone()), ..self }
    }

    /// Adds the hints of a persistent call.
    pub(crate) fn hinted(mut self, hints: &Hints) -> CallDescription {
        if let Some(text) = hints.text() {
            self.fingerprint = hash([self.fingerprint, hints.word()]);
            self.text = format!("{}, with the hints {text}", self.text);
        }
        self
    }

    /// Describes a call with a group of which this rank is not a member.
    pub(crate) fn outside(call: &str, within: Within<'_>, place: &str) -> CallDescription {
        let text = format!("{call}({}) at {}", within.describe(), place);
        let (fingerprint, group) = (of_call_with_group(call), Some(within.group.clone()));
        CallDescription { text, fingerprint, group, ..CallDescription::blank() }
    }

    /// An empty description.
    fn blank() -> CallDescription {
        let (text, pairs) = (String::new(), Vec::new());
        CallDescription { text, fingerprint: 0, group: None, shared: ANY, element: ANY, pairs }
    }

    /// Describes a call in which ranks have different parts that not all of them know.
    pub(crate) fn of_some(call: &str, place: &str) -> CallDescription {
        let text = format!("{call}() at {}", place);
        CallDescription { text, fingerprint: hash_text(call), ..CallDescription::blank() }
    }

    /// Describes a refused call. If all ranks are refused, that is no mismatch, whatever the
    /// reasons.
    pub(crate) fn refused(reason: &str, place: &str) -> CallDescription {
        let text = format!("{reason} (at {})", place);
        CallDescription { text, ..CallDescription::blank() }
    }

    /// A description with only this text.
    pub(crate) fn from_text(text: String) -> CallDescription {
        CallDescription { text, ..CallDescription::blank() }
    }

    /// Describes the end of a communicator.
    pub(crate) fn freed() -> CallDescription {
        CallDescription::blank()
    }

    /// A fingerprint of the group; [`ANY`] if it is empty, or if the call takes none.
    pub(crate) fn of_group(&self) -> u64 {
        match &self.group {
            Some(group) if !group.is_empty() => group.fingerprint() | 1,
            _ => ANY,
        }
    }

    /// Whether the group of this call has this member.
    pub(crate) fn includes(&self, peer: Peer) -> bool {
        self.group.as_ref().is_some_and(|group| group.rank_of_peer(peer).is_some())
    }

    /// The group, if the call takes one.
    pub(crate) fn group(&self) -> Option<&Group> {
        self.group.as_ref()
    }

    /// Whether this rank exchanges different data with different ranks.
    pub(crate) fn has_pairs(&self) -> bool {
        !self.pairs.is_empty()
    }

    /// The ranks to which data is sent, with its fingerprint.
    pub(crate) fn sends(&self) -> impl Iterator<Item = (usize, u64)> {
        self.pairs.iter().map(|pair| (pair.rank, pair.sends)).filter(|(_, sends)| *sends != 0)
    }

    /// The ranks from which data is expected, with its fingerprint.
    pub(crate) fn expects(&self) -> impl Iterator<Item = (usize, u64)> {
        let expected = self.pairs.iter().map(|pair| (pair.rank, pair.expects));
        expected.filter(|(_, expects)| *expects != 0)
    }

    /// The fingerprints of the data sent to a rank and expected from it.
    pub(crate) fn with(&self, rank: usize) -> (u64, u64) {
        let found = self.pairs.binary_search_by_key(&rank, |pair| pair.rank);
        found.map_or((0, 0), |at| (self.pairs[at].sends, self.pairs[at].expects))
    }
}

/// The name of an operator by its type; equal types are equal operators, except closures.
pub(crate) fn operator_name(of_type: &'static str) -> &'static str {
    if of_type.contains("{{closure}}") {
        return "a closure";
    }
    of_type.strip_prefix(crate::data::op::PATH).unwrap_or(of_type)
}

fn commutes(operation: &Operation) -> Option<bool> {
    match *operation {
        Operation::Reduce { commutative, .. }
        | Operation::Allreduce { commutative, .. }
        | Operation::ReduceScatterBlock { commutative, .. }
        | Operation::ReduceScatter { commutative, .. }
        | Operation::Scan { commutative, .. }
        | Operation::Exscan { commutative, .. }
        | Operation::NeighborReduce { commutative, .. } => Some(commutative),
        _ => None,
    }
}

/// The facts of an operation on which the ranks must agree.
struct Facts {
    root: Option<Rank>,
    signature: u64,
    /// For people.
    counts: Option<String>,
    pairs: Vec<Pair>,
}

impl Facts {
    fn of(operation: &Operation, elements: Elements) -> Facts {
        let regular = |count: usize, root: Option<Rank>| Facts {
            root,
            signature: elements.signature(count),
            counts: Some(count.to_string()),
            pairs: Vec::new(),
        };
        let listed = |counts: &[usize]| Facts {
            root: None,
            signature: match counts.iter().all(|&count| count == 0) {
                true => 0,
                false => hash(counts.iter().map(|&count| elements.signature(count))),
            },
            counts: Some(format!("{counts:?}")),
            pairs: Vec::new(),
        };
        match operation {
            Operation::Barrier | Operation::InterBarrier { .. } => {
                Facts { root: None, signature: 0, counts: None, pairs: Vec::new() }
            }
            &Operation::Bcast { count, root }
            | &Operation::Gather { count, root }
            | &Operation::Scatter { count, root }
            | &Operation::Reduce { count, root, .. }
            | &Operation::InterReduce { count, root, .. } => regular(count, Some(root)),
            &Operation::Allreduce { count, .. }
            | &Operation::Allgather { count }
            | &Operation::Alltoall { count }
            | &Operation::ReduceScatterBlock { count, .. }
            | &Operation::Scan { count, .. }
            | &Operation::Exscan { count, .. }
            | &Operation::InterAllreduce { count, .. } => regular(count, None),
            // Each rank knows of its own group only; the sums must be the same.
            Operation::InterReduceScatter { counts, .. } => regular(counts.iter().sum(), None),
            Operation::InterAllgather { counts, .. }
            | Operation::InterReduceScatterBlock { counts, .. } => listed(&counts[..]),
            Operation::ReduceScatter { counts, .. } => listed(counts),
            Operation::Allgatherv { blocks } => {
                listed(&blocks.iter().map(|block| block.count).collect::<Vec<_>>())
            }
            Operation::Gatherv { .. }
            | Operation::Scatterv { .. }
            | Operation::Alltoallv { .. }
            | Operation::Exchange { .. }
            | Operation::Exchangev { .. }
            | Operation::NeighborReduce { .. }
            | Operation::NodeExchange { .. }
            | Operation::InterAllgatherv { .. } => Facts::irregular(operation, elements),
        }
    }

    /// The facts of an operation in which pairs of ranks exchange different data.
    fn irregular(operation: &Operation, elements: Elements) -> Facts {
        let mut pairs = Pairs { elements, list: Vec::new(), sent: 0, expected: 0 };
        let mut of_root = None;
        match operation {
            Operation::Gatherv { blocks, root } => {
                of_root = Some(*root);
                match blocks {
                    Blocks::Own(count) => pairs.send(root.index(), *count),
                    Blocks::All(blocks) => pairs.expect_all(blocks),
                }
            }
            Operation::Scatterv { blocks, root } => {
                of_root = Some(*root);
                match blocks {
                    Blocks::Own(count) => pairs.expect(root.index(), *count),
                    Blocks::All(blocks) => pairs.send_all(blocks),
                }
            }
            Operation::Alltoallv { to, from } => {
                pairs.send_all(to);
                pairs.expect_all(from);
            }
            Operation::Exchange { count, to, from } => {
                to.iter().for_each(|to| pairs.send(to.index(), *count));
                from.iter().for_each(|from| pairs.expect(from.index(), *count));
            }
            Operation::Exchangev { to, from } | Operation::NodeExchange { to, from, .. } => {
                to.iter().for_each(|to| pairs.send(to.rank.index(), to.count));
                from.iter().for_each(|from| pairs.expect(from.rank.index(), from.count));
            }
            Operation::NeighborReduce { count, to, from, .. } => {
                to.iter().for_each(|to| pairs.send(to.rank.index(), to.count));
                from.iter().for_each(|from| pairs.expect(from.index(), *count));
            }
            // Nothing is compared.
            _ => {}
        }
        let counts = Some(pairs.describe());
        Facts { root: of_root, signature: 0, counts, pairs: pairs.list }
    }
}

/// Collects the data sent to each rank and expected from it, message by message.
struct Pairs {
    elements: Elements,
    list: Vec<Pair>,
    sent: usize,
    expected: usize,
}

impl Pairs {
    fn of(&mut self, rank: usize) -> &mut Pair {
        let at = self.list.binary_search_by_key(&rank, |pair| pair.rank).unwrap_or_else(|at| {
            self.list.insert(at, Pair { rank, sends: 0, expects: 0 });
            at
        });
        &mut self.list[at]
    }

    fn send(&mut self, to: usize, count: usize) {
        self.sent += count;
        let signature = self.elements.signature(count);
        let pair = self.of(to);
        pair.sends = hash([pair.sends, signature]);
    }

    fn expect(&mut self, from: usize, count: usize) {
        self.expected += count;
        let signature = self.elements.signature(count);
        let pair = self.of(from);
        pair.expects = hash([pair.expects, signature]);
    }

    fn send_all(&mut self, blocks: &[Block]) {
        blocks.iter().enumerate().for_each(|(to, block)| self.send(to, block.count));
    }

    fn expect_all(&mut self, blocks: &[Block]) {
        blocks.iter().enumerate().for_each(|(from, block)| self.expect(from, block.count));
    }

    fn describe(&self) -> String {
        format!("{} out and {} in", self.sent, self.expected)
    }
}
