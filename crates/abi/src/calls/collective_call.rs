//! A collective call in translation: its communicator, the role of the rank, and its form
//! (blocking, nonblocking, persistent, two-phase).

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_int, c_void};

use motet::raw::{CallKey, Collective, Root};
use motet::{ErrorClass, Group, Persistent};

use super::arguments::{self, Blocks, InPlace, Items, Mixed, Reduced, Which, is_in_place};
use crate::arena::ObjectRef;
use crate::constants::{MPI_PROC_NULL, MPI_REQUEST_NULL, MPI_ROOT};
use crate::count::Counts;
use crate::error::{AbiError, AbiResult};
use crate::handle::{MPI_Comm, MPI_Datatype, MPI_Group, MPI_Info, MPI_Op, MPI_Request};
use crate::objects::{FoundComm, Request};
use crate::out_params::put;

/// In which form a collective is called.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Blocking,
    /// Where the request is to be put.
    Nonblocking(*mut MPI_Request),
    /// With these hints, and where the request is to be put.
    Persistent(MPI_Info, *mut MPI_Request),
    /// The persistent form among the members of a group.
    Among(MPI_Group, MPI_Info, *mut MPI_Request),
    /// The first of two phases.
    Begin,
}

impl Form {
    /// Where the request is to be put.
    fn place(self) -> Option<*mut MPI_Request> {
        match self {
            Form::Blocking | Form::Begin => None,
            Form::Nonblocking(place) | Form::Persistent(_, place) | Form::Among(_, _, place) => {
                Some(place)
            }
        }
    }

    /// There is no request until the call has been made.
    ///
    /// # Safety
    /// The place of the request may be written, or is null.
    unsafe fn clear(self) -> AbiResult {
        match self.place() {
            None => Ok(()),
            // SAFETY: promised by the caller.
            Some(place) => unsafe { put(place, MPI_REQUEST_NULL) },
        }
    }
}

/// A call of a collective, short of the data.
///
/// There is one only where the program has made a call, and whatever addresses its methods are
/// given are those that the program passed in that call. So they are what the standard says: that
/// is promised once, by the caller of [`Call::dispatch`].
pub(crate) struct Call<'a> {
    pub(crate) comm: FoundComm,
    form: &'a Form,
    members: Option<Members>,
    /// What tells it from others, if that is known.
    words: Option<CallKey>,
}

/// Who takes part, if not all.
struct Members {
    group: ObjectRef<Group>,
    /// That of this rank in the group, if it is a member.
    rank: Option<usize>,
}

/// What a rank does in a collective with a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RootPart {
    /// It is the root, and a block is its own.
    Root,
    /// It is the root of a far group.
    FarRoot,
    /// It has one block, which goes to the root or comes from there.
    Leaf,
    /// None of its data is looked at.
    Idle,
}

impl RootPart {
    fn is_root(self) -> bool {
        matches!(self, RootPart::Root | RootPart::FarRoot)
    }

    /// What the root alone has to say.
    ///
    /// # Errors
    /// Arguments that there cannot be.
    #[inline(always)]
    pub(crate) fn at_root<T>(self, data: impl FnOnce() -> AbiResult<T>) -> AbiResult<Option<T>> {
        if self.is_root() { data().map(Some) } else { Ok(None) }
    }
}

impl Call<'_> {
    /// Makes a call of a collective: `work` finds the data and calls [`Call::perform`]. If a
    /// call with these words was made before, its execution is replayed, and `work` is not needed.
    ///
    /// # Safety
    /// All addresses, in the form, in the words and those that `work` passes on, are what the
    /// standard says of them: lists have an entry for each block, or are null; all data is there
    /// for as long as the form needs it; the place of a request may be written, or is null.
    ///
    /// # Errors
    /// What is wrong with it.
    #[inline(always)]
    pub(crate) unsafe fn dispatch(
        comm: MPI_Comm,
        form: Form,
        words: Option<CallKey>,
        work: impl Fn(&Call<'_>) -> AbiResult,
    ) -> AbiResult {
        if let Some(words) = &words
            // SAFETY: promised by the caller.
            && let Some(ended) = unsafe { Call::dispatch_cached(comm, form, words) }
        {
            return ended;
        }
        // SAFETY: promised by the caller.
        unsafe { Call::dispatch_slow(comm, form, &words, work) }
    }

    /// A call that has been made before; nothing if it has not, or if anything is wrong with it.
    ///
    /// # Safety
    /// As [`Call::dispatch`].
    #[inline(always)]
    unsafe fn dispatch_cached(comm: MPI_Comm, form: Form, words: &CallKey) -> Option<AbiResult> {
        let comm = comm.object().ok()?;
        match form {
            Form::Blocking => {
                // SAFETY: promised by the caller.
                let ended = unsafe { words.run(comm.inside()?) }?;
                Some(comm.answer(|| Ok(ended?)))
            }
            Form::Nonblocking(place) if !place.is_null() => {
                // SAFETY: promised by the caller.
                let request = unsafe { words.start(comm.inside()?) }?;
                // SAFETY: promised by the caller.
                Some(unsafe { put(place, Request::publish(request, &comm)) })
            }
            _ => None,
        }
    }

    /// Makes a call that has not been made before, to be known by these words. It is a function of
    /// its own, and copies the words, so that a call that is replayed has what `work` captures and
    /// the words in registers.
    ///
    /// # Safety
    /// As [`Call::dispatch`].
    #[inline(never)]
    unsafe fn dispatch_slow(
        comm: MPI_Comm,
        form: Form,
        words: &Option<CallKey>,
        work: impl Fn(&Call<'_>) -> AbiResult,
    ) -> AbiResult {
        // SAFETY: passed on.
        unsafe { Call::dispatch_dyn(comm, form, *words, &work) }
    }

    /// As [`Call::dispatch_slow`]; compiled once for all collectives.
    ///
    /// # Safety
    /// As [`Call::dispatch`].
    unsafe fn dispatch_dyn(
        comm: MPI_Comm,
        form: Form,
        words: Option<CallKey>,
        work: &dyn Fn(&Call<'_>) -> AbiResult,
    ) -> AbiResult {
        // SAFETY: promised by the caller.
        let cleared = unsafe { form.clear() };
        let comm = comm.object()?;
        let call = Call { comm, form: &form, members: None, words };
        call.comm.answer(|| {
            cleared?;
            match form {
                Form::Among(group, ..) => work(&call.among(group)?),
                _ => work(&call),
            }
        })
    }

    /// The same among the members of a group.
    fn among(&self, group: MPI_Group) -> AbiResult<Call<'_>> {
        let group = group.object()?;
        let rank = self.comm.intra()?.members(&group)?.rank();
        let members = Some(Members { group, rank });
        Ok(Call { comm: self.comm.clone(), form: self.form, members, words: None })
    }

    /// Whether none of the data of this rank is looked at.
    fn is_outside(&self) -> bool {
        self.members.as_ref().is_some_and(|members| members.rank.is_none())
    }

    /// Ranks that a block is for or from.
    pub(crate) fn peers(&self) -> usize {
        self.members.as_ref().map_or_else(|| self.comm.peers(), |members| members.group.size())
    }

    /// Ranks that are reduced over, and that parts of a result are for.
    pub(crate) fn size(&self) -> usize {
        self.members.as_ref().map_or_else(|| self.comm.size(), |members| members.group.size())
    }

    /// Whether data may be in place where all ranks do the same.
    fn in_place(&self) -> InPlace {
        if self.comm.inside().is_some() { InPlace::Allowed } else { InPlace::Refused }
    }

    /// The root, and what this rank has to do with it.
    ///
    /// # Errors
    /// No root.
    #[inline]
    pub(crate) fn root(&self, root: c_int) -> AbiResult<(Root, RootPart)> {
        let within = usize::try_from(root).ok().filter(|rank| *rank < self.comm.peers());
        let part = match within {
            Some(_) if self.is_outside() => RootPart::Idle,
            Some(rank) if self.comm.inside().is_some() && rank == self.comm.rank() => {
                RootPart::Root
            }
            _ => RootPart::Leaf,
        };
        match within {
            Some(rank) => Ok((Root::Rank(rank), part)),
            None if self.comm.inside().is_some() => Err(self.no_root(root)),
            None if root == MPI_ROOT => Ok((Root::ThisRank, RootPart::FarRoot)),
            None if root == MPI_PROC_NULL => Ok((Root::ProcNull, RootPart::Idle)),
            None => Err(self.no_root(root)),
        }
    }

    #[cold]
    fn no_root(&self, root: c_int) -> AbiError {
        let far = if self.comm.inside().is_some() { "" } else { "far " };
        let text = match root {
            MPI_ROOT => "root MPI_ROOT is for intercommunicators only; pass a rank".to_owned(),
            MPI_PROC_NULL => {
                "root MPI_PROC_NULL is for intercommunicators only; pass a rank".to_owned()
            }
            _ => format!("the root is {root}, but the {far}group has {} ranks", self.comm.peers()),
        };
        AbiError::new(ErrorClass::Root, text)
    }

    /// Items, if this rank has to say what they are.
    ///
    /// # Errors
    /// Arguments that there cannot be.
    pub(crate) fn items(
        &self,
        which: Which,
        address: *const c_void,
        count: i64,
        datatype: MPI_Datatype,
    ) -> AbiResult<Items> {
        if self.is_outside() {
            return Items::nothing();
        }
        Items::new(which, address, count, datatype)
    }

    /// Items that may be in place at all ranks.
    ///
    /// # Errors
    /// Arguments that there cannot be.
    pub(crate) fn items_or_in_place(
        &self,
        address: *const c_void,
        count: i64,
        datatype: MPI_Datatype,
    ) -> AbiResult<Option<Items>> {
        if self.is_sent_in_place(address) {
            return Ok(None);
        }
        self.items(Which::Send, address, count, datatype).map(Some)
    }

    /// Whether what all ranks send is in what they receive.
    pub(crate) fn is_sent_in_place(&self, address: *const c_void) -> bool {
        self.in_place() == InPlace::Allowed && is_in_place(address)
    }

    /// The block of this rank that the root gathers or deals out; in place at the root.
    ///
    /// # Errors
    /// Arguments that there cannot be.
    pub(crate) fn own_block(
        &self,
        part: RootPart,
        (which, address): (Which, *const c_void),
        count: i64,
        datatype: MPI_Datatype,
    ) -> AbiResult<Option<Items>> {
        match part {
            RootPart::Root if is_in_place(address) => Ok(None),
            RootPart::FarRoot | RootPart::Idle => Ok(None),
            _ => Items::new(which, address, count, datatype).map(Some),
        }
    }

    /// A block for each of the peers.
    ///
    /// # Errors
    /// Arguments that there cannot be.
    pub(crate) fn blocks(
        &self,
        which: Which,
        address: *const c_void,
        (counts, displacements): (Counts, Counts),
        datatype: MPI_Datatype,
    ) -> AbiResult<Blocks> {
        if self.is_outside() {
            return Blocks::nothing();
        }
        self.blocks_of(which, address, (self.peers(), counts, displacements), datatype)
    }

    /// So many blocks.
    ///
    /// # Errors
    /// Arguments that there cannot be.
    pub(crate) fn blocks_of(
        &self,
        which: Which,
        address: *const c_void,
        lists: (usize, Counts, Counts),
        datatype: MPI_Datatype,
    ) -> AbiResult<Blocks> {
        // SAFETY: promised when this was made.
        unsafe { Blocks::new(which, address, lists, datatype) }
    }

    /// A block for each of the peers, each of a datatype.
    ///
    /// # Errors
    /// Arguments that there cannot be.
    pub(crate) fn mixed(
        &self,
        which: Which,
        address: *const c_void,
        (counts, displacements): (Counts, Counts),
        datatypes: *const MPI_Datatype,
    ) -> AbiResult<Mixed> {
        if self.is_outside() {
            return Ok(Mixed::nothing());
        }
        self.mixed_of(which, address, (self.peers(), counts, displacements), datatypes)
    }

    /// So many blocks, each of a datatype.
    ///
    /// # Errors
    /// Arguments that there cannot be.
    pub(crate) fn mixed_of(
        &self,
        which: Which,
        address: *const c_void,
        lists: (usize, Counts, Counts),
        datatypes: *const MPI_Datatype,
    ) -> AbiResult<Mixed> {
        // SAFETY: promised when this was made.
        unsafe { Mixed::new(which, address, lists, datatypes) }
    }

    /// A reduction whose result all ranks get.
    ///
    /// # Errors
    /// Arguments that there cannot be.
    #[inline(always)]
    pub(crate) fn reduced(
        &self,
        input: *const c_void,
        output: *const c_void,
        count: i64,
        datatype: MPI_Datatype,
        op: MPI_Op,
    ) -> AbiResult<Reduced> {
        if self.is_outside() {
            return Reduced::nothing();
        }
        let buffers = (arguments::input(input, self.in_place())?, arguments::output(output)?);
        Reduced::new(buffers, count, datatype, op)
    }

    /// Whether this rank is the first of those that are reduced over.
    pub(crate) fn is_first(&self) -> bool {
        match &self.members {
            Some(members) => members.rank == Some(0),
            None => self.comm.inside().is_some() && self.comm.rank() == 0,
        }
    }

    /// A reduction whose result the root gets.
    ///
    /// # Errors
    /// Arguments that there cannot be.
    pub(crate) fn reduced_at_root(
        &self,
        part: RootPart,
        (input, output): (*mut c_void, *mut c_void),
        count: i64,
        datatype: MPI_Datatype,
        op: MPI_Op,
    ) -> AbiResult<Reduced> {
        if part == RootPart::Idle {
            return Reduced::nothing();
        }
        let nowhere = std::ptr::null_mut();
        let buffers = match part {
            RootPart::Root => {
                (arguments::input(input, InPlace::Allowed)?, arguments::output(output)?)
            }
            RootPart::FarRoot => (None, arguments::output(output)?),
            _ => (arguments::input(input, InPlace::Refused)?, nowhere),
        };
        Reduced::new(buffers, count, datatype, op)
    }

    /// How many items of a result each rank gets.
    ///
    /// # Errors
    /// Arguments that there cannot be.
    pub(crate) fn shares(&self, counts: Counts) -> AbiResult<Vec<usize>> {
        if self.is_outside() {
            return Ok(Vec::new());
        }
        // SAFETY: promised when this was made.
        unsafe { arguments::counts(Which::Receive, self.size(), counts) }
    }

    /// Calls the collective.
    ///
    /// # Errors
    /// Of the call.
    #[inline]
    pub(crate) fn perform(&self, collective: &Collective<'_>) -> AbiResult {
        let on = self.comm.on();
        let signature = self.comm.inside().zip(self.words.as_ref());
        match *self.form {
            Form::Blocking => match signature {
                // SAFETY: promised when this was made.
                Some((inside, words)) => unsafe { collective.run_keyed(inside, words) }?,
                // SAFETY: promised when this was made.
                None => unsafe { collective.run(on) }?,
            },
            Form::Nonblocking(place) => {
                let request = match signature {
                    // SAFETY: promised when this was made.
                    Some((inside, words)) => unsafe { collective.start_keyed(inside, words) }?,
                    // SAFETY: promised when this was made.
                    None => unsafe { collective.start_request(on) }?,
                };
                // SAFETY: promised when this was made.
                unsafe { put(place, Request::publish(request, &self.comm)) }?;
            }
            Form::Persistent(info, place) => {
                let hints = info.hints()?;
                // SAFETY: promised when this was made.
                let persistent = unsafe { collective.init(on, &hints) }?;
                self.give(persistent, place)?;
            }
            Form::Among(_, info, place) => {
                let (hints, communicator) = (info.hints()?, self.comm.intra()?);
                let group = self.members.as_ref().map(|members| &*members.group);
                let group = group.expect("a call among members has a group");
                // SAFETY: promised when this was made.
                let persistent = unsafe { collective.init_among(communicator, group, &hints) }?;
                self.give(persistent, place)?;
            }
            // SAFETY: promised when this was made.
            Form::Begin => unsafe { collective.begin(on) }?,
        }
        Ok(())
    }

    fn give(&self, persistent: Persistent<()>, place: *mut MPI_Request) -> AbiResult {
        // SAFETY: promised when this was made.
        unsafe { put(place, Request::publish(persistent, &self.comm)) }
    }
}
