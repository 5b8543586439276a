//! What lies between the fields of a structure never leaves the process: whatever it is sent by,
//! what arrives there are zeroes.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod worlds;

use std::mem::offset_of;
use std::sync::Arc;

use motet::{ANY_SOURCE, BufferRoom, Communicator, Element, Info, Located, Result, Tag, op};
use worlds::on_ranks;

const TAG: Tag = Tag(1);
/// What lies in padding: a secret of the sender, and what the receiver had there.
const POISON: u8 = 0xa5;

#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Padded {
    small: u8,
    large: u64,
}
motet::struct_datatype!(Padded { small: u8, large: u64 });

/// Gaps within fields, between them, and at the end; fields in another order than they lie.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Nested {
    first: [Padded; 2],
    half: u16,
    pair: Located<u8, i32>,
    word: u32,
}
motet::struct_datatype!(Nested {
    word: u32,
    half: u16,
    pair: Located<u8, i32>,
    first: [Padded; 2],
});

/// An element with padding.
trait Gaps: Element {
    /// Writes the fields, and nothing else, of the element at an address.
    unsafe fn put(place: *mut Self, value: u8);

    fn value(&self) -> u8;

    /// Offsets of the bytes that are no data.
    fn gaps() -> Vec<usize>;
}

/// A field of an element.
fn field<T, F>(element: *mut T, offset: usize) -> *mut F {
    element.cast::<u8>().wrapping_add(offset).cast()
}

impl Gaps for Padded {
    unsafe fn put(place: *mut Self, value: u8) {
        // SAFETY: a field of an element that may be written.
        unsafe { field::<Self, u8>(place, offset_of!(Self, small)).write(value) };
        // SAFETY: see above.
        unsafe { field::<Self, u64>(place, offset_of!(Self, large)).write(value.into()) };
    }

    fn value(&self) -> u8 {
        assert_eq!(u64::from(self.small), self.large);
        self.small
    }

    fn gaps() -> Vec<usize> {
        (1..8).collect()
    }
}

impl Gaps for Nested {
    unsafe fn put(place: *mut Self, value: u8) {
        let first = field::<Self, Padded>(place, offset_of!(Self, first));
        for at in 0..2 {
            // SAFETY: a field of an element that may be written.
            unsafe { Padded::put(first.wrapping_add(at), value) };
        }
        // SAFETY: see above.
        unsafe { field::<Self, u16>(place, offset_of!(Self, half)).write(value.into()) };
        let pair = field::<Self, Located<u8, i32>>(place, offset_of!(Self, pair));
        // SAFETY: see above.
        unsafe { pair.write(Located::new(value, value.into())) };
        // SAFETY: see above.
        unsafe { field::<Self, u32>(place, offset_of!(Self, word)).write(value.into()) };
    }

    fn value(&self) -> u8 {
        assert!(self.first.iter().all(|each| each.value() == self.first[0].small));
        assert_eq!(self.word, u32::from(self.half));
        assert_eq!(self.pair.index(), i32::from(self.pair.value()));
        self.first[0].small
    }

    fn gaps() -> Vec<usize> {
        let word = offset_of!(Nested, word);
        let before = offset_of!(Nested, pair) + size_of::<Located<u8, i32>>()..word;
        (1..8).chain(17..24).chain(before).chain(word + 4..64).collect()
    }
}

/// Elements of this value with poison between their fields.
fn poisoned<T: Gaps>(count: usize, value: u8) -> Vec<T> {
    let mut data = Vec::<T>::with_capacity(count);
    // SAFETY: there is room for so many.
    unsafe { data.as_mut_ptr().cast::<u8>().write_bytes(POISON, count * size_of::<T>()) };
    for at in 0..count {
        // SAFETY: one of them.
        unsafe { T::put(data.as_mut_ptr().wrapping_add(at), value) };
    }
    // SAFETY: all have been written.
    unsafe { data.set_len(count) };
    data
}

/// Panics unless all elements have this value, and zeroes in their padding.
fn clean<T: Gaps>(data: &[T], value: usize, what: &str) {
    for element in data {
        assert_eq!(usize::from(element.value()), value, "{what}");
        let start = std::ptr::from_ref(element).cast::<u8>();
        for gap in T::gaps() {
            // SAFETY: a byte of the element, which was written as a byte.
            let found = unsafe { start.wrapping_add(gap).read_volatile() };
            assert_eq!(found, 0, "{what}: byte {gap} of an element of {} bytes", size_of::<T>());
        }
    }
}

fn sum<T: Gaps>() -> impl op::Operator<T> + Copy {
    op::commutative(|left: T, right: T| poisoned::<T>(1, left.value() + right.value())[0])
}

fn messages<T: Gaps>(world: &Communicator, count: usize) -> Result<()> {
    let (me, ranks) = (world.rank(), world.size());
    let (next, before) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
    let fresh = || poisoned::<T>(count, 9);
    let own = || poisoned::<T>(count, me as u8);
    world.attach_buffer(BufferRoom::Automatic)?;
    let sends: [(&str, &dyn Fn() -> Result<()>); 8] = [
        ("bsend", &|| world.bsend(&own(), next, TAG)),
        ("isend", &|| world.isend(own(), next, TAG)?.wait().map(drop)),
        ("isend of shared", &|| world.isend(Arc::<[T]>::from(own()), next, TAG)?.wait().map(drop)),
        ("issend", &|| world.issend(own(), next, TAG)?.wait().map(drop)),
        ("ibsend", &|| world.ibsend(own(), next, TAG)?.wait().map(drop)),
        ("send_init", &|| world.send_init(own(), next, TAG)?.run()),
        ("send", &|| world.send(&own(), next, TAG)),
        ("scope", &|| {
            let data = own();
            world.scope(|scope| scope.isend(&data[..], next, TAG)?.wait().map(drop))
        }),
    ];
    for (what, send) in sends {
        let receive = world.irecv(fresh(), before, TAG)?;
        send()?;
        clean(&receive.wait()?, before, what);
    }
    let mut into = fresh();
    world.sendrecv((&own(), next, TAG), (&mut into, ANY_SOURCE, TAG))?;
    clean(&into, before, "sendrecv");
    let mut both = own();
    world.sendrecv_replace(&mut both, (next, TAG), (before, TAG))?;
    clean(&both, before, "sendrecv_replace");
    let both = world.isendrecv_replace(own(), (next, TAG), (before, TAG))?.wait()?;
    clean(&both, before, "isendrecv_replace");
    let (_, into) = world.isendrecv((own(), next, TAG), (fresh(), before, TAG))?.wait()?;
    clean(&into, before, "isendrecv");
    let came = world.sparse_exchange([(next, &own()[..])])?;
    clean(&came[0].1, before, "sparse_exchange");
    let came = world.isparse_exchange(vec![(next, own())])?.wait()?;
    clean(&came[0].1, before, "isparse_exchange");
    Ok(())
}

fn collectives<T: Gaps>(world: &Communicator, count: usize) -> Result<()> {
    let (me, ranks, info) = (world.rank(), world.size(), Info::new());
    let (fresh, own) = (|count| poisoned::<T>(count, 9), |count| poisoned::<T>(count, me as u8));
    for root in 0..ranks {
        let mut data = own(count);
        world.bcast(&mut data, root)?;
        clean(&data, root, "bcast");
        clean(&world.ibcast(own(count), root)?.wait()?, root, "ibcast");
        let mut all = fresh(count * ranks);
        world.gather(&own(count), &mut all, root)?;
        if me == root {
            all.chunks(count).enumerate().for_each(|(from, part)| clean(part, from, "gather"));
        }
        let mut part = fresh(count);
        world.scatter(&own(count * ranks), &mut part, root)?;
        clean(&part, root, "scatter");
    }
    let each = |all: &[T], what: &str| {
        all.chunks(count).enumerate().for_each(|(from, part)| clean(part, from, what));
    };
    let mut all = fresh(count * ranks);
    world.allgather(&own(count), &mut all)?;
    each(&all, "allgather");
    world.alltoall(&own(count * ranks), &mut all)?;
    each(&all, "alltoall");
    let mut again = world.allgather_init((own(count), fresh(count * ranks)), &info)?;
    for _ in 0..3 {
        again.run()?;
        each(again.output(), "allgather_init");
        again.input_mut().copy_from_slice(&own(count));
    }
    let mut swap = own(count * ranks);
    world.alltoall_in_place(&mut swap)?;
    each(&swap, "alltoall in place");
    let mut into = fresh(count);
    let everybody: Vec<usize> = (0..ranks).collect();
    world.exchange(&own(count * ranks), &mut all, &everybody, &everybody)?;
    each(&all, "exchange");
    let ones = |count| poisoned::<T>(count, 1);
    world.allreduce(&ones(count), &mut into, sum())?;
    clean(&into, ranks, "allreduce");
    into = ones(count);
    world.allreduce_in_place(&mut into, sum())?;
    clean(&into, ranks, "allreduce in place");
    clean(&world.iallreduce(ones(count), sum())?.wait()?, ranks, "iallreduce");
    world.scan(&ones(count), &mut into, sum())?;
    clean(&into, me + 1, "scan");
    world.reduce_scatter_block(&ones(count * ranks), &mut into, sum())?;
    clean(&into, ranks, "reduce_scatter_block");
    let mut again = world.allreduce_init((ones(count), fresh(count)), sum(), &info)?;
    for _ in 0..3 {
        again.run()?;
        clean(again.output(), ranks, "allreduce_init");
    }
    Ok(())
}

fn all_forms<T: Gaps>() {
    // In a cell, in a block, and by one copy.
    for bytes in [1, 600, 80 << 10] {
        let count = bytes / size_of::<T>() + 1;
        for ranks in [2, 3] {
            on_ranks(ranks, |world| messages::<T>(world, count));
        }
        for ranks in [1, 2, 3, 5] {
            on_ranks(ranks, |world| collectives::<T>(world, count));
        }
    }
}

#[test]
fn padding_between_fields_stays_at_home() {
    all_forms::<Padded>();
}

#[test]
fn padding_within_fields_and_behind_them_stays_at_home() {
    all_forms::<Nested>();
}
