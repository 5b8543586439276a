//! Where a function that fails was to give a handle, there is the null handle afterwards. A program
//! calls all functions that give one, with arguments that each of them must refuse; those of the
//! tools interface without its being initialised.

use std::fs;

use crate::Outcome;
use crate::build::Workshop;
use crate::table::{self, Function, Parameter};

const BEGIN: &str = "\
#include <mpi.h>
#include <mpix.h>
#include <stdint.h>
#include <stdio.h>
static char nothing[65536];
static void check(const char *name, int code, const void *place, uintptr_t null) {
    if (code == MPI_SUCCESS) printf(\"%s succeeds\\n\", name);
    else if (*(uintptr_t *)place != null) printf(\"%s leaves the handle\\n\", name);
    else printf(\"%s\\n\", name);
}
static void calls(void) {
";

const MAIN: &str = "\
}
int main(int argc, char **argv) {
    (void)argv;
    /* With an argument, before the library is initialised. */
    if (argc == 1) {
        MPI_Init(0, 0);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    calls();
    return argc == 1 ? MPI_Finalize() : 0;
}
";

/// Functions that take the handle that is there, and may leave it if they fail.
const TAKE: [&str; 20] = [
    "MPI_Cancel",
    "MPI_Comm_disconnect",
    "MPI_Comm_free",
    "MPI_Errhandler_free",
    "MPI_File_close",
    "MPI_Group_free",
    "MPI_Info_free",
    "MPI_Mrecv",
    "MPI_Mrecv_c",
    "MPI_Op_free",
    "MPI_Request_free",
    "MPI_Session_finalize",
    "MPI_Start",
    "MPI_T_cvar_handle_free",
    "MPI_T_pvar_handle_free",
    "MPI_T_pvar_session_free",
    "MPI_Test",
    "MPI_Type_free",
    "MPI_Wait",
    "MPI_Win_free",
];

/// Functions that have no argument that they could refuse; `MPI_Type_commit` gives the type back.
const CANNOT_FAIL: [&str; 9] = [
    "MPI_Abi_get_fortran_info",
    "MPI_Abi_get_info",
    "MPI_Buffer_iflush",
    "MPI_Comm_get_parent",
    "MPI_Get_hw_resource_info",
    "MPI_Grequest_start",
    "MPI_Info_create",
    "MPI_Info_create_env",
    "MPI_Type_commit",
];

/// Handles of the standard that a function can give, if there is a null handle of the kind.
const KINDS: [&str; 15] = [
    "MPI_Comm",
    "MPI_Datatype",
    "MPI_Errhandler",
    "MPI_File",
    "MPI_Group",
    "MPI_Info",
    "MPI_Message",
    "MPI_Op",
    "MPI_Request",
    "MPI_Session",
    "MPI_T_cvar_handle",
    "MPI_T_enum",
    "MPI_T_pvar_handle",
    "MPI_T_pvar_session",
    "MPI_Win",
];

pub(crate) fn are_null(workshop: &Workshop) -> Outcome {
    let mut functions = table::functions();
    functions.extend(table::extensions());
    let is_tried = |f: &&Function| {
        let name = &*f.name;
        !TAKE.contains(&name) && !CANNOT_FAIL.contains(&name)
    };
    let tried: Vec<&Function> = functions
        .iter()
        .filter(|f| f.parameters.iter().any(|each| gives(f, each)))
        .filter(is_tried)
        .collect();
    let calls: String = tried.iter().map(|function| call(function)).collect();
    let source = workshop.path("outputs_null.c");
    fs::write(&source, format!("{BEGIN}{calls}{MAIN}"))?;
    workshop.compile_file(&source, "outputs_null")?;
    let gives_so_many = |f: &Function| f.parameters.iter().filter(|each| gives(f, each)).count();
    let lines = |f: &&'_ Function| vec![f.name.clone(); gives_so_many(f)];
    let expected: Vec<String> = tried.iter().flat_map(lines).collect();
    for early in [false, true] {
        let mut command = workshop.limited(&workshop.path("outputs_null"));
        if early {
            command.arg("early").env("MOTET_INITIAL_ERRHANDLER", "mpi_errors_return");
        }
        let output = command.output()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let wrong: Vec<&str> = printed.lines().filter(|line| line.contains(' ')).collect();
        let is_right = output.status.success() && printed.lines().eq(expected.iter());
        if tried.len() < 250 || !is_right {
            let errors = String::from_utf8_lossy(&output.stderr);
            let when = if early { "before MPI_Init: " } else { "" };
            return Err(format!("{when}{}\n{}\n{errors}", output.status, wrong.join("\n")).into());
        }
    }
    Ok(())
}

/// Whether a handle is given there: all are but that of a message that is received.
fn gives(function: &Function, parameter: &Parameter) -> bool {
    if function.name.starts_with("MPI_Imrecv") && parameter.name == "message" {
        return false;
    }
    let kind = parameter.kind.strip_suffix(" *");
    parameter.suffix.is_empty() && kind.is_some_and(|kind| KINDS.contains(&kind))
}

/// Calls a function with handles of nothing, negative numbers, and null for functions.
fn call(function: &Function) -> String {
    let name = &function.name;
    let (mut before, mut after) = (String::new(), String::new());
    let mut argument = |parameter: &Parameter| {
        let (kind, place) = (&*parameter.kind, &parameter.name);
        if gives(function, parameter) {
            let kind = kind.trim_end_matches(" *");
            before += &format!("{kind} {place} = ({kind})(uintptr_t)0x55; ");
            let null = format!("(uintptr_t){}_NULL", kind.to_uppercase());
            after += &format!(" check(\"{name}\", code, &{place}, {null});");
            return format!("&{place}");
        }
        match kind {
            _ if kind.contains("_function") => "0".to_owned(),
            _ if kind.ends_with('*') || !parameter.suffix.is_empty() => {
                "(void *)nothing".to_owned()
            }
            _ if KINDS.contains(&kind) || kind.starts_with("MPI_T_") => {
                format!("({kind})(uintptr_t)0xdead0")
            }
            // No such precision or range, which may be negative.
            _ if name.contains("_f90_") => "9999".to_owned(),
            _ => "-77".to_owned(),
        }
    };
    let arguments: Vec<String> = function.parameters.iter().map(&mut argument).collect();
    format!("    {{ {before}int code = {name}({});{after} }}\n", arguments.join(", "))
}
