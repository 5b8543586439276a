//! Lower and upper bounds (MPI 4.1, 5.1.6 and 5.1.7).

use super::DatatypeError;

/// From the first byte to the one behind the last, relative to the address of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) low: i64,
    pub(super) high: i64,
}

impl Reach {
    fn shifted(self, by: i64) -> Option<Reach> {
        Some(Reach { low: self.low.checked_add(by)?, high: self.high.checked_add(by)? })
    }

    fn joined(self, other: Option<Reach>) -> Reach {
        other.map_or(self, |other| Reach {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        })
    }
}

/// The data and the markers from which the bounds of a datatype follow.
///
/// Markers come in pairs, from `MPI_Type_create_resized`. A datatype that contains any is bounded
/// by markers alone; without them it is bounded by its data, and padded at the end so that the
/// extent is a multiple of the strictest alignment, as a C structure is. The padding of an item
/// stays part of it in another datatype, as in C, too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extents {
    /// The bounds of the data; `None` without data.
    data: Option<Reach>,
    /// The bounds of the padded items without markers; `None` without data.
    items: Option<Reach>,
    /// The lowest lower and the highest upper marker.
    marks: Option<Reach>,
    alignment: i64,
}

impl Extents {
    pub(super) const EMPTY: Extents =
        Extents { data: None, items: None, marks: None, alignment: 1 };

    /// Those of an element of so many bytes.
    pub(super) fn element(at: i64, size: i64, alignment: i64) -> Extents {
        let data = Some(Reach { low: at, high: at + size });
        Extents { data, items: data, marks: None, alignment }
    }

    /// Adds a copy of another datatype at a displacement. Of copies in a row the first and the
    /// last are enough.
    pub(super) fn add(&mut self, other: &Extents, at: i64) -> Result<(), DatatypeError> {
        let overflow = DatatypeError::Overflow("extent");
        if let Some(data) = other.data {
            self.data = Some(data.shifted(at).ok_or(overflow.clone())?.joined(self.data));
        }
        if other.items.is_some() && other.marks.is_none() {
            let item = other.bounds()?.shifted(at).ok_or(overflow.clone())?;
            self.items = Some(item.joined(self.items));
        }
        if let Some(marks) = other.marks {
            self.marks = Some(marks.shifted(at).ok_or(overflow)?.joined(self.marks));
        }
        self.alignment = self.alignment.max(other.alignment);
        Ok(())
    }

    /// With these markers instead of all others.
    pub(super) fn resized(self, marks: Reach) -> Extents {
        Extents { marks: Some(marks), ..self }
    }

    /// Lower and upper bound.
    pub(super) fn bounds(&self) -> Result<Reach, DatatypeError> {
        let overflow = DatatypeError::Overflow("extent");
        let Some(bounds) = self.marks.or(self.items) else { return Ok(Reach { low: 0, high: 0 }) };
        let extent = bounds.high.checked_sub(bounds.low).ok_or(overflow.clone())?;
        if self.marks.is_some() {
            return Ok(bounds);
        }
        let rest = extent % self.alignment;
        let padding = if rest == 0 { 0 } else { self.alignment - rest };
        let high = bounds.high.checked_add(padding).ok_or(overflow)?;
        Ok(Reach { low: bounds.low, high })
    }

    /// The bounds of the data.
    pub(super) fn data(&self) -> Reach {
        self.data.unwrap_or(Reach { low: 0, high: 0 })
    }

    /// The strictest alignment of its elements.
    pub(super) fn alignment(&self) -> i64 {
        self.alignment
    }
}
