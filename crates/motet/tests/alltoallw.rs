//! Blocks that have a datatype each, between all ranks, between neighbours and between two groups.

mod worlds;

use motet::buffer::Items;
use motet::{Datatype, ErrorClass, Info, Reorder, Result, Tag, TopologyError, TypedBlock};
use worlds::on_ranks;

const CANARY: u8 = 0xa5;
const ROUNDS: usize = 2;

/// How the elements of a block lie in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    /// In a row.
    Row,
    /// Every second place, in order.
    Gaps,
    /// In a row, the first one last.
    Backwards,
}

/// A block between two ranks: its elements, and their size.
#[derive(Clone, Debug)]
struct Block {
    element: Datatype,
    size: usize,
    count: usize,
}

impl Block {
    /// What one rank has for another. In place both have the same for each other.
    fn between(from: usize, to: usize, scale: usize) -> Block {
        let (element, size) = match (from + to) % 3 {
            0 => (Datatype::BYTE, 1),
            1 => (Datatype::INT32_T, 4),
            _ => (Datatype::DOUBLE, 8),
        };
        Block { element, size, count: scale * ((from * to + from + to) % 4) }
    }

    /// Bytes that it takes, however it lies.
    fn room(&self) -> usize {
        (2 * self.count + 1) * self.size
    }

    /// The part of a buffer that begins at a byte.
    fn part(&self, start: usize, lie: Lie) -> Result<TypedBlock> {
        let (count, size) = (self.count as i64, self.size);
        Ok(match lie {
            Lie::Row => TypedBlock::new(start as isize, self.count, &self.element),
            Lie::Gaps => {
                let gaps = Datatype::vector(count, 1, 2, &self.element)?;
                TypedBlock::new(start as isize, 1, &gaps)
            }
            Lie::Backwards => {
                let backwards = Datatype::vector(count, 1, -1, &self.element)?;
                let last = start + self.count.saturating_sub(1) * size;
                TypedBlock::new(last as isize, 1, &backwards)
            }
        })
    }

    /// Where an element lies.
    fn place(&self, start: usize, lie: Lie, at: usize) -> usize {
        start
            + self.size
                * match lie {
                    Lie::Row => at,
                    Lie::Gaps => 2 * at,
                    Lie::Backwards => self.count - 1 - at,
                }
    }

    /// The bytes of an element.
    fn bytes(&self, from: usize, to: usize, at: usize, round: usize) -> Vec<u8> {
        (0..self.size)
            .map(|byte| (from * 37 + to * 11 + at * 5 + byte + round * 101) as u8)
            .collect()
    }
}

/// A side of a call: blocks one after the other, each with whom it is for or from.
struct BlockSide {
    blocks: Vec<(usize, usize, Block, usize)>,
    lie: Lie,
}

impl BlockSide {
    /// The blocks between pairs of ranks (from, to).
    fn new(pairs: impl Iterator<Item = (usize, usize)>, lie: Lie, scale: usize) -> BlockSide {
        let mut start = 3;
        let blocks = pairs.map(|(from, to)| {
            let block = Block::between(from, to, scale);
            let begin = start;
            start += block.room();
            (from, to, block, begin)
        });
        BlockSide { blocks: blocks.collect(), lie }
    }

    fn parts(&self) -> Result<Vec<TypedBlock>> {
        self.blocks.iter().map(|(_, _, block, start)| block.part(*start, self.lie)).collect()
    }

    /// The buffer with the data of a round in its places, and canaries everywhere else.
    fn filled(&self, round: usize) -> Vec<u8> {
        let mut buffer = self.empty();
        for (from, to, block, start) in &self.blocks {
            for at in 0..block.count {
                let place = block.place(*start, self.lie, at);
                let bytes = block.bytes(*from, *to, at, round);
                buffer[place..place + block.size].copy_from_slice(&bytes);
            }
        }
        buffer
    }

    fn empty(&self) -> Vec<u8> {
        let end = self.blocks.last().map_or(0, |(_, _, block, start)| start + block.room());
        vec![CANARY; end]
    }
}

/// One call in all forms. The scoped form is there where a scope is given.
macro_rules! in_all_forms {
    ($comm:ident, $out:ident, $into:ident, $blocking:ident $nonblocking:ident $init:ident
        $(scope $scope:ident)?) => {{
        let (to, from) = (&$out.parts()?[..], &$into.parts()?[..]);
        for round in 0..ROUNDS {
            let mut output = $into.empty();
            $comm.$blocking(&$out.filled(round), &mut output, to, from)?;
            assert_eq!(output, $into.filled(round), "blocking");
        }
        let start = |round| $comm.$nonblocking(($out.filled(round), $into.empty()), to, from);
        let all = (0..ROUNDS).map(start).collect::<Result<Vec<_>>>()?;
        for (round, pending) in all.into_iter().enumerate().rev() {
            assert_eq!(pending.wait()?.1, $into.filled(round), "nonblocking");
        }
        $(
            let (input, mut output) = ($out.filled(7), $into.empty());
            $comm.$scope(|scope| {
                scope.$nonblocking((&input[..], &mut output[..]), to, from).map(drop)
            })?;
            assert_eq!(output, $into.filled(7), "scoped");
        )?
        let buffers = ($out.filled(0), $into.empty());
        let mut stored = $comm.$init(buffers, to, from, &Info::new())?;
        for round in 0..ROUNDS {
            stored.input_mut().copy_from_slice(&$out.filled(round));
            stored.output_mut().fill(CANARY);
            stored = stored.start()?.wait()?;
            assert_eq!(stored.output(), $into.filled(round), "persistent");
        }
    }};
}

const LIES: [(Lie, Lie); 4] = [
    (Lie::Row, Lie::Row),
    (Lie::Gaps, Lie::Row),
    (Lie::Row, Lie::Backwards),
    (Lie::Backwards, Lie::Gaps),
];

/// spec: 3, 5, 20, 22, 42, 97
#[test]
fn every_pair_of_ranks_has_a_layout_of_its_own() {
    for (ranks, scale) in [(1, 1), (2, 1), (3, 0), (5, 1), (8, 1), (4, 900)] {
        on_ranks(ranks, |world| {
            let me = world.rank();
            for (sent, received) in LIES {
                let out = BlockSide::new((0..ranks).map(|to| (me, to)), sent, scale);
                let into = BlockSide::new((0..ranks).map(|from| (from, me)), received, scale);
                in_all_forms!(world, out, into, alltoallw ialltoallw alltoallw_init scope scope);
            }
            Ok(())
        });
    }
}

/// spec: 72
#[test]
fn in_place_the_parts_are_exchanged() {
    for (ranks, scale) in [(1, 1), (2, 1), (5, 1), (4, 900)] {
        on_ranks(ranks, |world| {
            let me = world.rank();
            for lie in [Lie::Row, Lie::Gaps, Lie::Backwards] {
                let out = BlockSide::new((0..ranks).map(|to| (me, to)), lie, scale);
                let into = BlockSide::new((0..ranks).map(|from| (from, me)), lie, scale);
                let parts = &out.parts()?[..];
                let mut buffer = out.filled(0);
                world.alltoallw_in_place(&mut buffer, parts)?;
                assert_eq!(buffer, into.filled(0));
                // What is to be sent is not looked at.
                let pending = world.ialltoallw(out.filled(1), &[], parts)?;
                assert_eq!(pending.wait()?, into.filled(1));
                let mut stored = world.alltoallw_init(out.filled(2), &[], parts, &Info::new())?;
                stored.run()?;
                assert_eq!(stored.output(), into.filled(2));
            }
            Ok(())
        });
    }
}

/// spec: 93, 97
#[test]
fn neighbours_have_layouts_of_their_own() {
    for size in [1, 2, 3, 5] {
        on_ranks(size, |world| {
            let ring = world.cartesian(&[size], &[true], Reorder::Never)?.expect("a place");
            let (me, scale) = (ring.rank(), 1);
            let (before, after) = ((me + size - 1) % size, (me + 1) % size);
            for (sent, received) in LIES {
                let out = BlockSide::new([(me, before), (me, after)].into_iter(), sent, scale);
                let into = BlockSide::new([(before, me), (after, me)].into_iter(), received, scale);
                in_all_forms!(ring, out, into,
                    neighbor_alltoallw ineighbor_alltoallw neighbor_alltoallw_init scope scope);
            }
            Ok(())
        });
    }
}

/// spec: 92
#[test]
fn the_part_of_a_neighbour_that_is_not_there_is_not_touched() {
    on_ranks(3, |world| {
        let line = world.cartesian(&[3], &[false], Reorder::Never)?.expect("a place");
        let me = line.rank() as u32;
        // Every second number: those between, and those of a missing neighbour, stay as they are.
        let pair = Datatype::vector(2, 1, 2, &Datatype::UINT32_T)?;
        let (to, from) = (
            [0, 0].map(|at| TypedBlock::new(at, 1, &pair)),
            [0, 16].map(|at| TypedBlock::new(at, 1, &pair)),
        );
        let mut got = [99u32; 8];
        line.neighbor_alltoallw(&[me, 7, me + 10], &mut got, &to, &from)?;
        let block = |other: Option<u32>| match other {
            Some(other) => [other, 99, other + 10, 99],
            None => [99; 4],
        };
        let [before, after] = [me.checked_sub(1), Some(me + 1).filter(|&rank| rank < 3)];
        assert_eq!(got, [block(before), block(after)].concat()[..]);
        Ok(())
    });
}

/// spec: 86, 88, 91, 97
#[test]
fn the_ranks_of_two_groups_have_layouts_of_their_own() {
    for ranks in [2, 3, 5] {
        on_ranks(ranks, |world| {
            let me = world.rank();
            let colour = (me % 2) as u32;
            let group = world.split(Some(colour), 0)?.expect("all have a colour");
            let across = group.intercomm_create(0, Some(world), 1 - me % 2, Tag(0))?;
            let far: Vec<usize> = across.remote_group().world_ranks().collect();
            for (sent, received) in LIES {
                let out = BlockSide::new(far.iter().map(|&to| (me, to)), sent, 1);
                let into = BlockSide::new(far.iter().map(|&from| (from, me)), received, 1);
                in_all_forms!(across, out, into, alltoallw ialltoallw alltoallw_init);
            }
            let part = [TypedBlock::new(0, 1, &Datatype::BYTE)];
            let refused = across.alltoallw(&[0u8], &mut [0], &part, &[]).expect_err("too few");
            assert_eq!(refused.class(), ErrorClass::Arg);
            Ok(())
        });
    }
}

/// spec: 61
#[test]
fn parts_outside_of_the_buffers_are_refused() {
    on_ranks(2, |world| {
        let good = [0, 8].map(|at| TypedBlock::new(at, 1, &Datatype::DOUBLE));
        let class = |to: &[TypedBlock], from: &[TypedBlock]| {
            let refused = world.alltoallw(&[0u64; 2], &mut [0; 2], to, from);
            let pending = world.ialltoallw((vec![0u64; 2], vec![0; 2]), to, from);
            let stored = world.alltoallw_init((vec![0u64; 2], vec![0; 2]), to, from, &Info::new());
            let classes = [
                refused.expect_err("refused").class(),
                pending.map(drop).expect_err("refused").class(),
                stored.map(drop).expect_err("refused").class(),
            ];
            assert!(classes.iter().all(|class| *class == classes[0]), "{classes:?}");
            classes[0]
        };
        let backwards = Datatype::vector(2, 1, -1, &Datatype::DOUBLE)?;
        let huge = Datatype::resized(0, i64::MAX, &Datatype::DOUBLE)?;
        let outside = [
            TypedBlock::new(9, 1, &Datatype::DOUBLE),
            TypedBlock::new(-1, 1, &Datatype::DOUBLE),
            TypedBlock::new(0, 3, &Datatype::DOUBLE),
            TypedBlock::new(0, 1, &backwards),
            TypedBlock::new(isize::MAX, 1, &Datatype::DOUBLE),
            TypedBlock::new(isize::MIN, 1, &Datatype::BYTE),
            TypedBlock::new(0, 2, &huge),
            TypedBlock::new(isize::MAX, usize::MAX, &huge),
        ];
        for bad in outside {
            let bad = [good[0].clone(), bad];
            assert_eq!(class(&bad, &good), ErrorClass::Buffer, "{bad:?}");
            assert_eq!(class(&good, &bad), ErrorClass::Buffer, "{bad:?}");
        }
        // No items lie nowhere.
        let nothing = [isize::MIN, isize::MAX].map(|at| TypedBlock::new(at, 0, &Datatype::DOUBLE));
        world.alltoallw(&[0u64; 0], &mut [], &nothing, &nothing)?;
        world.alltoallw(&[0u64; 2], &mut [0; 2], &good, &good[..1]).expect_err("one is missing");
        let none = world.neighbor_alltoallw(&[0u8; 0], &mut [], &[], &[]).expect_err("no topology");
        assert_eq!(none.class(), ErrorClass::Topology);
        let items = Items::new(vec![0u64; 2], &Datatype::UINT64_T, 2)?;
        world.ialltoallw(items, &good, &good)?.wait()?;
        let column = Datatype::vector(2, 1, 2, &Datatype::UINT64_T)?;
        let items = Items::new(vec![0u64; 4], &column, 1)?;
        let twice = world.ialltoallw(items, &good, &good).map(drop).expect_err("two datatypes");
        assert_eq!(twice.class(), ErrorClass::Buffer);
        Ok(())
    });
}

/// spec: 66
#[test]
fn neighbours_are_asked_for_where_there_are_none() {
    on_ranks(2, |world| {
        let missing = TopologyError::Missing { found: "no", needed: "one" };
        let refused = world.ineighbor_alltoallw((vec![0u8], vec![0u8]), &[], &[]);
        let refused = refused.map(drop).expect_err("no topology");
        assert!(refused.to_string().contains(&missing.to_string()), "{refused}");
        let stored = world.neighbor_alltoallw_init((vec![0u8], vec![0]), &[], &[], &Info::new());
        assert_eq!(stored.map(drop).expect_err("no topology").class(), ErrorClass::Topology);
        Ok(())
    });
}
