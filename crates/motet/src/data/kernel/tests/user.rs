//! Functions of the user on items with and without gaps.

use std::sync::{Arc, Mutex};

use super::*;

/// What a function was called with: items, and the addresses relative to 64.
#[derive(Clone, Copy, Debug)]
struct Seen {
    items: usize,
    misaligned: usize,
}

/// Combines the bytes of an item's data as digits to base 16 (of which the high ones are lost), so
/// that the order of the operands shows; wherever in the item they lie. Tells what it has seen.
pub(super) fn appending(seen: impl Fn(usize) + Send + Sync + 'static) -> Op {
    recording(move |it| seen(it.items))
}

fn recording(seen: impl Fn(Seen) + Send + Sync + 'static) -> Op {
    let function = move |input: *const u8, inout: *mut u8, items: usize, datatype: &Datatype| {
        seen(Seen { items, misaligned: inout.addr() % 64 });
        let layout = datatype.commit();
        let (pieces, _) = layout.pieces(items as u64, 0, usize::MAX);
        for at in pieces.iter().flat_map(|piece| piece.at..piece.at + piece.len as i64) {
            let (from, to) =
                (input.wrapping_offset(at as isize), inout.wrapping_offset(at as isize));
            // SAFETY: data of the items.
            let left = unsafe { from.read() };
            // SAFETY: data of the items.
            let right = unsafe { to.read() };
            // SAFETY: data of the items.
            unsafe { to.write(left << 4 | right & 15) };
        }
    };
    // SAFETY: it touches the data of the items only.
    unsafe { Op::ordered(Arc::new(function)) }
}

/// Datatypes of items with all sorts of bounds, and whether their stream is what they are.
fn layouts() -> Vec<(Datatype, bool)> {
    let int = Datatype::INT;
    let vector = Datatype::vector(3, 2, 4, &Datatype::SHORT).unwrap();
    let far = Datatype::hindexed(&[1, 2], &[-40, 12], &int).unwrap();
    let column = Datatype::resized(0, 2, &Datatype::vector(4, 1, 8, &Datatype::SHORT).unwrap());
    let back = Datatype::resized(8, -8, &int).unwrap();
    let backwards = Datatype::hvector(2, 1, -8, &int).unwrap();
    let long = Datatype::vector(3000, 1, 2, &int).unwrap();
    let shifted = Datatype::hindexed(&[1], &[4], &int).unwrap();
    vec![
        (int, true),
        (Datatype::contiguous(5, &Datatype::SHORT).unwrap(), true),
        (vector, false),
        (far, false),
        (column.unwrap(), false),
        (back, false),
        (backwards, false),
        (long, false),
        (shifted, false),
        (Datatype::DOUBLE_INT, false),
        (Datatype::resized(-16, 32, &Datatype::CHAR).unwrap(), false),
        (Datatype::resized(0, 0, &Datatype::CHAR).unwrap(), false),
    ]
}

/// In the order of the operands, on the true layout, in chunks of any length, and never on none.
///
/// spec: 80, 82
#[test]
fn functions_see_items_as_they_are() {
    let mut random = Random(1);
    for (datatype, direct) in layouts() {
        let size = datatype.size() as usize;
        for (count, place) in [0, 1, 2, 100, 5000].into_iter().zip(PLACES.into_iter().cycle()) {
            let count = if size > 1000 { count.min(5) } else { count };
            for place in [place, PLACES[(place as usize + 1) % 3], PLACES[(place as usize + 2) % 3]]
            {
                let seen = Arc::new(Mutex::new(Vec::new()));
                let notes = seen.clone();
                let op = recording(move |it| notes.lock().unwrap().push(it));
                let mut some = || (0..count * size).map(|_| random.next() as u8).collect();
                let (left, right): (Vec<u8>, Vec<u8>) = (some(), some());
                let expected: Vec<u8> =
                    left.iter().zip(&right).map(|(left, right)| left << 4 | right & 15).collect();
                let (kernel, unit) = kernel_for(&op, &datatype).unwrap();
                assert_eq!(unit.bytes, size);
                let found = combined(&*kernel, size, &left, &right, place);
                assert!(found == expected, "{count} of {datatype:?}, result {place:?}");
                let seen = seen.lock().unwrap();
                assert!(seen.iter().all(|it| it.items > 0), "{seen:?}");
                assert_eq!(seen.iter().map(|it| it.items).sum::<usize>(), count);
                assert!(seen.iter().all(|it| it.misaligned == 0), "{seen:?}");
                if direct && place != OutputAlias::Left {
                    assert_eq!(seen.len(), usize::from(count > 0), "one call is enough");
                }
            }
        }
    }
}

/// Items that would share memory are laid out one by one.
#[test]
fn items_without_extent_do_not_meet() {
    let datatype = Datatype::resized(0, 0, &Datatype::CHAR).unwrap();
    let most = Arc::new(Mutex::new(0));
    let note = most.clone();
    let op = appending(move |items| {
        let mut most = note.lock().unwrap();
        *most = items.max(*most);
    });
    let (kernel, _) = kernel_for(&op, &datatype).unwrap();
    combined(&*kernel, 1, &[1, 2, 3], &[4, 5, 6], OutputAlias::Apart);
    assert_eq!(*most.lock().unwrap(), 1);
}

/// A function that has panicked once can be called again.
#[test]
fn a_panic_leaves_the_kernel_usable() {
    let bad = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let flag = bad.clone();
    let op = appending(move |_| {
        assert!(!flag.swap(false, std::sync::atomic::Ordering::Relaxed), "the first call");
    });
    let datatype = Datatype::vector(2, 1, 2, &Datatype::CHAR).unwrap();
    let (kernel, _) = kernel_for(&op, &datatype).unwrap();
    let run = || combined(&*kernel, 2, &[1, 2], &[3, 4], OutputAlias::Left);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    assert_eq!(run(), [0x13, 0x24]);
}
