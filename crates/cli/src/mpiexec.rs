//! `motet mpiexec`: translates the options of MPI launchers into those of `motet run`.
//!
//! It accepts the options that other launchers have in common and that have a meaning on one
//! machine. An unknown option is an error: it might change the run, so it is never ignored.
//!
//! These options begin with one dash or two, which the parser of the other subcommands does not
//! support. So this module parses them itself, one word after the other.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::output::USAGE;
use crate::quantity;

const HELP: &str = "\
Usage: mpiexec [OPTIONS] [--] PROGRAM [ARGUMENTS]...

Starts a program as the ranks of one world on this machine, as `motet run` does.

  -n, -np N           number of ranks (default 1)
  -l, --tag-output    prefix each line of output with its rank
  -env NAME VALUE     set a variable for all ranks (also -genv; -x NAME=VALUE)
  -wdir FOLDER        start the ranks in this folder
  --session SESSION   own or shared: the session of the ranks, see `motet run --help`
  --shared-heap       large blocks lie in a heap that all ranks map, see `motet run --help`
  -V, --version       print the version
  -h, --help          print this help
  --                  end of the options; each `:` after it is an argument of the program
";

/// Start a program with the options of MPI launchers
///
/// The installed `mpiexec` and `mpirun` are other names for this command.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true, override_usage = "motet mpiexec [OPTIONS] PROGRAM [ARGS]...")]
pub(crate) struct Mpiexec {
    /// Options, the program, and its arguments
    #[arg(num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORD")]
    words: Vec<OsString>,
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
enum Wish {
    Job(Job),
    Help,
    Version,
}

/// The program to start, and the options of the run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Job {
    ranks: Option<usize>,
    label: bool,
    hosts: Option<OsString>,
    variables: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    session: Option<OsString>,
    shared_heap: bool,
    /// The program and its arguments.
    command: Vec<OsString>,
}

impl Mpiexec {
    /// Recognizes this command: by the name under which the program was started (`mpiexec`,
    /// `mpirun`), or by the first word (`motet mpiexec`).
    pub(crate) fn find(words: &[OsString]) -> Option<Mpiexec> {
        let name = Path::new(words.first()?).file_name()?.as_bytes();
        let is_name = name.starts_with(b"mpiexec") || name.starts_with(b"mpirun");
        let begin = match words.get(1) {
            _ if is_name => 1,
            Some(word) if word == "mpiexec" => 2,
            _ => return None,
        };
        Some(Mpiexec { words: words[begin..].to_vec() })
    }

    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match read(self.words) {
            Ok(Wish::Job(job)) => Ok(job.execute()),
            Ok(Wish::Help) => crate::output::show(HELP),
            Ok(Wish::Version) => {
                crate::output::show(&format!("motet {}\n", env!("CARGO_PKG_VERSION")))
            }
            Err(mistake) => {
                complain(&format!("{mistake}; see `man mpiexec`"));
                Ok(ExitCode::from(USAGE))
            }
        }
    }
}

impl Job {
    /// Replaces this process by `motet run`. The folder and the variables are set before, so the
    /// launcher has them, too.
    fn execute(self) -> ExitCode {
        let folder = self.folder.as_deref().map(|folder| (folder, folder.canonicalize()));
        let mut command = match env::current_exe() {
            Ok(program) => Command::new(program),
            Err(error) => return failure(&format!("cannot find the path of `motet`: {error}")),
        };
        match folder {
            Some((_, Ok(whole))) => {
                command.current_dir(&whole).env("PWD", whole);
            }
            Some((named, Err(error))) => {
                let named = named.display();
                return failure(&format!("cannot start in the folder {named}: {error}"));
            }
            None => {}
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        // A copy of this program may be called `mpiexec`, which would be recognized again.
        command.arg0("motet").args(self.words());
        failure(&format!("cannot start `motet run`: {}", command.exec()))
    }

    /// The arguments for `motet run`.
    fn words(&self) -> Vec<OsString> {
        let ranks = self.ranks.unwrap_or(1).to_string();
        let mut words: Vec<OsString> = vec!["run".into(), "-n".into(), ranks.into()];
        if self.label {
            words.push("--label".into());
        }
        if let Some(session) = &self.session {
            words.extend(["--session".into(), session.clone()]);
        }
        if self.shared_heap {
            words.push("--shared-heap".into());
        }
        if let Some(hosts) = &self.hosts {
            // `motet run` refuses this, and names launchers that start ranks on other hosts.
            words.extend(["--hosts".into(), hosts.clone()]);
        }
        words.push("--".into());
        words.extend(self.command.iter().cloned());
        words
    }
}

fn failure(text: &str) -> ExitCode {
    complain(text);
    ExitCode::FAILURE
}

fn complain(text: &str) {
    motet_fabric::log_line(format_args!("mpiexec: {text}"));
}

/// Parses the command line: options up to the program, then the arguments of the program.
///
/// # Errors
/// What is wrong, as a text.
fn read(words: Vec<OsString>) -> Result<Wish, String> {
    let mut job = Job::default();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next_if(|word| word.as_bytes().starts_with(b"-")) {
        let mut next = |needed: &str| {
            let word = word.to_string_lossy();
            words.next().ok_or_else(|| format!("'{word}' needs {needed}"))
        };
        match word.to_str().unwrap_or_default() {
            "-n" | "-np" | "--n" | "--np" | "--ranks" => job.ranks = Some(ranks(&word, next)?),
            "-l" | "--label" | "-prepend-rank" | "--tag-output" => job.label = true,
            "-env" | "-genv" => {
                let needed = "a name and a value";
                let (name, value) = (next(needed)?, next(needed)?);
                job.variables.push((checked(name)?, value));
            }
            "-x" => job.variables.extend(assignment(next("NAME or NAME=VALUE")?)?),
            "-session" | "--session" => job.session = Some(next("own or shared")?),
            "-shared-heap" | "--shared-heap" => job.shared_heap = true,
            "--session=own" => job.session = Some("own".into()),
            "--session=shared" => job.session = Some("shared".into()),
            "-wdir" | "--wdir" | "-wd" => job.folder = Some(next("a folder")?.into()),
            "-hosts" | "--hosts" | "-host" | "--host" | "-H" => job.hosts = Some(next("hosts")?),
            // These ask for the default: any number of ranks, any user, all variables.
            "-genvall"
            | "-envall"
            | "--oversubscribe"
            | "-oversubscribe"
            | "--allow-run-as-root" => {}
            "-V" | "--version" | "-version" => return Ok(Wish::Version),
            "-h" | "-help" | "--help" => return Ok(Wish::Help),
            "--" => return whole(job, words.collect()),
            _ => {
                return Err(format!("unknown option '{}'", word.to_string_lossy()));
            }
        }
    }
    let command: Vec<_> = words.collect();
    match command.iter().position(|word| word == ":") {
        // A `:` at the end is an argument, unless there is no program before it.
        Some(at) if at + 1 < command.len() => Err(
            "several programs in one job (':') are not supported; if ':' is an argument of the \
             program, put '--' before the program"
                .to_owned(),
        ),
        Some(0) => whole(job, Vec::new()),
        _ => whole(job, command),
    }
}

/// Parses the number of ranks, which is the next word.
fn ranks(
    option: &OsStr,
    next: impl FnOnce(&str) -> Result<OsString, String>,
) -> Result<usize, String> {
    let number = next("a number")?;
    let number = number.to_string_lossy();
    let option = option.to_string_lossy();
    quantity::ranks(&number).map_err(|expected| format!("{option} is `{number}`; {expected}"))
}

fn whole(mut job: Job, command: Vec<OsString>) -> Result<Wish, String> {
    if command.is_empty() {
        return Err("a program is missing".to_owned());
    }
    job.command = command;
    Ok(Wish::Job(job))
}

/// Parses `NAME=VALUE`. A name alone has no effect: all variables reach the ranks anyway.
fn assignment(word: OsString) -> Result<Option<(OsString, OsString)>, String> {
    let Some(at) = word.as_bytes().iter().position(|&byte| byte == b'=') else {
        return Ok(None);
    };
    let mut name = word.into_vec();
    let value = name.split_off(at + 1);
    name.truncate(at);
    Ok(Some((checked(OsString::from_vec(name))?, OsString::from_vec(value))))
}

/// Checks that a word can be the name of an environment variable.
fn checked(name: OsString) -> Result<OsString, String> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = OsStr::as_bytes(&name);
    if bytes.first().is_some_and(|byte| !byte.is_ascii_digit()) && bytes.iter().all(is_part) {
        return Ok(name);
    }
    Err(format!("'{}' is not a name of an environment variable", name.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect()
    }

    /// The arguments for `motet run`, or the error.
    fn told(line: &str) -> Result<String, String> {
        match read(words(line))? {
            Wish::Job(job) => {
                let words = job.words();
                Ok(words.join(OsStr::new(" ")).into_string().expect("it was a text"))
            }
            other => Ok(format!("{other:?}")),
        }
    }

    #[test]
    fn words_become_those_of_motet_run() {
        for (line, expected) in [
            ("true", "run -n 1 -- true"),
            ("-n 2 true", "run -n 2 -- true"),
            ("-np 2 true", "run -n 2 -- true"),
            ("--n 2 true", "run -n 2 -- true"),
            ("--np 2 true", "run -n 2 -- true"),
            ("--ranks 2 true", "run -n 2 -- true"),
            ("-n 2 -n 3 true", "run -n 3 -- true"),
            ("-l -n 2 true", "run -n 2 --label -- true"),
            ("--label true", "run -n 1 --label -- true"),
            ("--session own true", "run -n 1 --session own -- true"),
            ("--session=own -session shared true", "run -n 1 --session shared -- true"),
            ("--session=own -n 2 true", "run -n 2 --session own -- true"),
            ("-prepend-rank --tag-output true", "run -n 1 --label -- true"),
            ("-hosts a,b -n 2 true", "run -n 2 --hosts a,b -- true"),
            ("--host a -H b true", "run -n 1 --hosts b -- true"),
            ("-genvall -envall --oversubscribe -oversubscribe true", "run -n 1 -- true"),
            ("--allow-run-as-root true", "run -n 1 -- true"),
            ("-x NAME true", "run -n 1 -- true"),
            // What follows the program is its own.
            ("-n 2 prog -n 3 -l --help -V", "run -n 2 -- prog -n 3 -l --help -V"),
            ("prog --", "run -n 1 -- prog --"),
            ("-n 2 prog -- -x", "run -n 2 -- prog -- -x"),
            ("-n 2 -- -prog -x", "run -n 2 -- -prog -x"),
            ("-- prog", "run -n 1 -- prog"),
            // A colon at the end is an argument, and so is any behind `--` or within a word.
            ("-n 2 echo :", "run -n 2 -- echo :"),
            ("-n 2 -- echo a : -n 1 echo b", "run -n 2 -- echo a : -n 1 echo b"),
            ("-- : a", "run -n 1 -- : a"),
            ("echo a:b :c d:", "run -n 1 -- echo a:b :c d:"),
            ("-h", "Help"),
            ("-n 2 --help", "Help"),
            ("-V prog", "Version"),
            ("--version", "Version"),
        ] {
            assert_eq!(told(line).as_deref(), Ok(expected), "{line}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (line, expected) in [
            ("", "a program is missing"),
            ("-n 2", "a program is missing"),
            ("-n 2 --", "a program is missing"),
            ("-n 2 :", "a program is missing"),
            (
                "-np 2x true",
                "-np is `2x`; expected a number of ranks (1 or more); one machine runs at most \
                 1024",
            ),
            ("-n", "'-n' needs a number"),
            ("--np", "'--np' needs a number"),
            ("-wdir", "'-wdir' needs a folder"),
            ("-H", "'-H' needs hosts"),
            ("-env A", "'-env' needs a name and a value"),
            ("--session", "'--session' needs own or shared"),
            ("--session=x true", "unknown option '--session=x'"),
            ("-x", "'-x' needs NAME or NAME=VALUE"),
            ("-env a=b c true", "'a=b' is not a name of an environment variable"),
            ("-env 1a c true", "'1a' is not a name of an environment variable"),
            ("-x =c true", "'' is not a name of an environment variable"),
            ("-x a-b=c true", "'a-b' is not a name of an environment variable"),
            ("-ppn 1 true", "unknown option '-ppn'"),
            ("-n 2 -ppn 1 true", "unknown option '-ppn'"),
            ("- true", "unknown option '-'"),
            ("-x\u{1b}\nmotet: true", "unknown option '-x\u{1b}\nmotet:'"),
        ] {
            assert_eq!(told(line), Err(expected.to_owned()), "{line}");
        }
        for line in ["echo a : echo b", "-n 1 echo a : -n 1 echo b", "a : : b", ": a", "a : :"] {
            let mistake = told(line).expect_err("there are two programs");
            assert!(mistake.starts_with("several programs in one job (':')"), "{line}");
        }
    }

    #[test]
    fn variables_and_folders_are_kept_as_they_are() {
        let line = "-env A b=c -genv _D1 -x -x E=f=g -x H= -wdir x -wdir / true";
        let Ok(Wish::Job(job)) = read(words(line)) else { panic!("{line} is right") };
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let expected = [pair("A", "b=c"), pair("_D1", "-x"), pair("E", "f=g"), pair("H", "")];
        assert_eq!((job.variables.as_slice(), job.folder), (&expected[..], Some("/".into())));
        let odd = OsString::from_vec(b"A=\xff\xfe".to_vec());
        let Ok(Wish::Job(job)) = read(vec!["-x".into(), odd, "true".into()]) else { panic!() };
        assert_eq!(job.variables[0].1.as_bytes(), b"\xff\xfe");
    }

    #[test]
    fn the_name_of_the_program_can_ask_for_it() {
        let found = |line: &str| Mpiexec::find(&words(line)).map(|found| found.words);
        for (line, rest) in [
            ("mpiexec -n 2 true", "-n 2 true"),
            ("/some/where/mpirun true", "true"),
            ("./mpiexec-motet true", "true"),
            ("mpiexec mpiexec", "mpiexec"),
            ("motet mpiexec -- true", "-- true"),
        ] {
            assert_eq!(found(line), Some(words(rest)), "{line}");
        }
        for line in ["motet run mpiexec", "motet", "/mpiexec/motet run", "motet -n 2 mpiexec"] {
            assert_eq!(found(line), None, "{line}");
        }
    }
}
