//! Reads a symmetric positive definite matrix from a Matrix Market coordinate file.
//!
//! Everything that can be wrong with such a file is an error with the number of its line. An
//! entry that stands there twice is an error too, and so are the two mirrored entries of a
//! file that calls itself symmetric: to add them up would hide a mistake.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::csr::Csr;

/// How far two mirrored entries may differ, relative to their size: a rounding error or two.
const SYMMETRY_TOLERANCE: f64 = 1e-12;

/// What the first line says.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Header {
    integer: bool,
    symmetric: bool,
}

/// What the first line after header and comments says.
#[derive(Clone, Copy, Debug)]
struct Size {
    rows: u32,
    entries: usize,
    line: usize,
}

/// One entry, rows and columns counted from 0, and the line it was read from.
#[derive(Clone, Copy, Debug)]
struct Entry {
    row: u32,
    column: u32,
    value: f64,
    line: usize,
}

impl Entry {
    fn mirrored(self) -> Self {
        Self { row: self.column, column: self.row, ..self }
    }

    fn place(&self) -> (u32, u32) {
        (self.row, self.column)
    }

    /// As the file writes it, counted from 1.
    fn shown(&self) -> String {
        format!("({}, {})", self.row + 1, self.column + 1)
    }
}

/// Reads the matrix in a file.
pub(crate) fn read(path: &Path) -> Result<Csr> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    // Old files have comments in old encodings.
    parse(&String::from_utf8_lossy(&bytes)).with_context(|| path.display().to_string())
}

/// Reads the matrix in a text.
///
/// What is allocated depends on the length of the text only, never on the sizes it claims.
fn parse(text: &str) -> Result<Csr> {
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let (_, first) = lines.next().unwrap_or_default();
    let header = parse_header(first).context("line 1")?;
    let mut data = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('%'));
    let (line, sizes) = data.next().with_context(|| {
        let last = text.lines().count().max(1);
        format!("line {last}: the file ends before the line of its sizes")
    })?;
    let size = parse_size(sizes, line).with_context(|| at(line))?;
    let mut entries = parse_entries(data, header, size)?;
    if header.symmetric {
        let below_or_above = |entry: &&Entry| entry.row != entry.column;
        let mirrored: Vec<_> =
            entries.iter().filter(below_or_above).map(|entry| entry.mirrored()).collect();
        entries.extend(mirrored);
    }
    entries.sort_unstable_by_key(|entry| (entry.place(), entry.line));
    check_unique(&entries)?;
    check_diagonal(&entries, size.rows)?;
    check_symmetry(&entries)?;
    Ok(compress(&entries))
}

fn at(line: usize) -> String {
    format!("line {line}")
}

fn parse_header(line: &str) -> Result<Header> {
    let words: Vec<_> = line.split_whitespace().map(str::to_ascii_lowercase).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let ["%%matrixmarket", object, format, field, symmetry] = words[..] else {
        bail!("not a Matrix Market header: `%%MatrixMarket matrix coordinate FIELD SYMMETRY`");
    };
    ensure!(object == "matrix", "object {} instead of matrix", quoted(object));
    ensure!(format == "coordinate", "format {} instead of coordinate", quoted(format));
    let integer = match field {
        "real" => false,
        "integer" => true,
        _ => bail!("field {} instead of real or integer", quoted(field)),
    };
    let symmetric = match symmetry {
        "general" => false,
        "symmetric" => true,
        _ => bail!("symmetry {} instead of general or symmetric", quoted(symmetry)),
    };
    Ok(Header { integer, symmetric })
}

fn parse_size(text: &str, line: usize) -> Result<Size> {
    let [rows, columns, entries] = words(text, "rows, columns, entries")?;
    let (rows, columns) = (parse_number::<u64>(rows)?, parse_number::<u64>(columns)?);
    ensure!(rows == columns, "not square: {rows} rows, {columns} columns");
    ensure!(rows > 0, "no rows");
    let rows = rows.try_into().map_err(|_| anyhow!("{rows} rows, more than {}", u32::MAX))?;
    Ok(Size { rows, entries: parse_number(entries)?, line })
}

/// Reads all entries and sees that there are as many as the file claims.
fn parse_entries<'t>(
    data: impl Iterator<Item = (usize, &'t str)>,
    header: Header,
    size: Size,
) -> Result<Vec<Entry>> {
    let claim = format!("the {} entries of line {}", size.entries, size.line);
    let mut entries = Vec::new();
    for (line, text) in data {
        ensure!(entries.len() < size.entries, "line {line}: more than {claim}");
        entries.push(parse_entry(text, line, header, size.rows).with_context(|| at(line))?);
    }
    let last = entries.last().map_or(size.line, |entry| entry.line);
    let found = entries.len();
    ensure!(found == size.entries, "line {last}: only {found} of {claim}");
    Ok(entries)
}

fn parse_entry(text: &str, line: usize, header: Header, rows: u32) -> Result<Entry> {
    let [row, column, value] = words(text, "row, column, value")?;
    let (row, column) = (parse_index(row, rows)?, parse_index(column, rows)?);
    let value = match header.integer {
        true => parse_number::<i64>(value)? as f64,
        false => parse_number::<f64>(value)?,
    };
    ensure!(value.is_finite(), "the value {value} is not finite");
    Ok(Entry { row, column, value, line })
}

/// A row or column, counted from 1 in the text and from 0 in the result.
fn parse_index(word: &str, rows: u32) -> Result<u32> {
    let index: i64 = parse_number(word)?;
    ensure!((1..=rows.into()).contains(&index), "index {index} is not in 1 to {rows}");
    Ok((index - 1) as u32)
}

fn parse_number<T: std::str::FromStr>(word: &str) -> Result<T> {
    word.parse().map_err(|_| anyhow!("unreadable number {}", quoted(word)))
}

/// The three words of a line.
fn words<'t>(text: &'t str, meaning: &str) -> Result<[&'t str; 3]> {
    let mut words = text.split_whitespace();
    let three = [words.next(), words.next(), words.next()];
    match (three, words.next()) {
        ([Some(first), Some(second), Some(third)], None) => Ok([first, second, third]),
        _ => bail!("three numbers wanted: {meaning}"),
    }
}

/// A word from the file, made fit for a line of an error message.
fn quoted(word: &str) -> String {
    format!("{:?}", word.chars().take(40).collect::<String>())
}

/// Sees that no place has two entries; they are sorted.
fn check_unique(entries: &[Entry]) -> Result<()> {
    match entries.windows(2).find(|pair| pair[0].place() == pair[1].place()) {
        None => Ok(()),
        Some(pair) => bail!(
            "line {}: entry {} is in line {} already",
            pair[1].line,
            pair[1].shown(),
            pair[0].line
        ),
    }
}

/// Sees that the whole diagonal is there and positive; the entries are sorted and unique.
fn check_diagonal(entries: &[Entry], rows: u32) -> Result<()> {
    let mut diagonal = entries.iter().filter(|entry| entry.row == entry.column);
    for row in 0..rows {
        let place = Entry { row, column: row, value: 0.0, line: 0 };
        let Some(entry) = diagonal.next().filter(|entry| entry.row == row) else {
            bail!("not positive definite: no diagonal entry {}", place.shown());
        };
        ensure!(
            entry.value > 0.0,
            "line {}: not positive definite: diagonal entry {} is {}",
            entry.line,
            entry.shown(),
            entry.value
        );
    }
    Ok(())
}

/// Sees that every entry has an equal one on the other side of the diagonal.
fn check_symmetry(entries: &[Entry]) -> Result<()> {
    for entry in entries {
        let mirrored = entry.mirrored();
        let found = entries.binary_search_by_key(&mirrored.place(), Entry::place);
        let other = found.map_or(0.0, |index| entries[index].value);
        let size = entry.value.abs().max(other.abs());
        ensure!(
            (entry.value - other).abs() <= SYMMETRY_TOLERANCE * size,
            "line {}: not symmetric: entry {} is {}, entry {} is {other}",
            entry.line,
            entry.shown(),
            entry.value,
            mirrored.shown()
        );
    }
    Ok(())
}

/// The rows of sorted entries; none is empty, as each has its diagonal.
fn compress(entries: &[Entry]) -> Csr {
    let mut matrix = Csr::new();
    for row in entries.chunk_by(|one, other| one.row == other.row) {
        matrix.push_row(row.iter().map(|entry| (entry.column, entry.value)));
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    const GENERAL: &str = "%%MatrixMarket matrix coordinate real general\n";
    const SYMMETRIC: &str = "%%MatrixMarket matrix coordinate real symmetric\n";

    fn entries(text: &str) -> Vec<Vec<(u32, f64)>> {
        let matrix = parse(text).unwrap();
        (0..matrix.rows()).map(|row| matrix.row(row).collect()).collect()
    }

    fn error(text: &str) -> String {
        format!("{:#}", parse(text).unwrap_err())
    }

    #[test]
    fn a_symmetric_file_is_mirrored() {
        let text = format!("{SYMMETRIC}% remark\n\n2 2 3\n2 1 -1e0\n\n% remark\n 1 1 2 \r\n2 2 3");
        assert_eq!(entries(&text), [[(0, 2.0), (1, -1.0)], [(0, -1.0), (1, 3.0)]]);
    }

    #[test]
    fn a_general_file_may_have_any_order() {
        let text = format!("{GENERAL}2 2 4\n2 2 3\n1 2 .5\n2 1 0.5\n1 1 2\n");
        assert_eq!(entries(&text), [[(0, 2.0), (1, 0.5)], [(0, 0.5), (1, 3.0)]]);
    }

    #[test]
    fn the_header_may_be_written_in_any_case() {
        let text = "%%matrixmarket MATRIX Coordinate INTEGER Symmetric\n1 1 1\n1 1 4\n";
        assert_eq!(entries(text), [[(0, 4.0)]]);
    }

    #[test]
    fn rounding_is_no_lack_of_symmetry() {
        let text = format!("{GENERAL}2 2 4\n1 1 3\n1 2 1\n2 1 1.0000000000000002\n2 2 3\n");
        assert_eq!(entries(&text).len(), 2);
    }

    #[test]
    fn an_explicit_zero_needs_no_mirror() {
        let text = format!("{GENERAL}2 2 3\n1 1 3\n1 2 0\n2 2 3\n");
        assert_eq!(entries(&text).len(), 2);
    }

    #[test]
    fn the_first_line_must_be_a_header_we_can_read() {
        assert!(error("").starts_with("line 1: not a Matrix Market header"));
        assert!(error("1 1 1\n1 1 1\n").starts_with("line 1: not a Matrix Market header"));
        let header = |words: &str| error(&format!("%%MatrixMarket {words}\n1 1 1\n1 1 1\n"));
        assert!(header("vector coordinate real general").contains("object \"vector\""));
        assert!(header("matrix array real general").contains("format \"array\""));
        assert!(header("matrix coordinate pattern general").contains("field \"pattern\""));
        assert!(header("matrix coordinate real hermitian").contains("symmetry \"hermitian\""));
    }

    #[test]
    fn the_size_line_is_checked() {
        assert_eq!(
            error(&format!("{GENERAL}% remark\n")),
            "line 2: the file ends before the line of its sizes"
        );
        assert_eq!(error(&format!("{GENERAL}3 4 1\n")), "line 2: not square: 3 rows, 4 columns");
        assert_eq!(error(&format!("{GENERAL}0 0 0\n")), "line 2: no rows");
        assert_eq!(
            error(&format!("{GENERAL}%\n2 2\n")),
            "line 3: three numbers wanted: rows, columns, entries"
        );
        assert_eq!(error(&format!("{GENERAL}-2 2 1\n")), "line 2: unreadable number \"-2\"");
        assert_eq!(
            error(&format!("{GENERAL}5000000000 5000000000 1\n")),
            "line 2: 5000000000 rows, more than 4294967295"
        );
    }

    #[test]
    fn each_entry_is_checked() {
        let entry = |text: &str| error(&format!("{GENERAL}2 2 2\n1 1 1\n{text}\n"));
        assert_eq!(entry("2 3 1"), "line 4: index 3 is not in 1 to 2");
        assert_eq!(entry("0 2 1"), "line 4: index 0 is not in 1 to 2");
        assert_eq!(entry("2 -1 1"), "line 4: index -1 is not in 1 to 2");
        assert_eq!(entry("2 2 one"), "line 4: unreadable number \"one\"");
        assert_eq!(entry("2 2.0 1"), "line 4: unreadable number \"2.0\"");
        assert_eq!(entry("2 2 nan"), "line 4: the value NaN is not finite");
        assert_eq!(entry("2 2 1e999"), "line 4: the value inf is not finite");
        assert_eq!(entry("2 2"), "line 4: three numbers wanted: row, column, value");
        assert_eq!(entry("2 2 1 0"), "line 4: three numbers wanted: row, column, value");
    }

    #[test]
    fn an_integer_file_has_integers() {
        let text = "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n";
        assert_eq!(error(text), "line 3: unreadable number \"1.5\"");
    }

    #[test]
    fn the_entries_are_counted() {
        assert_eq!(
            error(&format!("{GENERAL}2 2 3\n1 1 1\n2 2 1\n\n")),
            "line 4: only 2 of the 3 entries of line 2"
        );
        assert_eq!(
            error(&format!("{GENERAL}2 2 1\n1 1 1\n2 2 1\n")),
            "line 4: more than the 1 entries of line 2"
        );
    }

    #[test]
    fn no_entry_stands_there_twice() {
        assert_eq!(
            error(&format!("{GENERAL}1 1 2\n1 1 1\n1 1 2\n")),
            "line 4: entry (1, 1) is in line 3 already"
        );
        let text = format!("{SYMMETRIC}2 2 4\n1 1 1\n2 1 0.5\n1 2 0.5\n2 2 1\n");
        assert_eq!(error(&text), "line 5: entry (1, 2) is in line 4 already");
    }

    #[test]
    fn the_matrix_must_be_symmetric() {
        let other = format!("{GENERAL}2 2 4\n1 1 1\n1 2 0.5\n2 1 0.25\n2 2 1\n");
        assert_eq!(
            error(&other),
            "line 4: not symmetric: entry (1, 2) is 0.5, entry (2, 1) is 0.25"
        );
        let missing = format!("{GENERAL}2 2 3\n1 1 1\n2 1 0.5\n2 2 1\n");
        assert_eq!(
            error(&missing),
            "line 4: not symmetric: entry (2, 1) is 0.5, entry (1, 2) is 0"
        );
    }

    #[test]
    fn the_diagonal_must_be_positive() {
        let missing = "not positive definite: no diagonal entry (2, 2)";
        assert_eq!(error(&format!("{GENERAL}2 2 1\n1 1 1\n")), missing);
        assert_eq!(error(&format!("{SYMMETRIC}3 3 2\n1 1 1\n3 3 1\n")), missing);
        let zero = "line 4: not positive definite: diagonal entry (2, 2) is 0";
        assert_eq!(error(&format!("{GENERAL}2 2 2\n1 1 1\n2 2 0\n")), zero);
        let negative = "line 3: not positive definite: diagonal entry (1, 1) is -1";
        assert_eq!(error(&format!("{GENERAL}2 2 2\n1 1 -1\n2 2 1\n")), negative);
    }

    #[test]
    fn huge_claims_allocate_nothing() {
        let text = format!("{SYMMETRIC}4000000000 4000000000 1\n1 1 1\n");
        assert!(error(&text).contains("no diagonal entry (2, 2)"));
        let text = format!("{SYMMETRIC}1 1 18446744073709551615\n1 1 1\n");
        assert!(error(&text).contains("only 1 of the 18446744073709551615 entries"));
    }
}
