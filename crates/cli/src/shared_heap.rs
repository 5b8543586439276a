//! `--shared-heap`: the variables by which ranks take their large blocks from the process heap.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::libraries::{self, HEAP};

/// The variable that selects the process heap if `--shared-heap` is not given. Ranks have it, too:
/// they report if they have no such heap.
const SHARED_HEAP: &str = motet::env::SHARED_HEAP;
/// The variable that names libraries which the dynamic linker loads before a program.
const PRELOAD: &str = "LD_PRELOAD";

/// The variables for the ranks.
pub(crate) fn environment() -> anyhow::Result<Vec<(OsString, OsString)>> {
    let command = env::current_exe().context("cannot find the path of this command")?;
    let mut preload = preloadable(libraries::find(&command, &HEAP)?)?;
    if let Some(others) = env::var_os(PRELOAD).filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    Ok(vec![(PRELOAD.into(), preload), (SHARED_HEAP.into(), "1".into())])
}

/// The absolute path of the library, if the dynamic linker can be told of it.
fn preloadable(library: PathBuf) -> anyhow::Result<OsString> {
    let library = library.canonicalize().unwrap_or(library).into_os_string();
    // The dynamic linker splits the list of libraries at these characters.
    if library.to_string_lossy().contains([' ', ':']) {
        let library = library.display();
        bail!("{PRELOAD} cannot name {library}: the path has a space or a colon");
    }
    Ok(library)
}
