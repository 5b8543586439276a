//! The constructors of derived datatypes (MPI 4.1, 5.1.2, 5.1.7 and 5.1.10).
//!
//! Counts, displacements and strides are 64 bits wide, and signed as in the standard's bindings.

use super::bounds::Reach;
use super::contents::{Combiner, Contents};
use super::form::{Block, Facts, Field, Form, Sum};
use super::{Datatype, DatatypeError};

type Made = Result<Datatype, DatatypeError>;

/// A count that must not be negative.
pub(super) fn at_least(what: &'static str, value: i64, least: i64) -> Result<u64, DatatypeError> {
    match u64::try_from(value) {
        Ok(count) if value >= least => Ok(count),
        _ => Err(DatatypeError::TooSmall { what, value, least }),
    }
}

fn same_length(what: &'static str, len: usize, expected: usize) -> Result<(), DatatypeError> {
    if len == expected { Ok(()) } else { Err(DatatypeError::Length { what, len, expected }) }
}

/// So many extents of an item, in bytes.
fn bytes(items: i64, facts: &Facts) -> Result<i64, DatatypeError> {
    items.checked_mul(facts.extent()).ok_or(DatatypeError::Overflow("displacement"))
}

/// Lengths of arrays are far from the largest integer.
fn int(len: usize) -> i64 {
    len as i64
}

impl Datatype {
    /// `count` items in a row (`MPI_Type_contiguous`).
    pub fn contiguous(count: i64, item: &Datatype) -> Made {
        let block = at_least("count", count, 0)?;
        let contents = Contents { integers: vec![count], ..of(item) };
        equal_blocks(1, 0, block, item)?.datatype(
            Form::Vector { count: 1, stride: 0, block, item: item.clone() },
            Combiner::Contiguous,
            contents,
        )
    }

    /// `count` blocks of `block` items; they start `stride` extents apart (`MPI_Type_vector`).
    pub fn vector(count: i64, block: i64, stride: i64, item: &Datatype) -> Made {
        let contents = Contents { integers: vec![count, block, stride], ..of(item) };
        // With fewer than two blocks the stride is never taken.
        let stride = if count > 1 { bytes(stride, item.facts())? } else { 0 };
        vector(count, block, stride, item, (Combiner::Vector, contents))
    }

    /// `count` blocks of `block` items; they start `stride` bytes apart
    /// (`MPI_Type_create_hvector`).
    pub fn hvector(count: i64, block: i64, stride: i64, item: &Datatype) -> Made {
        let contents =
            Contents { integers: vec![count, block], addresses: vec![stride], ..of(item) };
        vector(count, block, stride, item, (Combiner::Hvector, contents))
    }

    /// Blocks of these lengths at these displacements, in extents (`MPI_Type_indexed`).
    pub fn indexed(lengths: &[i64], displacements: &[i64], item: &Datatype) -> Made {
        same_length("displacements", displacements.len(), lengths.len())?;
        let integers = [&[int(lengths.len())], lengths, displacements].concat();
        let facts = item.facts();
        let blocks = lengths.iter().zip(displacements);
        let blocks = blocks.map(|(&len, &at)| block(len, bytes(at, facts)?));
        blocks_of(item, blocks, (Combiner::Indexed, Contents { integers, ..of(item) }))
    }

    /// Blocks of these lengths at these displacements, in bytes (`MPI_Type_create_hindexed`).
    pub fn hindexed(lengths: &[i64], displacements: &[i64], item: &Datatype) -> Made {
        same_length("displacements", displacements.len(), lengths.len())?;
        let integers = [&[int(lengths.len())], lengths].concat();
        let contents = Contents { integers, addresses: displacements.to_vec(), ..of(item) };
        let blocks = lengths.iter().zip(displacements).map(|(&len, &at)| block(len, at));
        blocks_of(item, blocks, (Combiner::Hindexed, contents))
    }

    /// Blocks of one length at these displacements, in extents
    /// (`MPI_Type_create_indexed_block`).
    pub fn indexed_block(length: i64, displacements: &[i64], item: &Datatype) -> Made {
        let integers = [&[int(displacements.len()), length], displacements].concat();
        let facts = item.facts();
        let blocks = displacements.iter().map(|&at| block(length, bytes(at, facts)?));
        blocks_of(item, blocks, (Combiner::IndexedBlock, Contents { integers, ..of(item) }))
    }

    /// Blocks of one length at these displacements, in bytes (`MPI_Type_create_hindexed_block`).
    pub fn hindexed_block(length: i64, displacements: &[i64], item: &Datatype) -> Made {
        let integers = vec![int(displacements.len()), length];
        let contents = Contents { integers, addresses: displacements.to_vec(), ..of(item) };
        let blocks = displacements.iter().map(|&at| block(length, at));
        blocks_of(item, blocks, (Combiner::HindexedBlock, contents))
    }

    /// Blocks of different datatypes, at displacements in bytes (`MPI_Type_create_struct`).
    pub fn structured(lengths: &[i64], displacements: &[i64], types: &[Datatype]) -> Made {
        same_length("displacements", displacements.len(), lengths.len())?;
        same_length("datatypes", types.len(), lengths.len())?;
        let (mut sum, mut fields) = (Sum::default(), Vec::with_capacity(lengths.len()));
        for ((&len, &at), item) in lengths.iter().zip(displacements).zip(types) {
            let Block { at, len } = block(len, at)?;
            let facts = item.facts();
            sum.append(facts, len)?;
            sum.place(facts, at, len)?;
            fields.push(Field { at, len, item: item.clone() });
        }
        let contents = Contents {
            integers: [&[int(lengths.len())], lengths].concat(),
            addresses: displacements.to_vec(),
            datatypes: types.to_vec(),
        };
        sum.datatype(Form::Fields { fields: fields.into() }, Combiner::Struct, contents)
    }

    /// The same data with other bounds (`MPI_Type_create_resized`). They are marked: a datatype
    /// made of this one and others is bounded by the marks alone.
    pub fn resized(lower_bound: i64, extent: i64, item: &Datatype) -> Made {
        let high = lower_bound.checked_add(extent).ok_or(DatatypeError::Overflow("extent"))?;
        let contents = Contents { addresses: vec![lower_bound, extent], ..of(item) };
        let mut facts = *item.facts();
        facts.extents = facts.extents.resized(Reach { low: lower_bound, high });
        same_form(item, &facts, (Combiner::Resized, contents))
    }

    /// A copy (`MPI_Type_dup`).
    pub fn dup(&self) -> Made {
        same_form(self, self.facts(), (Combiner::Dup, of(self)))
    }

    /// A value and its index as in a C structure, for reductions by `MPI_MAXLOC` and
    /// `MPI_MINLOC` (`MPI_Type_get_value_index`).
    ///
    /// The predefined datatype of the pair if there is one.
    pub fn value_index(value: &Datatype, index: &Datatype) -> Made {
        let (Some(first), Some(second)) = (value.as_named(), index.as_named()) else {
            let reason = "value and index must be predefined datatypes; pass two of those";
            return Err(DatatypeError::Unsupported(reason));
        };
        use super::Named;
        let known = match (first, second) {
            (Named::Float, Named::Int) => Some(Named::FloatInt),
            (Named::Double, Named::Int) => Some(Named::DoubleInt),
            (Named::Long, Named::Int) => Some(Named::LongInt),
            (Named::Int, Named::Int) => Some(Named::Int2),
            (Named::Short, Named::Int) => Some(Named::ShortInt),
            (Named::LongDouble, Named::Int) => Some(Named::LongDoubleInt),
            (Named::Real, Named::Real) => Some(Named::Real2),
            (Named::DoublePrecision, Named::DoublePrecision) => Some(Named::DoublePrecision2),
            (Named::Integer, Named::Integer) => Some(Named::Integer2),
            _ => None,
        };
        if let Some(named) = known {
            return Ok(named.into());
        }
        let at = value.size().next_multiple_of(index.alignment()) as i64;
        let pair = Datatype::structured(&[1, 1], &[0, at], &[value.clone(), index.clone()])?;
        let datatypes = vec![value.clone(), index.clone()];
        let contents = Contents { datatypes, ..Contents::default() };
        same_form(&pair, pair.facts(), (Combiner::ValueIndex, contents))
    }
}

/// Contents that name one datatype.
pub(super) fn of(item: &Datatype) -> Contents {
    Contents { datatypes: vec![item.clone()], ..Contents::default() }
}

fn block(len: i64, at: i64) -> Result<Block, DatatypeError> {
    Ok(Block { at, len: at_least("block length", len, 0)? })
}

/// The same form, made in another way, and perhaps with other bounds.
pub(super) fn same_form(item: &Datatype, facts: &Facts, origin: (Combiner, Contents)) -> Made {
    let mut sum = Sum::default();
    sum.append(facts, 1)?;
    sum.place(facts, 0, 1)?;
    sum.datatype(item.form().clone(), origin.0, origin.1)
}

/// The facts of blocks that are `stride` bytes apart.
fn equal_blocks(
    count: u64,
    stride: i64,
    block: u64,
    item: &Datatype,
) -> Result<Sum, DatatypeError> {
    let (facts, mut sum) = (item.facts(), Sum::default());
    let copies = count.checked_mul(block).ok_or(DatatypeError::Overflow("count"))?;
    sum.append(facts, copies)?;
    if copies > 0 {
        let last = i64::try_from(count - 1).ok().and_then(|steps| steps.checked_mul(stride));
        sum.place(facts, 0, block)?;
        sum.place(facts, last.ok_or(DatatypeError::Overflow("extent"))?, block)?;
    }
    Ok(sum)
}

fn vector(
    count: i64,
    block: i64,
    stride: i64,
    item: &Datatype,
    (combiner, contents): (Combiner, Contents),
) -> Made {
    let count = at_least("count", count, 0)?;
    let block = at_least("block length", block, 0)?;
    let sum = equal_blocks(count, stride, block, item)?;
    let item = item.clone();
    sum.datatype(Form::Vector { count, stride, block, item }, combiner, contents)
}

fn blocks_of(
    item: &Datatype,
    blocks: impl Iterator<Item = Result<Block, DatatypeError>>,
    (combiner, contents): (Combiner, Contents),
) -> Made {
    let (facts, mut sum, mut all) = (item.facts(), Sum::default(), Vec::new());
    let mut copies = 0u64;
    for block in blocks {
        let block = block?;
        copies = copies.checked_add(block.len).ok_or(DatatypeError::Overflow("count"))?;
        sum.place(facts, block.at, block.len)?;
        all.push(block);
    }
    sum.append(facts, copies)?;
    let form = Form::Blocks { blocks: all.into(), item: item.clone() };
    sum.datatype(form, combiner, contents)
}
