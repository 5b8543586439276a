use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::programs::{MATRIX, argument, assert_one_line, assert_starts_nothing, run};
use crate::{KINDS, RANKS};

/// How far two ranks of a vertex may differ.
const AGREEMENT: f64 = 1e-12;

/// What is found for each vertex: its level, if it is reached, and its rank.
type Found = BTreeMap<u64, (Option<u32>, f64)>;

/// Edges by a simple generator: some stand there twice, in either direction, and some lead from a
/// vertex to itself. The vertices above 9000 are not reached from those below.
fn edges() -> Vec<[u64; 2]> {
    let mut state = 1_u64;
    let mut draw = |limit: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let mut edges: Vec<_> = (0..70).map(|_| [3 * draw(50) + 1, 3 * draw(50) + 1]).collect();
    edges.extend([[9001, 9007], [9007, 9002], [9002, 9002], [4, 4]]);
    let [from, to] = edges[0];
    edges.extend([[to, from], [from, to]]);
    edges
}

fn text(edges: &[[u64; 2]]) -> String {
    let lines = edges.iter().map(|[from, to]| format!("{from}\t{to}\n"));
    "# some edges\n% and another comment\n\n"
        .chars()
        .chain(lines.collect::<String>().chars())
        .collect()
}

/// The same by the shortest way there is.
fn reference(edges: &[[u64; 2]], root: u64) -> Found {
    let mut ends: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for &[from, to] in edges {
        for [from, to] in [[from, to], [to, from]] {
            let ends = ends.entry(from).or_default();
            if from != to {
                ends.insert(to);
            }
        }
    }
    let (mut levels, mut queue) = (BTreeMap::from([(root, 0)]), VecDeque::from([root]));
    while let Some(vertex) = queue.pop_front() {
        for &end in &ends[&vertex] {
            if !levels.contains_key(&end) {
                levels.insert(end, levels[&vertex] + 1);
                queue.push_back(end);
            }
        }
    }
    let ranks = ranks(&ends);
    let found = |vertex: &u64| (*vertex, (levels.get(vertex).copied(), ranks[vertex]));
    ends.keys().map(found).collect()
}

fn ranks(ends: &BTreeMap<u64, BTreeSet<u64>>) -> BTreeMap<u64, f64> {
    let all = ends.len() as f64;
    let mut ranks: BTreeMap<_, _> = ends.keys().map(|&vertex| (vertex, 1.0 / all)).collect();
    for _ in 0..400 {
        let mut next: BTreeMap<_, _> = ends.keys().map(|&vertex| (vertex, 0.15 / all)).collect();
        for (vertex, ends) in ends {
            let gift = 0.85 * ranks[vertex];
            for end in ends {
                *next.get_mut(end).expect("both ends of an edge are vertices") +=
                    gift / ends.len() as f64;
            }
            if ends.is_empty() {
                next.values_mut().for_each(|rank| *rank += gift / all);
            }
        }
        ranks = next;
    }
    ranks
}

/// What the program finds.
fn found(ranks: [&str; 2], arguments: &[&str]) -> Result<Found> {
    let folder = TempDir::new()?;
    let output = folder.path().join("output");
    let common = ["--quiet", "--output", argument(&output)?, ranks[0], ranks[1]];
    let ended = run("graph", &[&common, arguments].concat())?;
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(ended.stderr, "", "{ended}");
    assert_eq!(ended.value("ranks"), ranks[1]);
    assert!((ended.value("sum of ranks").parse::<f64>()? - 1.0).abs() < AGREEMENT, "{ended}");
    assert!(ended.stdout.contains("\nexchangev_init: "), "{ended}");
    read(&output)
}

fn read(path: &Path) -> Result<Found> {
    let mut found = Found::new();
    for line in fs::read_to_string(path)?.lines() {
        let [name, level, rank] =
            line.split(' ').collect::<Vec<_>>().try_into().ok().context("three words")?;
        let level = if level == "-" { None } else { Some(level.parse()?) };
        found.insert(name.parse()?, (level, rank.parse()?));
    }
    Ok(found)
}

#[track_caller]
fn assert_same(one: &Found, other: &Found) {
    assert!(one.keys().eq(other.keys()));
    for (vertex, (level, rank)) in one {
        let (other_level, other_rank) = other[vertex];
        assert_eq!(*level, other_level, "vertex {vertex}");
        assert!((rank - other_rank).abs() <= AGREEMENT, "vertex {vertex}: {rank} {other_rank}");
    }
}

#[test]
fn any_number_of_ranks_finds_what_one_finds() -> Result<()> {
    let folder = TempDir::new()?;
    let file = folder.path().join("edges");
    let edges = edges();
    fs::write(&file, text(&edges))?;
    let root = edges[0][0];
    let expected = reference(&edges, root);
    assert!(expected.values().any(|(level, _)| level.is_none()));
    assert!(expected.values().any(|(level, _)| *level > Some(3)));
    for ranks in RANKS.map(|ranks| ranks.to_string()) {
        for kind in KINDS {
            for exchange in ["sparse", "dense"] {
                let arguments =
                    [argument(&file)?, "--root", &root.to_string(), "--exchange", exchange];
                assert_same(&found([kind, &ranks], &arguments)?, &expected);
            }
        }
    }
    Ok(())
}

#[test]
fn a_graph_that_is_made_is_the_same_on_any_number_of_ranks() -> Result<()> {
    for graph in [&["--rmat", "7"][..], &["--rmat", "4", "--degree", "1"]] {
        let alone = found(["--threads", "1"], graph)?;
        assert!(alone.values().any(|(level, _)| level.is_none()), "some have no edges");
        for ranks in ["2", "3", "8"] {
            assert_same(&found(["--threads", ranks], graph)?, &alone);
        }
        assert_same(&found(["--ranks", "4"], graph)?, &alone);
    }
    Ok(())
}

#[test]
fn a_matrix_is_a_graph() -> Result<()> {
    let arguments = [MATRIX, "--root", "1"];
    let alone = found(["--threads", "1"], &arguments)?;
    assert!(alone.keys().copied().eq(1..=1138));
    assert!(alone.values().all(|(level, _)| level.is_some()));
    assert_same(&found(["--ranks", "4"], &arguments)?, &alone);
    assert_same(&found(["--threads", "5"], &arguments)?, &alone);
    Ok(())
}

#[test]
fn the_report_counts_edges_once() -> Result<()> {
    let folder = TempDir::new()?;
    let file = folder.path().join("edges");
    // A star with four ends: two of them are with the first rank, the centre with the second.
    fs::write(&file, "5 1\n1 5\n5 2\n5 9\n9 9\n5 7\n")?;
    let ended = run("graph", &[argument(&file)?, "--threads", "2", "--root", "5"])?;
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(ended.value("vertices"), "5");
    assert_eq!(ended.value("edges"), "4");
    for exchange in ["sparse", "dense"] {
        let row: Vec<_> = ended.value(exchange).split_whitespace().collect();
        // Before: the time and the share, each with its unit.
        assert_eq!(row[4..6], ["2.0", "5.0"], "{ended}");
        // One brings the two ends to their rank, the other the centre back to where it is known.
        assert_eq!(row[6..10], ["1.0", "+", "2", "of"], "{ended}");
    }
    Ok(())
}

#[track_caller]
fn assert_refused(text: &str, ranks: [&str; 2], message: &str) -> Result<()> {
    let folder = TempDir::new()?;
    let file = folder.path().join("wrong");
    fs::write(&file, text)?;
    assert_one_line("graph", &[argument(&file)?, ranks[0], ranks[1]], message)
}

#[test]
fn a_malformed_file_is_one_line() -> Result<()> {
    let matrix = "%%MatrixMarket matrix coordinate pattern symmetric\n";
    for (text, message) in [
        ("", "no edges"),
        ("# nothing\n", "no edges"),
        ("3 3\n4 4\n1 1\n", "no edges between different vertices"),
        ("1 2\n2 3\n3\n", "line 3: two vertices wanted, 1 words found"),
        ("1 2 3\n", "line 1: two vertices wanted, 3 words found"),
        ("# a\n1 x\n", "line 2: unreadable number \"x\""),
        ("1 -2\n", "line 1: unreadable number \"-2\""),
        (&format!("{matrix}3 3 1\n4 1\n"), "line 3: vertex 4 is not in 1 to 3"),
        (&format!("{matrix}3 3 2\n2 1\n"), "line 3: only 1 of the 2 entries"),
        (&format!("{matrix}3 2 2\n2 1\n"), "line 2: not square"),
        (&format!("{matrix}99999999999 99999999999 1\n"), "line 2: only 0 of the 1 entries"),
    ] {
        assert_refused(text, ["--threads", "3"], message)?;
    }
    assert_refused("1 2\nno\n", ["--ranks", "2"], "line 2: two vertices wanted")
}

#[test]
fn what_cannot_be_done_is_one_line() -> Result<()> {
    for kind in KINDS {
        assert_refused("1 2\n", [kind, "3"], "more ranks than vertices: 3 ranks, 2 vertices")?;
        assert_one_line("graph", &["--rmat", "1", kind, "3"], "more ranks than vertices: 3 ranks")?;
        let missing = ["missing/graph", kind, "3"];
        assert_one_line("graph", &missing, "missing/graph: No such file or directory")?;
        let output = ["--rmat", "4", kind, "3", "--output", "missing/output"];
        assert_one_line("graph", &output, "missing/output: No such file or directory")?;
        let short = ["--rmat", "6", kind, "3", "--max-iterations", "2"];
        assert_one_line("graph", &short, "no end: the ranks change by")?;
        assert_one_line("graph", &[MATRIX, kind, "3", "--root", "1139"], "no vertex 1139")?;
        assert_one_line("graph", &["--rmat", "4", kind, "3", "--root", "16"], "no vertex 16")?;
    }
    Ok(())
}

#[test]
fn a_wrong_command_line_starts_nothing() -> Result<()> {
    for wrong in [
        "",
        "some.txt --rmat 4",
        "--rmat 0",
        "--rmat 4 --root x",
        "--rmat 4 --root 1 --searches 3",
        "--rmat 4 --exchange maybe",
        "--rmat 4 --ranks 0",
        "--rmat 4 --ranks 2 --threads 2",
    ] {
        let arguments: Vec<_> = wrong.split_whitespace().collect();
        assert_starts_nothing("graph", &arguments)?;
    }
    Ok(())
}
