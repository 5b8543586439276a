//! `motet bench` as its users meet it; never how fast anything is.

mod command;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use command::{complaint, end, motet, printed};
use motet_plan::Collective;
use serde_json::Value;

/// Long enough to measure something, short enough for a test.
const BRIEF: &str = "--time 0.005";

const FORMS: [&str; 3] = ["blocking", "nonblocking", "persistent"];

#[track_caller]
fn json(words: &str) -> Value {
    let text = printed(&format!("bench {words} {BRIEF} --json -"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{words}: {error}: {text}"))
}

/// Collective, bytes and forms of each point. On the way, their figures are checked.
#[track_caller]
fn points(report: &Value) -> Vec<(&str, u64, Vec<&str>)> {
    let windows = report["settings"]["windows"].as_u64().expect("a number of windows");
    let point = |point| {
        let forms = list(point, "forms");
        forms.iter().for_each(|form| assert_sound(form, windows));
        let bytes = point["bytes"].as_u64().expect("a size");
        assert!(!text(point, "algorithm").is_empty());
        (text(point, "collective"), bytes, forms.iter().map(|form| text(form, "form")).collect())
    };
    list(report, "points").iter().map(point).collect()
}

/// Panics unless the figures of a form make sense.
#[track_caller]
fn assert_sound(form: &Value, windows: u64) {
    let (median, p90) = (form["median_ns"].as_f64(), form["p90_ns"].as_f64());
    assert!(median > Some(0.0) && p90 >= median, "{form}");
    let is_sound = |window: &Value| {
        window["operations"].as_u64() >= Some(1) && window["ns"].as_f64() > Some(0.0)
    };
    let measured = list(form, "windows");
    assert!(measured.len() as u64 == windows && measured.iter().all(is_sound), "{form}");
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().expect("a list")
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().expect("a text")
}

#[test]
fn everything_is_measured_between_processes_and_right() {
    let report = json("-n 2 --sizes 8,64K");
    let called = Collective::ALL.into_iter().filter(|it| *it != Collective::NodeExchange);
    let names = called.map(Collective::name).chain(["neighbor_alltoall"]);
    let mut expected = Vec::new();
    for name in names {
        let sizes = if name.ends_with("barrier") { &[0][..] } else { &[8, 65536] };
        expected.extend(sizes.iter().map(|&bytes| (name, bytes, FORMS.to_vec())));
    }
    assert_eq!(points(&report), expected);
    assert_eq!(report["settings"]["layout"], "processes");
    assert_eq!(report["settings"]["ranks"], 2);
    assert_eq!(report["motet"], env!("CARGO_PKG_VERSION"));
    assert!(report["machine"]["usable_cores"].as_u64() >= Some(1));
}

#[test]
fn any_number_of_threads_can_be_measured() {
    // One barrier and 19 others; alone, there are no two groups, which have one barrier and 6.
    for (ranks, expected) in [(1, 1 + 2 * 19), (3, 2 + 2 * 25), (4, 2 + 2 * 25)] {
        let report = json(&format!("--threads -n {ranks} --sizes 8,1000"));
        assert_eq!(report["settings"]["layout"], "threads");
        assert_eq!(points(&report).len(), expected);
    }
    let ended = end(motet("bench inter_barrier --threads -n 1"));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("inter_barrier needs at least 2 ranks"), "{}", ended.err);
}

#[test]
fn under_a_launcher_its_ranks_are_measured() {
    let bench = format!("{} bench barrier {BRIEF}", env!("CARGO_BIN_EXE_motet"));
    let table = printed(&format!("run -n 3 {bench}"));
    assert!(table.starts_with("3 ranks as processes on "), "{table}");

    let ended = end(motet(&format!("run -n 2 {bench} -n 3")));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("motet: -n asks for 3 ranks, but 2 run\n"), "{}", ended.err);
    let ended = end(motet(&format!("run -n 2 {bench} --threads")));
    assert_eq!(ended.code, Some(2), "{ended:?}");
}

#[test]
fn the_table_has_what_was_asked_for() {
    let table = printed(&format!("bench allreduce --sizes 8,4K,1M {BRIEF}"));
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("allreduce"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let sizes: Vec<_> = rows.iter().map(|row| format!("{} {}", row[1], row[2])).collect();
    assert_eq!(sizes, ["8 B", "4 KiB", "1 MiB"], "{table}");
    // Three forms of two figures each, three ratios, the algorithm.
    assert!(rows.iter().all(|row| row.len() == 3 + 6 + 3 + 1), "{table}");
    for row in rows {
        assert!(row[3..12].iter().all(|word| word.parse::<f64>().is_ok()), "{row:?}");
    }

    let table = printed(&format!("bench barrier --forms persistent {BRIEF}"));
    assert!(table.contains("persistent") && !table.contains("blocking"), "{table}");
    let report = json("barrier --forms persistent,blocking,persistent");
    assert_eq!(points(&report), [("barrier", 0, vec!["persistent", "blocking"])]);
}

const VARIANTS: [&str; 5] = ["exchange", "messages", "dense", "nonblocking", "blocking_dense"];

#[test]
fn an_exchange_is_compared_with_its_variants() {
    for (words, layout, many) in [("-n 2", "processes", 1), ("--threads -n 4", "threads", 2)] {
        let words = format!("exchange {words} --neighbours ring,all --sizes 8,64K");
        let report = json(&words);
        assert_eq!(report["settings"]["layout"], layout);
        let points = list(&report, "points");
        assert_eq!(points.len(), 4);
        assert_eq!((text(&points[0], "pattern"), &points[0]["neighbours"]), ("ring", &many.into()));
        assert_eq!(points[3]["bytes"], 65536);
        for point in points {
            let variants = list(point, "variants");
            assert!(variants.iter().map(|variant| text(variant, "variant")).eq(VARIANTS));
            variants.iter().for_each(|variant| assert_sound(variant, 20));
            assert!(variants.iter().all(|variant| variant["ratio"].as_f64() > Some(0.0)));
            assert_eq!(variants[0]["ratio"], 1.0);
        }
    }
    let table = printed(&format!("bench exchange --threads --neighbours 2,grid --sizes 8 {BRIEF}"));
    let row = table.lines().find(|line| line.starts_with("grid")).expect("a row");
    // The pattern, two words of a size, neighbours, two figures of the exchange, three of others.
    assert_eq!(row.split_whitespace().count(), 1 + 2 + 1 + 2 + 4 * 3, "{table}");
}

#[test]
fn an_algorithm_can_be_asked_for() {
    for (words, value) in [
        ("allreduce -n 2 --algorithm ring", "allreduce=ring"),
        ("allreduce --threads --algorithm allreduce=ring", "allreduce=ring"),
        ("allreduce --threads --algorithm allreduce:ring", "allreduce:ring"),
    ] {
        let report = json(&format!("{words} --sizes 8"));
        assert_eq!(report["points"][0]["algorithm"], "ring");
        assert_eq!(report["settings"]["variables"]["MOTET_ALGORITHM"], value);
    }
    let bench = "bench allreduce --algorithm ring --sizes 8 --json -";
    let program = env!("CARGO_BIN_EXE_motet");
    let mut command = motet(&format!("run -n 2 {program} {bench} {BRIEF}"));
    command.env("MOTET_ALGORITHM", "allreduce=recursive_doubling");
    let ended = end(command);
    assert!(ended.out.contains(r#""algorithm": "ring""#), "{ended:?}");
}

#[test]
fn json_goes_into_a_file_beside_the_table() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("bench.json");
    let table = printed(&format!("bench barrier {BRIEF} --json '{}'", file.display()));
    assert!(table.contains("\nbarrier "), "{table}");
    let text = fs::read_to_string(&file).expect("it was written");
    let report: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(points(&report), [("barrier", 0, FORMS.to_vec())]);
}

/// What is no file stays what it is, and that is said before anything is measured.
#[test]
fn json_replaces_no_links_and_no_devices() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (link, file) = (folder.path().join("link"), folder.path().join("file"));
    symlink(&file, &link).expect("made");
    for path in [&link, Path::new("/dev/null")] {
        let line = complaint(&format!("bench barrier --json '{}'", path.display()), 1);
        assert!(line.contains("and only a file is replaced"), "{line}");
    }
    assert!(!file.exists(), "nothing follows the link");
}

#[test]
fn mistakes_are_one_line() {
    let cases = [
        ("bench alreduce", "no collective `alreduce`"),
        ("bench inter_scan", "there are barrier, bcast"),
        ("bench -n 0", "'0' for '--ranks <N>': expected a number of ranks from 1 to 1024"),
        ("bench -n 9999", "expected a number of ranks from 1 to 1024"),
        ("bench --sizes 12", "expected a multiple of 8 bytes"),
        (
            "bench --sizes 8,,8",
            "expected a size in bytes from 8 to 268435456, such as 64, 4K or 1M",
        ),
        ("bench --sizes 512M", "expected a size in bytes from 8 to 268435456"),
        ("bench --time 0", "expected a number of seconds from 0.000001 to 3600"),
        ("bench --time NaN", "expected a number of seconds from 0.000001 to 3600"),
        ("bench --forms fast", "possible values: blocking, nonblocking, persistent"),
        ("bench --algorithm ring", "name the one collective it is for"),
        ("bench --neighbours ring", "--neighbours is for `motet bench exchange`"),
        ("bench bcast --neighbours ring", "--neighbours is for `motet bench exchange`"),
        ("bench exchange --neighbours 3", "expected `ring`, `grid`, `all`, or an even number"),
        ("bench exchange --neighbours ring --forms blocking", "cannot be used with"),
        ("bench bcast --algorithm bus", "bcast has no algorithm `bus`; it has binomial"),
        (
            "bench allgather -n 3 --algorithm recursive_doubling",
            "which refuses this call: it needs a number of ranks that is a power of two, not 3",
        ),
    ];
    for (words, text) in cases {
        let line = complaint(words, 2);
        assert!(line.contains(text), "{words}: {line}");
    }
    let line = complaint("bench barrier --json no/such/folder.json", 1);
    assert!(line.starts_with("writing no/such/folder.json: "), "{line}");
}
