//! `motet mpiexec`: what launchers of MPI are asked for, as the words of `motet run`.
//!
//! Here are the options that other launchers have in common and that mean something on one machine.
//! What would change the run and is not known is an error, and never left out in silence.
//!
//! Options have one dash or two, and a program may have any words, so the words are read here, one
//! after the other, and not by the parser of the other subcommands.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::args::USAGE;

const HELP: &str = "\
Usage: mpiexec [OPTIONS] [--] PROGRAM [ARGUMENTS]...

Starts a program as the ranks of one world on this machine, as `motet run` does.

  -n, -np N           how many ranks (1)
  -l, --tag-output    begin each line of output with its rank
  -env NAME VALUE     a variable for all ranks (also -genv; -x NAME=VALUE)
  -wdir FOLDER        start there
  --session SESSION   own, shared: the session of the ranks, see `motet run --help`
  -V, --version       say which version this is
  --                  what follows is the program, and each `:` an argument of it
";

/// Start a program as launchers of MPI do, with their options
///
/// The installed `mpiexec` and `mpirun` are other names for this.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true, override_usage = "motet mpiexec [OPTIONS] PROGRAM [ARGS]...")]
pub(crate) struct Mpiexec {
    /// Options, the program, and its own arguments
    #[arg(num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORD")]
    words: Vec<OsString>,
}

/// What the words ask for.
#[derive(Debug, PartialEq, Eq)]
enum Wish {
    Job(Job),
    Help,
    Version,
}

/// A program to be started.
#[derive(Debug, Default, PartialEq, Eq)]
struct Job {
    ranks: Option<OsString>,
    label: bool,
    hosts: Option<OsString>,
    variables: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    session: Option<OsString>,
    /// The program and its arguments.
    command: Vec<OsString>,
}

impl Mpiexec {
    /// The words of this command, if this is what a command line asks for, by the name under which
    /// the program was started or by its first word.
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
            Ok(Wish::Help) => crate::show(HELP),
            Ok(Wish::Version) => crate::show(&format!("motet {}\n", env!("CARGO_PKG_VERSION"))),
            Err(mistake) => {
                complain(&format!("{mistake}; see `man mpiexec`"));
                Ok(ExitCode::from(USAGE))
            }
        }
    }
}

impl Job {
    /// Becomes `motet run`, in the folder and with the variables that were asked for: so they are
    /// those of the launcher, too.
    fn execute(self) -> ExitCode {
        let folder = self.folder.as_deref().map(|folder| (folder, folder.canonicalize()));
        let mut command = match env::current_exe() {
            Ok(program) => Command::new(program),
            Err(error) => return failure(&format!("cannot find out where `motet` lies: {error}")),
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
        // Its own name, as a copy of it may be called `mpiexec`.
        command.arg0("motet").args(self.words());
        failure(&format!("cannot start `motet run`: {}", command.exec()))
    }

    /// What `motet run` is told.
    fn words(&self) -> Vec<OsString> {
        let ranks = self.ranks.clone().unwrap_or_else(|| "1".into());
        let mut words: Vec<OsString> = vec!["run".into(), "-n".into(), ranks];
        if self.label {
            words.push("--label".into());
        }
        if let Some(session) = &self.session {
            words.extend(["--session".into(), session.clone()]);
        }
        if let Some(hosts) = &self.hosts {
            // Refused there, with the launchers that start ranks elsewhere.
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

/// Reads the words: options up to the program, and then its arguments.
fn read(words: Vec<OsString>) -> Result<Wish, String> {
    let mut job = Job::default();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next_if(|word| word.as_bytes().starts_with(b"-")) {
        let mut next = |needed: &str| {
            let word = word.to_string_lossy();
            words.next().ok_or_else(|| format!("'{word}' needs {needed}"))
        };
        match word.to_str().unwrap_or_default() {
            "-n" | "-np" | "--n" | "--np" | "--ranks" => job.ranks = Some(next("a number")?),
            "-l" | "--label" | "-prepend-rank" | "--tag-output" => job.label = true,
            "-env" | "-genv" => {
                let needed = "a name and a value";
                let (name, value) = (next(needed)?, next(needed)?);
                job.variables.push((checked(name)?, value));
            }
            "-x" => job.variables.extend(assignment(next("NAME or NAME=VALUE")?)?),
            "-session" | "--session" => job.session = Some(next("own or shared")?),
            "--session=own" => job.session = Some("own".into()),
            "--session=shared" => job.session = Some("shared".into()),
            "-wdir" | "--wdir" | "-wd" => job.folder = Some(next("a folder")?.into()),
            "-hosts" | "--hosts" | "-host" | "--host" | "-H" => job.hosts = Some(next("hosts")?),
            // As it is without them: any number of ranks, any user, all variables.
            "-genvall"
            | "-envall"
            | "--oversubscribe"
            | "-oversubscribe"
            | "--allow-run-as-root" => {}
            "-V" | "--version" | "-version" => return Ok(Wish::Version),
            "-h" | "-help" | "--help" => return Ok(Wish::Help),
            "--" => return whole(job, words.collect()),
            _ => {
                return Err(format!("there is no option '{}' here", word.to_string_lossy()));
            }
        }
    }
    let command: Vec<_> = words.collect();
    match command.iter().position(|word| word == ":") {
        // The last word is an argument like any other, unless there is no program before it.
        Some(at) if at + 1 < command.len() => Err(
            "':' starts another program, but a job has one: put '--' before the program if ':' is \
             an argument of it"
                .to_owned(),
        ),
        Some(0) => whole(job, Vec::new()),
        _ => whole(job, command),
    }
}

fn whole(mut job: Job, command: Vec<OsString>) -> Result<Wish, String> {
    if command.is_empty() {
        return Err("a program is missing".to_owned());
    }
    job.command = command;
    Ok(Wish::Job(job))
}

/// `NAME=VALUE`. A name alone asks for nothing: all variables reach the ranks anyway.
fn assignment(word: OsString) -> Result<Option<(OsString, OsString)>, String> {
    let Some(at) = word.as_bytes().iter().position(|&byte| byte == b'=') else {
        return Ok(None);
    };
    let mut name = word.into_vec();
    let value = name.split_off(at + 1);
    name.truncate(at);
    Ok(Some((checked(OsString::from_vec(name))?, OsString::from_vec(value))))
}

/// A name that a variable can have.
fn checked(name: OsString) -> Result<OsString, String> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = OsStr::as_bytes(&name);
    if bytes.first().is_some_and(|byte| !byte.is_ascii_digit()) && bytes.iter().all(is_part) {
        return Ok(name);
    }
    Err(format!("'{}' cannot be the name of a variable", name.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect()
    }

    /// What `motet run` is told, or what is wrong.
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
            ("-n", "'-n' needs a number"),
            ("--np", "'--np' needs a number"),
            ("-wdir", "'-wdir' needs a folder"),
            ("-H", "'-H' needs hosts"),
            ("-env A", "'-env' needs a name and a value"),
            ("--session", "'--session' needs own or shared"),
            ("--session=x true", "there is no option '--session=x' here"),
            ("-x", "'-x' needs NAME or NAME=VALUE"),
            ("-env a=b c true", "'a=b' cannot be the name of a variable"),
            ("-env 1a c true", "'1a' cannot be the name of a variable"),
            ("-x =c true", "'' cannot be the name of a variable"),
            ("-x a-b=c true", "'a-b' cannot be the name of a variable"),
            ("-ppn 1 true", "there is no option '-ppn' here"),
            ("-n 2 -ppn 1 true", "there is no option '-ppn' here"),
            ("- true", "there is no option '-' here"),
            ("-x\u{1b}\nmotet: true", "there is no option '-x\u{1b}\nmotet:' here"),
        ] {
            assert_eq!(told(line), Err(expected.to_owned()), "{line}");
        }
        for line in ["echo a : echo b", "-n 1 echo a : -n 1 echo b", "a : : b", ": a", "a : :"] {
            let mistake = told(line).expect_err("there are two programs");
            assert!(mistake.starts_with("':' starts another program, but a job has one"), "{line}");
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
