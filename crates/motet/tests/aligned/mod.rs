//! Elements with an alignment of their own, and every form of operation on them.
//!
//! A debug build ends the program where the library makes a slice of memory that is not aligned for
//! the element; the operators here look at what they are given by reference, too.

use motet::op::{self, Operator};
use motet::{Communicator, Element, Info, Result, Tag};

/// An element with an alignment.
pub(crate) trait Aligned: Element + PartialEq + std::fmt::Debug {
    fn new(value: u8) -> Self;
    fn value(&self) -> u8;
}

macro_rules! aligned {
    ($($name:ident $field:ty, $alignment:literal;)*) => {
        $(
            #[derive(Clone, Copy, Debug, PartialEq)]
            #[repr(C, align($alignment))]
            pub(crate) struct $name {
                value: $field,
            }

            motet::struct_datatype!($name { value: $field });

            impl Aligned for $name {
                fn new(value: u8) -> $name {
                    $name { value: value.into() }
                }

                fn value(&self) -> u8 {
                    self.value as u8
                }
            }
        )*

        /// Every form for every power of two up to 8192.
        pub(crate) fn every_alignment(world: &Communicator) -> Result<()> {
            $(every_form::<$name>(world)?;)*
            Ok(())
        }

        /// Memory of the library for every power of two up to 8192.
        pub(crate) fn allocations(world: &Communicator) -> Result<()> {
            $(allocation::<$name>(world)?;)*
            Ok(())
        }
    };
}

aligned! {
    A1 u8, 1;
    A2 u16, 2;
    A4 u32, 4;
    A8 u64, 8;
    A16 u64, 16;
    A32 u64, 32;
    A64 u64, 64;
    A128 u64, 128;
    A256 u64, 256;
    A512 u64, 512;
    A1024 u64, 1024;
    A2048 u64, 2048;
    A4096 u64, 4096;
    A8192 u64, 8192;
}

fn sum<T: Aligned>() -> impl Operator<T> + Copy {
    op::commutative(|left: T, right: T| T::new(left.value() + right.value()))
}

fn in_order<T: Aligned>() -> impl Operator<T> + Copy {
    op::ordered(|left: T, right: T| T::new(left.value() + right.value()))
}

/// Panics unless the elements are aligned and all have this value.
fn all<T: Aligned>(elements: &[T], value: usize, what: &str) {
    let alignment = align_of::<T>();
    assert!(elements.as_ptr().addr().is_multiple_of(alignment), "{what}: aligned to {alignment}");
    let right = elements.iter().all(|element| usize::from(element.value()) == value);
    assert!(right, "{what} of {} elements aligned to {alignment}", elements.len());
}

/// Counts for which messages are short and long: in cells, in blocks, by one copy.
fn counts<T>() -> impl Iterator<Item = usize> {
    let lengths = [0, 64, 600, 40 << 10, 100 << 10].into_iter();
    let mut counts: Vec<usize> = lengths.map(|bytes| bytes / size_of::<T>()).collect();
    counts.extend([1, 2, 3]);
    counts.sort();
    counts.dedup();
    counts.into_iter()
}

fn every_form<T: Aligned>(world: &Communicator) -> Result<()> {
    for count in counts::<T>() {
        blocking::<T>(world, count)?;
        later::<T>(world, count)?;
        sparse::<T>(world, count)?;
        messages::<T>(world, count)?;
    }
    Ok(())
}

fn blocking<T: Aligned>(world: &Communicator, count: usize) -> Result<()> {
    let (ranks, me) = (world.size(), world.rank());
    let (ones, mut result) = (vec![T::new(1); count], vec![T::new(0); count]);
    let many = vec![T::new(1); count * ranks];
    world.allreduce(&ones, &mut result, sum())?;
    all(&result, ranks, "allreduce");
    world.allreduce(&ones, &mut result, in_order())?;
    all(&result, ranks, "allreduce in order");
    result.fill(T::new(1));
    world.allreduce_in_place(&mut result, sum())?;
    all(&result, ranks, "allreduce in place");
    for root in [0, ranks - 1] {
        world.reduce(&ones, &mut result, sum(), root)?;
        result.fill(T::new(1));
        world.reduce_in_place(&mut result, in_order(), root)?;
        if me == root {
            all(&result, ranks, "reduce in place");
        }
    }
    world.scan(&ones, &mut result, in_order())?;
    all(&result, me + 1, "scan");
    world.exscan(&ones, &mut result, sum())?;
    if me > 0 {
        all(&result, me, "exscan");
    }
    world.reduce_scatter_block(&many, &mut result, sum())?;
    all(&result, ranks, "reduce_scatter_block");
    world.reduce_scatter(&many, &mut result, &vec![count; ranks], in_order())?;
    all(&result, ranks, "reduce_scatter");
    if count > 0 {
        let one = world.allreduce_one(T::new(1), sum())?;
        all(&[one], ranks, "allreduce_one");
    }
    Ok(())
}

fn later<T: Aligned>(world: &Communicator, count: usize) -> Result<()> {
    let (ranks, me) = (world.size(), world.rank());
    let ones = || vec![T::new(1); count];
    let begun = [world.iallreduce(ones(), sum())?, world.iallreduce(ones(), in_order())?];
    for request in begun {
        all(&request.wait()?, ranks, "iallreduce");
    }
    all(&world.iallreduce(ones().into_boxed_slice(), sum())?.wait()?, ranks, "iallreduce, boxed");
    all(&world.iscan((ones(), ones()), in_order())?.wait()?.1, me + 1, "iscan");
    let mut persistent = world.allreduce_init((ones(), ones()), sum(), &Info::new())?;
    let mut scan = world.scan_init((ones(), ones()), in_order(), &Info::new())?;
    let (many, info) = (vec![T::new(1); ranks * count], Info::new());
    let mut scattered = world.reduce_scatter_block_init((many, ones()), sum(), &info)?;
    for _ in 0..4 {
        persistent.run()?;
        all(persistent.output(), ranks, "persistent allreduce");
        scan.run()?;
        all(scan.output(), me + 1, "persistent scan");
        scattered.run()?;
        all(scattered.output(), ranks, "persistent reduce_scatter_block");
    }
    let mut phases = world.phases()?;
    let phase = phases.allreduce_begin((ones(), ones()), in_order())?;
    all(&phase.end()?.1, ranks, "allreduce in two phases");
    Ok(())
}

fn sparse<T: Aligned>(world: &Communicator, count: usize) -> Result<()> {
    let (ranks, me) = (world.size(), world.rank());
    let (ones, mut result) = (vec![T::new(1); count], vec![T::new(0); count]);
    let everybody: Vec<usize> = (0..ranks).collect();
    world.neighbor_allreduce(&ones, &mut result, sum(), &everybody, &everybody)?;
    all(&result, ranks, "neighbor_allreduce");
    let many = vec![T::new(1); count * ranks];
    world.neighbor_reduce(&many, &mut result, in_order(), &everybody, &everybody)?;
    all(&result, ranks, "neighbor_reduce");
    let next = (me + 1) % ranks;
    let came = world.sparse_exchange([(next, &ones[..]), (me, &ones[..])])?;
    assert_eq!(came.len(), 2);
    came.iter().for_each(|(_, data)| all(data, 1, "sparse_exchange"));
    let came = world.isparse_exchange(vec![(next, ones)])?.wait()?;
    came.iter().for_each(|(_, data)| all(data, 1, "isparse_exchange"));
    Ok(())
}

fn messages<T: Aligned>(world: &Communicator, count: usize) -> Result<()> {
    let (ranks, me) = (world.size(), world.rank());
    let (next, before) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
    let mut buffer = vec![T::new(me as u8); count];
    world.sendrecv_replace(&mut buffer, (next, Tag(1)), (before, Tag(1)))?;
    all(&buffer, before, "sendrecv_replace");
    let received = world.irecv(buffer, before, Tag(2))?;
    world.isend(vec![T::new(1); count], next, Tag(2))?.wait()?;
    all(&received.wait()?, 1, "irecv");
    let mut whole = vec![T::new(0); count * ranks];
    world.allgather(&vec![T::new(3); count], &mut whole)?;
    all(&whole, 3, "allgather");
    Ok(())
}

fn allocation<T: Aligned>(world: &Communicator) -> Result<()> {
    let ranks = world.size();
    // What lies between them moves what comes next.
    let mut between = Vec::new();
    for count in counts::<T>() {
        let ones = world.allocate(count, T::new(1));
        between.push(world.allocate(1, 0u8));
        let mut result = world.allocate(count, T::new(0));
        all(&ones, 1, "allocate");
        world.allreduce(&ones, &mut result, sum())?;
        all(&result, ranks, "allreduce of what was allocated");
    }
    Ok(())
}
