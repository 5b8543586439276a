//! Drawings: what they show, that they are the same each time, and that rounds are as declared.

mod cases;

use cases::{Sizes, calls, plans};
use motet_plan::{Algorithm, Call, Collective, Operation, Rank, algo, draw, timeline::Timeline};

fn row(collective: Collective, name: &str) -> &'static dyn Algorithm {
    algo::find(collective, name).expect("the table has the row")
}

fn specimen(collective: Collective, ranks: u32) -> Vec<Call> {
    let sizes = Sizes { count: 2 * ranks as usize, block: |_| 1, commutative: true };
    cases::specimen(collective, ranks, &sizes)
}

/// How far the timeline may be from what is declared: between two groups a phase may begin at some
/// ranks while others are at the one before, and their messages then wait for each other or not.
/// So it is in a scan by node, where the first node has less to do than the others, and in an
/// alltoall by node, where gateways go ahead with what they have.
fn tolerance(row: &dyn Algorithm, declared: usize) -> usize {
    let overlaps =
        matches!(row.collective(), Collective::Scan | Collective::Exscan | Collective::Alltoall);
    match (row.collective().fewest_ranks(), row.name()) {
        (1, "hierarchical") if overlaps => 2.max(declared / 4),
        (1, _) | (_, "linear" | "dissemination") => 0,
        _ => 2.max(declared / 4),
    }
}

/// Whether the messages depend on what is not known to all: on neighbours, or on blocks.
fn is_open(collective: Collective) -> bool {
    use Collective::{Exchange, Exchangev, InterReduceScatter, NeighborReduce, NodeExchange};
    matches!(collective, Exchange | Exchangev | InterReduceScatter | NeighborReduce | NodeExchange)
}

/// The timeline, with one message in and out of a rank for each round, takes the rounds that an
/// algorithm declares, and one more for each of the extra sends, which have no round of their own.
#[test]
fn rounds_and_extra_sends_are_as_declared() {
    let compare = |row: &'static dyn Algorithm, calls: &[Call]| {
        if row.accepts(&calls[0]).is_ok() {
            let timeline = Timeline::new(&plans(row, calls)).unwrap();
            let cost = row.cost(&calls[0]);
            let (declared, found) = (cost.rounds + cost.extra_sends, timeline.rounds());
            let is_near = declared.abs_diff(found) <= tolerance(row, declared);
            assert!(is_near, "{row:?}: {found} and not {declared} in {:?}", calls[0]);
        }
    };
    for row in algo::table().iter().filter(|row| !is_open(row.collective())) {
        for ranks in row.collective().fewest_ranks()..=17 {
            compare(*row, &specimen(row.collective(), ranks));
        }
        if row.collective().fewest_ranks() == 1 {
            continue;
        }
        for (left, right) in (1..=9).flat_map(|left| (1..=9).map(move |right| (left, right))) {
            let sizes = Sizes { count: 24, block: |_| 1, commutative: true };
            let operation =
                |rank| cases::between(row.collective(), left, &sizes, (left + right, rank));
            compare(*row, &calls(left + right, false, operation));
        }
    }
}

#[test]
fn every_row_can_be_drawn() {
    for row in algo::table() {
        for ranks in [1, 2, 4, 5, 8] {
            if ranks < row.collective().fewest_ranks() {
                continue;
            }
            let calls = specimen(row.collective(), ranks);
            if row.accepts(&calls[0]).is_err() {
                continue;
            }
            let plans = plans(*row, &calls);
            let svg = draw::svg(&calls, &plans).unwrap();
            assert_eq!(svg, draw::svg(&calls, &plans).unwrap());
            let messages: usize = plans.iter().map(motet_plan::Plan::messages).sum();
            // One more in the legend.
            assert_eq!(svg.matches("<line class=\"message\"").count(), messages + 1, "{row:?}");
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
            assert!(draw::text(&calls, &plans).unwrap().contains(row.name()));
        }
    }
}

#[test]
fn text_of_a_reduction() {
    let calls =
        calls(3, false, |_| Operation::Reduce { count: 2, root: Rank(1), commutative: false });
    let plans = plans(row(Collective::Reduce, "binomial"), &calls);
    let expected = "\
reduce/binomial: 3 ranks, 2 elements of 8 bytes, root 1, operands in order
2 messages in 2 rounds

round    1      2
rank 0   →1
rank 1   ←0 ∘   ←2 ∘
rank 2          →1

→ sends to   ← receives from   ∘ reduces   = copies

rank 0
    0  send input[0..2] to 1 #0

rank 1, scratch[0..2]
    0  recv output[0..2] from 0 #0
    1  reduce output[0..2] ∘ input[0..2] into output[0..2]    after 0
    2  recv scratch[0..2] from 2 #0
    3  reduce output[0..2] ∘ scratch[0..2] into output[0..2]  after 1 2

rank 2
    0  send input[0..2] to 1 #0
";
    assert_eq!(draw::text(&calls, &plans).unwrap(), expected);
}

/// The words of the drawing: what is called, by which algorithm, and the ranks.
#[test]
fn svg_of_a_barrier() {
    let calls = calls(2, false, |_| Operation::Barrier);
    let plans = plans(row(Collective::Barrier, "dissemination"), &calls);
    let svg = draw::svg(&calls, &plans).unwrap();
    let words: Vec<_> = svg
        .split("<text ")
        .skip(1)
        .map(|text| text.split(['>', '<']).nth(1).unwrap_or_default())
        .collect();
    let expected = [
        "barrier/dissemination",
        "each rank tells ranks 1, 2, 4, ... after it whom it has heard of",
        "2 ranks; 2 messages in 1 round",
        "round",
        "1",
        "rank 0",
        "rank 1",
        "message, thicker if longer",
        "reduces",
        "copies",
    ];
    assert_eq!(words, expected);
}

/// Plans that do not fit together are not drawn.
#[test]
fn plans_that_do_not_fit_have_no_drawing() {
    let calls = calls(2, false, |_| Operation::Barrier);
    let plans = plans(row(Collective::Barrier, "dissemination"), &calls);
    let error = draw::text(&calls[..1], &plans[..1]).unwrap_err();
    assert_eq!(error.to_string(), "plan 0 of 1 is that of rank 0 of 2");
}
