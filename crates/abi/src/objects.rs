//! The objects that handles refer to: one module for each kind. Operators are above, in
//! `callbacks`, since they call functions of the program.

mod comm;
mod datatype;
mod errhandler;
mod group;
mod info;
mod message;
mod request;
mod session;
mod status;
mod window;

pub(crate) use comm::{
    Comm, FoundComm, Holder, Shape, Weights, fill_world, give_up_world, is_strict, own,
    without_object, world,
};
pub(crate) use datatype::{Arguments, FoundType, Type};
pub(crate) use errhandler::{Errhandler, INITIAL_HANDLER, Target};
pub(crate) use info::Hints;
pub(crate) use message::Message;
pub(crate) use request::{Borrowed, Request};
pub(crate) use session::{ProcessSet, Session};
pub(crate) use status::MPI_Status;
pub(crate) use window::File;
