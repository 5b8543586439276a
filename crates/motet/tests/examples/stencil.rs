use anyhow::Result;

use crate::programs::{Ended, assert_one_line, assert_starts_nothing, run};
use crate::{KINDS, RANKS};

/// What is left of the wave, by its bits, after a look at the report.
fn fingerprint(ranks: [&str; 2], arguments: &str) -> Result<String> {
    let arguments: Vec<_> = arguments.split_whitespace().collect();
    let ended = run("stencil", &[&["--quiet"][..], &ranks, &arguments].concat())?;
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(ended.stderr, "", "{ended}");
    assert!(ended.value("ranks").starts_with(&format!("{}, as ", ranks[1])), "{ended}");
    assert!(ended.value("largest error").parse::<f64>()? < 2e-13, "{ended}");
    let overlap = if arguments.contains(&"--overlap") { "yes" } else { "no" };
    assert_eq!(ended.value("overlap"), overlap, "{ended}");
    Ok(ended.value("fingerprint").to_string())
}

/// Sees that a problem has one result, whoever computes it.
fn same_for_all(problem: &str) -> Result<()> {
    let alone = fingerprint(["--threads", "1"], problem)?;
    for ranks in RANKS.map(|ranks| ranks.to_string()) {
        for kind in KINDS {
            for overlap in ["", "--overlap"] {
                let found = fingerprint([kind, &ranks], &format!("{problem} {overlap}"))?;
                assert_eq!(found, alone, "{problem} {kind} {ranks} {overlap}");
            }
        }
    }
    Ok(())
}

#[test]
fn any_number_of_ranks_has_the_same_result_with_cold_borders() -> Result<()> {
    same_for_all("--size 9,7,11 --steps 9")
}

/// In a direction with one box a rank is its own neighbour; with two, the other is so twice.
/// spec: 114, 128
#[test]
fn any_number_of_ranks_has_the_same_result_with_sides_that_are_joined() -> Result<()> {
    same_for_all("--size 9,7,11 --steps 9 --periodic")
}

#[test]
fn the_shape_of_the_boxes_does_not_matter() -> Result<()> {
    for around in ["", "--periodic"] {
        let problem = format!("--size 5,6,8 --steps 10 {around}");
        let alone = fingerprint(["--threads", "1"], &problem)?;
        for boxes in ["1,1,4", "1,4,1", "4,1,1", "1,2,2", "2,1,2", "2,2,1"] {
            for overlap in ["", "--overlap"] {
                let arguments = format!("{problem} --boxes {boxes} {overlap}");
                assert_eq!(fingerprint(["--threads", "4"], &arguments)?, alone, "{arguments}");
            }
        }
    }
    Ok(())
}

#[test]
fn each_exchange_stands_alone() -> Result<()> {
    let problem = "--size 6 --steps 3 --overlap --exchange";
    let all = fingerprint(["--threads", "3"], &format!("{problem} all"))?;
    for exchange in ["persistent", "alltoallv", "messages"] {
        assert_eq!(fingerprint(["--threads", "3"], &format!("{problem} {exchange}"))?, all);
    }
    let rows = |ended: &Ended| {
        let first = |line: &str| line.split_whitespace().next().map(str::to_string);
        let table = ended.stdout.lines().skip_while(|line| !line.starts_with("exchange "));
        table.skip(1).map_while(first).collect::<Vec<_>>()
    };
    let ended = run("stencil", &["--size", "6", "--exchange", "messages"])?;
    assert_eq!(rows(&ended), ["messages"], "{ended}");
    let ended = run("stencil", &["--size", "6", "--repeat", "2"])?;
    assert_eq!(rows(&ended), ["persistent", "alltoallv", "messages"], "{ended}");
    assert!(ended.stdout.contains("\nexchangew_init: "), "{ended}");
    Ok(())
}

#[test]
fn a_box_may_be_a_single_point() -> Result<()> {
    for around in ["", "--periodic"] {
        for (ranks, problem) in
            [("8", "--size 2"), ("5", "--size 1,1,5 --boxes 1,1,5"), ("3", "--size 3,1,1")]
        {
            let problem = format!("{problem} --steps 5 --overlap {around}");
            let found = fingerprint(["--threads", ranks], &problem)?;
            let alone = problem.replace("--boxes 1,1,5", "");
            assert_eq!(found, fingerprint(["--threads", "1"], &alone)?, "{problem}");
        }
    }
    Ok(())
}

#[test]
fn another_problem_has_another_result() -> Result<()> {
    let problems = ["--size 5 --steps 4", "--size 5 --steps 5", "--size 5 --steps 4 --periodic"];
    let mut found = problems.map(|problem| fingerprint(["--threads", "2"], problem).ok());
    found.sort();
    assert!(found[0].is_some() && found[0] != found[1] && found[1] != found[2], "{found:?}");
    Ok(())
}

#[test]
fn progress_is_told_unless_it_is_unwanted() -> Result<()> {
    let ended = run("stencil", &["--size", "4", "--steps", "1200", "--exchange", "messages"])?;
    assert_eq!(ended.code, Some(0), "{ended}");
    let lines: Vec<_> = ended.stderr.lines().collect();
    assert_eq!(lines, ["step 500, messages of 1200", "step 1000, messages of 1200"], "{ended}");
    Ok(())
}

#[test]
fn boxes_that_do_not_fit_are_one_line() -> Result<()> {
    for kind in KINDS {
        for (arguments, message) in [
            ([kind, "3", "--size", "2,9,9"], "more boxes than points in x: 3 boxes, 2 points"),
            ([kind, "4", "--boxes", "2,2,2"], "2 x 2 x 2 boxes for 4 ranks"),
            ([kind, "2", "--boxes", "1,1,1"], "1 x 1 x 1 boxes for 2 ranks"),
        ] {
            assert_one_line("stencil", &arguments, message)?;
        }
    }
    Ok(())
}

#[test]
fn a_wrong_command_line_starts_nothing() -> Result<()> {
    for wrong in [
        "--size 0",
        "--size 4,4",
        "--size 4,4,4,4",
        "--size 4,x,4",
        "--size 5000",
        "--steps 0",
        "--ranks 2 --threads 2",
        "--threads 0",
        "--exchange telepathy",
        "--boxes 2",
        "--repeat 0",
    ] {
        let arguments: Vec<_> = wrong.split_whitespace().collect();
        assert_starts_nothing("stencil", &arguments)?;
    }
    Ok(())
}
