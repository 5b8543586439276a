//! Opens the endpoints of a rank, and exchanges their addresses with all ranks.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use crate::layout::Layout;
use crate::net::dlopen::Library;
use crate::net::failure_detector;
use crate::net::fi_endpoint::{FiEndpoint, Registration, RmaRegion};
use crate::net::provider::{self, PROVIDER};
use crate::net::world_tag;
use crate::setting::{self, SWITCH};
use crate::{Error, RegionMut, Result, SharedSegment};

/// Messages that can arrive between two polls of a rank.
pub(in crate::net) const BUFFERS: usize = 128;
/// The variable that permits ranks on different hosts to write into each other's memory.
pub const REMOTE_WRITES: &str = "MOTET_REMOTE_WRITES";

/// Reads that variable.
///
/// # Errors
/// [`Error::Setting`] if it is neither `on` nor `off`.
pub fn remote_writes() -> Result<bool> {
    Ok(setting::variable(REMOTE_WRITES, |text| SWITCH.parse(text))?.unwrap_or(true))
}

/// The hosts of the ranks, and how ranks may communicate.
#[derive(Clone, Copy, Debug)]
pub struct NetworkScope<'a> {
    /// The host of each rank.
    pub hosts: &'a [usize],
    /// Whether the loopback of this host does not reach all of them.
    pub leaves_host: bool,
    /// Whether ranks may write into each other's memory, if the network supports it. With `None`
    /// [`REMOTE_WRITES`] decides.
    pub writes: Option<bool>,
}

/// The endpoints of a rank, and what it publishes about them.
pub(super) struct FiEndpoints {
    pub(super) main: FiEndpoint,
    pub(super) control: FiEndpoint,
    addresses: [Vec<u8>; 2],
    /// The segment with the rings to and from ranks on other hosts, and the window into which
    /// others write.
    pub(super) segment: SharedSegment,
    pub(super) window: Registration,
    published: Option<RmaRegion>,
    /// Random bits that name the world if this is its first rank.
    salt: u64,
    /// The name of the provider.
    pub(super) text: String,
}

impl FiEndpoints {
    /// Opens endpoints with the best provider. A link to other hosts may be down for as long as the
    /// peer timeout.
    pub(super) fn open(reach: NetworkScope<'_>) -> Result<FiEndpoints> {
        let library = Library::open()?;
        let named = provider::named_provider()?;
        let mut choice = if reach.leaves_host {
            provider::choose_beyond(&library, named.as_deref(), failure_detector::peer_timeout()?)?
        } else {
            provider::choose(&library, named.as_deref())?
        };
        let mut control = FiEndpoint::open(&library, &choice, true, 0)?;
        if reach.writes.map_or_else(remote_writes, Ok)? {
            choice = choice.with_writes(&library)?;
        }
        let segment = SharedSegment::private_as(Layout::elsewhere(reach.hosts.len(), BUFFERS)?)?;
        let layout = segment.layout();
        let written = reach.hosts.len() * layout.lane_at(0, false).cells;
        let mut main = FiEndpoint::open(&library, &choice, false, written)?;
        let addresses = [main.address()?, control.address()?];
        let lanes = layout.lanes();
        let lanes = RegionMut::new(segment.at(lanes.start).as_ptr(), lanes.len());
        let opened = main.writes().then(|| {
            // SAFETY: the mapping stays as long as the network, whose endpoint is closed before. A
            // cell is read when its stamp is there, which is not written by others.
            unsafe { main.open_window(lanes) }
        });
        // If that much memory may not be registered, cells travel as messages.
        let (window, published) = match opened {
            Some(Ok((registration, window))) => (registration, Some(window)),
            Some(Err(_)) | None => (Registration::NONE, None),
        };
        Ok(FiEndpoints {
            main,
            control,
            addresses,
            segment,
            window,
            published,
            salt: world_tag::random_bits(),
            text: choice.offer.provider,
        })
    }

    /// Closes all that has been opened: the world does not start.
    pub(super) fn give_up(mut self) {
        self.main.forget(self.window);
    }

    /// Joins the world that consists of the ranks with these addresses.
    pub(super) fn join_world(&mut self, cards: &[PeerAddress]) {
        let tag_bits = cards.iter().map(|card| card.tag_bits).min().unwrap_or(0);
        let salt = cards.first().map_or(0, |card| card.salt);
        let world = world_tag::of_world(salt, tag_bits);
        self.main.join_world(world);
        self.control.join_world(world);
    }

    /// The bytes that the rank publishes.
    pub(super) fn card(&self) -> Vec<u8> {
        let [main, control] = &self.addresses;
        let window = self.published.map(RmaRegion::to_bytes);
        let window = window.as_ref().map_or(&[][..], |bytes| bytes);
        let mut card = [self.text.as_bytes(), b"\n"].concat();
        let tag_bits = self.main.tag_bits().min(self.control.tag_bits()).to_le_bytes();
        let salt = self.salt.to_le_bytes();
        for part in [main, control, window, &salt, &tag_bits] {
            card.extend((part.len() as u16).to_le_bytes());
            card.extend(part);
        }
        card
    }
}

/// The error of a rank without endpoints, the same on all ranks.
pub(super) fn refusal(rank: usize, why: &dyn std::fmt::Display) -> Error {
    Error::Network(format!("rank {rank}: {why}"))
}

/// What a rank publishes about its endpoints: the name of its provider, a newline, and each part
/// with its length before it.
#[derive(Debug)]
pub(super) struct PeerAddress {
    /// The addresses of its two endpoints.
    pub(super) addresses: [Vec<u8>; 2],
    /// The region into which it permits remote writes, if it does.
    pub(super) window: Option<RmaRegion>,
    /// Random bits, which name the world if it is the first rank.
    salt: u64,
    /// How many bits of a tag its provider carries.
    tag_bits: u32,
}

impl PeerAddress {
    /// Reads what a rank has published, in a rank whose provider is `own`.
    pub(super) fn read(own: &str, rank: usize, card: &[u8]) -> Result<PeerAddress> {
        if let Some(error) = card.strip_prefix(b"!") {
            return Err(refusal(rank, &String::from_utf8_lossy(error)));
        }
        let end = card.iter().position(|&byte| byte == b'\n').unwrap_or(card.len());
        let theirs = String::from_utf8_lossy(&card[..end]);
        if theirs != own {
            return Err(Error::Network(format!(
                "rank {rank} would use {theirs} between hosts, and this rank {own}: name one that \
                 all hosts have in {PROVIDER}"
            )));
        }
        let read = |rest| {
            let (main, rest) = part(rest)?;
            let (control, rest) = part(rest)?;
            let (window, rest) = part(rest)?;
            let (salt, rest) = part(rest)?;
            let (tag_bits, _) = part(rest)?;
            Some(PeerAddress {
                addresses: [main.to_vec(), control.to_vec()],
                window: RmaRegion::from_bytes(window),
                salt: u64::from_le_bytes(salt.try_into().ok()?),
                tag_bits: u32::from_le_bytes(tag_bits.try_into().ok()?),
            })
        };
        let card = card.get(end + 1..).and_then(read);
        card.ok_or_else(|| Error::Network(format!("rank {rank} has published no address")))
    }
}

/// The part with its length before it, and the rest.
fn part(card: &[u8]) -> Option<(&[u8], &[u8])> {
    let (bytes, rest) = card.split_first_chunk()?;
    rest.split_at_checked(u16::from_le_bytes(*bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_must_agree() {
        let name = b"\x08\0\x05\0\0\0\0\0\0\0\x04\0\x30\0\0\0".as_slice();
        let card = [b"tcp\n\x03\0abc\x02\0d\n\0\0".as_slice(), name].concat();
        let card = PeerAddress::read("tcp", 1, &card).unwrap();
        assert_eq!(card.addresses, [b"abc".to_vec(), b"d\n".to_vec()]);
        assert_eq!((card.window, card.salt, card.tag_bits), (None, 5, 48));
        let window = RmaRegion::from_bytes(&[7; 16]).unwrap();
        let card = [b"tcp\n\0\0\0\0\x10\0".as_slice(), &window.to_bytes(), name].concat();
        assert_eq!(PeerAddress::read("tcp", 1, &card).unwrap().window, Some(window));
        let text = |card| PeerAddress::read("tcp", 1, card).unwrap_err().to_string();
        assert!(text(b"tcp\n\x03\0ab").contains("has published no address"));
        assert!(text(b"verbs\nabc").contains("rank 1 would use verbs"));
        assert!(text(b"!no library").contains("rank 1: no library"));
    }
}
