//! The rules of `STYLE.md` that a machine can check, one test per rule.
//!
//! Each rule is a function from texts to findings, so that `tidy/planted.rs` can show for each of
//! them that it does find what it is there to find.

#[path = "tidy/code.rs"]
mod code;
#[path = "tidy/conformance.rs"]
mod conformance;
#[path = "tidy/documents.rs"]
mod documents;
#[path = "tidy/finding.rs"]
mod finding;
#[path = "tidy/layers.rs"]
mod layers;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/planted.rs"]
mod planted;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/words.rs"]
mod words;
#[path = "tidy/workspace.rs"]
mod workspace;

use documents::UNSAFE_LIST;
use finding::none;
use source::Source;

#[test]
fn arrows_between_crates_point_down() {
    none(workspace::arrows(&workspace::metadata()));
}

#[test]
fn layers_point_down() {
    let texts = workspace::texts();
    let layered = texts.iter().filter_map(|(path, text)| layers::Layers::read(path, text));
    let layered: Vec<_> = layered.collect();
    assert!(layered.len() >= 4, "motet, plan, fabric and cli have a page with their layers");
    let sources = workspace::sources();
    let sources = code::without_tests(&sources);
    none(layered.iter().flat_map(|layers| layers.findings(&sources)));
}

#[test]
fn libraries_need_little_from_outside() {
    none(workspace::outside_dependencies(&workspace::metadata()));
}

#[test]
fn unsafe_lives_where_the_list_says() {
    let (listed, mut findings) = documents::unsafe_list(&workspace::document(UNSAFE_LIST));
    findings.extend(code::unsafe_files(&workspace::sources(), &listed));
    none(findings);
}

#[test]
fn pure_crates_forbid_unsafe() {
    let roots = workspace::safe_roots(&workspace::metadata());
    assert!(roots.len() >= 2, "motet-plan and motet-cli have a root each: {roots:?}");
    let roots = roots.iter().map(|path| Source::new(path, &workspace::document(path)));
    none(roots.filter_map(|root| code::forbids_unsafe(&root)));
}

#[test]
fn functions_are_short() {
    let sources = workspace::sources();
    none(code::without_tests(&sources).into_iter().flat_map(code::long_functions));
}

#[test]
fn files_are_short() {
    let sources = workspace::sources();
    none(code::without_tests(&sources).into_iter().filter_map(code::long_file));
}

#[test]
fn no_file_is_huge() {
    none(workspace::sizes().iter().filter_map(|(path, bytes)| documents::huge(path, *bytes)));
}

#[test]
fn lines_are_narrow() {
    none(workspace::sources().iter().flat_map(code::wide_lines));
}

#[test]
fn nothing_is_left_undone() {
    none(workspace::sources().iter().flat_map(code::stubs));
}

#[test]
fn what_is_said_stays_in_its_line() {
    let sources = workspace::sources();
    none(code::without_tests(&sources).into_iter().flat_map(code::stray_complaints));
}

#[test]
fn steps_have_one_interpreter() {
    let sources = workspace::sources();
    none(code::without_tests(&sources).into_iter().flat_map(code::interpreters));
}

#[test]
fn modules_are_named_after_their_subject() {
    none(workspace::sources().iter().flat_map(code::empty_names));
}

#[test]
fn retired_names_do_not_come_back() {
    none(workspace::sources().iter().flat_map(names::retired));
    none(workspace::sources().iter().flat_map(words::retired));
}

#[test]
fn a_name_is_one_type() {
    let sources = workspace::sources();
    let sources = code::without_tests(&sources);
    none(names::shared(&sources, &workspace::document(names::SHARED)));
}

#[test]
fn checklist_items_exist() {
    none(workspace::sources().iter().flat_map(code::checklist_items));
    none(workspace::programs().iter().flat_map(code::checklist_items));
}

#[test]
fn conformance_is_documented() {
    let list = workspace::document(conformance::CHECKLIST);
    let (items, mut findings) = conformance::checklist(&list);
    let mut marks = conformance::Marks::new();
    for source in workspace::sources().iter().chain(&workspace::programs()) {
        conformance::add_marks(source, &mut marks);
    }
    findings.extend(conformance::unproved(&items, &marks));
    let made = conformance::table(&items, &marks);
    if std::env::var_os(conformance::REGENERATE).is_some() {
        std::fs::write(workspace::root().join(conformance::TABLE), &made).expect("it is writable");
    }
    findings.extend(conformance::stale(&workspace::document(conformance::TABLE), &made));
    none(findings);
}

#[test]
fn ignored_tests_say_why() {
    none(workspace::sources().iter().flat_map(code::ignored_tests));
}

#[test]
fn crates_inherit_lints_and_licence() {
    let manifests = workspace::manifests(&workspace::metadata());
    none(manifests.iter().flat_map(|(path, licence)| {
        workspace::inherited(path, &workspace::document(path), licence)
    }));
}

#[test]
fn readme_commands_can_be_run() {
    let readme = workspace::document("README.md");
    let headings = ["## Run it", "## Test it"];
    none(headings.into_iter().filter_map(|heading| documents::one_block(&readme, heading)));
}

#[test]
fn texts_name_no_machine() {
    let texts = workspace::texts();
    none(texts.iter().flat_map(|(path, text)| documents::machine_paths(path, text)));
}

#[test]
fn style_names_its_tests() {
    let tidy = Source::new("tidy.rs", include_str!("tidy.rs"));
    none(documents::named_tests(&workspace::document("STYLE.md"), &code::test_names(&tidy)));
}
