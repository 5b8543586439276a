//! The naive oracle: a datatype as its typemap, element by element (MPI 4.1, 5.1).

use motet::datatype::{Basic, Datatype, Named};

/// How a datatype is made.
#[derive(Clone, Debug)]
pub(crate) enum Recipe {
    Named(Named),
    Contiguous(i64, Box<Recipe>),
    Vector(i64, i64, i64, Box<Recipe>),
    Hvector(i64, i64, i64, Box<Recipe>),
    Indexed(Vec<(i64, i64)>, Box<Recipe>),
    Hindexed(Vec<(i64, i64)>, Box<Recipe>),
    IndexedBlock(i64, Vec<i64>, Box<Recipe>),
    HindexedBlock(i64, Vec<i64>, Box<Recipe>),
    Struct(Vec<(i64, i64, Recipe)>),
    Resized(i64, i64, Box<Recipe>),
    Dup(Box<Recipe>),
}

/// A typemap, with its markers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Typemap {
    pub(crate) entries: Vec<(Basic, i64)>,
    /// The bounds of the items that it is made of, which are filled up.
    pub(crate) items: Vec<(i64, i64)>,
    pub(crate) lower: Vec<i64>,
    pub(crate) upper: Vec<i64>,
}

impl Recipe {
    pub(crate) fn datatype(&self) -> Datatype {
        let (lengths, displacements) = match self {
            Recipe::Indexed(blocks, _) | Recipe::Hindexed(blocks, _) => {
                blocks.iter().copied().unzip::<i64, i64, Vec<_>, Vec<_>>()
            }
            _ => Default::default(),
        };
        match self {
            Recipe::Named(named) => Ok((*named).into()),
            Recipe::Contiguous(count, item) => Datatype::contiguous(*count, &item.datatype()),
            Recipe::Vector(count, block, stride, item) => {
                Datatype::vector(*count, *block, *stride, &item.datatype())
            }
            Recipe::Hvector(count, block, stride, item) => {
                Datatype::hvector(*count, *block, *stride, &item.datatype())
            }
            Recipe::Indexed(_, item) => {
                Datatype::indexed(&lengths, &displacements, &item.datatype())
            }
            Recipe::Hindexed(_, item) => {
                Datatype::hindexed(&lengths, &displacements, &item.datatype())
            }
            Recipe::IndexedBlock(length, displacements, item) => {
                Datatype::indexed_block(*length, displacements, &item.datatype())
            }
            Recipe::HindexedBlock(length, displacements, item) => {
                Datatype::hindexed_block(*length, displacements, &item.datatype())
            }
            Recipe::Struct(fields) => {
                let lengths: Vec<i64> = fields.iter().map(|field| field.0).collect();
                let displacements: Vec<i64> = fields.iter().map(|field| field.1).collect();
                let types: Vec<Datatype> = fields.iter().map(|field| field.2.datatype()).collect();
                Datatype::structured(&lengths, &displacements, &types)
            }
            Recipe::Resized(lower, extent, item) => {
                Datatype::resized(*lower, *extent, &item.datatype())
            }
            Recipe::Dup(item) => item.datatype().dup(),
        }
        .unwrap()
    }

    pub(crate) fn typemap(&self) -> Typemap {
        let mut map = Typemap::default();
        match self {
            Recipe::Named(named) => return Typemap::of_named(*named),
            Recipe::Contiguous(count, item) => map.row(&item.typemap(), 0, *count),
            Recipe::Vector(count, block, stride, item) => {
                let item = item.typemap();
                (0..*count).for_each(|i| map.row(&item, i * stride * item.extent(), *block));
            }
            Recipe::Hvector(count, block, stride, item) => {
                let item = item.typemap();
                (0..*count).for_each(|i| map.row(&item, i * stride, *block));
            }
            Recipe::Indexed(blocks, item) => {
                let item = item.typemap();
                blocks.iter().for_each(|(len, at)| map.row(&item, at * item.extent(), *len));
            }
            Recipe::Hindexed(blocks, item) => {
                let item = item.typemap();
                blocks.iter().for_each(|(len, at)| map.row(&item, *at, *len));
            }
            Recipe::IndexedBlock(len, displacements, item) => {
                let item = item.typemap();
                displacements.iter().for_each(|at| map.row(&item, at * item.extent(), *len));
            }
            Recipe::HindexedBlock(len, displacements, item) => {
                let item = item.typemap();
                displacements.iter().for_each(|at| map.row(&item, *at, *len));
            }
            Recipe::Struct(fields) => {
                fields.iter().for_each(|(len, at, item)| map.row(&item.typemap(), *at, *len));
            }
            Recipe::Resized(lower, extent, item) => {
                let entries = item.typemap().entries;
                let (lower, upper) = (vec![*lower], vec![lower + extent]);
                return Typemap { entries, lower, upper, ..Typemap::default() };
            }
            Recipe::Dup(item) => return item.typemap(),
        }
        map
    }
}

impl Typemap {
    fn of_named(named: Named) -> Typemap {
        use Named::{Double, DoubleInt, Float, FloatInt, Int, LongDouble, LongDoubleInt, ShortInt};
        let basic = |named| Datatype::named(named).element().unwrap();
        let entries = match named {
            FloatInt => vec![(basic(Float), 0), (basic(Int), 4)],
            DoubleInt => vec![(basic(Double), 0), (basic(Int), 8)],
            LongDoubleInt => vec![(basic(LongDouble), 0), (basic(Int), 16)],
            ShortInt => vec![(basic(Named::Short), 0), (basic(Int), 4)],
            other => vec![(basic(other), 0)],
        };
        Typemap { entries, ..Typemap::default() }
    }

    /// Appends items in a row.
    pub(crate) fn row(&mut self, item: &Typemap, at: i64, len: i64) {
        let extent = item.extent();
        for at in (0..len).map(|i| at + i * extent) {
            self.entries.extend(item.entries.iter().map(|(basic, place)| (*basic, place + at)));
            if !item.entries.is_empty() {
                self.items.push((item.lower_bound() + at, item.upper_bound() + at));
            }
            self.lower.extend(item.lower.iter().map(|place| place + at));
            self.upper.extend(item.upper.iter().map(|place| place + at));
        }
    }

    pub(crate) fn lower_bound(&self) -> i64 {
        self.lower.iter().copied().min().unwrap_or(self.true_bounds().0)
    }

    pub(crate) fn upper_bound(&self) -> i64 {
        self.upper.iter().copied().max().unwrap_or_else(|| {
            let (low, high) = self.true_bounds();
            let high = self.items.iter().map(|item| item.1).fold(high, i64::max);
            let alignment = self.entries.iter().map(|(basic, _)| basic.alignment).max();
            let alignment = i64::from(alignment.unwrap_or(1));
            (0..alignment).map(|e| high + e).find(|high| (high - low) % alignment == 0).unwrap()
        })
    }

    pub(crate) fn extent(&self) -> i64 {
        self.upper_bound() - self.lower_bound()
    }

    pub(crate) fn true_bounds(&self) -> (i64, i64) {
        let low = self.entries.iter().map(|(_, at)| *at).min();
        let high = self.entries.iter().map(|(basic, at)| at + i64::from(basic.size)).max();
        (low.unwrap_or(0), high.unwrap_or(0))
    }

    /// The places of all bytes, in the order of the stream.
    pub(crate) fn bytes(&self) -> Vec<i64> {
        let of = |&(basic, at): &(Basic, i64)| (0..i64::from(basic.size)).map(move |i| at + i);
        self.entries.iter().flat_map(of).collect()
    }

    /// The sequence of elements, as runs of equal ones.
    pub(crate) fn runs(&self) -> Vec<(Basic, u64)> {
        let mut runs: Vec<(Basic, u64)> = Vec::new();
        for (basic, _) in &self.entries {
            match runs.last_mut() {
                Some((last, len)) if last == basic => *len += 1,
                _ => runs.push((*basic, 1)),
            }
        }
        runs
    }
}
