//! The layers inside a crate: each module uses only modules of its own layer and of those below.
//!
//! A crate says its layers in `src/README.md`, in the table under `## Layers`: a row for each, the
//! highest first, with its modules in backticks in the first column. Modules of one layer may use
//! each other, but not in a circle. A use is a path that begins with `crate`, `super` or `self`, in
//! an import or anywhere else; what the root of the crate re-exports belongs to the module that it
//! comes from. Tests may use all: they begin at the surface what they look at inside. Calls of
//! methods are not seen, since they name no module.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::documents::section;
use crate::finding::Finding;
use crate::source::Source;

/// The heading above the table of layers.
pub(crate) const HEADING: &str = "## Layers";
const REMEDY: &str = "Move what is used down, or what uses it up: uses point down";
const REMEDY_OF_CIRCLE: &str = "Move what both use to a module below, or make them one module";

/// The layers of a crate, as its table says.
pub(crate) struct Layers {
    /// The table.
    path: String,
    /// The folder of its sources, with a `/` at its end.
    root: String,
    /// The layer of each module, 0 for the highest, and the line of its row.
    modules: BTreeMap<String, (usize, usize)>,
    /// The lines of rows without a module.
    empty: Vec<usize>,
}

/// Uses between the modules of one layer: who uses whom, and the first place in the sources.
type Level<'a> = BTreeMap<(&'a str, &'a str), (&'a str, usize)>;

impl Layers {
    /// Reads the table of a page `crates/NAME/src/README.md`. Nothing if the page has none.
    pub(crate) fn read(path: &str, markdown: &str) -> Option<Layers> {
        let root = path.strip_suffix("README.md").filter(|root| root.ends_with("/src/"))?;
        let rows =
            section(markdown, HEADING)?.into_iter().filter(|(_, line)| line.starts_with('|'));
        let (mut modules, mut empty) = (BTreeMap::new(), Vec::new());
        for (layer, (line, row)) in rows.skip(2).enumerate() {
            let cell = row.split('|').nth(1).unwrap_or("");
            let mut names = cell.split('`').skip(1).step_by(2).peekable();
            empty.extend(names.peek().is_none().then_some(line));
            modules.extend(names.map(|name| (name.to_owned(), (layer, line))));
        }
        Some(Layers { path: path.to_owned(), root: root.to_owned(), modules, empty })
    }

    /// The layer of the module in which a path lies, and its name in the table.
    fn layer_of(&self, path: &[String]) -> Option<(usize, &str)> {
        let found = (1..=path.len())
            .rev()
            .find_map(|len| self.modules.get_key_value(&path[..len].join("/")));
        found.map(|(name, (layer, _))| (*layer, &**name))
    }

    /// Whether a file belongs to the crate.
    pub(crate) fn has(&self, source: &Source) -> bool {
        source.path.starts_with(&self.root)
    }

    /// The path of a file's module.
    fn module_of(&self, source: &Source) -> Vec<String> {
        let path = source.path[self.root.len()..].trim_end_matches(".rs");
        let path = path.trim_end_matches("/mod");
        path.split('/').map(str::to_owned).collect()
    }

    /// All uses that point up in these files of the crate, circles within a layer, modules without
    /// a layer, rows without a module, and names in the table that no file has.
    pub(crate) fn findings(&self, sources: &[&Source]) -> Vec<Finding> {
        let (roots, files): (Vec<&Source>, Vec<&Source>) = sources
            .iter()
            .filter(|source| self.has(source))
            .partition(|source| matches!(&source.path[self.root.len()..], "lib.rs" | "main.rs"));
        let surface: BTreeMap<String, Vec<String>> =
            roots.into_iter().flat_map(re_exports).collect();
        let mut findings = Vec::new();
        let mut level = Level::new();
        let mut lacking: BTreeMap<&str, usize> =
            self.modules.iter().map(|(name, (_, line))| (&**name, *line)).collect();
        for source in files {
            let module = self.module_of(source);
            let Some((layer, name)) = self.layer_of(&module) else {
                let what = format!("`{}` is in no layer of {}", module.join("::"), self.path);
                findings.push(Finding::new(&source.path, 1, what, "Name it in the table"));
                continue;
            };
            lacking.remove(name);
            for (at, path) in uses(source, &module) {
                let path = surface.get(&path[0]).unwrap_or(&path);
                let Some((its_layer, its_name)) = self.layer_of(path) else { continue };
                if its_layer < layer {
                    let what =
                        format!("`{name}` uses `{}` of `{its_name}`, above", path.join("::"));
                    findings.push(Finding::new(&source.path, source.line_of(at), what, REMEDY));
                } else if its_layer == layer && its_name != name {
                    level.entry((name, its_name)).or_insert((&source.path, source.line_of(at)));
                }
            }
        }
        findings.extend(circles(level));
        for line in &self.empty {
            let what = "a layer without a module";
            findings.push(Finding::new(&self.path, *line, what, "Name its modules in backticks"));
        }
        for (name, line) in lacking {
            let what = format!("no module `{name}`");
            findings.push(Finding::new(&self.path, line, what, "Remove it from the table"));
        }
        findings
    }
}

/// The uses within a layer that are part of a circle, or lead from one circle to another.
fn circles(mut level: Level<'_>) -> impl Iterator<Item = Finding> {
    loop {
        let uses: Vec<_> = level.keys().copied().collect();
        let goes_on = |name| uses.iter().any(|(user, _)| *user == name);
        let is_used = |name| uses.iter().any(|(_, used)| *used == name);
        level.retain(|(user, used), _| is_used(*user) && goes_on(*used));
        if level.len() == uses.len() {
            break;
        }
    }
    level.into_iter().map(|((user, used), (path, line))| {
        let what = format!("`{user}` and `{used}` of one layer use each other in a circle");
        Finding::new(path, line, what, REMEDY_OF_CIRCLE)
    })
}

/// What the root of a crate re-exports, by its name there, and the path that it comes from.
fn re_exports(root: &Source) -> Vec<(String, Vec<String>)> {
    let imports = root.words().filter(|word| word.text == "use");
    let paths = imports.flat_map(|word| trees(&root.code, word.end()));
    paths.filter_map(|(_, path, name)| Some((name.or(path.last().cloned())?, path))).collect()
}

/// What a file uses: places, and paths from the root of its crate.
fn uses(source: &Source, module: &[String]) -> Vec<(usize, Vec<String>)> {
    let tests = source.test_spans();
    let inner = inline_modules(source);
    let mut found = Vec::new();
    for word in source.words() {
        let begins = matches!(word.text, "crate" | "super" | "self")
            && source.code[word.end()..].trim_start().starts_with("::")
            && !source.code[..word.start].trim_end().ends_with("::");
        if !begins || tests.iter().any(|span| span.contains(&word.start)) {
            continue;
        }
        let within = inner.iter().filter(|(span, _)| span.contains(&word.start));
        let from: Vec<String> =
            module.iter().cloned().chain(within.map(|(_, name)| name.clone())).collect();
        let paths = trees(&source.code, word.start);
        let paths = paths.into_iter().filter_map(|(at, path, _)| Some((at, whole(&from, path)?)));
        found.extend(paths.filter(|(_, path)| !path.is_empty()));
    }
    found
}

/// The modules that a file has in itself.
fn inline_modules(source: &Source) -> Vec<(Range<usize>, String)> {
    let words: Vec<_> = source.words().collect();
    let named = words.windows(2).filter(|pair| pair[0].text == "mod");
    let open = named.filter_map(|pair| match source.next_char(pair[1].end())? {
        (open, '{') => Some((open..source.close_of(open), pair[1].text.to_owned())),
        _ => None,
    });
    open.collect()
}

/// A path from the root of the crate.
fn whole(module: &[String], path: Vec<String>) -> Option<Vec<String>> {
    let mut from = module.to_vec();
    let mut rest = path.into_iter().peekable();
    if rest.next_if(|first| first == "crate").is_some() {
        from.clear();
    }
    while let Some(step) = rest.next_if(|step| step == "super" || step == "self") {
        if step == "super" {
            from.pop()?;
        }
    }
    from.extend(rest);
    Some(from)
}

/// All paths of the tree that begins at this place: where each ends, its parts, and the name that
/// it gets by `as`.
fn trees(code: &str, start: usize) -> Vec<(usize, Vec<String>, Option<String>)> {
    let mut found = Vec::new();
    let mut at = start;
    tree(code, &mut at, &mut Vec::new(), &mut found);
    found
}

fn skip_space(code: &str, at: &mut usize) {
    *at += code[*at..].len() - code[*at..].trim_start().len();
}

/// Takes this text from the code, if it comes next.
fn take(code: &str, at: &mut usize, text: &str) -> bool {
    skip_space(code, at);
    let is_there = code[*at..].starts_with(text);
    *at += if is_there { text.len() } else { 0 };
    is_there
}

fn take_word<'a>(code: &'a str, at: &mut usize) -> Option<&'a str> {
    skip_space(code, at);
    let rest = &code[*at..];
    let len = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
    *at += len;
    (len > 0).then(|| &rest[..len])
}

fn tree(
    code: &str,
    at: &mut usize,
    path: &mut Vec<String>,
    found: &mut Vec<(usize, Vec<String>, Option<String>)>,
) {
    let depth = path.len();
    loop {
        if take(code, at, "{") {
            while !take(code, at, "}") && *at < code.len() {
                let before = *at;
                tree(code, at, path, found);
                take(code, at, ",");
                if *at == before {
                    *at = code.len(); // no tree after all
                }
            }
            break;
        }
        skip_space(code, at);
        let place = *at;
        let Some(word) = take_word(code, at) else {
            take(code, at, "*");
            found.push((place, path.clone(), None));
            break;
        };
        path.push(word.to_owned());
        let mut ahead = *at;
        if !take(code, &mut ahead, "::") {
            let renamed = take_word(code, &mut ahead).filter(|word| *word == "as").is_some();
            let name = renamed.then(|| take_word(code, &mut ahead)).flatten();
            *at = if name.is_some() { ahead } else { *at };
            found.push((place, path.clone(), name.map(str::to_owned)));
            break;
        }
        *at = ahead;
    }
    path.truncate(depth);
}
