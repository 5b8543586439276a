//! Local reductions (MPI 4.1, 6.9.7).

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::biased_lock::exclude;

use crate::data::kernel::{Kernel, Temporary, Unit, kernel, kernel_for};
use crate::data::op::{Op, Operator};
use crate::types::datatype::{Datatype, Layout};
use crate::{Element, ErrorKind, Result};

/// `inout[i] = input[i] ∘ inout[i]`, without any communication (`MPI_Reduce_local`, MPI 4.1
/// §6.9.7).
///
/// # Errors
/// [`ErrorKind::Length`] if the two are not of one length.
///
/// ```
/// let mut inout = [10, 20];
/// motet::reduce_local(&[1, 2], &mut inout, motet::op::ordered(|left, right| left - right))?;
/// assert_eq!(inout, [-9, -18]);
/// # Ok::<(), motet::Error>(())
/// ```
pub fn reduce_local<T: Element>(
    input: &[T],
    inout: &mut [T],
    operator: impl Operator<T>,
) -> Result<()> {
    if input.len() != inout.len() {
        let needed = format!("the input has {}", input.len());
        return Err(ErrorKind::Length { which: "inout", len: inout.len(), needed }.into());
    }
    let (right, count) = (inout.as_mut_ptr().cast::<u8>(), inout.len());
    let kernel = kernel(operator);
    // SAFETY: two slices of one length, of the kernel's type; the result goes to the right one.
    unsafe { kernel.reduce(input.as_ptr().cast(), right, right, count) };
    Ok(())
}

/// Bytes of the stream that are combined at once if items have gaps.
const CHUNK: usize = 8 << 10;

impl Op {
    /// `inout[i] = input[i] ∘ inout[i]` for so many items of a datatype, without any communication
    /// (`MPI_Reduce_local`, MPI 4.1 §6.9.7). A function of the user is called once, with these
    /// arguments; nothing is called for no items.
    ///
    /// # Errors
    /// [`ErrorKind::Op`] if the operator is not defined for the datatype;
    /// [`ErrorKind::Exception`] if its function has thrown.
    ///
    /// # Safety
    /// All data of `count` items at `input` can be read and at `inout` be written, nobody else uses
    /// it meanwhile, and no data of the one lies in that of the other. For displacements that are
    /// absolute addresses, `input` and `inout` come from [`std::ptr::with_exposed_provenance`].
    pub unsafe fn reduce_local(
        &self,
        input: *const u8,
        inout: *mut u8,
        count: usize,
        datatype: &Datatype,
    ) -> Result<()> {
        if let Some(function) = self.function() {
            if count > 0 {
                let _kept_out = exclude(); // as in all other reductions
                function.call(input, inout, count, datatype).map_err(ErrorKind::of_operator)?;
            }
            return Ok(());
        }
        let (kernel, unit) = kernel_for(self, datatype)?;
        let layout = datatype.commit();
        if let Some(piece) = layout.contiguous(count as u64) {
            if piece.len == 0 {
                return Ok(()); // Of nothing, the addresses may be null.
            }
            let (left, right) = (at(input, piece.at), at(inout, piece.at).cast_mut());
            if left.addr() % unit.alignment == 0 && right.addr() % unit.alignment == 0 {
                // SAFETY: the data of all items is one run of aligned elements.
                unsafe { kernel.reduce(left, right, right, piece.len as usize / unit.bytes) };
                return Ok(());
            }
        }
        // SAFETY: passed on.
        unsafe { by_chunks(&*kernel, unit, &layout, (input, inout, count)) };
        Ok(())
    }
}

fn at(memory: *const u8, displacement: i64) -> *const u8 {
    memory.wrapping_offset(displacement as isize)
}

/// Combines the streams of `count` items, one chunk at a time.
///
/// # Safety
/// As [`Op::reduce_local`]; the kernel is for the stream of the layout.
unsafe fn by_chunks(
    kernel: &dyn Kernel,
    unit: Unit,
    layout: &Layout,
    (input, inout, count): (*const u8, *mut u8, usize),
) {
    let chunk = (CHUNK / unit.bytes).max(1) * unit.bytes;
    let [mut first, mut second] =
        [(); 2].map(|()| Temporary::new(0, chunk as i128, unit.bytes as i64));
    let (left, right) = (first.start(), second.start());
    let (count, mut position) = (count as u64, 0);
    loop {
        // SAFETY: the data of the items, to a temporary that has room for a chunk.
        let bytes = unsafe { layout.pack_raw(input, count, position, left, chunk) };
        if bytes == 0 {
            return;
        }
        // SAFETY: as above.
        unsafe { layout.pack_raw(inout, count, position, right, chunk) };
        // SAFETY: whole elements of the stream, since items are whole numbers of them; aligned,
        // since temporaries are, and chunks consist of elements.
        unsafe { kernel.reduce(left, right, right, bytes / unit.bytes) };
        // SAFETY: as above, the other way.
        unsafe { layout.unpack_raw(inout, count, position, right, bytes) };
        position += bytes as u64;
    }
}
