//! The example `cg` as a user meets it: same answer on any number of ranks, one line for any
//! mistake, and never a hang.

mod programs;

use std::fs;

use anyhow::{Context, Result};
use programs::{Ended, MATRIX, argument, assert_starts_nothing};
use tempfile::TempDir;

/// How far two solutions may differ.
const AGREEMENT: f64 = 1e-6;

const RANKS: [usize; 5] = [1, 2, 3, 4, 7];

fn cg(arguments: &[&str]) -> Result<Ended> {
    programs::run("cg", arguments)
}

/// Solves a problem and returns the solution, after a look at the report.
fn solve(problem: &[&str], ranks: usize, form: &str) -> Result<Vec<f64>> {
    let folder = TempDir::new()?;
    let solution = folder.path().join("solution");
    let ranks = ranks.to_string();
    let mut arguments = vec!["--quiet", "--ranks", &ranks, "--form", form];
    arguments.extend(["--solution", argument(&solution)?]);
    arguments.extend(problem);
    let ended = cg(&arguments)?;
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(ended.stderr, "", "{ended}");
    assert_eq!(ended.value("ranks"), ranks);
    assert_eq!(ended.value("form"), form);
    assert!(ended.value("relative residual").parse::<f64>()? <= 1e-8, "{ended}");
    let lines = fs::read_to_string(solution)?;
    lines.lines().map(|line| line.parse().context("one number per line")).collect()
}

#[track_caller]
fn assert_close(one: &[f64], other: &[f64]) {
    assert_eq!(one.len(), other.len());
    let differences = one.iter().zip(other).map(|(one, other)| (one - other).abs());
    let largest = differences.fold(0.0, f64::max);
    assert!(largest <= AGREEMENT, "the solutions differ by {largest:e}");
}

/// Sees that any number of ranks finds the solution that was put in.
fn same_on_any_number_of_ranks(problem: &[&str], rows: usize) -> Result<()> {
    let known: Vec<_> = (0..rows).map(|row| 1.0 + 0.5 * (row as f64).sin()).collect();
    for ranks in RANKS {
        assert_close(&solve(problem, ranks, "persistent")?, &known);
    }
    Ok(())
}

#[test]
fn a_file_has_the_same_solution_on_any_number_of_ranks() -> Result<()> {
    same_on_any_number_of_ranks(&[MATRIX], 1138)
}

#[test]
fn the_poisson_problem_has_the_same_solution_on_any_number_of_ranks() -> Result<()> {
    same_on_any_number_of_ranks(&["--poisson", "12"], 12 * 12 * 12)
}

#[test]
fn all_forms_have_the_same_solution() -> Result<()> {
    let persistent = solve(&["--poisson", "6"], 4, "persistent")?;
    for form in ["blocking", "nonblocking"] {
        assert_close(&solve(&["--poisson", "6"], 4, form)?, &persistent);
    }
    Ok(())
}

#[test]
fn one_rank_needs_no_launcher() -> Result<()> {
    let ended = cg(&["--poisson", "4", "--quiet"])?;
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(ended.value("ranks"), "1");
    assert_eq!(ended.value("neighbours"), "0.0 per rank");
    Ok(())
}

#[test]
fn ranks_may_be_threads() -> Result<()> {
    let ended = cg(&["--poisson", "4", "--quiet", "--threads", "3"])?;
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(ended.value("ranks"), "3");
    let message = "more ranks than rows: 3 ranks, 1 rows";
    programs::assert_one_line("cg", &["--poisson", "1", "--threads", "3"], message)
}

#[test]
fn there_may_be_as_many_ranks_as_rows() -> Result<()> {
    assert_eq!(solve(&["--poisson", "2"], 8, "persistent")?.len(), 8);
    Ok(())
}

#[test]
fn progress_is_told_unless_it_is_unwanted() -> Result<()> {
    let ended = cg(&["--ranks", "2", MATRIX])?;
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended}");
    assert!(ended.stderr.starts_with("iteration 500, relative residual "), "{ended}");
    let iterations: u64 = ended.value("iterations").parse()?;
    assert!((900..1100).contains(&iterations), "{ended}");
    Ok(())
}

/// Sees that a run on some ranks ends with one line that says this, and nothing else.
#[track_caller]
fn assert_one_line(ranks: usize, arguments: &[&str], message: &str) -> Result<()> {
    let ranks = ranks.to_string();
    programs::assert_one_line("cg", &[&["--ranks", &ranks], arguments].concat(), message)
}

/// The same for a matrix in a file.
#[track_caller]
fn assert_refused(ranks: usize, text: &str, message: &str) -> Result<()> {
    let folder = TempDir::new()?;
    let file = folder.path().join("wrong.mtx");
    fs::write(&file, text)?;
    assert_one_line(ranks, &[argument(&file)?], message)
}

#[test]
fn a_malformed_file_is_one_line() -> Result<()> {
    let head = "%%MatrixMarket matrix coordinate real general\n";
    let wrong_headers = [
        ("", "line 1: not a Matrix Market header"),
        ("3 3 3\n", "line 1: not a Matrix Market header"),
        ("%%MatrixMarket matrix array real general\n", "line 1: format \"array\""),
        ("%%MatrixMarket matrix coordinate complex general\n", "line 1: field \"complex\""),
        ("%%MatrixMarket matrix coordinate real hermitian\n", "line 1: symmetry \"hermitian\""),
    ];
    let wrong_bodies = [
        ("", "line 1: the file ends"),
        ("3 three 3\n", "line 2: unreadable number \"three\""),
        ("3 4 3\n", "line 2: not square"),
        ("0 0 0\n", "line 2: no rows"),
        ("2 2 2\n1 1 1\n3 2 1\n", "line 4: index 3 is not in 1 to 2"),
        ("2 2 2\n1 1 1\n0 2 1\n", "line 4: index 0 is not in 1 to 2"),
        ("2 2 2\n1 1 1\n2 2 NaN\n", "line 4: the value NaN is not finite"),
        ("2 2 2\n1 1 -inf\n2 2 1\n", "line 3: the value -inf is not finite"),
        ("2 2 2\n1 1 1\n2 2 1,5\n", "line 4: unreadable number \"1,5\""),
        ("2 2 2\n1 1 1\n2 2\n", "line 4: three numbers wanted"),
        ("2 2 3\n1 1 1\n2 2 1\n", "line 4: only 2 of the 3 entries"),
        ("2 2 1\n1 1 1\n2 2 1\n", "line 4: more than the 1 entries"),
        ("2 2 3\n1 1 1\n2 2 1\n1 1 1\n", "line 5: entry (1, 1) is in line 3 already"),
        ("2 2 3\n1 1 1\n1 2 1\n2 2 1\n", "line 4: not symmetric"),
        ("2 2 2\n1 1 1\n2 2 0\n", "line 4: not positive definite: diagonal entry (2, 2) is 0"),
        ("2 2 2\n1 1 -1\n2 2 1\n", "line 3: not positive definite"),
        ("2 2 1\n1 1 1\n", "not positive definite: no diagonal entry (2, 2)"),
    ];
    for (text, message) in wrong_headers {
        assert_refused(2, text, message)?;
    }
    for (body, message) in wrong_bodies {
        assert_refused(2, &format!("{head}{body}"), message)?;
    }
    Ok(())
}

#[test]
fn a_matrix_that_is_found_not_to_be_positive_definite_is_one_line() -> Result<()> {
    let text = "%%MatrixMarket matrix coordinate integer symmetric\n3 3 4\n\
                1 1 1\n2 1 2\n2 2 1\n3 3 5\n";
    for ranks in [1, 3] {
        assert_refused(ranks, text, "not positive definite: p·Ap is -")?;
    }
    Ok(())
}

#[test]
fn more_ranks_than_rows_is_one_line() -> Result<()> {
    let text = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n";
    assert_refused(3, text, "more ranks than rows: 3 ranks, 2 rows")?;
    assert_one_line(3, &["--poisson", "1"], "more ranks than rows: 3 ranks, 1 rows")?;
    Ok(())
}

#[test]
fn a_file_that_cannot_be_read_or_written_is_one_line() -> Result<()> {
    let folder = TempDir::new()?;
    let [missing, below_missing] =
        ["missing", "missing/solution"].map(|name| folder.path().join(name));
    assert_one_line(3, &[argument(&missing)?], "No such file or directory")?;
    assert_one_line(3, &[argument(folder.path())?], "Is a directory")?;
    let solution = argument(&below_missing)?;
    assert_one_line(
        3,
        &["--poisson", "3", "--solution", solution],
        "missing/solution: No such file or directory",
    )?;
    Ok(())
}

#[test]
fn too_few_iterations_are_one_line() -> Result<()> {
    let message = "no convergence: the relative residual is";
    assert_one_line(3, &["--poisson", "8", "--max-iterations", "3"], message)?;
    Ok(())
}

#[test]
fn a_wrong_command_line_starts_nothing() -> Result<()> {
    for arguments in [
        &["--ranks", "3"][..],
        &["--ranks", "0", "--poisson", "3"],
        &["--ranks", "3", "--threads", "3", "--poisson", "3"],
        &["--ranks", "3", "--poisson", "3", "--form", "sideways"],
        &["--ranks", "3", "--poisson", "3", "--tolerance", "-1"],
    ] {
        assert_starts_nothing("cg", arguments)?;
    }
    Ok(())
}
