//! Communicators.

mod buffer;
mod world;

pub(crate) use buffer::Holder;
pub(crate) use world::{fill_world, give_up_world, is_strict, own, without_object, world};

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use motet::raw::CommRef;
use motet::{
    Attributes, CartesianCommunicator, Communicator, ErrorClass, GraphCommunicator,
    IndexedGraphCommunicator, Info, Intercommunicator, World,
};

use super::Errhandler;
use crate::arena::{Arena, ObjectRef};
use crate::constants;
use crate::error::{AbiError, AbiErrorSite, AbiResult, HasErrorHandler, Reaction};
use crate::handle::{Kind, MPI_ABI_Comm, MPI_Comm};
use crate::stage;

use buffer::Attached;

/// A communicator of any kind, with its data for C.
pub(crate) struct Comm {
    /// Not set yet in the copy that a nonblocking call makes.
    shape: OnceLock<Placed>,
    /// Its handle, for callbacks.
    pub(crate) handle: MPI_Comm,
    pub(crate) attributes: Attributes<MPI_Comm>,
    /// The weights of its topology.
    pub(crate) weights: Weights,
    /// Its buffer for buffered sends.
    buffer: Attached,
    handler: Mutex<Errhandler>,
    /// Whether the program has set its error handler.
    has_set_handler: AtomicBool,
}

/// A communicator that was found by its handle.
pub(crate) type FoundComm = ObjectRef<Comm>;

/// Whether the edges of a graph have weights; also known for a graph without edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weights {
    None,
    Given,
}

/// The kind of communicator, and the numbers that nearly all calls need.
struct Placed {
    shape: Shape,
    rank: usize,
    size: usize,
}

/// The kind of communicator.
pub(crate) enum Shape {
    World(World),
    Plain(Communicator),
    Cartesian(CartesianCommunicator),
    Graph(IndexedGraphCommunicator),
    Sparse(GraphCommunicator),
    Between(Box<Intercommunicator>),
    /// Announced: its handle is known, and its error handler may be set.
    Coming,
}

impl Shape {
    /// The communicator of its ranks; `None` for an intercommunicator.
    fn inside(&self) -> Option<&Communicator> {
        match self {
            Shape::World(world) => Some(world),
            Shape::Plain(communicator) => Some(communicator),
            Shape::Cartesian(communicator) => Some(communicator),
            Shape::Graph(communicator) => Some(communicator),
            Shape::Sparse(communicator) => Some(communicator),
            Shape::Between(_) | Shape::Coming => None,
        }
    }

    /// The hints of the communicator.
    pub(crate) fn info(&self) -> Info {
        match self {
            Shape::Between(between) => between.info(),
            _ => self.inside().map_or_else(Info::new, Communicator::info),
        }
    }

    /// Sets the hints.
    pub(crate) fn set_info(&self, info: &Info) {
        match (self, self.inside()) {
            (Shape::Between(between), _) => between.set_info(info),
            (_, Some(inside)) => inside.set_info(info),
            (_, None) => {}
        }
    }
}

impl From<Intercommunicator> for Shape {
    fn from(between: Intercommunicator) -> Shape {
        // It is the largest variant, and there are few of them.
        Shape::Between(Box::new(between))
    }
}

impl Kind for MPI_ABI_Comm {
    type Object = Comm;
    type Own = ();
    const CODE: u8 = 1;
    const NAME: &'static str = "MPI_Comm";
    const CLASS: ErrorClass = ErrorClass::Comm;

    fn arena() -> &'static Arena<Comm> {
        static ARENA: Arena<Comm> = Arena::new();
        &ARENA
    }

    fn constant(value: usize) -> Option<FoundComm> {
        match value {
            _ if !stage::is_in_world() => None,
            _ if value == constants::MPI_COMM_WORLD.value() => world(),
            _ if value == constants::MPI_COMM_SELF.value() => own(),
            _ => None,
        }
    }

    #[inline]
    fn is_there(comm: &Comm) -> bool {
        comm.shape.get().is_some()
    }
}

/// What a communicator inherits from the one of which it is made.
struct Inherited {
    handler: Errhandler,
    attributes: Attributes<MPI_Comm>,
    weights: Weights,
}

impl Inherited {
    /// An announced communicator.
    fn coming(self, handle: MPI_Comm) -> Comm {
        let Inherited { handler, attributes, weights } = self;
        Comm {
            shape: OnceLock::new(),
            handle,
            attributes,
            weights,
            buffer: Attached::default(),
            handler: Mutex::new(handler),
            has_set_handler: AtomicBool::new(false),
        }
    }

    fn comm(self, shape: Shape, handle: MPI_Comm) -> Comm {
        let comm = self.coming(handle);
        comm.come(shape);
        comm
    }
}

impl fmt::Debug for Comm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "communicator {:?} \"{}\"", self.handle, self.name())
    }
}

impl Comm {
    /// A communicator without attributes.
    pub(crate) fn new(shape: Shape, handle: MPI_Comm, handler: Errhandler) -> Comm {
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
        shape.map_or(constants::MPI_COMM_NULL, |shape| self.publish(shape))
    }

    /// Gives a handle to a copy of this communicator, with its copied attributes: see
    /// [`copied`](crate::callbacks::copied).
    pub(crate) fn publish_copy(&self, shape: Shape, attributes: Attributes<MPI_Comm>) -> MPI_Comm {
        let inherited = self.inherited(attributes);
        MPI_Comm::keep_with(|handle| inherited.comm(shape, handle))
    }

    /// Gives a handle to an announced copy. Also returns the function that stores the copy when it
    /// exists.
    pub(crate) fn publish_later(
        &self,
        attributes: Attributes<MPI_Comm>,
    ) -> (MPI_Comm, impl FnOnce(Shape) + Send + 'static) {
        let inherited = self.inherited(attributes);
        let handle = MPI_Comm::keep_with(|handle| inherited.coming(handle));
        let keep = move |shape| {
            // The program cannot have freed it: it was only announced.
            if let Ok(comm) = handle.announced() {
                comm.come(shape);
            }
        };
        (handle, keep)
    }

    /// What a copy with these attributes inherits.
    fn inherited(&self, attributes: Attributes<MPI_Comm>) -> Inherited {
        Inherited { handler: self.handler(), attributes, weights: self.weights }
    }

    /// The kind of communicator.
    #[inline]
    pub(crate) fn shape(&self) -> &Shape {
        self.shape.get().map_or(&Shape::Coming, |placed| &placed.shape)
    }

    /// Completes an announced communicator.
    fn come(&self, shape: Shape) {
        let (rank, size) = match &shape {
            Shape::Between(between) => (between.rank(), between.size()),
            Shape::World(world) => (world.rank(), world.size()),
            Shape::Plain(communicator) => (communicator.rank(), communicator.size()),
            Shape::Cartesian(communicator) => (communicator.rank(), communicator.size()),
            Shape::Graph(communicator) => (communicator.rank(), communicator.size()),
            Shape::Sparse(communicator) => (communicator.rank(), communicator.size()),
            Shape::Coming => return,
        };
        let _ = self.shape.set(Placed { shape, rank, size });
    }

    /// Ends the calls in it, if it is the communicator of all ranks.
    ///
    /// # Errors
    /// The calls of the ranks do not match, if none has reported it.
    pub(crate) fn end_calls(&self) -> AbiResult {
        match self.shape() {
            Shape::World(world) => Ok(motet::raw::end_calls(world)?),
            _ => Ok(()),
        }
    }

    /// The communicator of its ranks; `None` for an intercommunicator.
    pub(crate) fn inside(&self) -> Option<&Communicator> {
        self.shape().inside()
    }

    /// The communicator of its ranks.
    ///
    /// # Errors
    /// An intercommunicator.
    pub(crate) fn intra(&self) -> AbiResult<&Communicator> {
        self.inside().ok_or_else(|| {
            AbiError::new(
                ErrorClass::Comm,
                "the communicator is an intercommunicator, which this call does not allow",
            )
        })
    }

    /// The intercommunicator.
    ///
    /// # Errors
    /// An intracommunicator.
    pub(crate) fn inter(&self) -> AbiResult<&Intercommunicator> {
        match self.shape() {
            Shape::Between(between) => Ok(between),
            _ => Err(AbiError::new(ErrorClass::Comm, "the communicator is no intercommunicator")),
        }
    }

    /// The communicator for the untyped layer.
    pub(crate) fn on(&self) -> CommRef<'_> {
        match (self.shape(), self.inside()) {
            (Shape::Between(between), _) => CommRef::Intercommunicator(between),
            (_, inside) => CommRef::Communicator(inside.expect("all others have one group")),
        }
    }

    #[inline]
    pub(crate) fn rank(&self) -> usize {
        self.shape.get().map_or(0, |placed| placed.rank)
    }

    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.shape.get().map_or(0, |placed| placed.size)
    }

    /// The number of ranks that can receive messages: those of the other group in an
    /// intercommunicator.
    pub(crate) fn peers(&self) -> usize {
        match self.shape() {
            Shape::Between(between) => between.remote_size(),
            _ => self.size(),
        }
    }

    pub(crate) fn name(&self) -> String {
        match self.shape() {
            Shape::Between(between) => between.name(),
            _ => self.inside().map_or_else(String::new, Communicator::name),
        }
    }

    /// The communicator in messages: its name, or its kind if it has none.
    pub(crate) fn described(&self) -> String {
        let name = self.name();
        if !name.is_empty() {
            return format!("communicator \"{name}\"");
        }
        let kind = match self.shape() {
            Shape::Between(_) => "an intercommunicator",
            _ => "a communicator",
        };
        let ranks = self.size();
        let group = if let Shape::Between(_) = self.shape() { " in its local group" } else { "" };
        let ranks = if ranks == 1 { "1 rank".to_owned() } else { format!("{ranks} ranks") };
        format!("{kind} of {ranks}{group} without a name")
    }

    pub(crate) fn handler(&self) -> Errhandler {
        self.handler.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the program has set the error handler, perhaps to the same one.
    pub(crate) fn has_set_handler(&self) -> bool {
        self.has_set_handler.load(Ordering::Acquire)
    }

    /// Sets the error handler for the program.
    pub(crate) fn set_handler(&self, handler: Errhandler) {
        let mut place = self.handler.lock().unwrap_or_else(PoisonError::into_inner);
        let former = std::mem::replace(&mut *place, handler);
        drop(place);
        self.has_set_handler.store(true, Ordering::Release);
        drop(former);
    }
}

impl FoundComm {
    /// The result of a call on it: its error handler receives the error.
    #[inline]
    pub(crate) fn answer<T>(&self, work: impl FnOnce() -> AbiResult<T>) -> AbiResult<T> {
        work().map_err(|fault| fault.at(self.site()))
    }

    /// The communicator as the site of an error.
    #[cold]
    pub(crate) fn site(&self) -> AbiErrorSite {
        AbiErrorSite::of(self.clone())
    }
}

impl HasErrorHandler for FoundComm {
    fn reaction(&self) -> Reaction {
        self.handler().reaction()
    }

    fn handle(&self) -> usize {
        self.handle.value()
    }

    fn described(&self) -> String {
        Comm::described(self)
    }

    fn has_initial_handler(&self) -> bool {
        true
    }
}

impl From<MPI_Comm> for AbiErrorSite {
    fn from(comm: MPI_Comm) -> AbiErrorSite {
        comm.object().map_or(AbiErrorSite::UNKNOWN, |comm| comm.site())
    }
}
