//! What the compiler says to mistakes: the programs of `compiler_messages.md` do not compile, and
//! the message of each has the texts that stand below it.
//!
//! The programs are compiled against the library that this test is linked with, as a crate that
//! depends on it would be.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

/// The programs, and what the compiler must say of them.
const PAGE: &str = include_str!("compiler_messages.md");

/// A mistake that users make.
struct Mistake {
    title: &'static str,
    program: &'static str,
    texts: Vec<&'static str>,
}

/// The mistakes of the page: under each title one program, and lines that begin with `>`.
fn mistakes() -> Vec<Mistake> {
    let sections = PAGE.split("\n## ").skip(1);
    let read = |section: &'static str| {
        let (title, rest) = section.split_once('\n')?;
        let (_, rest) = rest.split_once("```rust\n")?;
        let (program, rest) = rest.split_once("```\n")?;
        let texts = rest.lines().filter_map(|line| line.strip_prefix("> ")).collect();
        Some(Mistake { title, program, texts })
    };
    sections.map(|section| read(section).expect("a title, a program and what is said")).collect()
}

/// Compiles programs against the library.
struct Compiler {
    /// Where the library and what it needs lie.
    deps: PathBuf,
    library: PathBuf,
    folder: TempDir,
}

impl Compiler {
    fn new() -> Result<Compiler> {
        let deps = env::current_exe()?.parent().context("a test lies in a folder")?.to_owned();
        let mut libraries = Vec::new();
        for entry in fs::read_dir(&deps)? {
            let (path, entry) = (entry.as_ref().map(|entry| entry.path()), &entry);
            let Ok(path) = path else { continue };
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.starts_with("libmotet-") && name.ends_with(".rlib") {
                let made = entry.as_ref().map_or(SystemTime::UNIX_EPOCH, |entry| {
                    let made = entry.metadata().and_then(|facts| facts.modified());
                    made.unwrap_or(SystemTime::UNIX_EPOCH)
                });
                libraries.push((made, path));
            }
        }
        // There may be some of other features; the one of this test is the last that was made.
        let (_, library) = libraries.into_iter().max().context("the library has been built")?;
        Ok(Compiler { deps, library, folder: TempDir::new()? })
    }

    /// Whether a program compiles, and what the compiler says, in one line.
    fn compile(&self, statements: &str) -> Result<(bool, String)> {
        let program = format!(
            "#![allow(warnings)]\nfn program(world: motet::World) -> motet::Result<()> {{\n\
             {statements}\nOk(())\n}}\nfn main() {{}}\n"
        );
        let source = self.folder.path().join("program.rs");
        fs::write(&source, program)?;
        let output = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .args(["--edition", "2024", "--emit", "metadata", "--color", "never"])
            .args(["--diagnostic-width", "1000"])
            .arg("--out-dir")
            .arg(self.folder.path())
            .arg("--extern")
            .arg(joined("motet=", &self.library))
            .arg("-L")
            .arg(joined("dependency=", &self.deps))
            .arg(&source)
            // The compiler shows lines of the library, whose paths begin here.
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .stdin(Stdio::null())
            .output()?;
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        Ok((output.status.success(), words))
    }
}

fn joined(key: &str, path: &Path) -> String {
    format!("{key}{}", path.display())
}

/// One test, since to find the library takes as long as to compile a program.
#[test]
fn each_mistake_is_told_with_its_remedy() -> Result<()> {
    let compiler = Compiler::new()?;
    let (compiles, words) = compiler.compile("world.barrier()?;")?;
    ensure!(compiles, "a program without a mistake does not compile:\n{words}");
    let mut problems = Vec::new();
    for Mistake { title, program, texts } in mistakes() {
        ensure!(!texts.is_empty(), "{title}: nothing is asked of the compiler");
        let (compiles, words) = compiler.compile(program)?;
        let missing: Vec<_> = texts.iter().filter(|text| !words.contains(**text)).collect();
        if compiles || !missing.is_empty() {
            problems.push(format!("{title}: compiles: {compiles}, missing: {missing:?}\n{words}"));
        }
    }
    ensure!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n\n"));
    Ok(())
}

/// `?` in a function that returns errors of input and output, and structures that are given to the
/// macro by numbers and by a name of their own: these were mistakes.
#[test]
fn what_is_no_mistake_compiles() -> Result<()> {
    let (compiles, words) = Compiler::new()?.compile(
        "fn read(world: &motet::Communicator) -> std::io::Result<()> { Ok(world.barrier()?) }\n\
         #[derive(Clone, Copy)] struct Two(u8, f64);\n\
         motet::struct_datatype!(Two { 0: u8, 1: f64 });\n\
         #[derive(Clone, Copy)] struct Of<T> { value: T }\n\
         type OfFloat = Of<f32>;\n\
         motet::struct_datatype!(OfFloat { value: f32 });\n\
         world.bcast(&mut [Two(1, 2.0)], 0)?;\n\
         world.bcast(&mut [Of { value: 1.0f32 }], 0)?;",
    )?;
    ensure!(compiles, "{words}");
    Ok(())
}
