//! For each rule, a small text that breaks it and one that does not.

use crate::finding::Finding;
use crate::source::Source;
use crate::{code, conformance, documents, layers, names, words, workspace};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What `lines` gives for no findings.
const NOWHERE: [usize; 0] = [];

fn rust(text: &str) -> Source {
    Source::new("crates/plan/src/ring.rs", text)
}

/// The lines of the findings, which must all be in the file that was given.
fn lines(findings: Vec<Finding>) -> Vec<usize> {
    assert!(findings.iter().all(|finding| finding.path == "crates/plan/src/ring.rs"));
    findings.into_iter().map(|finding| finding.line).collect()
}

fn whats(findings: Vec<Finding>) -> Vec<String> {
    findings.into_iter().map(|finding| finding.what).collect()
}

fn function_of(lines: usize) -> String {
    format!("fn long() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
}

mod the_conformance {
    use super::*;

    fn marks(text: &str) -> conformance::Marks {
        let mut marks = conformance::Marks::new();
        conformance::add_marks(&rust(text), &mut marks);
        marks
    }

    fn names(marks: &conformance::Marks, item: u32) -> Vec<&str> {
        marks.get(&item).into_iter().flat_map(BTreeMap::values).flatten().map(|n| &**n).collect()
    }

    #[test]
    fn marks_belong_to_the_function_behind_them() {
        let found = marks(
            "/// It waits.\n///\n/// spec: 2, 7\n#[test]\nfn waits() {}\n\
             /// spec: 2: all\nfn all() {}",
        );
        assert_eq!(names(&found, 2), ["all", "waits"]);
        assert_eq!(names(&found, 7), ["waits"]);
        assert_eq!(names(&marks("//! spec: 3\nmod a;"), 3), ["(all)"]);
        let none =
            "/// as in `spec: 4`\nfn f() {}\nlet a = \"/// spec: 5\";\n/// spec: A6\nfn g() {}";
        assert!(marks(none).is_empty());
        let mut of_program = conformance::Marks::new();
        let program = "/* It waits.\n *\n * ranks: 1 2\n * spec: 8, 9\n */\nint main(void) {}\n";
        conformance::add_marks(&Source::new("abi/tests/c/waits.c", program), &mut of_program);
        assert_eq!(names(&of_program, 8), ["(all)"]);
        assert_eq!(names(&of_program, 9), ["(all)"]);
    }

    #[test]
    fn an_item_without_test_and_reason_is_found_and_one_with_both() {
        let found = marks("/// spec: 1, 2\nfn f() {}");
        let (items, _) =
            conformance::checklist("1\tone\n2\ttwo\tnot yet\n3\tthree\n4\tfour\tlater\n");
        let findings = conformance::unproved(&items, &found);
        assert_eq!(findings.iter().map(|f| f.line).collect::<Vec<_>>(), [2, 3]);
        let page = conformance::table(&items, &found);
        assert!(page.contains("2 of 4 items"), "{page}");
        assert!(page.contains("| 1 | one | plan/src/ring.rs: `f` |\n"), "{page}");
        assert!(page.contains("| 4 | four | missing: later |\n"), "{page}");
        assert!(conformance::stale(&page, &page).is_none());
        let changed = page.replace("four", "for");
        let stale = conformance::stale(&changed, &page).expect("it differs");
        assert_eq!(changed.lines().nth(stale.line - 1), Some("| 4 | for | missing: later |"));
    }

    #[test]
    fn a_list_with_a_hole_or_a_long_title_is_found() {
        let lines = |text: &str| -> Vec<usize> {
            conformance::checklist(text).1.iter().map(|finding| finding.line).collect()
        };
        let whole: String = (1..=145).map(|number| format!("{number}\ttitle\n")).collect();
        assert_eq!(lines(&whole), NOWHERE);
        assert_eq!(lines(&whole.replace("7\ttitle\n8\t", "7\t\n8\t"))[0], 7);
        let long = whole.replace("\n9\ttitle", &format!("\n9\t{}", "x".repeat(91)));
        assert_eq!(lines(&long), [9]);
        assert_eq!(lines(&whole.replace("\n12\t", "\n13\t")), [12]);
        assert_eq!(lines(&whole.replace("145\ttitle\n", "")), [144]);
    }
}

mod the_code {
    use super::*;

    #[test]
    fn unsafe_in_an_unlisted_file_is_found() {
        let source = rust("fn f() {\n    unsafe { g() }\n}\n");
        assert_eq!(lines(code::unsafe_files(&[source], &BTreeMap::new())), [2]);
        let attribute = rust("#[unsafe(no_mangle)]\nfn f() {}\n");
        assert_eq!(lines(code::unsafe_files(&[attribute], &BTreeMap::new())), [1]);
    }

    #[test]
    fn the_word_unsafe_outside_the_code_is_no_unsafe() {
        let text = "#![forbid(unsafe_code)]\n// unsafe\nconst A: &str = \"unsafe\"; /* unsafe */";
        assert_eq!(code::unsafe_files(&[rust(text)], &BTreeMap::new()), []);
    }

    #[test]
    fn a_row_without_unsafe_is_found() {
        let listed = |path: &str| BTreeMap::from([(path.to_owned(), 9)]);
        let safe = [rust("fn f() {}\n")];
        let findings = code::unsafe_files(&safe, &listed("crates/plan/src/ring.rs"));
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].path.as_str(), findings[0].line), (documents::UNSAFE_LIST, 9));
        assert!(findings[0].what.ends_with("has no `unsafe`"), "{}", findings[0]);
        let findings = code::unsafe_files(&safe, &listed("crates/plan/src/gone.rs"));
        assert!(findings[0].what.ends_with("does not exist"), "{}", findings[0]);
        let used = [rust("unsafe fn f() {}")];
        assert_eq!(code::unsafe_files(&used, &listed("crates/plan/src/ring.rs")), []);
    }

    #[test]
    fn a_root_that_does_not_forbid_is_found() {
        assert_eq!(code::forbids_unsafe(&rust("#![forbid(unsafe_code)]\n")), None);
        for text in
            ["", "// #![forbid(unsafe_code)]", "#![deny(unsafe_code)]", "#[forbid(unsafe_code)]"]
        {
            assert!(code::forbids_unsafe(&rust(text)).is_some(), "{text}");
        }
    }

    #[test]
    fn a_long_function_is_found() {
        assert_eq!(lines(code::long_functions(&rust(&function_of(70)))), NOWHERE);
        assert_eq!(lines(code::long_functions(&rust(&function_of(71)))), [1]);
        let nested = format!("impl A {{\n    pub(crate) const {}}}\n", function_of(71));
        assert_eq!(lines(code::long_functions(&rust(&nested))), [2]);
    }

    #[test]
    fn a_body_is_found_behind_any_signature() {
        let rest = function_of(71);
        let body = rest.strip_prefix("fn long() ").expect("the sample begins with its signature");
        for signature in [
            "fn f<const N: usize>(a: A<{ N }>) -> B<u8, { N + 1 }>\nwhere\n    A: C,\n",
            "fn f(a: [u8; 1 << 3], g: fn(u8) -> u8) -> impl Fn(u8) -> Vec<u8> ",
            "fn f<'a>(a: &'a str) -> [u8; { 1 > 2 } as usize] ",
        ] {
            let source = rust(&format!("{signature}{body}"));
            assert_eq!(lines(code::long_functions(&source)), [1], "{signature}");
        }
        let none = format!("struct S {{ f: fn() -> u8 }}\ntrait T {{ fn g(); }}\nmod m {body}");
        assert_eq!(lines(code::long_functions(&rust(&none))), NOWHERE);
    }

    #[test]
    fn braces_in_literals_do_not_end_a_function() {
        let text = function_of(71).replacen("step();", "f('}', \"}\"); // }", 1);
        assert_eq!(lines(code::long_functions(&rust(&text))), [1]);
    }

    #[test]
    fn a_long_test_is_no_long_function() {
        let text = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function_of(90));
        assert_eq!(lines(code::long_functions(&rust(&text))), NOWHERE);
        assert_eq!(lines(code::long_functions(&rust(&format!("{text}{}", function_of(71))))), [94]);
    }

    #[test]
    fn a_long_file_is_found() {
        assert_eq!(code::long_file(&rust(&"\n".repeat(500))), None);
        assert!(code::long_file(&rust(&"\n".repeat(501))).is_some());
        let with_tests =
            format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", "\n".repeat(490), "\n".repeat(300));
        assert_eq!(code::long_file(&rust(&with_tests)), None);
    }

    #[test]
    fn files_of_tests_have_no_size() {
        let sources = [
            Source::new("crates/plan/src/lib.rs", "mod ring;\n#[cfg(test)]\nmod laws;\n"),
            Source::new("crates/plan/src/ring.rs", "#[cfg(test)]\nmod cases;\n"),
            Source::new("crates/plan/src/laws.rs", ""),
            Source::new("crates/plan/src/laws/all.rs", ""),
            Source::new("crates/plan/src/ring/cases.rs", ""),
            Source::new("crates/plan/src/ring/steps.rs", ""),
            Source::new("crates/plan/tests/all.rs", ""),
            Source::new("crates/plan/src/tests.rs", ""),
        ];
        let paths: Vec<_> =
            code::without_tests(&sources).into_iter().map(|source| source.path.as_str()).collect();
        let counted = ["lib.rs", "ring.rs", "ring/steps.rs", "tests.rs"];
        assert_eq!(paths, counted.map(|name| format!("crates/plan/src/{name}")));
    }

    #[test]
    fn a_huge_file_is_found() {
        assert!(documents::huge("core", 1 << 20).is_none());
        assert!(documents::huge("core", (1 << 20) + 1).is_some());
    }

    #[test]
    fn a_wide_line_is_found() {
        let text = format!("{}\n{}\n", "é".repeat(100), "a".repeat(101));
        assert_eq!(lines(code::wide_lines(&rust(&text))), [2]);
    }

    #[test]
    fn missing_work_is_found() {
        for name in ["todo", "unimplemented", "dbg"] {
            assert_eq!(lines(code::stubs(&rust(&format!("fn f() {{\n{name}!()\n}}")))), [2]);
            assert_eq!(
                lines(code::stubs(&rust(&format!("// {name}!()\nlet a = {name} != b;")))),
                NOWHERE
            );
        }
        let note = concat!("FIX", "ME");
        assert_eq!(lines(code::stubs(&rust(&format!("\n// {note} later")))), [2]);
        assert_eq!(lines(code::stubs(&rust(&format!("const A: &str = {note:?};")))), NOWHERE);
    }

    #[test]
    fn a_stray_complaint_is_found() {
        let stray = "fn f() {\neprintln!(\"{name}\");\nlet e = io::stderr();\n}";
        assert_eq!(lines(code::stray_complaints(&rust(stray))), [2, 3]);
        let right = "// eprintln!()\nlet stderr = 1;\ncommand.stderr(File::create(path)?);\n\
                     #[cfg(test)]\nmod tests { fn f() { eprintln!(); } }";
        assert_eq!(lines(code::stray_complaints(&rust(right))), NOWHERE);
        let here = Source::new("crates/fabric/src/stderr.rs", "fn f() { io::stderr(); }");
        assert_eq!(lines(code::stray_complaints(&here)), NOWHERE);
    }

    #[test]
    fn another_interpreter_is_found() {
        let text =
            "match step {\nAction::Copy { .. } => {}\n}\nmatch *next {\nLinkedInstr::Send => {}\n}";
        let found = |path: &str| {
            let path = format!("crates/motet/src/engine/{path}");
            let findings = code::interpreters(&Source::new(&path, text));
            findings.into_iter().map(|finding| finding.line).collect::<Vec<_>>()
        };
        assert_eq!(found("replay.rs"), [2, 5]);
        assert_eq!(found("execution/linked.rs"), [2, 5], "a file that is not listed");
        assert_eq!(found("execution/dataflow.rs"), [5]);
        assert_eq!(found("execution/inorder.rs"), [2]);
        assert_eq!(found("execution/program.rs"), NOWHERE);
        assert_eq!(lines(code::interpreters(&rust(text))), NOWHERE, "not in this crate");
    }

    #[test]
    fn an_empty_name_is_found() {
        assert_eq!(lines(code::empty_names(&rust("mod a;\npub mod utils;"))), [2]);
        assert_eq!(lines(code::empty_names(&rust("// mod utils\nmod common_ring;"))), NOWHERE);
        for path in ["crates/plan/src/helpers.rs", "crates/motet/tests/common/mod.rs"] {
            assert_eq!(code::empty_names(&Source::new(path, "")).len(), 1, "{path}");
        }
    }

    #[test]
    fn an_item_that_does_not_exist_is_found() {
        let wrong =
            "/// spec: 0\n/// spec: 146\n/// (spec: 3, 150)\n/// spec: A28\n// spec: 140-146";
        assert_eq!(lines(code::checklist_items(&rust(wrong))), [1, 2, 3, 4, 5]);
        let right = "/// spec: 1\n/// spec: 25, 145, A27: all wait\n// spec: 5 1000 times\n\
                     // spec: what must be delivered\nlet a = A { spec: 900 };\n// see spec::run";
        assert_eq!(lines(code::checklist_items(&rust(right))), NOWHERE);
    }

    #[test]
    fn a_mute_ignored_test_is_found() {
        let word = "ignore";
        for attribute in [word, "ignore = \"\"", "ignore = \" \"", "cfg_attr(miri, ignore)"] {
            let text = format!("#[test]\n#[{attribute}]\nfn f() {{}}\n");
            assert_eq!(lines(code::ignored_tests(&rust(&text))), [2], "{attribute}");
        }
        for attribute in ["ignore = \"needs two hosts\"", "cfg_attr(miri, ignore = \"no mmap\")"] {
            let text = format!("#[test]\n#[{attribute}]\nfn f() {{}}\n");
            assert_eq!(lines(code::ignored_tests(&rust(&text))), NOWHERE, "{attribute}");
        }
    }
}

mod the_documents {
    use super::*;

    #[test]
    fn a_readme_without_exactly_one_block_is_found() {
        let run = "## Run it";
        let block = "```sh\n# a comment\n## another\ncargo run\n```\n";
        let good = format!("# Motet\n\n{run}\n\n{block}\n## Test it\n\n{block}");
        assert_eq!(documents::one_block(&good, run), None);
        assert_eq!(documents::one_block(&good, "## Test it"), None);
        for bad in [
            String::new(),
            format!("{run}\n\nno block\n"),
            format!("{run}\n{block}{block}"),
            format!("{run}\n```sh\nno end\n"),
            format!("{run}\n\n## Test it\n{block}"),
        ] {
            assert!(documents::one_block(&bad, run).is_some(), "{bad}");
        }
    }

    #[test]
    fn the_list_of_unsafe_files_is_read() {
        let text = "# A\n\nProse with `e.rs`.\n\n* a promise\n\n## Pages\n\nThey stay mapped.\n\n\
                    * `a/b.rs`\n* `c.rs`\n\n## Calls\n\nOf the system.\n\n* `d.rs`\n";
        let (listed, findings) = documents::unsafe_list(text);
        let rows = [("a/b.rs", 11), ("c.rs", 12), ("d.rs", 18)];
        let rows = rows.map(|(path, line)| (path.to_owned(), line));
        assert_eq!((listed, findings), (BTreeMap::from(rows), vec![]));
    }

    #[test]
    fn a_bad_list_of_unsafe_files_is_found() {
        let group = "## Pages\n\nThey stay mapped.\n\n";
        let rows = "* `a.rs`\n* `b.rs\n* `c.rs` and `d.rs`\n\n## Calls\n* `a.rs`\n* `e.rs`\n";
        let (listed, findings) = documents::unsafe_list(&format!("{group}{rows}"));
        assert_eq!(listed.into_keys().collect::<Vec<_>>(), ["a.rs", "e.rs"]);
        let lines: Vec<_> = findings.into_iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [6, 7, 10, 10], "two bad lines, no promise, and a path again");
    }

    #[test]
    fn a_style_guide_that_names_other_tests_is_found() {
        let tidy =
            Source::new("tidy.rs", "#[test]\nfn one() {}\n#[test]\nfn two() {}\nfn three() {}\n");
        let tests = code::test_names(&tidy);
        assert_eq!(tests, BTreeSet::from(["one".to_owned(), "two".to_owned()]));
        assert_eq!(documents::named_tests("`tidy::one`, `tidy::two`", &tests), []);
        assert_eq!(documents::named_tests("`tidy::one`", &tests).len(), 1);
        assert_eq!(
            documents::named_tests("`tidy::one` `tidy::two`\n`tidy::three`", &tests)[0].line,
            2
        );
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        for folder in ["work", "home", "root"] {
            let text = format!("fine\nsee /{folder}/a\n");
            let findings = documents::machine_paths("a.md", &text);
            assert_eq!(findings.len(), 1, "{text}");
            assert_eq!(findings[0].line, 2);
            assert_eq!(documents::machine_paths("a.md", &format!("/{folder}s and {folder}")), []);
        }
    }
}

mod the_workspace {
    use super::*;

    fn package(name: &str, dependencies: &[Value]) -> Value {
        let manifest = format!("/w/crates/{name}/Cargo.toml");
        json!({"workspace_root": "/w", "packages": [
            {"name": name, "manifest_path": manifest, "dependencies": dependencies}]})
    }

    fn inside(name: &str) -> Value {
        json!({"name": name, "path": format!("/w/crates/{name}"), "kind": null, "optional": false})
    }

    fn outside(name: &str, kind: Value, optional: bool) -> Value {
        json!({"name": name, "path": null, "kind": kind, "optional": optional})
    }

    #[test]
    fn an_arrow_that_does_not_point_down_is_found() {
        for (from, to) in [
            ("motet-plan", "motet-fabric"),
            ("motet-fabric", "motet-plan"),
            ("motet", "motet-cli"),
            ("motet-abi", "motet-plan"),
            ("motet-cli", "motet-abi"),
            ("motet", "a-crate-beside"),
        ] {
            let findings = workspace::arrows(&package(from, &[inside(to)]));
            assert_eq!(findings.len(), 1, "{from} -> {to}");
            assert_eq!(findings[0].path, format!("crates/{from}/Cargo.toml"));
        }
        let mut published = inside("motet-fabric");
        published["path"] = Value::Null;
        assert_eq!(workspace::arrows(&package("motet-plan", &[published])).len(), 1);
    }

    #[test]
    fn an_arrow_that_points_down_is_fine() {
        for (from, to) in
            [("motet", "motet-plan"), ("motet-abi", "motet"), ("motet-cli", "motet-fabric")]
        {
            assert_eq!(workspace::arrows(&package(from, &[inside(to)])), [], "{from} -> {to}");
        }
    }

    #[test]
    fn a_sixth_crate_is_found() {
        let whats = whats(workspace::arrows(&package("motet-traits", &[])));
        assert_eq!(whats, ["`motet-traits` is not one of the five crates"]);
    }

    #[test]
    fn a_library_that_needs_more_is_found() {
        let needs =
            |name, dependency| workspace::outside_dependencies(&package(name, &[dependency])).len();
        let normal = Value::Null;
        assert_eq!(needs("motet", outside("rand", normal.clone(), false)), 1);
        assert_eq!(needs("motet-plan", outside("libc", normal.clone(), false)), 1);
        assert_eq!(needs("motet-fabric", outside("libc", normal.clone(), false)), 0);
        assert_eq!(needs("motet", outside("half", normal.clone(), true)), 0);
        assert_eq!(needs("motet", outside("proptest", json!("dev"), false)), 0);
        assert_eq!(needs("motet-cli", outside("clap", normal, false)), 0);
    }

    #[test]
    fn a_crate_with_its_own_word_is_found() {
        let found = |manifest: &str, licence| {
            workspace::inherited("crates/plan/Cargo.toml", manifest, licence).len()
        };
        let both = "MIT OR Apache-2.0";
        assert_eq!(
            found("[package]\nlicense.workspace = true\n[lints]\nworkspace = true", both),
            0
        );
        assert_eq!(
            found("lints.workspace=true\n[package]\nlicense = { workspace = true }", both),
            0
        );
        assert_eq!(found("[package]\nlicense.workspace = true # as all\n", both), 1);
        assert_eq!(found("[package]\nlicense = \"MIT\"\n[lints]\nworkspace = true", "MIT"), 1);
        assert_eq!(
            found("[package]\nlicense.workspace = true\n[lints]\nworkspace = true", "MIT"),
            1
        );
        assert_eq!(found("[package]\n# lints.workspace = true\n[lints.rust]\n", ""), 2);
    }

    #[test]
    fn the_roots_of_the_safe_crates_are_known() {
        let target = |kind: &str, path: &str| json!({"kind": [kind], "src_path": path});
        let metadata = json!({"workspace_root": "/w", "packages": [
            {"name": "motet-cli", "targets": [
                target("bin", "/w/crates/cli/src/main.rs"),
                target("test", "/w/crates/cli/tests/tidy.rs")]},
            {"name": "motet", "targets": [target("lib", "/w/crates/motet/src/lib.rs")]}]});
        assert_eq!(workspace::safe_roots(&metadata), ["crates/cli/src/main.rs"]);
    }
}

mod the_names {
    use super::*;

    #[test]
    fn a_type_module_or_constant_with_a_retired_name_is_found() {
        let text = "struct Pace;\npub(crate) enum CopyBandwidth { Pace }\nmod straight;\n\
                    fn f(pace: u32) {}\n// struct Way;\npub trait Way {}\n\
                    pub const MOST: u8 = 3;\nfn g() {\n    const MOST: u8 = 3;\n}\n";
        let found = lines(names::retired(&rust(text)));
        assert_eq!(found, [1, 6, 3, 7], "types, then modules, then constants");
    }

    #[test]
    fn a_name_of_any_kind_with_a_retired_word_is_found() {
        let text = "fn take_back_straight(belt: u8) {}\nstruct Belt {\n    pub conduits: u8,\n\
                    // vigil: u8,\n    open: conduit::Vigil,\n}\nenum Sent {\n    #[default]\n\
                    InVolley,\n    Link { berth: u8 },\n    Straightened(u8),\n}\nfn f() {\n\
                    let mut courier = said;\n    let landings = \"landing\";\n\
                    let said = what_is_said;\n}\n";
        let found = lines(words::retired(&rust(text)));
        assert_eq!(found, [1, 1, 2, 3, 5, 5, 9, 10, 14, 14, 16]);
        let text = "fn f(one_way: OneWay) {}\nfn way(gateway: Ways) {}\nlet under_way = always;\n\
                    let mine = has_news(look_up, mined, renews);\n";
        assert_eq!(lines(words::retired(&rust(text))), [2, 2, 3, 4, 4, 4]);
        let old = Source::new("crates/motet/src/raw/renamed.rs", text);
        assert!(words::retired(&old).is_empty(), "deprecated names keep their words");
    }

    #[test]
    fn two_types_of_one_name_are_found_unless_they_are_listed() {
        let other = Source::new("crates/plan/src/tree.rs", "struct Node;\nenum Leaf {}\n");
        let ring = rust("impl A for B {\n    type Leaf = u8;\n}\npub struct Node {}\n");
        let found = |list: &str| names::shared(&[&other, &ring], list);
        assert_eq!(lines(found("# a comment\n")), [4]);
        assert!(found("Node\n").is_empty());
        assert_eq!(found("Leaf\nNode\n").len(), 1, "one type only");
        assert_eq!(found("Leaf\nNode\n")[0].path, names::SHARED);
    }
}

mod the_layers {
    use super::*;

    const PAGE: &str = "# A crate\n\n## Layers\n\n| layer | what |\n|---|---|\n\
        | `roof`, `attic` | `base` is no module here |\n| `wall` | |\n| `base` | |\n\n## More\n";

    fn layers(page: &str) -> layers::Layers {
        layers::Layers::read("crates/house/src/README.md", page).expect("it has a table")
    }

    /// What is found where `wall/brick.rs` holds this text, and the modules of the table exist.
    fn found(text: &str) -> Vec<usize> {
        let file = |name: &str, text| Source::new(&format!("crates/house/src/{name}"), text);
        let surface = "pub use base::{Stone, Sand as Grit};\npub use roof::{Tile, beam::Beam};\n";
        let sources = [
            file("lib.rs", surface),
            file("attic.rs", "use super::roof::Tile;\nuse crate::wall;\n"),
            file("roof.rs", "use crate::base::Stone;\n"),
            file("wall.rs", "mod brick;\n"),
            file("base.rs", ""),
            file("wall/brick.rs", text),
        ];
        let findings = layers(PAGE).findings(&sources.each_ref());
        assert!(findings.iter().all(|each| each.path.ends_with("/wall/brick.rs")), "{findings:?}");
        findings.into_iter().map(|each| each.line).collect()
    }

    #[test]
    fn a_use_that_points_up_is_found() {
        assert_eq!(found("use crate::base::Stone;\n\nuse crate::roof::Tile;\n"), [3]);
        assert_eq!(found("use crate::{\n    base::Stone,\n    attic::{Box, Bag},\n};\n"), [3, 3]);
        assert_eq!(found("use crate::attic;\n"), [1]);
        assert_eq!(found("fn f(a: &super::super::roof::Tile) {}\n"), [1]);
        assert_eq!(found("mod m {\n    use super::super::super::roof::Tile;\n}\n"), [2]);
        assert_eq!(found("macro_rules! m {\n    () => { $crate::roof::Tile };\n}\n"), [2]);
    }

    #[test]
    fn what_the_root_re_exports_belongs_to_its_module() {
        assert_eq!(found("use crate::{Grit, Stone};\n"), NOWHERE);
        assert_eq!(found("use crate::{Grit, Tile};\n"), [1]);
        assert_eq!(found("fn f() -> crate::Beam {}\n"), [1]);
    }

    #[test]
    fn other_uses_are_none_that_point_up() {
        let down = "//! [`Tile`](crate::roof::Tile)\nuse crate::base::*;\nuse super::mortar;\n\
                    pub(crate) fn f() -> std::vec::Vec<u8> { \"crate::roof\" }\n\
                    mod roof {}\nuse self::roof::Tile;\n";
        assert_eq!(found(down), NOWHERE);
        assert_eq!(found("#[cfg(test)]\nmod tests {\n    use crate::roof::Tile;\n}\n"), NOWHERE);
    }

    /// The lines found in `attic.rs`, whose second line uses `roof`, if `roof.rs` holds this text.
    fn found_in_circle(roof: &str) -> Vec<usize> {
        let file = |name: &str, text| Source::new(&format!("crates/house/src/{name}"), text);
        let attic = "use crate::base::Stone;\nuse super::roof::Tile;\n";
        let sources = [
            file("attic.rs", attic),
            file("roof.rs", roof),
            file("wall.rs", ""),
            file("base.rs", ""),
        ];
        let findings = layers(PAGE).findings(&sources.each_ref()).into_iter();
        findings.filter(|each| each.path.ends_with("/attic.rs")).map(|each| each.line).collect()
    }

    #[test]
    fn a_circle_within_a_layer_is_found() {
        assert_eq!(found_in_circle("use crate::base;\nuse crate::attic::Box;\n"), [2]);
        assert_eq!(found_in_circle("use crate::base;\nuse self::Tile;\n"), NOWHERE);
        let three = PAGE
            .replace("`roof`, `attic`", "`roof`, `attic`, `wall`")
            .replace("| `wall` | |\n", "");
        let file = |name: &str, text| Source::new(&format!("crates/house/src/{name}.rs"), text);
        let sources = [
            file("attic", "use crate::roof;\n"),
            file("roof", "\nuse crate::wall;\nuse crate::wall::Brick;\n"),
            file("wall", "use crate::attic;\n"),
            file("base", ""),
        ];
        let findings = layers(&three).findings(&sources.each_ref());
        let places = findings.iter().map(|each| (&each.path[17..], each.line));
        let expected = [("attic.rs", 1), ("roof.rs", 2), ("wall.rs", 1)];
        assert_eq!(places.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_row_without_a_module_is_found() {
        let page = PAGE.replace("`roof`, `attic`", "roof");
        let file = |name: &str| Source::new(&format!("crates/house/src/{name}.rs"), "");
        let sources = [file("wall"), file("base")];
        let findings = layers(&page).findings(&sources.each_ref());
        let places = findings.iter().map(|each| (&*each.path, each.line));
        assert_eq!(places.collect::<Vec<_>>(), [("crates/house/src/README.md", 7)]);
    }

    #[test]
    fn a_module_without_a_layer_and_a_layer_without_a_module_are_found() {
        let sources = [rust(""), Source::new("crates/house/src/cellar.rs", "")];
        let findings = layers(&PAGE.replace(", `attic`", "")).findings(&sources.each_ref());
        let names = ["`cellar` is in no layer of crates/house/src/README.md"];
        let missing = ["base", "roof", "wall"].map(|name| format!("no module `{name}`"));
        let expected: Vec<String> = names.map(str::to_owned).into_iter().chain(missing).collect();
        assert_eq!(whats(findings), expected);
        assert!(layers::Layers::read("crates/house/src/README.md", "# Protocol\n").is_none());
        assert!(layers::Layers::read("crates/house/README.md", PAGE).is_none());
    }
}
