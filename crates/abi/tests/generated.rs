//! What is made from the tables is what lies there: the headers, and the list in `docs/abi.md`.
//! With `MOTET_REGENERATE=1` the tests write it again. And what lies there is what the standard
//! says: the header is compared with that of an installed MPICH 5, which `MOTET_MPICH_HEADER`
//! names.

#[path = "generated/compare.rs"]
mod compare;
#[path = "generated/compiler.rs"]
mod compiler;
#[path = "../generate/header.rs"]
mod header;
#[path = "../generate/page.rs"]
mod page;
#[path = "../generate/table.rs"]
mod table;

use std::path::Path;
use std::{env, fs};

/// Compares a file with what it is made from; `path` is relative to this crate.
#[track_caller]
fn same(path: &str, make: impl FnOnce(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let lies = fs::read_to_string(&path).unwrap_or_default();
    let made = make(&lies);
    if env::var_os("MOTET_REGENERATE").is_some() {
        fs::write(&path, made).expect("the tree can be written to");
        return;
    }
    let differs = lies.lines().zip(made.lines()).position(|(one, other)| one != other);
    assert!(
        lies == made,
        "{} (line {:?}) is not what the tables say: run `MOTET_REGENERATE=1 cargo test -p \
         motet-abi --test generated`",
        path.display(),
        differs.map(|line| line + 1),
    );
}

fn ours() -> String {
    header::mpi(&table::functions(), &table::constants(), &table::callbacks())
}

#[test]
fn the_header_is_that_of_the_tables() {
    same("include/mpi.h", |_| ours());
}

#[test]
fn the_header_of_extensions_is_that_of_its_table() {
    let is_ours = |f: &table::Function| f.name.starts_with("MPIX_");
    assert!(table::extensions().iter().all(is_ours), "a name of the standard is taken");
    same("include/mpix.h", |_| header::mpix(&table::extensions()));
}

#[test]
fn the_page_lists_what_there_is_and_what_there_is_not() {
    let (functions, extensions) = (table::functions(), table::extensions());
    let unnamed = page::unnamed(&functions, &extensions);
    assert_eq!(unnamed, [""; 0], "these would be in no list: see generate/page.rs");
    let made = page::lists(&functions, &extensions);
    same("../../docs/abi.md", |page| page::replaced(page, &made));
}

/// As C and as C++, of the oldest kinds that are in use, without a warning.
#[test]
fn the_headers_can_be_included() {
    let text = "#include <mpix.h>\n#include <mpi.h>\n\
                int list[MPI_SUCCESS + 1];\nMPI_Comm comm = MPI_COMM_WORLD;\n\
                int number(MPI_Comm comm);\n\
                int number(MPI_Comm comm) { return MPI_Comm_c2f(comm); }\n";
    let include = format!("-I{}", compiler::INCLUDE);
    for (program, kind) in [("cc", "-std=c99"), ("cc", "-std=c11"), ("c++", "-std=c++11")] {
        if program == "c++" && !compiler::is_there(program) {
            println!("not tried as C++: there is no {program}");
            continue;
        }
        let options = [kind, "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", &include];
        if let Err(error) = compiler::compile(program, &options, text) {
            panic!("{program} {kind}: {error}");
        }
    }
}

/// Every constant, every type, every prototype.
///
/// spec: 142, 143
#[test]
fn the_header_says_what_other_libraries_say() {
    let own = Path::new(compiler::INCLUDE).join("mpi.h");
    assert_eq!(compare::findings(&own), Vec::<String>::new(), "our own header");
    match env::var_os("MOTET_MPICH_HEADER") {
        Some(path) => {
            assert_eq!(compare::findings(Path::new(&path)), Vec::<String>::new(), "{path:?}");
        }
        None => println!("compared with our own tables only: MOTET_MPICH_HEADER names no header"),
    }
}

/// The comparison above finds a wrong value, a wrong type, a wrong prototype, and what is missing.
#[test]
fn a_header_that_says_something_else_is_found() {
    let found = |was: &str, is: &str| {
        let text = ours();
        assert!(text.contains(was), "{was}");
        let folder = tempfile::tempdir().expect("there is room for a file");
        let path = folder.path().join("mpi.h");
        fs::write(&path, text.replace(was, is)).expect("there is room for a file");
        compare::findings(&path).join("\n")
    };
    let changes = [
        ("((MPI_Op)0x00000021)", "((MPI_Op)0x00000022)", "MPI_SUM 34 1, not MPI_SUM 33 1"),
        ("((MPI_Op)0x00000021)", "0x00000021", "MPI_SUM 33 0, not MPI_SUM 33 1"),
        ("int MPI_internal[5]", "int MPI_internal[6]", "MPI_Status 36, not MPI_Status 32"),
        ("int64_t MPI_Offset", "long long MPI_Offset", "MPI_Offset 0, not MPI_Offset 1"),
        ("MPI_Cancel(MPI_Request *r", "MPI_Cancel(MPI_Info *r", "MPI_Cancel"),
        ("MPI_Cancel(", "MPI_Cancel_later(", "function MPI_Cancel_later is in one of them only"),
        ("MPI_ERR_ABI ", "MPI_ERR_ABI 62\n#define MPI_ERR_ABJ ", "constant MPI_ERR_ABJ is in one"),
    ];
    for (was, is, finding) in changes {
        let found = found(was, is);
        assert!(found.contains(finding), "{was} -> {is}: {found}");
    }
}
