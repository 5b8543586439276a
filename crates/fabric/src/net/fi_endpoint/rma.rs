//! Remote writes: a registered region into which peers write without a receive. The data of a write
//! is in place when its immediate data is found in the completion queue, and not before.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::{Access, Begun, Context, FiEndpoint, Registration, Target, begun};
use crate::{Region, RegionMut, Result};

/// Memory of another endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::net) struct RmaRegion {
    start: u64,
    key: u64,
}

impl RmaRegion {
    /// The bytes in which a rank publishes the region.
    pub(in crate::net) fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.start.to_le_bytes());
        bytes[8..].copy_from_slice(&self.key.to_le_bytes());
        bytes
    }

    /// The region in published bytes.
    pub(in crate::net) fn from_bytes(bytes: &[u8]) -> Option<RmaRegion> {
        let (start, key) = bytes.split_first_chunk::<8>()?;
        let key = key.try_into().ok()?;
        Some(RmaRegion { start: u64::from_le_bytes(*start), key: u64::from_le_bytes(key) })
    }
}

/// The destination of a write: an offset in a window.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct RemoteAddr {
    pub(in crate::net) target: Target,
    pub(in crate::net) window: RmaRegion,
    pub(in crate::net) offset: usize,
}

impl RemoteAddr {
    fn address(&self) -> u64 {
        self.window.start + self.offset as u64
    }
}

impl FiEndpoint {
    /// Whether the endpoint can write into windows of other endpoints, and they into its own.
    pub(in crate::net) fn writes(&self) -> bool {
        self.writes
    }

    /// Permits other endpoints to write into this memory at any time.
    ///
    /// # Safety
    /// The memory stays until the registration has been ended by [`FiEndpoint::forget`], or the
    /// endpoint closed. Whoever reads it does so only where an event has told that it was written.
    pub(in crate::net) unsafe fn open_window(
        &mut self,
        memory: RegionMut,
    ) -> Result<(Registration, RmaRegion)> {
        // SAFETY: passed on.
        let registration = unsafe { self.register(memory.as_region(), Access::Writes)? };
        // SAFETY: it has just been opened.
        let key = unsafe { &*registration.memory }.key;
        let start = if self.has_addresses { memory.start().expose_provenance() as u64 } else { 0 };
        Ok((registration, RmaRegion { start, key }))
    }

    /// Writes bytes that are copied now, and delivers immediate data when they are in place. No
    /// event reports the completion here.
    pub(in crate::net) fn inject_write(
        &mut self,
        spot: RemoteAddr,
        word: u32,
        data: &[u8],
    ) -> Begun {
        debug_assert!(data.len() <= self.inject);
        let inject = self.of_endpoint().rma.and_then(|remote| remote.injectdata);
        let inject = inject.expect("endpoints that write inject");
        let (start, bytes, to) = (data.as_ptr().cast(), data.len(), spot.target.0);
        let (address, key, endpoint) = (spot.address(), spot.window.key, self.endpoint);
        // SAFETY: the endpoint is open; the data is copied before the call returns.
        begun(unsafe { inject(endpoint, start, bytes, word.into(), to, address, key) })
    }

    /// As `inject_write`, but without a copy: if the write has begun, an event reports here when
    /// the memory of the data is free again.
    ///
    /// # Safety
    /// Until then, or until the endpoint has closed, data and context stay where they are, the data
    /// unchanged.
    pub(in crate::net) unsafe fn write(
        &mut self,
        spot: RemoteAddr,
        word: u32,
        data: Region,
        registration: &Registration,
        context: *mut Context,
    ) -> Begun {
        let write = self.of_endpoint().rma.and_then(|remote| remote.writedata);
        let write = write.expect("endpoints that write do so");
        let (start, bytes, handle) = (data.start().cast(), data.bytes(), registration.handle);
        let (to, address, key) = (spot.target.0, spot.address(), spot.window.key);
        let (endpoint, word, context) = (self.endpoint, word.into(), context.cast());
        // SAFETY: the endpoint is open; the rest is promised.
        begun(unsafe { write(endpoint, start, bytes, handle, word, to, address, key, context) })
    }
}
