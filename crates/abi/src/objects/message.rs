//! Messages that a matched probe has found.

use std::sync::Arc;

use motet::ErrorClass;

use super::Comm;
use crate::arena::Arena;
use crate::handle::Kind;

/// A message, and the communicator that it came on.
pub(crate) struct Message {
    pub(crate) message: motet::Message,
    pub(crate) comm: Arc<Comm>,
}

impl Kind for Message {
    type Object = Message;
    const CODE: u8 = 6;
    const NAME: &'static str = "MPI_Message";
    const CLASS: ErrorClass = ErrorClass::Request;

    fn arena() -> &'static Arena<Message> {
        static ARENA: Arena<Message> = Arena::new();
        &ARENA
    }

    fn constant(_: usize) -> Option<Message> {
        None
    }
}
