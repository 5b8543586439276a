//! What the library has not: each function of it can be called, and says so.

use std::fs;

use crate::Outcome;
use crate::build::Workshop;
use crate::table::{self, Function, Home, Parameter};

const MAIN: &str = "\
int main(void) {
    MPI_Init(0, 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
";

/// A program calls all of them, with nothing in their arguments: they are not looked at.
pub(crate) fn says_so(workshop: &Workshop) -> Outcome {
    let functions = table::functions();
    let is_missing = |f: &&Function| matches!(f.home, Home::Missing(_));
    let missing: Vec<&Function> = functions.iter().filter(is_missing).collect();
    let calls: String = missing.iter().map(|function| call(function)).collect();
    let says = format!("#include <mpi.h>\n#include <stdio.h>\n{MAIN}{calls}");
    let source = workshop.path("missing.c");
    fs::write(&source, says + "    return MPI_Finalize();\n}\n")?;
    workshop.compile_file(&source, "missing")?;
    let output = workshop.limited(&workshop.path("missing")).output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let expected: String =
        missing.iter().map(|function| format!("{} is missing\n", function.name)).collect();
    if missing.len() < 100 || !output.status.success() || printed != expected {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}\n{printed}{errors}", output.status).into());
    }
    Ok(())
}

/// Calls a function, and says whether its error is that there is no such thing.
fn call(function: &Function) -> String {
    let name = &function.name;
    let argument = |parameter: &Parameter| match &*parameter.kind {
        "MPI_Comm" => "MPI_COMM_WORLD",
        _ => "0",
    };
    let arguments: Vec<&str> = function.parameters.iter().map(argument).collect();
    format!(
        "    {{\n        int code = {name}({}), class = -1;\n        \
         MPI_Error_class(code, &class);\n        \
         printf(\"{name} %s\\n\", class == MPI_ERR_UNSUPPORTED_OPERATION ? \"is missing\" : \
         \"is not\");\n    }}\n",
        arguments.join(", ")
    )
}
