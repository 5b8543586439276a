//! What is made from the tables is what lies there: the headers, and the list in `docs/abi.md`.
//! With `MOTET_REGENERATE=1` the tests write it again. And what lies there is what the standard
//! says: the header is compared with those of other libraries, where `MOTET_MPICH_HEADER` and
//! `MOTET_INTEL_HEADER` name them (`mpi_abi.h` of MPICH 5 and of Intel MPI). What they say
//! otherwise stands in `tables/differences.tsv`, with the reason.

#[path = "generated/compare.rs"]
mod compare;
#[path = "generated/compiler.rs"]
mod compiler;
#[path = "../generate/descriptions.rs"]
mod descriptions;
#[path = "../generate/header.rs"]
mod header;
#[path = "../generate/manual.rs"]
mod manual;
#[path = "../generate/page.rs"]
mod page;
#[path = "../generate/prototype.rs"]
mod prototype;
#[path = "../generate/table.rs"]
mod table;

use std::path::Path;
use std::{env, fs};

use descriptions::{ArgumentRow, Descriptions, FamilyRow};

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

/// The classes of errors, as `mpi.h` names them.
fn classes(constants: &[table::Constant]) -> Vec<&str> {
    constants.iter().map(|each| &*each.name).filter(|name| name.starts_with("MPI_ERR_")).collect()
}

#[test]
fn the_tables_describe_each_extension_and_nothing_else() {
    let (constants, extensions) = (table::constants(), table::extensions());
    let problems = Descriptions::read().problems(&extensions, &classes(&constants));
    assert_eq!(problems, [""; 0]);
}

/// Each gap and each contradiction in the tables is found.
#[test]
fn a_description_that_is_missing_or_wrong_is_found() {
    let (constants, extensions) = (table::constants(), table::extensions());
    type Change = fn(&mut Descriptions);
    let found = |change: Change| {
        let mut changed = Descriptions::read();
        change(&mut changed);
        changed.problems(&extensions, &classes(&constants)).join("\n")
    };
    fn of<'a>(tables: &'a mut Descriptions, name: &str, word: &str) -> &'a mut ArgumentRow {
        let is_row = |row: &&mut ArgumentRow| row.name == name && row.of.iter().any(|o| o == word);
        tables.arguments.iter_mut().find(is_row).expect("a row of the table")
    }
    let changes: [(Change, &str); 12] = [
        (|all| all.families.retain(|row| row.name != "Scan"), "MPIX_Scan_begin_c is of no family"),
        (|all| all.forms.retain(|row| row.key != "end"), "MPIX_Barrier_end has no form"),
        (|all| all.arguments.retain(|row| row.name != "root"), "root is not described"),
        (|all| of(all, "info", "graph_create").name = "root".into(), "info is not described"),
        (|all| of(all, "comm", "end").of.push("begin".into()), "comm is described twice"),
        (|all| of(all, "root", "begin").of.push("Barrier".into()), "by root of Barrier"),
        (
            |all| all.families.push(FamilyRow { name: "X".into(), ..all.families[0].clone() }),
            "by X",
        ),
        (|all| of(all, "buffer", "Bcast").direction = "in".into(), "buffer cannot be in"),
        (|all| of(all, "sendbuf", "Reduce").direction = "out".into(), "sendbuf cannot be out"),
        (|all| of(all, "op", "*").errors.push("MPI_ERR_OPS".into()), "no class MPI_ERR_OPS"),
        (|all| all.families[0].purpose += " {whom}", "MPIX_Barrier_init: not to be printed"),
        (|all| of(all, "op", "*").text.clear(), "MPIX_Reduce_init: not to be printed"),
    ];
    for (change, problem) in changes {
        let found = found(change);
        assert!(found.contains(problem), "{problem}: {found}");
    }
}

/// A page for each function, under each of its names.
#[test]
fn each_extension_has_a_page_in_the_manual() {
    let pages = manual::pages();
    let files = pages.iter().flat_map(|page| page.others.iter().chain([&page.file]));
    let mut files: Vec<&str> = files.map(|file| file.trim_end_matches(".3")).collect();
    let extensions = table::extensions();
    let mut names: Vec<&str> = extensions.iter().map(|function| &*function.name).collect();
    files.sort_unstable();
    names.sort_unstable();
    assert_eq!(files, names);
    for page in &pages {
        let command = |line: &&str| line.starts_with(['.', '\'']);
        let commands = page.text.lines().filter(command).map(|line| line.split(' ').next());
        let known = [".TH", ".SH", ".TP", ".PP", ".B", ".BR", ".IR", ".nf", ".fi"];
        assert!(commands.flatten().all(|each| known.contains(&each)), "{}", page.text);
    }
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

/// Our header, and those of other libraries with the same interface.
const HEADERS: [(&str, &str); 2] =
    [("mpich", "MOTET_MPICH_HEADER"), ("intel", "MOTET_INTEL_HEADER")];

/// Every constant, every type, every prototype.
///
/// spec: 142, 143
#[test]
fn the_header_says_what_other_libraries_say() {
    let own = Path::new(compiler::INCLUDE).join("mpi.h");
    assert_eq!(compare::findings(&own), Vec::<String>::new(), "our own header");
    for (library, variable) in HEADERS {
        match env::var_os(variable) {
            Some(path) => {
                let found = compare::findings(Path::new(&path));
                assert_eq!(unexplained(library, &found), [""; 0], "{library}: {path:?}");
            }
            None => println!("not compared with that of {library}: {variable} names no header"),
        }
    }
}

/// What of the findings in a library's header the table of differences does not give a reason for,
/// and what it gives a reason for without need.
fn unexplained(library: &str, found: &[String]) -> Vec<String> {
    let table = include_str!("../tables/differences.tsv");
    let rows = table.lines().skip(1).map(|row| row.split('\t').collect::<Vec<_>>());
    let mut known = Vec::new();
    for row in rows {
        let [headers, finding, reason] = row[..] else { panic!("not three columns: {row:?}") };
        assert!(!reason.is_empty(), "{finding} has no reason");
        if headers.split(',').any(|name| name == library) {
            known.push(finding);
        }
    }
    let new = found.iter().filter(|finding| !known.contains(&finding.as_str()));
    let new = new.map(|finding| format!("not in tables/differences.tsv: {finding}"));
    let old = known.iter().filter(|known| !found.iter().any(|finding| finding == *known));
    let old = old.map(|finding| format!("in tables/differences.tsv, but not found: {finding}"));
    new.chain(old).collect()
}

/// A difference without a reason is found, and so is a reason without a difference.
#[test]
fn each_difference_has_a_reason_and_each_reason_a_difference() {
    let table = include_str!("../tables/differences.tsv").lines().skip(1);
    let row = table.map(|row| row.split('\t').collect::<Vec<_>>()).next().expect("a difference");
    let library = row[0].split(',').next().expect("a library");
    let told = unexplained(library, &["value of MPI_SUM is 34, not 33".to_owned()]).join("\n");
    assert!(told.contains("not in tables/differences.tsv: value of MPI_SUM"), "{told}");
    assert!(told.contains(&format!("but not found: {}", row[1])), "{told}");
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
        ("((MPI_Op)0x00000021)", "((MPI_Op)0x00000022)", "value of MPI_SUM is 34, not 33"),
        ("((MPI_Op)0x00000021)", "0x00000021", "type of MPI_SUM differs"),
        ("int MPI_internal[5]", "int MPI_internal[6]", "size of MPI_Status is 36, not 32"),
        ("int64_t MPI_Offset", "long long MPI_Offset", "type of MPI_Offset differs"),
        ("MPI_Cancel(MPI_Request *r", "MPI_Cancel(MPI_Info *r", "type of MPI_Cancel differs"),
        (
            "PMPI_Status_get_tag(const MPI_Status",
            "PMPI_Status_get_tag(MPI_Status",
            "type of PMPI_Status_get_tag differs",
        ),
        (
            "MPI_Grequest_free_function(void *",
            "MPI_Grequest_free_function(int *",
            "type of MPI_Grequest_free_function differs",
        ),
        ("MPI_Cancel(", "MPI_Cancel_later(", "function MPI_Cancel_later is added"),
        ("MPI_Cancel(", "MPI_Cancel_later(", "function MPI_Cancel is missing"),
        ("MPI_ERR_ABI ", "MPI_ERR_ABI 62\n#define MPI_ERR_ABJ ", "constant MPI_ERR_ABJ is added"),
    ];
    for (was, is, finding) in changes {
        let found = found(was, is);
        assert!(found.contains(finding), "{was} -> {is}: {found}");
    }
}

/// Other libraries count the items of a part as `MPI_Count`, and so do tools that stand between.
#[test]
fn parts_of_messages_are_counted_as_other_libraries_do() {
    let text = "#include <mpi.h>\n\
                int (*send)(const void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, \
                MPI_Info, MPI_Request *) = MPI_Psend_init;\n\
                int (*receive)(void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, \
                MPI_Info, MPI_Request *) = MPI_Precv_init;\n";
    let options = ["-std=c11", "-Werror", "-fsyntax-only", &format!("-I{}", compiler::INCLUDE)];
    compiler::compile("cc", &options, text).unwrap_or_else(|error| panic!("{error}"));
}
