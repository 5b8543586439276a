//! Numbers on the command line: `64`, `4K`, `1M`, `2G`, where `K` is 1024.

use motet_fabric::layout::MAX_RANKS;
use motet_fabric::setting::Number;

/// The ranks of a world on one machine.
pub(crate) const ON_ONE_MACHINE: Number =
    Number::new("a number of ranks").at_least(1).at_most(MAX_RANKS as u64);
/// The cores that ranks share.
pub(crate) const CORES: Number = Number::new("a number of cores").at_least(1);
/// A rank of a world.
pub(crate) const RANK: Number = Number::new("a rank");

/// Parses the number of ranks of a job, some of which may be meant for other machines.
pub(crate) fn ranks(text: &str) -> Result<usize, String> {
    let parsed = Number::new("a number of ranks").at_least(1).parse(text);
    parsed.map_err(|expected| format!("{expected}; one machine runs at most {MAX_RANKS}"))
}

/// A parser of the command line for a number.
pub(crate) fn number<T>(
    allowed: Number,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: TryFrom<u64>,
{
    move |text: &str| allowed.parse(text)
}

/// A parser of the command line for a number that may have a unit.
pub(crate) fn sized(
    allowed: Number,
) -> impl Fn(&str) -> Result<usize, String> + Clone + Send + Sync + 'static {
    move |text: &str| {
        let sized = allowed.check(with_unit(text));
        sized.map_err(|expected| format!("{expected}, such as 64, 4K or 1M"))
    }
}

/// Parses a number with an optional unit.
fn with_unit(text: &str) -> Option<u64> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1 << 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 1 << 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Formats a number of bytes in the largest unit that leaves a whole number.
pub(crate) fn bytes(bytes: usize) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let fits = |unit: usize| bytes >= unit && bytes.is_multiple_of(unit);
    match units.into_iter().find(|&(unit, _)| fits(unit)) {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

/// `1 rank`, `2 ranks`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1024() {
        for (text, number) in [("0", 0), ("64", 64), ("4K", 4096), ("1m", 1 << 20)] {
            assert_eq!(with_unit(text), Some(number));
        }
        for text in ["", "K", "-1", "1.5K", "1KB", "99999999999999999999", "99999999999G", "é"] {
            assert_eq!(with_unit(text), None, "{text}");
        }
        let count = sized(Number::new("a number of elements").at_least(1));
        let expected = "expected a number of elements (1 or more), such as 64, 4K or 1M";
        assert_eq!((count("0"), count("4K")), (Err(expected.to_owned()), Ok(4096)));
    }

    #[test]
    fn sizes_are_whole() {
        let cases = [(0, "0 B"), (1000, "1000 B"), (4096, "4 KiB"), (1536, "1536 B")];
        for (number, text) in cases {
            assert_eq!(bytes(number), text);
        }
        assert_eq!(bytes(1 << 20), "1 MiB");
    }
}
