//! Communicators.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use motet::raw::On;
use motet::{
    Attributes, CartesianCommunicator, Communicator, ErrorClass, GraphCommunicator,
    IndexedGraphCommunicator, Intercommunicator, World,
};

use super::{Attached, Errhandler};
use crate::arena::Arena;
use crate::exports;
use crate::fault::{Answer, Fault, Site};
use crate::handle::{Kind, MPI_Comm};
use crate::process;

/// A communicator of any kind, with what C knows of it.
pub(crate) struct Comm {
    pub(crate) shape: Shape,
    /// Its handle, which callbacks are told.
    pub(crate) handle: MPI_Comm,
    pub(crate) attributes: Attributes<MPI_Comm>,
    /// Of its topology.
    pub(crate) weights: Weights,
    /// Its buffer for buffered sends.
    pub(super) buffer: Attached,
    handler: Mutex<Errhandler>,
}

/// Whether the edges of a graph have weights, which also one without edges remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weights {
    None,
    Given,
}

/// What kind of communicator it is.
#[allow(clippy::large_enum_variant)] // there are few, each in memory of its own
pub(crate) enum Shape {
    World(World),
    Plain(Communicator),
    Cartesian(CartesianCommunicator),
    Graph(IndexedGraphCommunicator),
    Sparse(GraphCommunicator),
    Between(Box<Intercommunicator>),
    /// Not there yet: the copy that a nonblocking call makes. Its handle is known, and its error
    /// handler may be set.
    Coming,
}

impl From<Intercommunicator> for Shape {
    fn from(between: Intercommunicator) -> Shape {
        // It is the largest, and there are few of them.
        Shape::Between(Box::new(between))
    }
}

impl Kind for Comm {
    type Object = Arc<Comm>;
    const CODE: u8 = 1;
    const NAME: &'static str = "MPI_Comm";
    const CLASS: ErrorClass = ErrorClass::Comm;

    fn arena() -> &'static Arena<Arc<Comm>> {
        static ARENA: Arena<Arc<Comm>> = Arena::new();
        &ARENA
    }

    fn constant(value: usize) -> Option<Arc<Comm>> {
        match value {
            _ if !process::is_in_world() => None,
            _ if value == exports::MPI_COMM_WORLD.value() => process::world(),
            _ if value == exports::MPI_COMM_SELF.value() => process::own(),
            _ => None,
        }
    }

    #[inline]
    fn is_there(comm: &Arc<Comm>) -> bool {
        !matches!(comm.shape, Shape::Coming)
    }
}

/// What a communicator gets from that of which it is made.
struct Inherited {
    handler: Errhandler,
    attributes: Attributes<MPI_Comm>,
    weights: Weights,
}

impl Inherited {
    fn comm(self, shape: Shape, handle: MPI_Comm) -> Arc<Comm> {
        let Inherited { handler, attributes, weights } = self;
        let (buffer, handler) = (Attached::default(), Mutex::new(handler));
        Arc::new(Comm { shape, handle, attributes, weights, buffer, handler })
    }
}

impl fmt::Debug for Comm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "communicator {:?} \"{}\"", self.handle, self.name())
    }
}

impl Comm {
    /// A communicator without attributes.
    pub(crate) fn new(shape: Shape, handle: MPI_Comm, handler: Errhandler) -> Arc<Comm> {
        let (attributes, weights) = (Attributes::default(), Weights::None);
        Inherited { handler, attributes, weights }.comm(shape, handle)
    }

    /// Gives a handle to a communicator that was made from this one, whose error handler it gets.
    pub(crate) fn publish(&self, shape: Shape) -> MPI_Comm {
        self.publish_weighted(shape, Weights::None)
    }

    /// As [`publish`](Comm::publish), of a graph with or without weights.
    pub(crate) fn publish_weighted(&self, shape: Shape, weights: Weights) -> MPI_Comm {
        let inherited = Inherited { weights, ..self.inherited(Attributes::default()) };
        MPI_Comm::keep_with(|handle| inherited.comm(shape, handle))
    }

    /// As [`publish`](Comm::publish); the null handle if this rank gets no communicator.
    pub(crate) fn publish_if_any(&self, shape: Option<Shape>) -> MPI_Comm {
        shape.map_or(exports::MPI_COMM_NULL, |shape| self.publish(shape))
    }

    /// Gives a handle to a copy of this communicator, with the attributes that it gets: see
    /// [`copied`](crate::calls::attributes::copied).
    pub(crate) fn publish_copy(&self, shape: Shape, attributes: Attributes<MPI_Comm>) -> MPI_Comm {
        let inherited = self.inherited(attributes);
        MPI_Comm::keep_with(|handle| inherited.comm(shape, handle))
    }

    /// Gives a handle to a copy that is not there yet, and what keeps the copy when it is there. It
    /// gets the error handler that was set for it meanwhile.
    pub(crate) fn publish_later(
        &self,
        attributes: Attributes<MPI_Comm>,
    ) -> (MPI_Comm, impl FnOnce(Shape) + Send + 'static) {
        let handle = self.publish(Shape::Coming);
        let inherited = self.inherited(attributes);
        let keep = move |shape| {
            // Nobody can have freed it: it was not there.
            let _ = handle.with(|comm| {
                let inherited = Inherited { handler: comm.handler(), ..inherited };
                *comm = inherited.comm(shape, handle);
            });
        };
        (handle, keep)
    }

    /// What a copy with these attributes gets.
    fn inherited(&self, attributes: Attributes<MPI_Comm>) -> Inherited {
        Inherited { handler: self.handler(), attributes, weights: self.weights }
    }

    /// The ranks that are together in it; between two groups, none.
    pub(crate) fn inside(&self) -> Option<&Communicator> {
        match &self.shape {
            Shape::World(world) => Some(world),
            Shape::Plain(communicator) => Some(communicator),
            Shape::Cartesian(communicator) => Some(communicator),
            Shape::Graph(communicator) => Some(communicator),
            Shape::Sparse(communicator) => Some(communicator),
            Shape::Between(_) | Shape::Coming => None,
        }
    }

    /// The ranks that are together in it.
    ///
    /// # Errors
    /// An intercommunicator.
    pub(crate) fn intra(&self) -> Answer<&Communicator> {
        self.inside().ok_or_else(|| {
            Fault::new(ErrorClass::Comm, "an intercommunicator, where the call does not allow one")
        })
    }

    /// The two groups that it is between.
    ///
    /// # Errors
    /// A communicator of one group.
    pub(crate) fn inter(&self) -> Answer<&Intercommunicator> {
        match &self.shape {
            Shape::Between(between) => Ok(between),
            _ => Err(Fault::new(ErrorClass::Comm, "not an intercommunicator")),
        }
    }

    /// It, as the untyped layer takes it.
    pub(crate) fn on(&self) -> On<'_> {
        match (&self.shape, self.inside()) {
            (Shape::Between(between), _) => On::Intercommunicator(between),
            (_, inside) => On::Communicator(inside.expect("all others have one group")),
        }
    }

    pub(crate) fn rank(&self) -> usize {
        match &self.shape {
            Shape::Between(between) => between.rank(),
            _ => self.inside().map_or(0, Communicator::rank),
        }
    }

    pub(crate) fn size(&self) -> usize {
        match &self.shape {
            Shape::Between(between) => between.size(),
            _ => self.inside().map_or(0, Communicator::size),
        }
    }

    /// Ranks that can be sent to: those of the other group, if there are two.
    pub(crate) fn peers(&self) -> usize {
        match &self.shape {
            Shape::Between(between) => between.remote_size(),
            _ => self.size(),
        }
    }

    pub(crate) fn name(&self) -> String {
        match &self.shape {
            Shape::Between(between) => between.name(),
            _ => self.inside().map_or_else(String::new, Communicator::name),
        }
    }

    pub(crate) fn handler(&self) -> Errhandler {
        self.handler.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_handler(&self, handler: Errhandler) {
        let mut place = self.handler.lock().unwrap_or_else(PoisonError::into_inner);
        let former = std::mem::replace(&mut *place, handler);
        drop(place);
        drop(former);
    }

    /// What a call on it comes to: what goes wrong meanwhile is brought before its error handler.
    #[inline]
    pub(crate) fn answer<T>(self: &Arc<Comm>, work: impl FnOnce() -> Answer<T>) -> Answer<T> {
        work().map_err(|fault| fault.at(Site::Comm(self.clone())))
    }
}
