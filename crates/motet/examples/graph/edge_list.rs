//! Reads a graph from a text, in one of two forms.
//!
//! A list of edges has a line `u v` for each edge, with any numbers, and comments after `#` or `%`.
//! A Matrix Market coordinate file has an entry for each edge, whose value is not looked at. In
//! both, everything that is not so is an error with the number of its line.

use std::fs;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Result, anyhow, bail, ensure};

/// Edges between vertices that are numbered from 0.
#[derive(Debug)]
pub(crate) struct EdgeList {
    pub(crate) edges: Vec<[u32; 2]>,
    /// The number of each vertex in the text, ascending.
    pub(crate) names: Vec<u64>,
}

impl EdgeList {
    /// Reads the graph in a file.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        // Old files have comments in old encodings.
        Self::parse(&String::from_utf8_lossy(&bytes)).with_context(|| path.display().to_string())
    }

    /// Reads the graph in a text. What is allocated depends on the length of the text only, never
    /// on the sizes it claims.
    fn parse(text: &str) -> Result<Self> {
        let matrix = text.get(..2).is_some_and(|start| start == "%%");
        let (edges, mut names) = if matrix { parse_matrix(text)? } else { parse_list(text)? };
        ensure!(!edges.is_empty(), "no edges");
        names.extend(edges.iter().flatten());
        names.sort_unstable();
        names.dedup();
        ensure!(u32::try_from(names.len()).is_ok(), "more than {} vertices", u32::MAX);
        let number = |name| names.binary_search(&name).expect("every vertex has a name") as u32;
        let edges = edges.into_iter().map(|edge| edge.map(number)).collect();
        Ok(Self { edges, names })
    }
}

/// Edges between vertices as the text calls them, and vertices that may have no edges.
type Named = (Vec<[u64; 2]>, Vec<u64>);

/// The lines that are no comments, with their numbers.
fn data(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(['#', '%']))
}

fn parse_list(text: &str) -> Result<Named> {
    let edge = |(line, text): (usize, &str)| {
        let edge =
            words(text, "two vertices").and_then(|[from, to]| Ok([number(from)?, number(to)?]));
        edge.with_context(|| format!("line {line}"))
    };
    Ok((data(text).map(edge).collect::<Result<_>>()?, Vec::new()))
}

fn parse_matrix(text: &str) -> Result<Named> {
    let header = text.lines().next().unwrap_or_default().to_ascii_lowercase();
    let per_entry = words_per_entry(&header).context("line 1")?;
    let mut lines = data(text);
    let (at, sizes) =
        lines.next().ok_or_else(|| anyhow!("line 1: the file ends before its sizes"))?;
    let (vertices, entries) = parse_sizes(sizes).with_context(|| format!("line {at}"))?;
    let mut edges = Vec::new();
    let mut last = at;
    for (line, text) in lines {
        ensure!(edges.len() < entries, "line {line}: more than the {entries} entries of line {at}");
        let edge = parse_entry(text, per_entry, vertices);
        edges.push(edge.with_context(|| format!("line {line}"))?);
        last = line;
    }
    let found = edges.len();
    ensure!(found == entries, "line {last}: only {found} of the {entries} entries of line {at}");
    // Vertices without edges count, if there are not more of them than the text is long.
    let named = if vertices <= text.len() as u64 { (1..=vertices).collect() } else { Vec::new() };
    Ok((edges, named))
}

/// How many words an entry has, after the field that the header names.
fn words_per_entry(header: &str) -> Result<usize> {
    let words: Vec<_> = header.split_whitespace().collect();
    let ["%%matrixmarket", "matrix", "coordinate", field, _] = words[..] else {
        bail!("not a Matrix Market header: `%%MatrixMarket matrix coordinate FIELD SYMMETRY`");
    };
    match field {
        "pattern" => Ok(2),
        "real" | "integer" | "double" => Ok(3),
        "complex" => Ok(4),
        _ => bail!("field {field:?} instead of pattern, real, integer or complex"),
    }
}

/// The number of vertices and that of entries.
fn parse_sizes(text: &str) -> Result<(u64, usize)> {
    let [rows, columns, entries] = words(text, "rows, columns, entries")?;
    let (rows, columns) = (number::<u64>(rows)?, number::<u64>(columns)?);
    ensure!(rows == columns, "not square: {rows} rows, {columns} columns");
    Ok((rows, number(entries)?))
}

fn parse_entry(text: &str, words: usize, vertices: u64) -> Result<[u64; 2]> {
    let all: Vec<_> = text.split_whitespace().collect();
    ensure!(all.len() == words, "{words} numbers wanted, {} found", all.len());
    let edge = [number(all[0])?, number(all[1])?];
    for vertex in edge {
        ensure!((1..=vertices).contains(&vertex), "vertex {vertex} is not in 1 to {vertices}");
    }
    Ok(edge)
}

fn words<'t, const N: usize>(text: &'t str, what: &str) -> Result<[&'t str; N]> {
    let words: Vec<_> = text.split_whitespace().collect();
    let found = words.len();
    words.try_into().map_err(|_| anyhow!("{what} wanted, {found} words found"))
}

fn number<T: FromStr>(text: &str) -> Result<T> {
    text.parse().map_err(|_| anyhow!("unreadable number {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, message: &str) {
        let error = format!("{:#}", EdgeList::parse(text).unwrap_err());
        assert!(error.contains(message), "{error}");
    }

    #[test]
    fn vertices_are_numbered_in_their_order() {
        let list = EdgeList::parse("# comment\n10 7\n\n% another\n7\t4000000000000\n").unwrap();
        assert_eq!(list.names, [7, 10, 4_000_000_000_000]);
        assert_eq!(list.edges, [[1, 0], [0, 2]]);
    }

    #[test]
    fn a_matrix_may_have_vertices_without_edges() {
        let text = "%%MatrixMarket matrix coordinate pattern symmetric\n% 4\n4 4 1\n3 1\n";
        let list = EdgeList::parse(text).unwrap();
        assert_eq!(list.names, [1, 2, 3, 4]);
        assert_eq!(list.edges, [[2, 0]]);
        let text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 0.5\n";
        assert_eq!(EdgeList::parse(text).unwrap().edges, [[0, 1]]);
    }

    #[test]
    fn what_is_wrong_has_a_line() {
        refused("", "no edges");
        refused("# 1 2\n", "no edges");
        refused("1 2\n1\n", "line 2: two vertices wanted, 1 words found");
        refused("1 2 3\n", "line 1: two vertices wanted, 3 words found");
        refused("1 2\n\n-1 2\n", "line 3: unreadable number \"-1\"");
        refused("%%MatrixMarket matrix array real general\n", "line 1: not a Matrix Market header");
        refused("%%MatrixMarket matrix coordinate odd general\n", "line 1: field \"odd\"");
        let head = "%%MatrixMarket matrix coordinate pattern general\n";
        for (body, message) in [
            ("", "line 1: the file ends"),
            ("3 4 1\n", "line 2: not square"),
            ("3 3 x\n", "line 2: unreadable number \"x\""),
            ("3 3 1\n1 4\n", "line 3: vertex 4 is not in 1 to 3"),
            ("3 3 1\n0 1\n", "line 3: vertex 0 is not in 1 to 3"),
            ("3 3 1\n1 2 3\n", "line 3: 2 numbers wanted, 3 found"),
            ("3 3 2\n1 2\n", "line 3: only 1 of the 2 entries of line 2"),
            ("3 3 1\n1 2\n2 3\n", "line 4: more than the 1 entries of line 2"),
        ] {
            refused(&format!("{head}{body}"), message);
        }
    }
}
