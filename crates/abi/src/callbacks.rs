//! Functions of the program that the library calls: those of attribute keys and of operators, and
//! the exceptions that leave them.

mod exception;
mod keyval;
mod op;

pub(crate) use exception::{Ended, Exception, delete_kept, stopped};
pub(crate) use keyval::{Bearer, copied, deleted, wrong as wrong_key};
pub(crate) use op::{Commutativity, Operator};
