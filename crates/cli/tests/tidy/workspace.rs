//! The workspace as a whole: its files, its crates, and the arrows between them.

use crate::finding::Finding;
use crate::source::Source;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A crate of the workspace and what it may depend on.
struct Member {
    name: &'static str,
    inside: &'static [&'static str],
    /// What it may always need from outside; `None`: whatever it likes, as nobody depends on it.
    outside: Option<&'static [&'static str]>,
}

/// The crates there may be. Everything a library needs from outside is in every user's program.
const MEMBERS: [Member; 6] = [
    Member { name: "motet-plan", inside: &[], outside: Some(&["thiserror"]) },
    Member { name: "motet-fabric", inside: &[], outside: Some(&["thiserror", "rustix", "libc"]) },
    Member { name: "motet-heap", inside: &["motet-fabric"], outside: Some(&["libc"]) },
    Member {
        name: "motet",
        inside: &["motet-plan", "motet-fabric"],
        outside: Some(&["thiserror", "rustix", "libc"]),
    },
    Member { name: "motet-abi", inside: &["motet"], outside: Some(&["thiserror", "libc"]) },
    Member { name: "motet-cli", inside: &["motet", "motet-plan", "motet-fabric"], outside: None },
];

const LICENCE: &str = "MIT OR Apache-2.0";

/// Where the workspace lies.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the root exists")
}

/// A text of the workspace root; a missing one fails the test that asks.
#[track_caller]
pub(crate) fn document(name: &str) -> String {
    fs::read_to_string(root().join(name))
        .unwrap_or_else(|error| panic!("{name} at the workspace root is needed: {error}"))
}

/// Paths from the root of all files that belong to the project: tracked ones, and under `crates/`
/// also those that are not tracked yet, so that a rule is heard before the commit.
fn files() -> BTreeSet<String> {
    let tracked = git_files(&["--cached"]);
    let new = git_files(&["--others", "--exclude-standard", "--", "crates"]);
    match (tracked, new) {
        (Some(mut tracked), Some(new)) => {
            tracked.extend(new);
            tracked
        }
        _ => {
            let mut found = BTreeSet::new();
            walk(&root(), "", &mut found);
            found
        }
    }
}

fn git_files(arguments: &[&str]) -> Option<BTreeSet<String>> {
    let mut git = Command::new("git");
    git.arg("ls-files").arg("-z").args(arguments).current_dir(root());
    let output = git.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").output().ok()?;
    let list = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(list.split_terminator('\0').map(str::to_owned).collect())
}

/// What `git` would list, for a copy of the tree without it.
fn walk(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder of the workspace can be read") {
        let entry = entry.expect("a folder of the workspace can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().expect("an entry has a type");
        if kind.is_dir() && name != "target" && name != ".git" {
            walk(&entry.path(), &format!("{path}/"), found);
        } else if kind.is_file() {
            found.insert(path);
        }
    }
}

/// The bytes of all files of the project, with their paths from the root.
pub(crate) fn sizes() -> Vec<(String, u64)> {
    let root = root();
    let size = |path: String| fs::metadata(root.join(&path)).ok().map(|file| (path, file.len()));
    files().into_iter().filter_map(size).collect()
}

/// All texts of the project, with their paths from the root.
pub(crate) fn texts() -> Vec<(String, String)> {
    let root = root();
    let texts: Vec<_> = files()
        .into_iter()
        .filter_map(|path| fs::read_to_string(root.join(&path)).ok().map(|text| (path, text)))
        .collect();
    assert!(texts.len() > MEMBERS.len(), "the files of the workspace were not found");
    texts
}

/// All Rust files of the project.
pub(crate) fn sources() -> Vec<Source> {
    let texts = texts();
    let rust = texts.iter().filter(|(path, _)| path.ends_with(".rs"));
    rust.map(|(path, text)| Source::new(path, text)).collect()
}

/// All programs in C of the project, whose comments are like those of Rust.
pub(crate) fn programs() -> Vec<Source> {
    let texts = texts();
    let programs = texts.iter().filter(|(path, _)| path.ends_with(".c"));
    programs.map(|(path, text)| Source::new(path, text)).collect()
}

/// What cargo says about the crates of the workspace.
pub(crate) fn metadata() -> Value {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(root());
    let output = cargo.output().expect("cargo can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata writes JSON")
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("")
}

/// The path of a crate's manifest from the root.
fn manifest_path(metadata: &Value, package: &Value) -> String {
    relative(metadata, text(package, "manifest_path"))
}

fn relative(metadata: &Value, path: &str) -> String {
    let root = text(metadata, "workspace_root");
    path.strip_prefix(root).unwrap_or(path).trim_start_matches('/').to_owned()
}

/// Only the known crates, and between them only arrows that point down.
pub(crate) fn arrows(metadata: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in list(metadata, "packages") {
        let (path, name) = (manifest_path(metadata, package), text(package, "name"));
        let Some(member) = MEMBERS.iter().find(|member| member.name == name) else {
            let what = format!("`{name}` is not one of the five crates");
            let remedy = "Find its place in one of them, or give the reason in ARCHITECTURE.md";
            findings.push(Finding::new(&path, 1, what, remedy));
            continue;
        };
        for dependency in list(package, "dependencies") {
            let to = text(dependency, "name");
            let is_member = MEMBERS.iter().any(|member| member.name == to);
            let is_inside = is_member || dependency["path"].is_string();
            if is_inside && !member.inside.contains(&to) {
                let what = format!("an arrow from `{name}` to `{to}`");
                let remedy = "Arrows point down: see the layers in ARCHITECTURE.md";
                findings.push(Finding::new(&path, 1, what, remedy));
            }
        }
    }
    findings
}

/// A library needs nothing from outside beyond its short list, except behind a feature.
pub(crate) fn outside_dependencies(metadata: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in list(metadata, "packages") {
        let name = text(package, "name");
        let member = MEMBERS.iter().find(|member| member.name == name);
        let Some(allowed) = member.and_then(|member| member.outside) else { continue };
        let is_needed = |dependency: &&Value| {
            dependency["kind"].is_null()
                && dependency["path"].is_null()
                && dependency["optional"] != Value::Bool(true)
        };
        for dependency in list(package, "dependencies").filter(is_needed) {
            let to = text(dependency, "name");
            if !allowed.contains(&to) {
                let what = format!("`{name}` needs `{to}`, which every user then needs too");
                let remedy = "Do without it, or make it optional behind a feature";
                findings.push(Finding::new(&manifest_path(metadata, package), 1, what, remedy));
            }
        }
    }
    findings
}

/// The roots of the crates that have no `unsafe` at all.
pub(crate) fn safe_roots(metadata: &Value) -> Vec<String> {
    let is_safe = |package: &&Value| matches!(text(package, "name"), "motet-plan" | "motet-cli");
    let is_root = |target: &&Value| {
        list(target, "kind").any(|kind| matches!(kind.as_str(), Some("lib" | "bin")))
    };
    let packages = list(metadata, "packages").filter(is_safe);
    packages
        .flat_map(|package| list(package, "targets").filter(is_root))
        .map(|target| relative(metadata, text(target, "src_path")))
        .collect()
}

/// The manifests of all crates: path and licence.
pub(crate) fn manifests(metadata: &Value) -> Vec<(String, String)> {
    list(metadata, "packages")
        .map(|package| (manifest_path(metadata, package), text(package, "license").to_owned()))
        .collect()
}

/// A crate takes its lints and its licence from the workspace.
pub(crate) fn inherited(path: &str, manifest: &str, licence: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !inherits(manifest, "lints") {
        let remedy = "Add `lints.workspace = true`";
        findings.push(Finding::new(path, 1, "a crate with lints of its own", remedy));
    }
    if !inherits(manifest, "package.license") || licence != LICENCE {
        let what = format!("a crate under {licence:?} by its own word");
        let remedy = "Add `license.workspace = true`; the workspace says `MIT OR Apache-2.0`";
        findings.push(Finding::new(path, 1, what, remedy));
    }
    findings
}

/// Whether `key` is taken from the workspace, in any of the three ways to write it.
fn inherits(manifest: &str, key: &str) -> bool {
    let mut table = String::new();
    manifest.lines().map(|line| line.split('#').next().unwrap_or("").trim()).any(|line| {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            table = format!("{name}.");
        }
        let entry: String = format!("{table}{line}").split_whitespace().collect();
        entry == format!("{key}.workspace=true") || entry == format!("{key}={{workspace=true}}")
    })
}
