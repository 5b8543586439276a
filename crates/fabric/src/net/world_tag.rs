//! World tag: random bits in the tag of every message that name the world. A late message that
//! reaches an endpoint of another world, at a reused address, matches no receive there. Protocol:
//! `README.md`, "Other worlds".

use std::hash::{BuildHasher, Hasher, RandomState};
use std::process;
use std::time::SystemTime;

/// The bits of a tag from this one on name the world, as far as the provider carries them.
const WORLD_AT: u32 = 36;

/// The bits that name a world in its tags, from random bits, where tags have `tag_bits` bits.
pub(super) fn of_world(salt: u64, tag_bits: u32) -> u64 {
    let carried = u64::MAX.checked_shr(u64::BITS - tag_bits.min(u64::BITS)).unwrap_or(0);
    (salt << WORLD_AT) & carried
}

/// A tag without the bits that name the world.
pub(super) fn without(tag: u64) -> u64 {
    tag & ((1 << WORLD_AT) - 1)
}

/// Bits that differ from call to call, from process to process and from host to host. Nothing
/// secret depends on them.
pub(super) fn random_bits() -> u64 {
    // The standard library takes the keys of a new state from the system, once per thread, and
    // counts on from there. A process that was forked has the keys of its parent, but an id of its
    // own.
    let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |now| now.as_nanos());
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(process::id());
    hasher.write_u128(now);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_world_is_named_in_the_bits_that_the_provider_carries() {
        assert_eq!(of_world(u64::MAX, 64), u64::MAX << WORLD_AT);
        assert_eq!(of_world(u64::MAX, 48), 0xfff << WORLD_AT);
        assert_eq!(of_world(0xabc, 64), 0xabc << WORLD_AT);
        for tag_bits in [0, 1, WORLD_AT] {
            assert_eq!(of_world(u64::MAX, tag_bits), 0, "{tag_bits} bits");
        }
        assert_eq!(without(of_world(u64::MAX, 64) | 5), 5);
    }

    #[test]
    fn no_two_calls_return_the_same_bits() {
        let seen: HashSet<_> = (0..1000).map(|_| random_bits()).collect();
        assert_eq!(seen.len(), 1000);
    }
}
