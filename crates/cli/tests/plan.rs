//! `motet plan` as its users meet it.

mod command;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use command::{complaint, end, motet, printed};
use motet_plan::algo;

/// What follows a word at the beginning of a line.
#[track_caller]
fn fact<'a>(page: &'a str, name: &str) -> &'a str {
    let mut facts = page.lines().filter_map(|line| line.strip_prefix(name));
    facts.next().unwrap_or_else(|| panic!("no {name} in {page}")).trim()
}

/// Panics unless tags are closed in the reverse of the order in which they are opened, and what
/// stands between them has no character that would have to be escaped.
#[track_caller]
fn assert_well_formed(xml: &str) {
    let mut open = Vec::new();
    let mut rest = xml.trim_end();
    while let Some((text, tail)) = rest.split_once('<') {
        assert!(!text.contains('>'), "{text}");
        let entity = |part: &str| part.split_once(';').is_some_and(|(name, _)| name.len() <= 6);
        assert!(text.split('&').skip(1).all(entity), "{text}");
        let (tag, after) = tail.split_once('>').expect("a tag ends");
        assert!(!tag.contains('<') && tag.matches('"').count() % 2 == 0, "{tag}");
        match (tag.strip_prefix('/'), tag.ends_with('/')) {
            (Some(name), _) => assert_eq!(open.pop(), Some(name), "in {xml}"),
            (None, true) => {}
            (None, false) => open.push(tag.split(' ').next().unwrap_or_default()),
        }
        rest = after;
    }
    assert!(rest.is_empty() && open.is_empty(), "{open:?} stay open, {rest:?} is left");
}

#[test]
fn a_plan_says_what_is_chosen_why_and_that_it_is_verified() {
    let chosen = printed("plan allreduce -n 4");
    let chosen = fact(&chosen, "chosen:");
    assert!(chosen.contains(" ns by the model; "), "{chosen}");
    let page = printed("plan allreduce/recursive_doubling -n 4");
    let verified = "24 steps of 4 ranks, in 4 random orders with and without buffering";
    assert_eq!(fact(&page, "verified:"), verified);
    assert!(page.contains("\n8 messages in 2 rounds\n"), "{page}");
    assert_eq!(page.matches("\nrank ").count(), 8, "a row and a list of steps for each: {page}");
}

#[test]
fn every_algorithm_can_be_drawn() {
    for algorithm in algo::table() {
        let name = format!("{algorithm:?}");
        let nodes = if algorithm.name() == "hierarchical" { " --per-node 2" } else { "" };
        let page = printed(&format!("plan {name} -n 4{nodes}"));
        assert!(page.contains(&format!("\n{name}: 4 ranks")), "{page}");
        assert_eq!(
            fact(&page, "chosen:"),
            format!("{} (asked for by name)", algorithm.name()),
            "{page}"
        );
        assert_eq!(fact(&page, "idea:"), algorithm.summary());
        fact(&page, "verified:");
        assert_well_formed(&printed(&format!("plan {name} -n 4{nodes} --svg -")));
    }
}

#[test]
fn what_is_made_up_is_said() {
    assert_eq!(fact(&printed("plan allgatherv -n 3 --count 5"), "pattern:"), {
        "blocks of 5 + rank % 3 elements"
    });
    let scatterv = printed("plan scatterv -n 3 --root 1 --in-place");
    assert_eq!(fact(&scatterv, "pattern:"), "blocks of 1 + rank % 3 elements");
    let alltoallv = printed("plan alltoallv -n 3 --count 5 --in-place");
    assert_eq!(fact(&alltoallv, "pattern:"), "blocks of 5 + (rank + rank) % 3 elements");
    assert!(fact(&printed("plan exchange -n 3"), "pattern:").contains("on a ring"));
    let torus = printed("plan exchangev -n 6");
    assert!(fact(&torus, "pattern:").starts_with("neighbours on a torus of 2 x 3 ranks, blocks"));
}

#[test]
fn messages_between_nodes_are_counted() {
    let page = printed("plan bcast -n 12 --per-node 4 --root 5");
    assert!(fact(&page, "chosen:").starts_with("hierarchical ("), "{page}");
    assert_eq!(fact(&page, "nodes:"), "of 4 ranks, 2 messages between them");
    let binomial = printed("plan bcast/binomial -n 12 --per-node 4 --root 5");
    assert_eq!(fact(&binomial, "nodes:"), "of 4 ranks, 5 messages between them");
}

#[test]
fn two_groups_are_named() {
    let allreduce = printed("plan inter_allreduce/leaders -n 5 --left 2 --count 3");
    assert_eq!(fact(&allreduce, "pattern:"), "groups of 2 and 3 ranks");
    let title = "\ninter_allreduce/leaders: 5 ranks, groups of 2 and 3, 3 elements of 8 bytes\n";
    assert!(allreduce.contains(title), "{allreduce}");
    let half = printed("plan inter_barrier -n 5");
    assert_eq!(fact(&half, "pattern:"), "groups of 3 and 2 ranks");
    let blocks = printed("plan inter_reduce_scatter_block -n 5 --left 1 --count 2");
    assert!(blocks.contains(", blocks of 8 and of 2 elements of 8 bytes\n"), "{blocks}");
    let lengths = printed("plan inter_reduce_scatter -n 5 --left 1 --count 2 --ordered");
    let shared = "groups of 1 and 4 ranks, each shares out 10 evenly";
    assert_eq!(fact(&lengths, "pattern:"), shared);
    printed("plan inter_reduce -n 5 --left 1 --root 3");
}

#[test]
fn arguments_reach_the_plan() {
    let arguments = "--root 2 --count 2 --element-bytes 4 --ordered --in-place";
    let page = printed(&format!("plan reduce/binomial -n 3 {arguments}"));
    let title = "\nreduce/binomial: 3 ranks, 2 elements of 4 bytes, root 2, operands in order, \
                 in place\n";
    assert!(page.contains(title), "{page}");
    printed("plan barrier -n 1");
    printed("plan allgather -n 64");
}

#[test]
fn one_rank_can_be_shown() {
    let all = printed("plan allreduce/ring -n 12");
    let one = printed("plan allreduce/ring -n 12 --rank 1");
    assert!(all.contains("\n\nrank 1\n") && all.contains("\n\nrank 11\n"), "{all}");
    assert!(one.contains("\n\nrank 1\n") && !one.contains("\n\nrank 11\n"), "{one}");
    assert!(one.contains("\nrank 11 "), "the table has all ranks: {one}");
    let steps = one.split("\n\nrank 1\n").nth(1).expect("it was found above");
    assert!(all.contains(steps.trim_end()), "{steps}");
}

#[test]
fn drawings_are_the_same_in_a_file_and_each_time() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("plan.svg");
    let words = "plan allgather/bruck -n 5";
    let page = printed(&format!("{words} --svg '{}'", file.display()));
    assert_eq!(fact(&page, "drawing:"), file.display().to_string());
    let drawing = fs::read_to_string(&file).expect("it was written");
    assert!(drawing.starts_with("<svg ") && drawing.contains("allgather/bruck"));
    assert_well_formed(&drawing);
    for _ in 0..2 {
        assert_eq!(printed(&format!("{words} --svg -")), drawing);
        assert_eq!(printed(&format!("{words} --svg '{}'", file.display())), page);
    }
}

/// What is no file stays what it is.
#[test]
fn drawings_replace_no_links_and_no_devices() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (link, file) = (folder.path().join("link"), folder.path().join("file"));
    fs::write(&file, "as it was").expect("written");
    symlink(&file, &link).expect("made");
    for path in [&link, Path::new("/dev/null")] {
        let line = complaint(&format!("plan bcast -n 2 --svg '{}'", path.display()), 1);
        assert!(line.contains("and only a file is replaced"), "{line}");
    }
    assert_eq!(fs::read_to_string(&link).expect("it is there"), "as it was");
}

#[test]
fn what_steers_a_program_steers_the_plan() {
    let mut command = motet("plan allreduce -n 4");
    command.env("MOTET_ALGORITHM", "allreduce=ring");
    assert_eq!(fact(&end(command).out, "chosen:"), "ring (asked for by name)");
    let mut command = motet("plan allreduce -n 4");
    command.env("MOTET_ALGORITHM", "allreduce:ring");
    assert_eq!(fact(&end(command).out, "chosen:"), "ring (asked for by name)");
    let mut command = motet("plan allreduce/recursive_doubling -n 4");
    command.env("MOTET_ALGORITHM", "allreduce=ring");
    assert_eq!(fact(&end(command).out, "chosen:"), "recursive_doubling (asked for by name)");
    let folder = tempfile::tempdir().expect("there is room");
    let wisdom = folder.path().join(OsStr::from_bytes(b"a name that is no text \xff"));
    fs::write(&wisdom, "allreduce ranks=4..4 bytes=0..1000000 -> ring\n").expect("written");
    let mut command = motet("plan allreduce -n 4");
    command.env("MOTET_WISDOM", &wisdom);
    let chosen = fact(&end(command).out, "chosen:").to_owned();
    assert!(chosen.starts_with("ring (") && chosen.contains("wisdom"), "{chosen}");
}

#[test]
fn mistakes_are_one_line() {
    let cases = [
        ("plan", "COLLECTIVE"),
        ("plan allreduce", "--ranks"),
        ("plan alreduce -n 2", "no collective `alreduce`; there are barrier, bcast, gather"),
        ("plan bcast/bus -n 2", "no algorithm `bus`; it has binomial, scatter_allgather"),
        ("plan barrier -n 0", "'0' for '--ranks <N>': expected a number of ranks from 1 to 64"),
        ("plan barrier -n 65", "expected a number of ranks from 1 to 64"),
        ("plan bcast/hierarchical -n 4", "hierarchical refuses this call: it needs"),
        ("plan bcast -n 4 --root 4", "root 4 is not below the number of ranks, 4"),
        ("plan bcast -n 4 --rank 4", "rank 4 is not below the number of ranks, 4"),
        ("plan barrier -n 4 --in-place", "cannot be called in place"),
        ("plan allreduce/ring -n 4 --ordered", "needs an operator that commutes"),
        ("plan allgather/recursive_doubling -n 6", "needs a number of ranks that is a power"),
        ("plan allreduce -n 4 --count 1M", ", the limit is 524288; take fewer"),
        ("plan bcast -n 2 --count 1x", "expected a number of elements (0 or more), such as 64, 4K"),
        ("plan bcast -n 2 --root x", "'x' for '--root <R>': expected a rank (0 or more)"),
        ("plan bcast -n 2 --rank -1", "'-1'"),
        ("plan bcast -n 2 --cores 0", "expected a number of cores (1 or more)"),
        ("info -n 2x", "expected a number of ranks from 1 to 1024"),
        ("plan inter_allreduce -n 1", "between two groups: at least 2 ranks"),
        ("plan inter_allreduce -n 4 --left 4", "neither group may be empty"),
        ("plan inter_reduce_scatter -n 4 --left 0", "neither group may be empty"),
        ("plan inter_reduce_scatter -n 4 --left 5", "neither group may be empty"),
        ("plan inter_allreduce -n 4 --in-place", "cannot be called in place"),
        ("plan allreduce -n 4 --left 2", "allreduce is not between two groups"),
    ];
    for (words, text) in cases {
        let line = complaint(words, 2);
        assert!(line.contains(text), "{words}: {line}");
    }
    let line = complaint("plan bcast -n 2 --svg no/such/folder.svg", 1);
    assert!(line.starts_with("writing no/such/folder.svg: "), "{line}");
}
