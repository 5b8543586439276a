//! What a collective call says about itself: what must be equal on all ranks, what must fit between
//! two, and a text for people.
//!
//! The name of a call tells the operation and the form (`bcast`, `ibcast`, `bcast_init`), so names
//! must be equal. Roots, operators and the counts of operations without a `v` must be equal too,
//! and so must the lists of `allgatherv` and `reduce_scatter`. What differs legally (the lists of
//! the other irregular operations) is compared pair by pair: what one rank sends to another must be
//! what that one expects.

use std::panic::Location;

use motet_fabric::TypeCode;
use motet_plan::call::Blocks;
use motet_plan::{Block, Operation, Rank};

use crate::datatype::Kind;
use crate::element::code_of;

/// What a call says about itself.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) text: String,
    /// Of what must be equal on all ranks.
    pub(crate) fingerprint: u64,
    /// Rank by rank, what is sent to it and expected from it; nothing for ranks that are not named.
    pairs: Vec<Pair>,
}

/// What two ranks have to do with each other.
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
    /// What must be equal of so many of them: the type signature. With no element there is no type.
    fn signature(self, count: usize) -> u64 {
        match count {
            0 => 0,
            count => hash([u64::from(self.code.0) + 1, (count * self.bytes) as u64]),
        }
    }

    fn name(self) -> String {
        const NUMBERS: [(Kind, &str); 4] = [
            (Kind::Signed, "i"),
            (Kind::Unsigned, "u"),
            (Kind::Float, "f"),
            (Kind::Complex, "complex "),
        ];
        let is = |kind| self.code == code_of(kind, self.code.0 as usize & 0xff);
        let named = NUMBERS.iter().find(|(kind, _)| is(*kind));
        match named {
            Some((_, name)) => format!("{name}{}", (self.code.0 & 0xff) * 8),
            None if self.code == TypeCode::BYTES => "bytes".into(),
            None if is(Kind::Logical) => "bool".into(),
            None => "elements".into(),
        }
    }
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

impl Account {
    /// Of a call with its arguments.
    pub(crate) fn of(
        call: &str,
        operation: &Operation,
        elements: Elements,
        operator: Option<&'static str>,
        at: &Location<'_>,
    ) -> Account {
        let Facts { root, signature, counts, pairs } = Facts::of(operation, elements);
        let commutes = commutes(operation).map_or(2, u64::from);
        let fingerprint = hash([
            hash_text(call),
            root.map_or(u64::MAX, |root| u64::from(root.0)),
            signature,
            hash_text(operator.unwrap_or_default()),
            commutes,
        ]);
        let mut arguments: Vec<String> = Vec::new();
        arguments.extend(counts.map(|counts| format!("{counts} × {}", elements.name())));
        arguments.extend(operator.map(str::to_owned));
        arguments.extend(root.map(|root| format!("root {root}")));
        let text = format!("{call}({}) at {}", arguments.join(", "), place(at));
        Account { text, fingerprint, pairs }
    }

    /// Of a call in which ranks have different parts, that they do not all know of.
    pub(crate) fn of_some(call: &str, at: &Location<'_>) -> Account {
        let text = format!("{call}() at {}", place(at));
        Account { text, fingerprint: hash_text(call), pairs: Vec::new() }
    }

    /// Of a call that was refused. That all are refused is no mismatch, whatever the reasons.
    pub(crate) fn refused(reason: &str, at: &Location<'_>) -> Account {
        let text = format!("{reason} (at {})", place(at));
        Account { text, fingerprint: 0, pairs: Vec::new() }
    }

    /// Of the end of a communicator.
    pub(crate) fn freed() -> Account {
        Account { text: String::new(), fingerprint: 0, pairs: Vec::new() }
    }

    /// What is sent to a rank and expected from it.
    pub(crate) fn with(&self, rank: usize) -> (u64, u64) {
        let found = self.pairs.binary_search_by_key(&rank, |pair| pair.rank);
        found.map_or((0, 0), |at| (self.pairs[at].sends, self.pairs[at].expects))
    }
}

fn place(at: &Location<'_>) -> String {
    format!("{}:{}", at.file(), at.line())
}

/// Operators are equal if their types are; of closures that says nothing.
pub(crate) fn operator_name(of_type: &'static str) -> &'static str {
    if of_type.contains("{{closure}}") {
        return "a closure";
    }
    of_type.strip_prefix("motet::op::").unwrap_or(of_type)
}

fn commutes(operation: &Operation) -> Option<bool> {
    match *operation {
        Operation::Reduce { commutative, .. }
        | Operation::Allreduce { commutative, .. }
        | Operation::ReduceScatterBlock { commutative, .. }
        | Operation::ReduceScatter { commutative, .. }
        | Operation::Scan { commutative, .. }
        | Operation::Exscan { commutative, .. } => Some(commutative),
        _ => None,
    }
}

/// What the ranks have to agree on in an operation.
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
        let listed = |counts: Vec<usize>| Facts {
            root: None,
            signature: hash(counts.iter().map(|&count| elements.signature(count))),
            counts: Some(format!("{counts:?}")),
            pairs: Vec::new(),
        };
        let irregular = |root: Option<Rank>, pairs: Pairs| Facts {
            root,
            signature: 0,
            counts: Some(pairs.told()),
            pairs: pairs.list,
        };
        let mut pairs = Pairs { elements, list: Vec::new(), sent: 0, expected: 0 };
        match operation {
            Operation::Barrier | Operation::InterBarrier { .. } => {
                Facts { root: None, signature: 0, counts: None, pairs: Vec::new() }
            }
            &Operation::Bcast { count, root }
            | &Operation::Gather { count, root }
            | &Operation::Scatter { count, root }
            | &Operation::Reduce { count, root, .. } => regular(count, Some(root)),
            &Operation::Allreduce { count, .. }
            | &Operation::Allgather { count }
            | &Operation::Alltoall { count }
            | &Operation::ReduceScatterBlock { count, .. }
            | &Operation::Scan { count, .. }
            | &Operation::Exscan { count, .. } => regular(count, None),
            &Operation::InterReduce { count, root, .. } => regular(count, Some(root)),
            &Operation::InterAllreduce { count, .. } => regular(count, None),
            Operation::InterAllgather { counts, .. }
            | Operation::InterReduceScatterBlock { counts, .. } => listed(counts.to_vec()),
            // Each rank knows of its own group only; the sums must be the same.
            Operation::InterReduceScatter { counts, .. } => regular(counts.iter().sum(), None),
            Operation::InterAllgatherv { .. } => irregular(None, pairs),
            Operation::ReduceScatter { counts, .. } => listed(counts.to_vec()),
            Operation::Allgatherv { blocks } => {
                listed(blocks.iter().map(|block| block.count).collect())
            }
            Operation::Gatherv { blocks, root } => {
                match blocks {
                    Blocks::Own(count) => pairs.send(root.index(), *count),
                    Blocks::All(blocks) => pairs.expect_all(blocks),
                }
                irregular(Some(*root), pairs)
            }
            Operation::Scatterv { blocks, root } => {
                match blocks {
                    Blocks::Own(count) => pairs.expect(root.index(), *count),
                    Blocks::All(blocks) => pairs.send_all(blocks),
                }
                irregular(Some(*root), pairs)
            }
            Operation::Alltoallv { to, from } => {
                pairs.send_all(to);
                pairs.expect_all(from);
                irregular(None, pairs)
            }
            Operation::Exchange { count, to, from } => {
                to.iter().for_each(|to| pairs.send(to.index(), *count));
                from.iter().for_each(|from| pairs.expect(from.index(), *count));
                irregular(None, pairs)
            }
            Operation::Exchangev { to, from } => {
                to.iter().for_each(|to| pairs.send(to.rank.index(), to.count));
                from.iter().for_each(|from| pairs.expect(from.rank.index(), from.count));
                irregular(None, pairs)
            }
        }
    }
}

/// Collects what is sent to each rank and expected from it, message by message.
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

    fn told(&self) -> String {
        format!("{} out and {} in", self.sent, self.expected)
    }
}
