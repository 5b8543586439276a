//! Datatypes of parts of arrays with several dimensions: subarrays, and arrays that are distributed
//! over a grid of processes (MPI 4.1, 5.1.3 and 5.1.4).
//!
//! Both are built one dimension at a time, from the one that varies fastest: runs of the lower
//! dimension, whose extent is then set to that of the whole dimension.

use super::construct::{at_least, same_form};
use super::contents::{Combiner, Contents};
use super::{Datatype, DatatypeError};

/// Which dimension of an array varies fastest in memory. Its number is that of the standard's
/// binary interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Order {
    /// The last (`MPI_ORDER_C`).
    C = 12,
    /// The first (`MPI_ORDER_FORTRAN`).
    Fortran = 15,
}

/// How the places of a dimension are distributed to the processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// Not distributed: each process has the whole dimension (`MPI_DISTRIBUTE_NONE`).
    None,
    /// One block for each process; of equal size by default (`MPI_DISTRIBUTE_BLOCK`).
    Block(Option<i64>),
    /// Blocks in turn; of one place by default (`MPI_DISTRIBUTE_CYCLIC`).
    Cyclic(Option<i64>),
}

impl Distribution {
    /// Kind and argument, by the numbers of the standard's binary interface.
    fn numbers(self) -> (i64, i64) {
        const DEFAULT: i64 = 19;
        match self {
            Distribution::None => (16, DEFAULT),
            Distribution::Block(size) => (17, size.unwrap_or(DEFAULT)),
            Distribution::Cyclic(size) => (18, size.unwrap_or(DEFAULT)),
        }
    }
}

/// One dimension of a distributed array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Places in the whole array.
    pub size: i64,
    /// How they are distributed.
    pub distribution: Distribution,
    /// Processes in this dimension of the grid.
    pub processes: i64,
}

impl Datatype {
    /// A part of an array (`MPI_Type_create_subarray`): in each dimension `subsizes` of `sizes`
    /// places, from `starts` on. The extent is that of the whole array.
    pub fn subarray(
        sizes: &[i64],
        subsizes: &[i64],
        starts: &[i64],
        order: Order,
        item: &Datatype,
    ) -> Result<Datatype, DatatypeError> {
        let dimensions = sizes.len();
        at_least("number of dimensions", dimensions as i64, 1)?;
        for (what, len) in [("subsizes", subsizes.len()), ("starts", starts.len())] {
            if len != dimensions {
                return Err(DatatypeError::Length { what, len, expected: dimensions });
            }
        }
        let mut part = item.clone();
        for dimension in fastest_first(dimensions, order) {
            let (size, len) = (sizes[dimension], subsizes[dimension]);
            let first = starts[dimension];
            at_least("size", size, 1)?;
            at_least("subsize", len, 1)?;
            at_least("start", first, 0)?;
            at_most("subsize", len, size)?;
            at_most("start", first, size - len)?;
            part = whole(&part, size, Runs { first, block: len, full: 1, tail: 0, cycle: 0 })?;
        }
        let count = [dimensions as i64];
        let integers = [&count[..], sizes, subsizes, starts, &[order as i64]].concat();
        finish(&part, item, Combiner::Subarray, integers)
    }

    /// The part of an array that belongs to one of `processes` processes
    /// (`MPI_Type_create_darray`). The grid is numbered by rows, whatever the order of the array.
    pub fn darray(
        processes: i64,
        rank: i64,
        dimensions: &[Dimension],
        order: Order,
        item: &Datatype,
    ) -> Result<Datatype, DatatypeError> {
        at_least("number of processes", processes, 1)?;
        at_least("rank", rank, 0)?;
        at_most("rank", rank, processes - 1)?;
        at_least("number of dimensions", dimensions.len() as i64, 1)?;
        let place = grid_place(processes, rank, dimensions)?;
        let mut part = item.clone();
        for index in fastest_first(dimensions.len(), order) {
            let dimension = &dimensions[index];
            part = whole(&part, dimension.size, dimension.runs(place[index])?)?;
        }
        let mut integers = vec![processes, rank, dimensions.len() as i64];
        integers.extend(dimensions.iter().map(|dimension| dimension.size));
        integers.extend(dimensions.iter().map(|dimension| dimension.distribution.numbers().0));
        integers.extend(dimensions.iter().map(|dimension| dimension.distribution.numbers().1));
        integers.extend(dimensions.iter().map(|dimension| dimension.processes));
        integers.push(order as i64);
        finish(&part, item, Combiner::Darray, integers)
    }
}

impl Dimension {
    /// The places of the process that is the `place`th in this dimension of the grid.
    fn runs(&self, place: i64) -> Result<Runs, DatatypeError> {
        at_least("size", self.size, 1)?;
        let even = (self.size - 1) / self.processes + 1;
        let block = match self.distribution {
            Distribution::None => {
                at_most("number of processes in an undistributed dimension", self.processes, 1)?;
                self.size
            }
            Distribution::Block(size) => {
                let size = size.unwrap_or(even);
                at_least("block size", size, even)?;
                size
            }
            Distribution::Cyclic(size) => size.unwrap_or(1),
        };
        at_least("block size", block, 1)?;
        // A block longer than the dimension is equivalent to one of its length.
        let block = block.min(self.size);
        let cycle = block.checked_mul(self.processes).ok_or(DatatypeError::Overflow("size"))?;
        let first = place * block;
        if first >= self.size {
            return Ok(Runs { first: 0, block, full: 0, tail: 0, cycle });
        }
        let full = (self.size - first) / cycle;
        let rest = (self.size - first) % cycle;
        let (full, tail) = if rest >= block { (full + 1, 0) } else { (full, rest) };
        Ok(Runs { first, block, full, tail, cycle })
    }
}

/// Which places of a dimension belong to the part: `full` blocks, `cycle` apart, and then a
/// shorter one of `tail`.
struct Runs {
    first: i64,
    block: i64,
    full: i64,
    tail: i64,
    cycle: i64,
}

fn at_most(what: &'static str, value: i64, most: i64) -> Result<(), DatatypeError> {
    if value <= most { Ok(()) } else { Err(DatatypeError::TooLarge { what, value, most }) }
}

fn fastest_first(dimensions: usize, order: Order) -> Box<dyn Iterator<Item = usize>> {
    match order {
        Order::C => Box::new((0..dimensions).rev()),
        Order::Fortran => Box::new(0..dimensions),
    }
}

/// Where a rank is in the grid.
fn grid_place(
    processes: i64,
    rank: i64,
    dimensions: &[Dimension],
) -> Result<Vec<i64>, DatatypeError> {
    let mut places = 1i64;
    for dimension in dimensions {
        at_least("number of processes in a dimension", dimension.processes, 1)?;
        places = places
            .checked_mul(dimension.processes)
            .ok_or(DatatypeError::Overflow("process grid"))?;
    }
    if places != processes {
        return Err(DatatypeError::Grid { places, processes });
    }
    let mut rest = rank;
    let mut place = vec![0; dimensions.len()];
    for (place, dimension) in place.iter_mut().zip(dimensions).rev() {
        *place = rest % dimension.processes;
        rest /= dimension.processes;
    }
    Ok(place)
}

/// The part of one dimension, with the extent of the whole dimension.
fn whole(below: &Datatype, size: i64, runs: Runs) -> Result<Datatype, DatatypeError> {
    let overflow = DatatypeError::Overflow("extent");
    let step = below.extent();
    let extent = size.checked_mul(step).ok_or(overflow.clone())?;
    // Within the dimension, whose extent has just been found to fit.
    let at = runs.first * step;
    let cycle = runs.cycle.checked_mul(step).ok_or(overflow)?;
    let blocks = Datatype::hvector(runs.full, runs.block, cycle, below)?;
    let part = if runs.tail == 0 {
        Datatype::hindexed_block(1, &[at], &blocks)?
    } else {
        let behind = (runs.first + runs.full * runs.cycle) * step;
        let types = [blocks, below.clone()];
        Datatype::structured(&[1, runs.tail], &[at, behind], &types)?
    };
    Datatype::resized(0, extent, &part)
}

/// The part, as made by this constructor.
fn finish(
    part: &Datatype,
    item: &Datatype,
    combiner: Combiner,
    integers: Vec<i64>,
) -> Result<Datatype, DatatypeError> {
    let contents = Contents { integers, datatypes: vec![item.clone()], ..Contents::default() };
    same_form(part, part.facts(), (combiner, contents))
}
