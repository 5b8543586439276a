//! Holds buffers until their operation starts.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::StableBuffer;

/// Buffers that are dropped properly if an operation cannot start.
pub(crate) struct GiveBack<B: StableBuffer>(Option<B::Parts>);

impl<B: StableBuffer> GiveBack<B> {
    pub(crate) fn new(buffers: B) -> GiveBack<B> {
        GiveBack(Some(buffers.into_raw()))
    }

    pub(crate) fn get(&self) -> &B::Parts {
        self.0.as_ref().expect("kept until given up")
    }

    /// Hands the buffers to an operation that has started, which decides when they are free.
    pub(crate) fn keep(mut self) -> B::Parts {
        self.0.take().expect("kept until given up")
    }
}

impl<B: StableBuffer> Drop for GiveBack<B> {
    fn drop(&mut self) {
        if let Some(parts) = self.0.take() {
            // SAFETY: no operation has begun with these parts.
            drop(unsafe { B::from_raw(parts) });
        }
    }
}
