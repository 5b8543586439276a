//! Numbers on the command line: `64`, `4K`, `1M`, `2G`, where `K` is 1024.

/// Parses a number with an optional unit.
pub(crate) fn parse(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1 << 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 1 << 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    let number: Option<usize> = digits.parse().ok();
    let number = number.and_then(|number| number.checked_mul(unit));
    number.ok_or_else(|| "not a number such as 64, 4K or 1M".to_owned())
}

/// Parses a number that is not 0.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    match parse(text)? {
        0 => Err("must be at least 1".to_owned()),
        number => Ok(number),
    }
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
            assert_eq!(parse(text), Ok(number));
        }
        for text in ["", "K", "-1", "1.5K", "1KB", "99999999999999999999", "99999999999G", "é"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(positive("0").is_err());
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
