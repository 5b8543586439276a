//! A field whose faces travel, in three ways.

use std::time::{Duration, Instant};

use anyhow::Result;
use motet::datatype::Order;
use motet::{Block, CartesianCommunicator, Datatype, Info, Persistent, Tag, TypedBlock};

use crate::halo::{Face, Halo};
use crate::options::StencilExchange;

const FACES: Tag = Tag(1);

/// The values of a box, and the ghosts around it.
pub(crate) struct Field<'g> {
    ranks: &'g CartesianCommunicator,
    halo: &'g Halo,
    held: Held,
}

/// Who holds the memory.
enum Held {
    /// The operation: it takes the faces out of the values itself.
    Persistent(Persistent<(Vec<f64>, Vec<f64>)>),
    /// This program, which packs the faces.
    Packed(Packed),
}

struct Packed {
    values: Vec<f64>,
    ghosts: Vec<f64>,
    /// The faces, neighbour by neighbour.
    faces: Vec<f64>,
    /// For an alltoallv the block of each rank; none for messages.
    blocks: Option<Vec<Block>>,
}

impl<'g> Field<'g> {
    /// A field of zeros.
    pub(crate) fn new(
        ranks: &'g CartesianCommunicator,
        halo: &'g Halo,
        exchange: StencilExchange,
    ) -> Result<Self> {
        let (values, ghosts) = (vec![0.0; halo.points()], vec![0.0; halo.len()]);
        let packed = |blocks, (values, ghosts)| {
            let faces = vec![0.0; halo.len()];
            Held::Packed(Packed { values, ghosts, faces, blocks })
        };
        let held = match exchange {
            StencilExchange::Persistent => {
                Held::Persistent(persistent(ranks, halo, (values, ghosts))?)
            }
            StencilExchange::Alltoallv => {
                packed(Some(blocks(ranks.size(), halo)), (values, ghosts))
            }
            StencilExchange::Messages => packed(None, (values, ghosts)),
        };
        Ok(Self { ranks, halo, held })
    }

    pub(crate) fn values(&self) -> &[f64] {
        match &self.held {
            Held::Persistent(operation) => operation.input(),
            Held::Packed(packed) => &packed.values,
        }
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        match &mut self.held {
            Held::Persistent(operation) => operation.input_mut(),
            Held::Packed(packed) => &mut packed.values,
        }
    }

    /// What the last exchange has brought.
    pub(crate) fn ghosts(&self) -> &[f64] {
        match &self.held {
            Held::Persistent(operation) => operation.output(),
            Held::Packed(packed) => &packed.ghosts,
        }
    }

    /// Brings the faces to the neighbours, and theirs here. The work given is done with the values
    /// while they travel, or after that in a blocking way. Returns the time that was not work.
    pub(crate) fn exchange(self, work: impl FnOnce(&[f64])) -> Result<(Self, Duration)> {
        let Self { ranks, halo, held } = self;
        let (begin, mut worked) = (Instant::now(), Duration::ZERO);
        let timed = |values: &[f64]| {
            let begin = Instant::now();
            work(values);
            worked = begin.elapsed();
        };
        let held = match held {
            Held::Persistent(operation) => {
                let running = operation.start()?;
                timed(running.input());
                Held::Persistent(running.wait()?)
            }
            Held::Packed(packed) => Held::Packed(packed.exchange(ranks, halo, timed)?),
        };
        Ok((Self { ranks, halo, held }, begin.elapsed() - worked))
    }

    /// What is done and why, as the library tells it.
    pub(crate) fn explain(&self) -> Option<String> {
        match &self.held {
            Held::Persistent(operation) => Some(operation.explain()),
            Held::Packed(_) => None,
        }
    }
}

impl Packed {
    fn exchange(
        mut self,
        ranks: &CartesianCommunicator,
        halo: &Halo,
        work: impl FnOnce(&[f64]),
    ) -> Result<Self> {
        pack(halo, &self.values, &mut self.faces);
        match &self.blocks {
            Some(blocks) => {
                ranks.alltoallv(&self.faces, &mut self.ghosts, blocks, blocks)?;
                work(&self.values);
            }
            None => messages(ranks, halo, (&self.faces, &mut self.ghosts), || work(&self.values))?,
        }
        Ok(self)
    }
}

/// Sends each neighbour its faces in a message, and receives one from it.
fn messages(
    ranks: &CartesianCommunicator,
    halo: &Halo,
    (faces, mut ghosts): (&[f64], &mut [f64]),
    work: impl FnOnce(),
) -> motet::Result<()> {
    ranks.scope(|scope| {
        let mut receives = Vec::with_capacity(halo.neighbours.len());
        for neighbour in &halo.neighbours {
            let (block, rest) = ghosts.split_at_mut(neighbour.block.count);
            ghosts = rest;
            receives.push(scope.irecv(block, neighbour.rank, FACES)?);
        }
        let mut sends = Vec::with_capacity(halo.neighbours.len());
        for neighbour in &halo.neighbours {
            let Block { start, count } = neighbour.block;
            sends.push(scope.isend(&faces[start..][..count], neighbour.rank, FACES)?);
        }
        work();
        receives.into_iter().try_for_each(|receive| receive.wait().map(drop))?;
        sends.into_iter().try_for_each(|send| send.wait().map(drop))
    })
}

/// Copies the faces out of the values, neighbour by neighbour.
fn pack(halo: &Halo, values: &[f64], mut faces: &mut [f64]) {
    let [_, rows, len] = halo.sizes;
    for &face in halo.neighbours.iter().flat_map(|neighbour| &neighbour.faces) {
        let ([i, j, k], [layers, lines, points]) = face.within(halo.sizes);
        for i in i..i + layers {
            for j in j..j + lines {
                let (line, rest) = faces.split_at_mut(points);
                line.copy_from_slice(&values[(i * rows + j) * len + k..][..points]);
                faces = rest;
            }
        }
    }
}

/// The block of each rank: empty unless it is a neighbour.
fn blocks(ranks: usize, halo: &Halo) -> Vec<Block> {
    let mut blocks = vec![Block { start: 0, count: 0 }; ranks];
    for neighbour in &halo.neighbours {
        blocks[neighbour.rank] = neighbour.block;
    }
    blocks
}

/// Sets up the exchange with the group of the neighbours. The faces of each are one datatype.
fn persistent(
    ranks: &CartesianCommunicator,
    halo: &Halo,
    buffers: (Vec<f64>, Vec<f64>),
) -> Result<Persistent<(Vec<f64>, Vec<f64>)>> {
    let (mut to, mut from) = (Vec::new(), Vec::new());
    for neighbour in &halo.neighbours {
        to.push(TypedBlock::new(0, 1, &of_faces(&neighbour.faces, halo.sizes)?));
        let Block { start, count } = neighbour.block;
        from.push(TypedBlock::new((start * size_of::<f64>()) as isize, count, &Datatype::DOUBLE));
    }
    let group = &halo.group;
    Ok(ranks.exchangew_init(buffers, (group, &to), (group, &from), &Info::new())?)
}

/// Some faces of a box as one datatype.
fn of_faces(faces: &[Face], sizes: [usize; 3]) -> Result<Datatype> {
    let numbers = |sizes: [usize; 3]| sizes.map(|size| size as i64);
    let subarray = |face: &Face| {
        let (starts, extents) = face.within(sizes);
        let (sizes, extents, starts) = (numbers(sizes), numbers(extents), numbers(starts));
        Datatype::subarray(&sizes, &extents, &starts, Order::C, &Datatype::DOUBLE)
    };
    let faces: Vec<_> = faces.iter().map(subarray).collect::<Result<_, _>>()?;
    match &faces[..] {
        [face] => Ok(face.clone()),
        _ => {
            let (once, here) = (vec![1; faces.len()], vec![0; faces.len()]);
            Ok(Datatype::structured(&once, &here, &faces)?)
        }
    }
}
