//! `motet install`: puts the C library, headers, compiler scripts, launcher and manual pages into
//! one folder.

#[path = "../../abi/generate/descriptions.rs"]
mod descriptions;
#[path = "../../abi/generate/manual.rs"]
mod manual;
#[path = "../../abi/generate/prototype.rs"]
mod prototype;
#[path = "../../abi/generate/table.rs"]
mod table;

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, bail};

use crate::libraries::{self, HEAP, MPI};
use crate::quantity::counted;

/// Install the C library, its headers, mpicc, mpiexec and manual pages into a folder
///
/// The folder can be moved as a whole afterwards: scripts and programs find the other files by
/// their own path. Files of an earlier installation are replaced.
#[derive(Debug, clap::Args)]
#[command(override_usage = "motet install --prefix DIR [--dry-run] [--verbose]")]
pub(crate) struct Install {
    /// The folder for bin, include, lib and share; created if it does not exist
    #[arg(long, value_name = "DIR")]
    prefix: PathBuf,

    /// Print what would be installed, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Print the path of each file
    #[arg(long, short = 'v')]
    verbose: bool,
}

/// The kinds of files that are reported: where each is below the prefix, and its name.
const KINDS: [(&str, &str); 5] = [
    ("bin", "program"),
    ("include", "header"),
    ("lib/pkgconfig", "pkg-config file"),
    ("lib", "library file"),
    ("share/man", "manual page"),
];

/// The content of an installed file.
enum Content {
    Text(String),
    /// An executable text.
    Script(String),
    /// A stripped copy of this program or library.
    Binary(PathBuf),
    /// A symbolic link to a file in the same folder.
    Link(String),
}

/// A file to install.
struct Item {
    /// Its path below the prefix.
    path: String,
    content: Content,
}

impl Install {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let items = items()?;
        let prefix = if self.dry_run { self.prefix } else { made(&self.prefix)? };
        if !self.dry_run {
            for item in &items {
                let path = prefix.join(&item.path);
                let context = || format!("cannot write {}", path.display());
                write(&path, &item.content).with_context(context)?;
            }
        }
        let page = if self.verbose { listed(&items, &prefix) } else { summed(&items, &prefix) };
        crate::output::show(&page)
    }
}

/// One line for each file, with the target of a link.
fn listed(items: &[Item], prefix: &Path) -> String {
    let line = |item: &Item| {
        let path = prefix.join(&item.path);
        match &item.content {
            Content::Link(to) => format!("{} -> {to}\n", path.display()),
            _ => format!("{}\n", path.display()),
        }
    };
    items.iter().map(line).collect()
}

/// One line for each kind of file: how many there are, and where.
fn summed(items: &[Item], prefix: &Path) -> String {
    let kind = |item: &Item| KINDS.iter().position(|(place, _)| item.path.starts_with(place));
    let kinds: Vec<_> = items.iter().map(kind).collect();
    let line = |(at, (place, name)): (usize, &(&str, &str))| {
        let count = kinds.iter().filter(|&&kind| kind == Some(at)).count();
        let place = prefix.join(place);
        format!("{} in {}\n", counted(count, name), place.display())
    };
    KINDS.iter().enumerate().map(line).collect()
}

/// Creates the folder unless it exists, and returns its absolute path.
fn made(prefix: &Path) -> anyhow::Result<PathBuf> {
    if prefix.exists() && !prefix.is_dir() {
        bail!("cannot install into {}: it is not a folder", prefix.display());
    }
    let context = || format!("cannot install into {}", prefix.display());
    fs::create_dir_all(prefix).with_context(context)?;
    prefix.canonicalize().with_context(context)
}

/// All files to install.
fn items() -> anyhow::Result<Vec<Item>> {
    let command = std::env::current_exe().context("cannot find the path of this command")?;
    let heap = libraries::find(&command, &HEAP)?;
    let library = libraries::find(&command, &MPI)?;
    let item = |path: &str, content| Item { path: path.to_owned(), content };
    let link = |to: &str| Content::Link(to.to_owned());
    let page = |text| Content::Text(filled(text));
    let driver = include_str!("install/mpicc.sh");
    let driver = |name, language, variable, compilers: [&str; 2]| {
        let [compiler, gnu] = compilers;
        let text = filled(driver).replace("@NAME@", name).replace("@LANGUAGE@", language);
        let text = text.replace("@COMPILER@", compiler).replace("@GNU@", gnu);
        Content::Script(text.replace("@VARIABLE@", variable))
    };
    let mut items = vec![
        item("lib/libmpi_abi.so.1", Content::Binary(library)),
        item("lib/libmpi_abi.so", link(MPI.installed)),
        item("lib/libmotet_heap.so", Content::Binary(heap)),
        item("lib/pkgconfig/motet.pc", page(include_str!("install/motet.pc"))),
        item("include/mpi.h", Content::Text(include_str!("../../abi/include/mpi.h").to_owned())),
        item("include/mpix.h", Content::Text(include_str!("../../abi/include/mpix.h").to_owned())),
        item("bin/motet", Content::Binary(command)),
        item("bin/mpicc", driver("mpicc", "C", "MOTET_CC", ["cc", "gcc"])),
        item("bin/mpicxx", driver("mpicxx", "C++", "MOTET_CXX", ["c++", "g++"])),
        item("bin/mpic++", link("mpicxx")),
        item("bin/mpiexec", link("motet")),
        item("bin/mpirun", link("motet")),
        item("share/man/man1/motet.1", page(include_str!("install/motet.1"))),
        item("share/man/man1/mpicc.1", page(include_str!("install/mpicc.1"))),
        item("share/man/man1/mpicxx.1", link("mpicc.1")),
        item("share/man/man1/mpic++.1", link("mpicc.1")),
        item("share/man/man1/mpiexec.1", page(include_str!("install/mpiexec.1"))),
        item("share/man/man1/mpirun.1", link("mpiexec.1")),
        item("share/man/man3/MPI.3", page(include_str!("install/MPI.3"))),
    ];
    // A page for each function of `mpix.h`, generated from the tables of the header.
    for manual::ManualPage { file, text, others } in manual::pages() {
        let in_manual = |file: &str| format!("share/man/man3/{file}");
        items.extend(others.iter().map(|other| item(&in_manual(other), link(&file))));
        items.push(item(&in_manual(&file), Content::Text(filled(&text))));
    }
    Ok(items)
}

/// Replaces the placeholder of the version.
fn filled(text: &str) -> String {
    text.replace("@VERSION@", env!("CARGO_PKG_VERSION"))
}

/// Writes a file under a temporary name and renames it: a process that uses an earlier file keeps
/// that.
fn write(path: &Path, content: &Content) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    let done = draw(&draft, content).and_then(|()| Ok(fs::rename(&draft, path)?));
    if done.is_err() {
        // The draft may not exist; the caller gets the first error.
        let _ = fs::remove_file(&draft);
    }
    done
}

/// Creates a file under its temporary name.
fn draw(draft: &Path, content: &Content) -> anyhow::Result<()> {
    match content {
        Content::Text(text) => written(draft, text, 0o644)?,
        Content::Script(text) => written(draft, text, 0o755)?,
        Content::Link(to) => symlink(to, draft)?,
        Content::Binary(from) => {
            fs::copy(from, draft).with_context(|| format!("cannot copy {}", from.display()))?;
            fs::set_permissions(draft, Permissions::from_mode(0o755))?;
            strip(draft);
        }
    }
    Ok(())
}

fn written(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    fs::write(path, text)?;
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Strips debugging symbols by `strip`. Without that program the file only stays larger.
fn strip(path: &Path) {
    let mut command = Command::new("strip");
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = command.status();
}
