//! `motet list` as its users meet it.

mod command;

use command::{complaint, end, motet, printed};
use motet_plan::{Call, NodeMap, Operation, Rank, Tuning, algo, select};

/// The rest of the line that begins with this algorithm, in the part about this collective.
#[track_caller]
fn row<'a>(page: &'a str, collective: &str, algorithm: &str) -> &'a str {
    let mut parts = page.split("\n\n").map(|part| part.trim_start_matches('\n'));
    let is_about = |part: &&str| part.split([':', '\n']).next() == Some(collective);
    let part = parts.find(is_about).unwrap_or_else(|| panic!("no {collective} in {page}"));
    let mut rows = part.lines().filter_map(|line| line.trim_start().strip_prefix(algorithm));
    rows.next().unwrap_or_else(|| panic!("no {algorithm} in {part}")).trim()
}

#[test]
fn every_algorithm_is_listed_with_its_idea() {
    let page = printed("list");
    for algorithm in algo::table() {
        let row = row(&page, algorithm.collective().name(), algorithm.name());
        assert!(algorithm.summary().starts_with(row) && !row.is_empty(), "{row}");
    }
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
}

#[test]
fn one_collective_can_be_asked_for() {
    let page = printed("list bcast");
    assert!(page.starts_with("bcast\n  binomial ") && !page.contains("allreduce"), "{page}");
}

#[test]
fn for_a_number_of_ranks_choices_times_and_refusals_are_told() {
    let page = printed("list -n 6 --ordered");
    assert!(page.starts_with("6 ranks, an operator that does not commute"), "{page}");
    assert!(row(&page, "barrier", "dissemination").starts_with("1290 ns"), "{page}");
    assert_eq!(row(&page, "allreduce", "ring"), "-  it needs an operator that commutes");
    let refusal = "-  it needs a number of ranks that is a power of two, not 6";
    assert_eq!(row(&page, "allgather", "recursive_doubling"), refusal);
    assert_eq!(page.matches("chosen").count(), motet_plan::Collective::ALL.len());
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
}

#[test]
fn the_choice_is_that_of_a_program_and_depends_on_the_size() {
    let listed = |words| {
        let page = printed(words);
        let mut chosen = page.lines().filter(|line| line.ends_with("  chosen"));
        let row = chosen.next().unwrap_or_else(|| panic!("no choice in {page}"));
        row.split_whitespace().next().unwrap_or_default().to_owned()
    };
    let select = |count, element_bytes| {
        let operation = Operation::Allreduce { count, commutative: true };
        let (rank, in_place, nodes) = (Rank(0), false, NodeMap::ONE);
        let call = Call { rank, ranks: 8, element_bytes, in_place, nodes, operation };
        select::choose(&call, &Tuning::default()).unwrap().algorithm.name()
    };
    assert_eq!(listed("list allreduce -n 8 --count 1"), select(1, 8));
    assert_eq!(listed("list allreduce -n 8 --count 1M"), select(1 << 20, 8));
    let words = "list allreduce -n 8 --count 1 --element-bytes 1M";
    assert_eq!(listed(words), select(1, 1 << 20));
    assert_ne!(select(1, 8), select(1 << 20, 8));
}

#[test]
fn ranks_that_share_cores_may_take_another_algorithm() {
    let chosen = |cores: usize| {
        let operation = Operation::Allreduce { count: 1, commutative: true };
        let (rank, element_bytes, nodes) = (Rank(0), 8, NodeMap::ONE);
        let call = Call { rank, ranks: 16, element_bytes, in_place: false, nodes, operation };
        let mut tuning = Tuning::default();
        tuning.machine = tuning.machine.shared(16, cores);
        select::choose(&call, &tuning).unwrap().algorithm.name()
    };
    assert_ne!(chosen(1), chosen(16), "a case in which it matters");
    for cores in [1, 16] {
        let page = printed(&format!("list allreduce -n 16 --count 1 --cores {cores}"));
        let counted = if cores == 1 { "1 core" } else { "16 cores" };
        assert!(page.starts_with(&format!("16 ranks on {counted}, an operator")), "{page}");
        assert!(row(&page, "allreduce", chosen(cores)).ends_with("chosen"), "{page}");
        let page = printed(&format!("plan allreduce -n 16 --count 1 --cores {cores}"));
        assert!(page.starts_with(&format!("chosen:    {} (", chosen(cores))), "{page}");
    }
    let complaint = complaint("list allreduce --cores 2", 2);
    assert!(complaint.contains("--ranks"), "{complaint}");
}

#[test]
fn what_steers_a_program_steers_the_list() {
    let mut command = motet("list allreduce -n 8");
    command.env("MOTET_ALGORITHM", "allreduce=ring");
    let ended = end(command);
    let row = row(&ended.out, "allreduce", "ring");
    assert!(row.ends_with("chosen: asked for by name"), "{row}");

    let mut command = motet("list allreduce");
    command.env("MOTET_ALGORITHM", "allreduce=bus");
    let ended = end(command);
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""));
    assert!(ended.err.starts_with("motet: MOTET_ALGORITHM: "), "{}", ended.err);
    assert!(ended.err.contains("no algorithm `bus`"), "{}", ended.err);
}

#[test]
fn one_rank_makes_no_two_groups() {
    let page = printed("list -n 1");
    assert!(page.contains("inter_allreduce: needs two groups, so at least 2 ranks\n"), "{page}");
    let within = motet_plan::Collective::ALL.iter().filter(|it| it.fewest_ranks() == 1).count();
    assert_eq!(page.matches("chosen").count(), within, "{page}");
}

#[test]
fn mistakes_are_one_line() {
    let names = "no collective `alreduce`; there are barrier, bcast, gather, gatherv";
    assert!(complaint("list alreduce", 2).contains(names));
    assert!(complaint("list -n 0", 2).contains("--ranks"));
    assert!(complaint("list --count 3", 2).contains("--ranks"));
    let sizes = "expected a size in bytes (1 or more), such as 64, 4K or 1M";
    assert!(complaint("list -n 4 --element-bytes 0", 2).contains(sizes));
    let huge = complaint("list -n 4 --count 9223372036854775807", 2);
    assert!(huge.contains("do not fit in memory"), "{huge}");
}
