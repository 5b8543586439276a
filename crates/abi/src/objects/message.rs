//! Messages that a matched probe has found.

use motet::ErrorClass;

use super::FoundComm;
use crate::arena::{Arena, ObjectRef};
use crate::handle::{Kind, MPI_ABI_Message};

/// A message, and the communicator on which it arrived.
pub(crate) struct Message {
    pub(crate) message: motet::Message,
    pub(crate) comm: FoundComm,
}

impl Kind for MPI_ABI_Message {
    type Object = Message;
    type Own = ();
    const CODE: u8 = 6;
    const NAME: &'static str = "MPI_Message";
    const CLASS: ErrorClass = ErrorClass::Request;

    fn arena() -> &'static Arena<Message> {
        static ARENA: Arena<Message> = Arena::new();
        &ARENA
    }

    fn constant(_: usize) -> Option<ObjectRef<Message>> {
        None
    }
}
