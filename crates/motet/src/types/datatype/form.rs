//! The few forms of datatypes, to which the arguments of all constructors are translated.

use std::sync::Arc;

use super::bounds::{Extents, Reach};
use super::contents::{Combiner, Contents};
use super::named::{Basic, Named};
use super::signature::Sequence;
use super::{Datatype, DatatypeError, Derived, MAX_DEPTH, Repr};

/// The form of a datatype, with all displacements in bytes.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// One predefined datatype.
    Named(Named),
    /// `count` blocks, `stride` bytes apart, of `block` items in a row.
    Vector { count: u64, stride: i64, block: u64, item: Datatype },
    /// Blocks of items.
    Blocks { blocks: Arc<[Block]>, item: Datatype },
    /// Blocks of items of different datatypes.
    Fields { fields: Arc<[Field]> },
}

/// `len` consecutive items.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) at: i64,
    pub(super) len: u64,
}

/// `len` consecutive items of a datatype.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) at: i64,
    pub(super) len: u64,
    pub(super) item: Datatype,
}

/// Whether a datatype has elements of one kind only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Uniform {
    Empty,
    Of(Basic),
    Mixed,
}

impl Uniform {
    fn with(self, other: Uniform) -> Uniform {
        match (self, other) {
            (Uniform::Empty, known) | (known, Uniform::Empty) => known,
            (one, other) if one == other => one,
            _ => Uniform::Mixed,
        }
    }
}

/// Facts about a datatype, worked out once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub(super) size: u64,
    pub(super) external: u64,
    pub(super) bounds: Reach,
    pub(super) extents: Extents,
    pub(super) sequence: Sequence,
    pub(super) uniform: Uniform,
    pub(super) depth: u32,
}

impl Facts {
    pub(super) fn of_named(named: Named) -> Facts {
        let mut sum = Sum::default();
        for element in named.elements() {
            let (size, alignment) = (element.basic.size.into(), element.basic.alignment.into());
            sum.size += u64::from(element.basic.size);
            sum.external += u64::from(element.basic.external);
            sum.sequence = sum.sequence.then(Sequence::of(element.basic));
            sum.uniform = sum.uniform.with(Uniform::Of(element.basic));
            let reach = Extents::element(element.at, size, alignment);
            sum.extents.add(&reach, 0).expect("the elements of a predefined type lie near it");
        }
        sum.facts().expect("a predefined type is small")
    }

    pub(super) fn extent(&self) -> i64 {
        self.bounds.high - self.bounds.low
    }
}

/// Sums up the facts of a new datatype from those of its parts.
pub(super) struct Sum {
    size: u64,
    external: u64,
    extents: Extents,
    sequence: Sequence,
    uniform: Uniform,
    depth: u32,
}

impl Default for Sum {
    fn default() -> Sum {
        Sum {
            size: 0,
            external: 0,
            extents: Extents::EMPTY,
            sequence: Sequence::EMPTY,
            uniform: Uniform::Empty,
            depth: 0,
        }
    }
}

impl Sum {
    /// Appends the data of so many items to the stream.
    pub(super) fn append(&mut self, item: &Facts, copies: u64) -> Result<(), DatatypeError> {
        let grow = |sum: u64, item: u64| {
            let sum = item.checked_mul(copies).and_then(|more| sum.checked_add(more));
            sum.filter(|&sum| i64::try_from(sum).is_ok()).ok_or(DatatypeError::Overflow("size"))
        };
        self.size = grow(self.size, item.size)?;
        self.external = grow(self.external, item.external)?;
        if copies > 0 {
            self.sequence = self.sequence.then(item.sequence.repeat(copies));
            self.uniform = self.uniform.with(item.uniform);
        }
        self.depth = self.depth.max(item.depth);
        Ok(())
    }

    /// Puts items in a row at a displacement.
    pub(super) fn place(&mut self, item: &Facts, at: i64, len: u64) -> Result<(), DatatypeError> {
        let Some(steps) = len.checked_sub(1) else { return Ok(()) };
        let last = i64::try_from(steps).ok().and_then(|steps| steps.checked_mul(item.extent()));
        let last = last.and_then(|distance| distance.checked_add(at));
        self.extents.add(&item.extents, at)?;
        self.extents.add(&item.extents, last.ok_or(DatatypeError::Overflow("extent"))?)
    }

    fn facts(self) -> Result<Facts, DatatypeError> {
        Ok(Facts {
            size: self.size,
            external: self.external,
            bounds: self.extents.bounds()?,
            extents: self.extents,
            sequence: self.sequence,
            uniform: self.uniform,
            depth: self.depth,
        })
    }

    /// The datatype, one level deeper than its parts.
    pub(super) fn datatype(
        mut self,
        form: Form,
        combiner: Combiner,
        contents: Contents,
    ) -> Result<Datatype, DatatypeError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(DatatypeError::TooDeep(self.depth));
        }
        let facts = self.facts()?;
        Ok(Datatype(Repr::Derived(Arc::new(Derived::new(form, facts, combiner, contents)))))
    }
}
