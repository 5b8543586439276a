//! What `motet install` puts in place, used as a user would: programs in C and C++ are compiled by
//! the scripts and started by the launcher.

#[path = "command/mod.rs"]
mod command;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use command::{complaint, motet, printed};
use tempfile::TempDir;

const HELLO: &str = r#"
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%d of %d\n", rank, size);
    return MPI_Finalize();
}
"#;

/// Builds the library beside the command, as it is no part of what a test of this crate needs; not
/// if it is newer than all it is made from, as after a test of the whole workspace.
fn library() {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(|| {
        let profile = Path::new(env!("CARGO_BIN_EXE_motet")).parent().expect("a folder");
        let libraries = ["libmpi_abi.so", "libmotet_heap.so"].map(|name| profile.join(name));
        if libraries.iter().all(|library| is_newer(library)) {
            return;
        }
        let target = profile.parent().expect("a folder of all profiles");
        let name = profile.file_name().expect("a name").to_string_lossy();
        let name = if name == "debug" { "dev" } else { &name };
        let mut cargo = Command::new("timeout");
        cargo.args(["1500", env!("CARGO"), "build", "--quiet", "-p", "motet-abi", "-p"]);
        cargo
            .args(["motet-heap", "-p", "motet-cli", "--profile", name, "--target-dir"])
            .arg(target);
        cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
        ended(&mut cargo);
    });
}

/// Whether the library is there and newer than every file of the crates it is made from.
fn is_newer(library: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|facts| facts.modified()).ok();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder");
    let mut sources = BTreeSet::new();
    for name in ["plan", "fabric", "heap", "motet", "abi"] {
        files(&crates.join(name), &mut sources);
    }
    let is_tested = |path: &Path| path.components().any(|part| part.as_os_str() == "tests");
    let mut made_from = sources.iter().filter(|path| !is_tested(path));
    changed(library).is_some_and(|built| made_from.all(|path| changed(path) < Some(built)))
}

/// The output of a command that ends well, in time.
#[track_caller]
fn ended(command: &mut Command) -> Output {
    let output = command.output().expect("the command can be started");
    let text = || String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {output:?}\n{}", text());
    output
}

/// A folder into which it was installed, and the list that the command printed.
fn installed() -> (TempDir, PathBuf, String) {
    library();
    let folder = tempfile::tempdir().expect("there is room");
    let prefix = folder.path().canonicalize().expect("it is there").join("some where");
    let mut command = motet("install --verbose --prefix");
    let output = ended(command.arg(&prefix));
    let printed = String::from_utf8(output.stdout).expect("a path in ASCII");
    (folder, prefix, printed)
}

/// A command of a prefix, with a watchdog.
fn tool(prefix: &Path, name: &str) -> Command {
    let mut command = Command::new("timeout");
    command.arg("60").arg(prefix.join("bin").join(name));
    for variable in ["LD_LIBRARY_PATH", "MOTET_CC", "MOTET_CXX"] {
        command.env_remove(variable);
    }
    command
}

#[track_caller]
fn line(command: &mut Command) -> String {
    let text = String::from_utf8(ended(command).stdout).expect("ASCII");
    text.trim_end().to_owned()
}

fn files(folder: &Path, into: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).expect("it can be read") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() { files(&path, into) } else { assert!(into.insert(path)) }
    }
}

/// Programs in C and C++, from compiling to ranks that know each other.
#[test]
fn programs_are_compiled_and_started() {
    let (folder, prefix, _) = installed();
    for (compiler, source, launcher) in
        [("mpicc", "hello.c", "mpiexec"), ("mpic++", "hello.cc", "mpirun")]
    {
        if compiler == "mpic++" && Command::new("c++").arg("--version").output().is_err() {
            println!("not tried in C++: there is no c++");
            continue;
        }
        let source = folder.path().join(source);
        fs::write(&source, HELLO).expect("there is room");
        let (object, program) = (source.with_extension("o"), source.with_extension("out"));
        ended(tool(&prefix, compiler).arg("-c").arg(&source).arg("-o").arg(&object));
        ended(tool(&prefix, compiler).arg(&object).arg("-o").arg(&program));
        let mut run = tool(&prefix, launcher);
        run.args(["-np", "2", "-genv", "MOTET_HANG_SECONDS", "20"]).arg(&program);
        let printed = line(&mut run);
        assert_eq!(printed.lines().collect::<BTreeSet<_>>(), BTreeSet::from(["0 of 2", "1 of 2"]));
        assert_eq!(line(&mut Command::new(&program)), "0 of 1");
    }
}

/// The prefix may have a space in its name, and may be moved.
#[test]
fn the_folder_can_be_moved() {
    let (folder, prefix, _) = installed();
    let moved = folder.path().join("elsewhere");
    fs::rename(&prefix, &moved).expect("it can be moved");
    let (source, program) = (folder.path().join("hello.c"), folder.path().join("hello"));
    fs::write(&source, HELLO).expect("there is room");
    ended(tool(&moved, "mpicc").arg(&source).arg("-o").arg(&program));
    let printed = line(tool(&moved, "mpiexec").args(["-n", "2", "-l"]).arg(&program));
    let printed: BTreeSet<&str> = printed.lines().collect();
    assert_eq!(printed, BTreeSet::from(["[0] 0 of 2", "[1] 1 of 2"]));
    let again = folder.path().join("again");
    ended(tool(&moved, "motet").args(["install", "--prefix"]).arg(&again));
    assert_eq!(line(tool(&again, "mpiexec").arg(&program)), "0 of 1");
}

#[test]
fn the_compiler_scripts_tell_what_they_do() {
    let (_folder, prefix, _) = installed();
    let (include, lib) = (prefix.join("include"), prefix.join("lib"));
    let (include, lib) = (include.display(), lib.display());
    // As a shell needs it: there is a space in these.
    let linking = format!("'-L{lib}' '-Wl,-rpath,{lib}' -Wl,--enable-new-dtags -lmpi_abi");
    let show = |compiler: &str, words: &[&str]| line(tool(&prefix, compiler).args(words));
    let (cc, cxx) = (found("gcc", "cc"), found("g++", "c++"));
    assert_eq!(show("mpicc", &["-show", "a.c"]), format!("{cc} '-I{include}' a.c {linking}"));
    assert_eq!(show("mpicxx", &["-showme", "-c", "a.cc"]), format!("{cxx} '-I{include}' -c a.cc"));
    assert_eq!(show("mpicc", &["--showme:compile"]), format!("'-I{include}'"));
    assert_eq!(show("mpicc", &["-showme:link"]), linking);
    assert_eq!(show("mpicc", &["-cc=tcc -g", "-show", "-E"]), format!("tcc -g '-I{include}' -E"));
    assert_eq!(line(tool(&prefix, "mpicc").env("MOTET_CC", "echo").arg("-c")), {
        format!("-I{include} -c")
    });
    let version = line(Command::new(cc).arg("--version"));
    assert_eq!(show("mpicc", &["--version"]), version);
    assert_eq!(show("mpicc", &["-v"]), "", "it is told on the standard error");
    let printed = show("mpicc", &["-showme:version"]);
    assert!(printed.starts_with("Motet ") && printed.ends_with("(mpicc)"), "{printed}");
}

/// The first of two commands, if it is there.
fn found(first: &'static str, second: &'static str) -> &'static str {
    if Command::new(first).arg("--version").output().is_ok() { first } else { second }
}

/// Build systems look for the name of the compiler in what it says of itself.
#[test]
fn the_compilers_are_those_of_gnu_where_they_are() {
    let (folder, prefix, _) = installed();
    let path = folder.path().join("path");
    fs::create_dir(&path).expect("there is room");
    let say = "#!/bin/sh\necho \"${0##*/}: $* $link $word\"\n";
    for name in ["dirname", "readlink", "sed"] {
        let real = line(Command::new("sh").args(["-c", &format!("command -v {name}")]));
        std::os::unix::fs::symlink(real, path.join(name)).expect("there is room");
    }
    for (scripts, expected) in [(["cc", "c++"], ["cc", "c++"]), (["gcc", "g++"], ["gcc", "g++"])] {
        for name in scripts {
            fs::write(path.join(name), say).expect("there is room");
            fs::set_permissions(path.join(name), fs::Permissions::from_mode(0o755)).expect("own");
        }
        for (driver, compiler) in ["mpicc", "mpicxx"].into_iter().zip(expected) {
            let told = |words: &[&str], variable: &str| {
                let mut command = Command::new("/bin/sh");
                command.arg(prefix.join("bin").join(driver)).args(words).env("PATH", &path);
                // What the user calls by the names that a script might use is not touched.
                command.env("link", "L").env("word", "W").env("show", "yes");
                line(command.env_remove("MOTET_CC").env_remove("MOTET_CXX").env(variable, "c99"))
            };
            let printed = told(&["-V"], "UNUSED");
            assert!(printed.starts_with(&format!("{compiler}: -I")), "{printed}");
            assert!(printed.ends_with(" -V L W"), "{printed}");
            assert_eq!(told(&["-showme:command"], "UNUSED"), compiler);
            let variable = if driver == "mpicc" { "MOTET_CC" } else { "MOTET_CXX" };
            assert_eq!(told(&["-showme:command"], variable), "c99");
            assert_eq!(told(&["-cc=tcc", "-showme:command"], variable), "tcc");
        }
    }
}

#[test]
fn the_launcher_refuses_what_it_does_not_know() {
    let (_folder, prefix, _) = installed();
    for (words, complaint) in [
        ("-n 2 -ppn 1 true", "unknown option '-ppn'"),
        ("-n 1 true : -n 1 true", "several programs in one job (':') are not supported"),
        ("-n", "'-n' needs a number"),
        ("-n 2", "a program is missing"),
        ("-env a=b c true", "'a=b' is not a name of an environment variable"),
        ("-x\u{1b}\nmotet:", r"unknown option '-x\u{1b}\nmotet:'"),
        ("-x\\nmotet:", "unknown option '-x\\nmotet:'"),
    ] {
        let mut command = tool(&prefix, "mpiexec");
        let output = command.args(words.split(' ')).output().expect("it can be started");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {output:?}");
        assert!(error.starts_with("mpiexec: ") && error.contains(complaint), "{words}: {error}");
        assert_eq!(error.lines().count(), 1, "{words}: {error}");
    }
    let printed =
        line(tool(&prefix, "mpiexec").args(["-env", "A", "b c", "sh", "-c", "echo \"$A\""]));
    assert_eq!(printed, "b c");
}

/// What an installed launcher is told, and what it passes on.
#[test]
fn the_launcher_passes_words_and_variables_on() {
    let (folder, prefix, _) = installed();
    let sorted = |command: &mut Command| {
        let mut lines: Vec<_> = line(command).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    for name in ["mpiexec", "mpirun"] {
        for (words, expected) in [
            ("-n 2 echo :", ":\n:"),
            ("-n 1 -- echo a : -n 1 echo b", "a : -n 1 echo b"),
            ("echo -n 2 --label", "2 --label"),
            ("-n 1 -l echo x", "[0] x"),
            ("--version", concat!("motet ", env!("CARGO_PKG_VERSION"))),
        ] {
            assert_eq!(line(tool(&prefix, name).args(words.split(' '))), expected, "{words}");
        }
        let help = line(tool(&prefix, name).arg("--help"));
        assert!(help.starts_with("Usage: mpiexec "), "{help}");
    }
    // Ranks have the variables of the user and those of the library, and no others.
    let own = ["ranks=3", "label=x", "hosts=y", "here=h", "word=w", "usage=u", "IFS=:", "_=z"];
    let environment = |words: &[&str]| {
        let mut command = Command::new("timeout");
        command
            .args(["60", "env", "-i"])
            .args(own)
            .arg(format!("PATH={}", std::env::var("PATH").expect("one")));
        let lines = sorted(command.args(words));
        lines.into_iter().filter(|line| !line.starts_with("MOTET_")).collect::<Vec<_>>()
    };
    let mpiexec = prefix.join("bin/mpiexec");
    let mpiexec = mpiexec.to_str().expect("a path in ASCII");
    let twice: Vec<_> =
        environment(&["env"]).into_iter().flat_map(|line| [line.clone(), line]).collect();
    assert_eq!(environment(&[mpiexec, "-n", "2", "env"]), twice);
    // The folder is that of the launcher, too, and a copy of it under that name is the same.
    let copy = folder.path().join("mpiexec");
    fs::copy(mpiexec, &copy).expect("there is room");
    let mut command = Command::new("timeout");
    command.arg("60").arg(&copy).args(["-wdir", "some where/lib", "sh", "-c", "pwd; echo $PWD"]);
    let lib = prefix.join("lib");
    let lib = lib.display();
    assert_eq!(line(command.current_dir(folder.path())), format!("{lib}\n{lib}"));
    let output = tool(&prefix, "mpiexec").args(["-wdir", "/no\nwhere", "true"]).output();
    let output = output.expect("it can be started");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.starts_with(r"mpiexec: cannot start in the folder /no\nwhere: "), "{printed}");
    assert_eq!((output.status.code(), printed.lines().count()), (Some(1), 1));
}

/// `--verbose` lists each written file, and so does `--dry-run`, which writes nothing. Otherwise
/// there is a line for each kind of file, and their counts add up to all files.
#[test]
fn what_is_written_is_said() {
    let (folder, prefix, printed) = installed();
    let printed: BTreeSet<PathBuf> =
        printed.lines().map(|line| line.split(" -> ").next().unwrap().into()).collect();
    let mut found = BTreeSet::new();
    files(&prefix, &mut found);
    assert_eq!(printed, found);
    for path in &found {
        let mode = fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let is_program = path.parent().unwrap().ends_with("bin");
        let is_library =
            path.extension() == Some("so".as_ref()) || path.ends_with("libmpi_abi.so.1");
        assert_eq!(mode, if is_program || is_library { 0o755 } else { 0o644 }, "{path:?}");
    }
    let nowhere = folder.path().join("nowhere");
    let mut command = motet("install --dry-run --verbose --prefix");
    let dry = line(command.arg(&nowhere));
    assert_eq!(dry.lines().count(), found.len());
    let mut command = motet("install --dry-run --prefix");
    let summary = line(command.arg(&nowhere));
    assert!(!nowhere.exists());
    let kinds = ["programs in", "headers in", "pkg-config file in", "library files in"];
    let kinds = kinds.into_iter().chain(["manual pages in"]);
    let mut counted = 0;
    for (line, kind) in summary.lines().zip(kinds) {
        let (count, rest) = line.split_once(' ').expect("a count and a kind");
        assert!(rest.starts_with(&format!("{kind} {}/", nowhere.display())), "{line}");
        counted += count.parse::<usize>().expect("a count");
    }
    assert_eq!((summary.lines().count(), counted), (5, found.len()), "{summary}");
}

/// The manual names every variable of `docs/settings.md`.
#[test]
fn the_manual_has_all_settings() {
    let (_folder, prefix, _) = installed();
    let text = fs::read_to_string(prefix.join("share/man/man1/motet.1")).expect("it is there");
    let settings = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");
    let settings = fs::read_to_string(settings).expect("it is there");
    let rows = settings.lines().filter(|line| line.starts_with("| `MOTET_"));
    let names = rows.flat_map(|row| row.split('|').nth(1).unwrap_or_default().split(", "));
    let names: Vec<_> = names.map(|name| name.trim().trim_matches('`')).collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        assert!(text.contains(name), "{name} is missing in motet.1");
    }
}

/// Each function of `mpix.h` has a page, its form with large counts by a link to it.
#[test]
fn the_manual_has_the_functions_of_mpix_h() {
    let (_folder, prefix, _) = installed();
    let header = fs::read_to_string(prefix.join("include/mpix.h")).expect("it is there");
    let prototypes = header.lines().filter_map(|line| line.strip_prefix("int MPIX_"));
    let names = prototypes.filter_map(|line| Some(format!("MPIX_{}", line.split_once('(')?.0)));
    let names: BTreeSet<String> = names.collect();
    let page = |name: &str| {
        let path = prefix.join("share/man/man3").join(format!("{name}.3"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    assert!(names.contains("MPIX_Barrier_init") && names.len() > 100, "{names:?}");
    for name in &names {
        let (text, plain) = (page(name), name.trim_end_matches("_c"));
        assert!(text.starts_with(&format!(".TH {plain} 3 ")) && !text.contains('@'), "{text}");
        assert!(text.contains(&format!("int {name}(")), "{name}: {text}");
    }
    if Command::new("man").arg("--version").output().is_ok_and(|output| output.status.success()) {
        let mut man = Command::new("man");
        man.args(["-w", "MPIX_Bcast_init_c"]).env("MANPATH", prefix.join("share/man"));
        let found = line(&mut man);
        assert!(found.ends_with("share/man/man3/MPIX_Bcast_init.3"), "{found}");
    }
}

#[test]
fn a_bad_prefix_is_an_error() {
    library();
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("there is room");
    let prefix = file.display();
    let printed = complaint(&format!("install --prefix '{prefix}'"), 1);
    assert_eq!(printed, format!("cannot install into {prefix}: it is not a folder"));
    let printed = complaint(&format!("install --prefix '{prefix}/below'"), 1);
    assert!(printed.starts_with(&format!("cannot install into {prefix}/below: ")), "{printed}");
    assert!(complaint("install", 2).contains("--prefix"));
}

/// Other build systems ask by pkg-config, if it is there.
#[test]
fn the_file_for_pkg_config_names_what_is_there() {
    let (_folder, prefix, _) = installed();
    let text = fs::read_to_string(prefix.join("lib/pkgconfig/motet.pc")).expect("it is there");
    assert!(text.contains("prefix=${pcfiledir}/../..") && !text.contains('@'), "{text}");
    for needed in ["include/mpi.h", "lib/libmpi_abi.so", "lib/libmpi_abi.so.1"] {
        assert!(prefix.join(needed).is_file(), "{needed}");
    }
    let help = printed("install --help");
    assert!(help.contains("--dry-run"), "{help}");
}

/// Any program will do: here a shell that says which library it was to load.
#[test]
fn the_shared_heap_is_that_of_the_installation() {
    let (folder, prefix, _) = installed();
    let job = ["--shared-heap", "-n", "1", "sh", "-c", "echo $LD_PRELOAD $MOTET_SHARED_HEAP"];
    let refused = tool(&prefix, "mpiexec").args(job).output().expect("it can be started");
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && words.contains("has a space or a colon"), "{words}");
    let folder = folder.path().canonicalize().expect("it is there");
    let moved = folder.join("moved");
    fs::rename(&prefix, &moved).expect("a folder can be moved");
    let library = moved.join("lib/libmotet_heap.so");
    let printed = line(tool(&moved, "mpiexec").args(job));
    assert_eq!(printed, format!("{} 1", library.display()));
    let printed = line(tool(&moved, "mpiexec").args(job).env("LD_PRELOAD", &library));
    assert_eq!(printed, format!("{0}:{0} 1", library.display()), "a library of the user stays");
    let printed = line(tool(&moved, "mpiexec").args(&job[1..]).env("MOTET_SHARED_HEAP", "1"));
    assert_eq!(printed, format!("{} 1", library.display()));
    let wrong = tool(&moved, "mpiexec").args(job).env("MOTET_SHARED_HEAP", "yes").output();
    let words = String::from_utf8_lossy(&wrong.expect("it can be started").stderr).into_owned();
    assert!(
        words.contains("MOTET_SHARED_HEAP is `yes`; expected `1`, `0`, `on` or `off`"),
        "{words}"
    );
}
