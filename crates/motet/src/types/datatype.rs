//! Datatypes: where the data of a message lies in memory (MPI 4.1, chapter 5).
//!
//! A [`Datatype`] says of which basic elements an item consists and where each of them lies,
//! relative to the address of the item. Items of predefined datatypes are numbers; all others are
//! made of them by constructors:
//!
//! ```
//! use motet::datatype::Datatype;
//!
//! // One column of a matrix of 3 rows and 4 columns, and the next column one double further on.
//! let column = Datatype::resized(0, 8, &Datatype::vector(3, 1, 4, &Datatype::DOUBLE)?)?;
//! assert_eq!((column.size(), column.extent()), (24, 8));
//!
//! let matrix: Vec<u8> = (0..12).flat_map(|i| f64::from(i).to_ne_bytes()).collect();
//! let mut packed = [0; 24];
//! column.commit().gather(&matrix, 8, 1, 0, &mut packed)?;
//! assert_eq!(packed[8..16], 5f64.to_ne_bytes());
//! # Ok::<(), motet::datatype::DatatypeError>(())
//! ```
//!
//! A datatype never changes. Its size, bounds and signature are worked out when it is made, from
//! those of its parts, so that a datatype of 10⁹ blocks is as cheap as one of two.
//! [`Datatype::commit`] compiles it into a [`Layout`], by which bytes are moved.
//!
//! What the standard leaves to the user stays with the user: the elements of a datatype that is
//! received into must not overlap ([`Layout::overlaps`] finds out).

mod arrays;
mod bounds;
mod compile;
mod construct;
mod contents;
mod error;
mod external;
mod form;
mod fortran;
mod known;
mod layout;
mod named;
mod overlap;
mod signature;
mod stream_copy;
mod typed;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

pub use arrays::{Dimension, Distribution, Order};
pub use contents::{Combiner, Contents, Envelope};
pub use error::DatatypeError;
pub use fortran::TypeClass;
pub use layout::{Layout, Piece};
pub use named::{Basic, Kind, Named};
pub use signature::Signature;
pub use typed::Typed;

use form::{Facts, Form, Uniform};
use signature::Sequence;

/// The greatest depth of nested datatypes: the functions that walk them are recursive.
pub const MAX_DEPTH: u32 = 512;

/// A datatype: where the data of one item lies, and of which basic elements it consists.
///
/// Cheap to clone. Two are equal if they are the same object, as handles are.
#[derive(Clone)]
pub struct Datatype(Repr);

#[derive(Clone)]
enum Repr {
    Named(Named),
    Derived(Arc<Derived>),
}

struct Derived {
    identity: u64,
    form: Form,
    facts: Facts,
    combiner: Combiner,
    contents: Contents,
    /// Compiled at first use, here or as a part of another.
    layout: OnceLock<Layout>,
}

impl Derived {
    fn new(form: Form, facts: Facts, combiner: Combiner, contents: Contents) -> Derived {
        static NEXT: AtomicU64 = AtomicU64::new(Datatype::FIRST_DERIVED);
        let identity = NEXT.fetch_add(1, Ordering::Relaxed);
        Derived { identity, form, facts, combiner, contents, layout: OnceLock::new() }
    }
}

impl Datatype {
    /// The least [identity](Datatype::identity) of a derived datatype, above all codes of
    /// predefined ones.
    pub(crate) const FIRST_DERIVED: u64 = 1 << 16;

    /// A predefined datatype. Each of them is a constant too: [`Datatype::DOUBLE`].
    pub const fn named(named: Named) -> Datatype {
        Datatype(Repr::Named(named))
    }

    /// Bytes of data in an item (`MPI_Type_size`).
    pub fn size(&self) -> u64 {
        self.facts().size
    }

    /// Lower bound (`MPI_Type_get_extent`).
    pub fn lower_bound(&self) -> i64 {
        self.facts().bounds.low
    }

    /// Upper bound: lower bound and extent.
    pub fn upper_bound(&self) -> i64 {
        self.facts().bounds.high
    }

    /// The distance from an item to the next (`MPI_Type_get_extent`).
    pub fn extent(&self) -> i64 {
        self.facts().extent()
    }

    /// The displacement of the first byte of data (`MPI_Type_get_true_extent`).
    pub fn true_lower_bound(&self) -> i64 {
        self.facts().extents.data().low
    }

    /// The displacement behind the last byte of data.
    pub fn true_upper_bound(&self) -> i64 {
        self.facts().extents.data().high
    }

    /// From the first byte of data to the last (`MPI_Type_get_true_extent`).
    pub fn true_extent(&self) -> u64 {
        let data = self.facts().extents.data();
        data.high.abs_diff(data.low)
    }

    /// The strictest alignment of its elements.
    pub fn alignment(&self) -> u64 {
        self.facts().extents.alignment().unsigned_abs()
    }

    /// Basic elements in an item.
    pub fn elements(&self) -> u64 {
        self.facts().sequence.elements()
    }

    /// Its only kind of element; `None` if it has several, or none at all.
    pub fn element(&self) -> Option<Basic> {
        match self.facts().uniform {
            Uniform::Of(basic) => Some(basic),
            Uniform::Empty | Uniform::Mixed => None,
        }
    }

    /// The predefined datatype and its element, if an item is exactly one element.
    #[inline]
    pub(crate) fn single(&self) -> Option<(Named, Basic)> {
        let Repr::Named(named) = self.0 else { return None };
        match *self.facts() {
            Facts { uniform: Uniform::Of(basic), size, .. } if size == u64::from(basic.size) => {
                Some((named, basic))
            }
            _ => None,
        }
    }

    /// The predefined datatype; `None` for others, copies of predefined ones included.
    pub fn as_named(&self) -> Option<Named> {
        match &self.0 {
            Repr::Named(named) => Some(*named),
            Repr::Derived(_) => None,
        }
    }

    /// A number, never 0, that no other datatype of this process has or ever had: the code of a
    /// predefined datatype, and a number of its own for each derived one.
    #[inline]
    pub(crate) fn identity(&self) -> u64 {
        match &self.0 {
            Repr::Named(named) => u64::from(*named as u16),
            Repr::Derived(derived) => derived.identity,
        }
    }

    /// The signature of so many items.
    pub fn signature(&self, count: u64) -> Signature {
        self.facts().sequence.repeat(count).signature()
    }

    /// Whether `count` items of this datatype may be received as `other_count` items of the
    /// other: whether their sequences of basic elements agree.
    pub fn matches(&self, count: u64, other: &Datatype, other_count: u64) -> bool {
        self.signature(count).matches(other.signature(other_count))
    }

    /// The signature of as many items, and elements of a further item, as make up so many bytes;
    /// `None` if the last element is not complete. A message shorter than its receive buffer must
    /// have this signature.
    pub fn signature_of_bytes(&self, bytes: u64) -> Option<Signature> {
        self.prefix(bytes).map(Sequence::signature)
    }

    /// Complete items in a message of so many bytes (`MPI_Get_count`); `None` if the last one is
    /// not complete (`MPI_UNDEFINED`).
    pub fn get_count(&self, bytes: u64) -> Option<u64> {
        match self.size() {
            0 => (bytes == 0).then_some(0),
            size => bytes.is_multiple_of(size).then_some(bytes / size),
        }
    }

    /// Basic elements in a message of so many bytes (`MPI_Get_elements`); `None` if the last one
    /// is not complete (`MPI_UNDEFINED`).
    pub fn get_elements(&self, bytes: u64) -> Option<u64> {
        self.prefix(bytes).map(Sequence::elements)
    }

    /// The sequence of basic elements in an item as runs of equal ones; `None` if there are more
    /// than `limit` runs.
    pub fn runs(&self, limit: usize) -> Option<Vec<(Basic, u64)>> {
        let mut runs: Vec<(Basic, u64)> = Vec::new();
        self.collect_runs(limit, &mut runs).then_some(runs)
    }

    /// How it was made (`MPI_Type_get_envelope`).
    pub fn envelope(&self) -> Envelope {
        let contents = self.contents();
        let combiner = match &self.0 {
            Repr::Named(_) => Combiner::Named,
            Repr::Derived(derived) => derived.combiner,
        };
        Envelope {
            combiner,
            integers: contents.map_or(0, |contents| contents.integers.len()),
            addresses: contents.map_or(0, |contents| contents.addresses.len()),
            datatypes: contents.map_or(0, |contents| contents.datatypes.len()),
        }
    }

    /// The arguments of its constructor (`MPI_Type_get_contents`); `None` for predefined datatypes.
    pub fn contents(&self) -> Option<&Contents> {
        match &self.0 {
            Repr::Named(_) => None,
            Repr::Derived(derived) => Some(&derived.contents),
        }
    }

    /// Compiles it for moving bytes (`MPI_Type_commit`). Done once; later calls are cheap.
    pub fn commit(&self) -> Layout {
        self.layout().clone()
    }

    /// Its compiled layout.
    pub(crate) fn layout(&self) -> &Layout {
        let layout = match &self.0 {
            Repr::Named(named) => &known::of(*named).layout,
            Repr::Derived(derived) => &derived.layout,
        };
        layout.get_or_init(|| Layout::of(self))
    }

    fn facts(&self) -> &Facts {
        match &self.0 {
            Repr::Named(named) => known::of(*named).facts.get_or_init(|| Facts::of_named(*named)),
            Repr::Derived(derived) => &derived.facts,
        }
    }

    fn form(&self) -> &Form {
        match &self.0 {
            Repr::Named(named) => named.form(),
            Repr::Derived(derived) => &derived.form,
        }
    }

    /// The elements in so many bytes, if the last one is complete.
    fn prefix(&self, bytes: u64) -> Option<Sequence> {
        let facts = self.facts();
        if bytes == 0 || facts.size == 0 {
            return (bytes == 0).then_some(Sequence::EMPTY);
        }
        let whole = facts.sequence.repeat(bytes / facts.size);
        let mut rest = bytes % facts.size;
        if rest == 0 {
            return Some(whole);
        }
        match self.form() {
            Form::Named(named) => {
                let first = named.elements()[0].basic;
                (rest == first.size.into()).then(|| whole.then(Sequence::of(first)))
            }
            Form::Vector { item, .. } | Form::Blocks { item, .. } => {
                Some(whole.then(item.prefix(rest)?))
            }
            Form::Fields { fields } => {
                let mut sequence = whole;
                for field in fields.iter() {
                    let here = rest.min(field.item.size() * field.len);
                    sequence = sequence.then(field.item.prefix(here)?);
                    rest -= here;
                }
                Some(sequence)
            }
        }
    }

    /// Appends its runs; `false` if there are more than `limit`.
    fn collect_runs(&self, limit: usize, runs: &mut Vec<(Basic, u64)>) -> bool {
        let push = |runs: &mut Vec<(Basic, u64)>, basic, len| {
            match runs.last_mut() {
                Some((last, run)) if *last == basic => *run += len,
                _ => runs.push((basic, len)),
            }
            runs.len() <= limit
        };
        let mut repeat = |item: &Datatype, times: u64| {
            if let Uniform::Of(basic) = item.facts().uniform {
                return times == 0 || push(runs, basic, item.elements() * times);
            }
            item.elements() == 0 || (0..times).all(|_| item.collect_runs(limit, runs))
        };
        match self.form() {
            Form::Named(named) => named.elements().iter().all(|e| push(runs, e.basic, 1)),
            Form::Vector { count, block, item, .. } => repeat(item, count * block),
            Form::Blocks { blocks, item } => repeat(item, blocks.iter().map(|b| b.len).sum()),
            Form::Fields { fields } => fields.iter().all(|field| repeat(&field.item, field.len)),
        }
    }
}

impl From<Named> for Datatype {
    fn from(named: Named) -> Datatype {
        Datatype::named(named)
    }
}

impl PartialEq for Datatype {
    fn eq(&self, other: &Datatype) -> bool {
        match (&self.0, &other.0) {
            (Repr::Named(one), Repr::Named(other)) => one == other,
            (Repr::Derived(one), Repr::Derived(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Eq for Datatype {}

impl fmt::Debug for Datatype {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Repr::Named(named) = &self.0 {
            return out.write_str(named.name());
        }
        out.debug_struct("Datatype")
            .field("combiner", &self.envelope().combiner)
            .field("size", &self.size())
            .field("lower_bound", &self.lower_bound())
            .field("extent", &self.extent())
            .finish_non_exhaustive()
    }
}
