//! The libraries that belong to this command.

use std::path::{Path, PathBuf};

use anyhow::bail;

/// A library of the workspace.
pub(crate) struct BuiltLibrary {
    /// Its name beside the command, where cargo builds it.
    built: &'static str,
    /// Its name in the folder `lib` of an installation.
    pub(crate) installed: &'static str,
    /// The package that it is built from.
    package: &'static str,
}

/// The C library. Programs load it by its soname.
pub(crate) const MPI: BuiltLibrary =
    BuiltLibrary { built: "libmpi_abi.so", installed: "libmpi_abi.so.1", package: "motet-abi" };
/// The library for `--shared-heap`.
pub(crate) const HEAP: BuiltLibrary = BuiltLibrary {
    built: "libmotet_heap.so",
    installed: "libmotet_heap.so",
    package: "motet-heap",
};

/// Finds a library: beside this command if cargo has built both, in `../lib` if both are installed.
pub(crate) fn find(command: &Path, library: &BuiltLibrary) -> anyhow::Result<PathBuf> {
    let &BuiltLibrary { built, installed, package } = library;
    let folder = command.parent().unwrap_or(Path::new("/"));
    let places = [folder.join(built), folder.join("../lib").join(installed)];
    match places.iter().find(|place| place.is_file()) {
        Some(place) => Ok(place.clone()),
        None => bail!(
            "cannot find {built} beside {}: build it, as by `cargo build --release -p {package}`",
            command.display()
        ),
    }
}
