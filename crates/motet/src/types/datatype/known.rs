//! Caches the facts and layouts of predefined datatypes: they never change, and every call with
//! data needs them.

use std::sync::OnceLock;

use super::Named;
use super::form::Facts;
use super::layout::Layout;

/// The cached facts of a predefined datatype.
pub(super) struct Known {
    pub(super) facts: OnceLock<Facts>,
    pub(super) layout: OnceLock<Layout>,
}

/// The codes of the standard, and those of Motet.
const CODES: [std::ops::Range<u16>; 2] = [0x200..0x300, 0x1000..0x1010];
const PLACES: usize = 0x110;

/// The cached facts of a datatype; each is worked out at first use.
pub(super) fn of(named: Named) -> &'static Known {
    static ALL: [Known; PLACES] =
        [const { Known { facts: OnceLock::new(), layout: OnceLock::new() } }; PLACES];
    let (code, [standard, ours]) = (named.code(), &CODES);
    let place = match code {
        code if standard.contains(&code) => code - standard.start,
        code => standard.len() as u16 + code - ours.start,
    };
    &ALL[usize::from(place)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_place_of_its_own() {
        let mut places: Vec<_> =
            Named::ALL.iter().map(|&named| std::ptr::from_ref(of(named))).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), Named::ALL.len());
    }
}
