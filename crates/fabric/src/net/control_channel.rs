//! Control channel: heartbeats and notices of death between failure detectors, over an endpoint of
//! their own.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::time::Duration;

use super::fi_endpoint::{Access, Begun, Context, Event, FiEndpoint, Registration, Target, WaitFd};
use crate::{Peer, RegionMut, Result};

/// Bytes of a word on the network.
const BYTES: usize = 32;
/// Words that can arrive before the failure detector reads them.
const BUFFERS: usize = 64;
/// The tag of a word is the rank of its sender.
const ANY: u64 = u32::MAX as u64;

/// A message between failure detectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControlMessage {
    /// Asks for a heartbeat.
    Ask,
    /// Answers: how often the rank has polled the network, how many cells it has for the rank that
    /// asks, and how many have arrived from there.
    Answer { polls: u64, offered: u64, arrived: u64 },
    /// Reports that the world has failed, and how.
    Death { failure: u64 },
}

impl ControlMessage {
    fn write(self) -> [u8; BYTES] {
        let words = match self {
            ControlMessage::Ask => [1, 0, 0, 0],
            ControlMessage::Answer { polls, offered, arrived } => [2, polls, offered, arrived],
            ControlMessage::Death { failure } => [3, failure, 0, 0],
        };
        let mut bytes = [0; BYTES];
        for (into, word) in bytes.chunks_exact_mut(8).zip(words) {
            into.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn read(bytes: &[u8]) -> Option<ControlMessage> {
        let word = |at: usize| {
            let bytes = bytes.get(8 * at..8 * at + 8)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        Some(match word(0)? {
            1 => ControlMessage::Ask,
            2 => ControlMessage::Answer { polls: word(1)?, offered: word(2)?, arrived: word(3)? },
            3 => ControlMessage::Death { failure: word(1)? },
            _ => return None,
        })
    }
}

/// The endpoint of a failure detector.
pub(super) struct ControlChannel {
    ep: FiEndpoint,
    me: Peer,
    addresses: Vec<Vec<u8>>,
    targets: Vec<Option<Target>>,
    /// The memory of the buffers.
    memory: *mut [u8],
    registration: Registration,
    contexts: Box<[Context]>,
    unposted: Vec<usize>,
    events: Vec<Event>,
}

// SAFETY: one thread has it, with the memory.
unsafe impl Send for ControlChannel {}

impl ControlChannel {
    /// Creates a channel over an open endpoint, to the ranks with these addresses.
    ///
    /// # Errors
    /// The error of the provider, which may not register the memory.
    pub(super) fn new(ep: FiEndpoint, me: Peer, addresses: Vec<Vec<u8>>) -> Result<ControlChannel> {
        let mut post = ControlChannel {
            ep,
            me,
            targets: vec![None; addresses.len()],
            addresses,
            memory: Box::into_raw(vec![0_u8; BUFFERS * BYTES].into_boxed_slice()),
            registration: Registration::NONE,
            contexts: (0..BUFFERS).map(|buffer| Context::new(buffer as u64)).collect(),
            unposted: (0..BUFFERS).collect(),
            events: Vec::new(),
        };
        let memory = RegionMut::new(post.memory.cast(), BUFFERS * BYTES);
        // SAFETY: `Drop` frees the memory, after it has closed the endpoint.
        post.registration = unsafe { post.ep.register(memory.as_region(), Access::Both)? };
        post.post_buffers();
        Ok(post)
    }

    /// The file descriptor by which another thread ends [`ControlChannel::collect`].
    pub(super) fn wait_fd(&self) -> WaitFd {
        self.ep.wait_fd()
    }

    fn buffer(&self, buffer: usize) -> RegionMut {
        RegionMut::new(self.memory.cast(), BUFFERS * BYTES).part(buffer * BYTES, BYTES)
    }

    fn post_buffers(&mut self) {
        while let Some(buffer) = self.unposted.pop() {
            let into = self.buffer(buffer);
            let context: *mut Context = &mut self.contexts[buffer];
            // SAFETY: buffers and contexts stay where they are until the endpoint is closed, and
            // nobody looks at them until the event.
            let begun = unsafe { self.ep.receive(0, ANY, into, &self.registration, context) };
            if begun != Begun::Yes {
                return self.unposted.push(buffer);
            }
        }
    }

    /// Sends a message. `false` if that is not possible now.
    pub(super) fn send(&mut self, to: Peer, word: ControlMessage) -> bool {
        let target = match self.targets[to.index()] {
            Some(target) => target,
            None => {
                let Ok(target) = self.ep.insert_address(&self.addresses[to.index()]) else {
                    return false;
                };
                *self.targets[to.index()].insert(target)
            }
        };
        self.ep.inject(target, u64::from(self.me.0), &word.write()) == Begun::Yes
    }

    /// The messages that have arrived, or that arrive within this time: the first one ends the
    /// wait.
    pub(super) fn collect(&mut self, time: Duration) -> Vec<(Peer, ControlMessage)> {
        let mut events = std::mem::take(&mut self.events);
        if time.is_zero() {
            self.ep.poll(&mut events);
        } else {
            self.ep.wait(time, &mut events);
        }
        let mut words = Vec::new();
        for event in events.drain(..) {
            let buffer = event.name as usize;
            self.unposted.push(buffer);
            let bytes = self.buffer(buffer);
            if event.error == 0 && event.bytes == BYTES {
                // SAFETY: so many bytes have come into the buffer, which is not posted now.
                let bytes = unsafe { std::slice::from_raw_parts(bytes.start(), BYTES) };
                let word = ControlMessage::read(bytes).map(|word| (Peer(event.tag as u32), word));
                words.extend(word);
            }
        }
        self.events = events;
        self.post_buffers();
        words
    }
}

impl Drop for ControlChannel {
    fn drop(&mut self) {
        self.ep.forget(std::mem::replace(&mut self.registration, Registration::NONE));
        self.ep.close();
        // SAFETY: made by `new` from a box; the endpoint, which alone used it, is closed.
        drop(unsafe { Box::from_raw(self.memory) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        let answer = ControlMessage::Answer { polls: 1, offered: u64::MAX, arrived: 3 };
        for word in [ControlMessage::Ask, answer, ControlMessage::Death { failure: 77 }] {
            assert_eq!(ControlMessage::read(&word.write()), Some(word));
        }
        assert_eq!(ControlMessage::read(&[0; BYTES]), None);
        assert_eq!(ControlMessage::read(&[1, 0]), None);
    }
}
