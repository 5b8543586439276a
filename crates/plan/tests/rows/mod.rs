//! The table of rows, `table.txt`: what each algorithm needs of a call to accept it, and what its
//! messages do. Tests compare algorithms with it, so that a new row is one command and one reading
//! of the difference: [`REGENERATE`].

use std::collections::BTreeSet;

use motet_plan::{Algorithm, Call, Collective, NodeMap, Rank, Refusal, algo};

use crate::cases::{Sizes, specimen};

/// The command that writes the table.
pub(crate) const REGENERATE: &str =
    "MOTET_REGENERATE=1 cargo test -p motet-plan --test laws the_table_of_rows";

/// The note of a row of which the model says that ranks send the same data to several others.
pub(crate) const REPEATS: &str = "repeats data";
/// The note of a row of which the model says that ranks send on what they have received, in one
/// direction.
pub(crate) const SENDS_ON: &str = "sends on";

const TABLE: &str = include_str!("table.txt");
/// What the line of an algorithm says that needs nothing.
const ANY: &str = "any call";
/// Numbers of ranks at which algorithms are asked what they need.
const RANKS: [u32; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 64, 65];

/// What an algorithm may need of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    Commutative,
    PowerOfTwo,
    AtMost(u32),
    SharedNodes,
    ConsecutiveNodes,
    ConsecutiveNodesIfOrdered,
}

impl Need {
    /// Those without a number.
    const PLAIN: [Need; 5] = [
        Need::Commutative,
        Need::PowerOfTwo,
        Need::SharedNodes,
        Need::ConsecutiveNodes,
        Need::ConsecutiveNodesIfOrdered,
    ];

    /// The need because of which an algorithm refuses this call.
    fn of(refusal: Refusal, call: &Call) -> Need {
        match refusal {
            Refusal::NeedsCommutative => Need::Commutative,
            Refusal::NeedsPowerOfTwo { .. } => Need::PowerOfTwo,
            Refusal::TooManyRanks { most, .. } => Need::AtMost(most),
            Refusal::NoNodes => Need::SharedNodes,
            Refusal::Scattered if commutes(call) => Need::ConsecutiveNodes,
            Refusal::Scattered => Need::ConsecutiveNodesIfOrdered,
            Refusal::Collective { .. } => unreachable!("{refusal}"),
        }
    }

    fn text(self) -> String {
        match self {
            Need::Commutative => "operator that commutes".into(),
            Need::PowerOfTwo => "power of two".into(),
            Need::AtMost(most) => format!("at most {most} ranks"),
            Need::SharedNodes => "several nodes with several ranks".into(),
            Need::ConsecutiveNodes => "nodes of consecutive ranks".into(),
            Need::ConsecutiveNodesIfOrdered => {
                "nodes of consecutive ranks or an operator that commutes".into()
            }
        }
    }

    /// The need of this text in a line; `None` if it is a note, or says that there is no need.
    ///
    /// # Panics
    /// If it is no text of a line.
    fn read(text: &str) -> Option<Need> {
        if [ANY, REPEATS, SENDS_ON].contains(&text) {
            return None;
        }
        let limit = text.strip_prefix("at most ").and_then(|rest| rest.strip_suffix(" ranks"));
        let limit = limit.and_then(|most| Some(Need::AtMost(most.parse().ok()?)));
        let need = limit.or(Need::PLAIN.into_iter().find(|need| need.text() == text));
        Some(need.unwrap_or_else(|| panic!("no algorithm needs `{text}`; run `{REGENERATE}`")))
    }

    /// Whether a call has what is needed.
    fn holds(self, call: &Call) -> bool {
        let node = |rank| call.nodes.node(Rank(rank));
        let nodes: Vec<_> = (0..call.ranks).map(node).collect();
        let distinct = nodes.iter().collect::<BTreeSet<_>>().len();
        let is_consecutive = nodes.chunk_by(|one, next| one == next).count() == distinct;
        match self {
            Need::Commutative => commutes(call),
            Need::PowerOfTwo => call.ranks.is_power_of_two(),
            Need::AtMost(most) => call.ranks <= most,
            Need::SharedNodes => distinct > 1 && distinct < nodes.len(),
            Need::ConsecutiveNodes => is_consecutive,
            Need::ConsecutiveNodesIfOrdered => is_consecutive || commutes(call),
        }
    }
}

/// Whether the operands of a call may be combined in any order; true if it has none.
fn commutes(call: &Call) -> bool {
    call.operation.commutative() != Some(false)
}

/// Calls of all kinds that algorithms distinguish: by the number of ranks, the operator and the
/// nodes.
fn grid(collective: Collective) -> Vec<Call> {
    let placements: [fn(u32) -> NodeMap; 4] = [
        |_| NodeMap::ONE,
        |ranks| NodeMap::new((0..ranks as usize).map(|rank| rank / 2)),
        |ranks| NodeMap::new((0..ranks as usize).map(|rank| rank % 2)),
        |ranks| NodeMap::new(0..ranks as usize),
    ];
    let mut grid = Vec::new();
    for ranks in RANKS.into_iter().filter(|&ranks| collective.fewest_ranks() <= ranks) {
        for commutative in [false, true] {
            let sizes = Sizes { count: 7, block: |_| 1, commutative };
            let call = specimen(collective, ranks, &sizes).remove(0);
            let on_nodes = |nodes: fn(u32) -> NodeMap| Call { nodes: nodes(ranks), ..call.clone() };
            grid.extend(placements.map(on_nodes));
        }
    }
    grid
}

/// What an algorithm needs, by its answers to all calls of the grid.
fn needs(row: &'static dyn Algorithm, grid: &[Call]) -> BTreeSet<Need> {
    let refusals = grid.iter().filter_map(|call| Some((row.accepts(call).err()?, call)));
    let mut needs: BTreeSet<_> = refusals.map(|(refusal, call)| Need::of(refusal, call)).collect();
    if needs.contains(&Need::ConsecutiveNodes) {
        needs.remove(&Need::ConsecutiveNodesIfOrdered);
    }
    // The needs are all that decides: no call is refused although they hold, or accepted although
    // one of them does not.
    for call in grid {
        let holds = needs.iter().all(|need| need.holds(call));
        assert_eq!(row.accepts(call).is_ok(), holds, "{row:?} on {call:?}: {needs:?}");
    }
    needs
}

/// The text of the table, where these algorithms have these notes.
pub(crate) fn text(notes: &[(&str, Vec<(&str, &str)>)]) -> String {
    let mut text = format!("# Made by `{REGENERATE}`.\n");
    for collective in Collective::ALL {
        let grid = grid(collective);
        text += &format!("\n{collective}\n");
        for row in algo::of(collective) {
            let mut words: Vec<_> = needs(row, &grid).into_iter().map(Need::text).collect();
            if words.is_empty() {
                words.push(ANY.into());
            }
            let name = (collective.name(), row.name());
            let noted = notes.iter().filter(|(_, rows)| rows.contains(&name));
            words.extend(noted.map(|(note, _)| (*note).to_owned()));
            text += &format!("  {}: {}\n", row.name(), words.join("; "));
        }
    }
    text
}

/// The rows of the table: collective, algorithm, and what the line says of it.
fn lines() -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
    let mut collective = "";
    TABLE.lines().skip(1).filter_map(move |line| {
        let Some(row) = line.strip_prefix("  ") else {
            collective = line;
            return None;
        };
        let (name, words) = row.split_once(": ").expect("a name and what it needs");
        Some((collective, name, words.split("; ").collect()))
    })
}

/// The algorithms that must accept a call, by the table.
pub(crate) fn accepting(call: &Call) -> Vec<&'static str> {
    let of_collective = lines().filter(|line| line.0 == call.collective().name());
    let accepts =
        |words: &[&str]| words.iter().filter_map(|word| Need::read(word)).all(|it| it.holds(call));
    of_collective.filter(|(.., words)| accepts(words)).map(|(_, name, _)| name).collect()
}

/// The algorithms with a note, by the table.
pub(crate) fn noted(note: &str) -> Vec<(&'static str, &'static str)> {
    let noted = lines().filter(|(.., words)| words.contains(&note));
    let mut rows: Vec<_> = noted.map(|(collective, name, _)| (collective, name)).collect();
    rows.sort_unstable();
    rows
}

/// Compares the table with this text, or writes it.
pub(crate) fn compare(text: &str) {
    if std::env::var_os("MOTET_REGENERATE").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rows/table.txt");
        return std::fs::write(path, text).expect("the table can be written");
    }
    let both = text.lines().zip(TABLE.lines());
    let at = both.take_while(|(one, other)| one == other).count();
    let (found, kept) = (text.lines().nth(at), TABLE.lines().nth(at));
    assert_eq!(found, kept, "line {} of tests/rows/table.txt: run `{REGENERATE}`", at + 1);
}
