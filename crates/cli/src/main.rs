//! The `motet` command.

#![forbid(unsafe_code)]

mod args;
mod bench;
mod info;
mod install;
mod libraries;
mod list;
mod measure;
mod mpiexec;
mod output;
mod plan;
mod probe;
mod quantity;
mod run;
mod shared_heap;

use std::process::ExitCode;

fn main() -> ExitCode {
    match args::parse(std::env::args_os()) {
        Ok(args) => args.command.execute().unwrap_or_else(|error| output::report(&error)),
        Err(code) => code,
    }
}
