//! Datatypes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use motet::datatype::{Combiner, Contents, Named};
use motet::{Attributes, Datatype, ErrorClass};

use crate::arena::{Arena, ObjectRef};
use crate::constants::MPI_MAX_OBJECT_NAME;
use crate::count::Width;
use crate::error::{AbiError, AbiResult};
use crate::handle::{Kind, MPI_ABI_Datatype, MPI_Datatype};

/// The first constant of the kind, and the number of possible ones.
const BASE: usize = 0x200;
const CONSTANTS: usize = 0x100;

/// A datatype, with its data for C.
pub(crate) struct Type {
    pub(crate) datatype: Datatype,
    /// Its handle, for callbacks.
    pub(crate) handle: MPI_Datatype,
    pub(crate) attributes: Attributes<MPI_Datatype>,
    origin: Origin,
    /// The name that the program has set.
    name: Mutex<Option<String>>,
    committed: AtomicBool,
}

/// A datatype that was found by its handle.
pub(crate) type FoundType = ObjectRef<Type>;

/// The data that `MPI_Type_get_contents` needs besides the contents of the datatype.
#[derive(Clone)]
pub(crate) enum Origin {
    /// It has a constant.
    Named(MPI_Datatype),
    /// Predefined, without a constant: another request for it returns the same handle.
    Unnamed(MPI_Datatype),
    /// A call of this width made it of others, with these origins.
    Made(Width, Arc<[Origin]>),
}

/// The request to a call that returns predefined datatypes: combiner, precision and range.
pub(crate) type Wish = (Combiner, [i32; 2]);

impl Kind for MPI_ABI_Datatype {
    type Object = Type;
    type Own = ();
    const CODE: u8 = 2;
    const NAME: &'static str = "MPI_Datatype";
    const CLASS: ErrorClass = ErrorClass::Type;

    fn arena() -> &'static Arena<Type> {
        static ARENA: Arena<Type> = Arena::new();
        &ARENA
    }

    fn constant(value: usize) -> Option<FoundType> {
        static NAMED: OnceLock<Box<[Option<Type>]>> = OnceLock::new();
        let named =
            NAMED.get_or_init(|| (0..CONSTANTS).map(|each| Type::named(BASE + each)).collect());
        named.get(value.checked_sub(BASE)?)?.as_ref().map(ObjectRef::always)
    }
}

impl Type {
    fn new(datatype: Datatype, handle: MPI_Datatype, origin: Origin, committed: bool) -> Type {
        let (name, committed) = (Mutex::default(), AtomicBool::new(committed));
        Type { datatype, handle, attributes: Attributes::default(), origin, name, committed }
    }

    /// The datatype that a constant names.
    fn named(code: usize) -> Option<Type> {
        let named = Named::from_code(u16::try_from(code).ok()?)?;
        let handle = MPI_Datatype::constant(code);
        Some(Type::new(named.into(), handle, Origin::Named(handle), true))
    }

    /// Gives a handle to a datatype that has been made of these parts, and may not be used in
    /// messages yet.
    pub(crate) fn publish(datatype: Datatype, width: Width, parts: &[FoundType]) -> MPI_Datatype {
        let origin = Origin::made(width, parts);
        MPI_Datatype::keep_with(|handle| Type::new(datatype, handle, origin, false))
    }

    /// Gives a handle to a copy of this datatype, with its copied attributes: see
    /// [`copied`](crate::callbacks::copied).
    pub(crate) fn publish_copy(
        &self,
        datatype: Datatype,
        attributes: Attributes<MPI_Datatype>,
    ) -> MPI_Datatype {
        let origin = Origin::Made(Width::Int, [self.origin.clone()].into());
        MPI_Datatype::keep_with(|handle| {
            let copy = Type::new(datatype, handle, origin, self.is_committed());
            Type { attributes, ..copy }
        })
    }

    /// Gives another handle to it, without its attributes.
    pub(crate) fn publish_again(&self) -> MPI_Datatype {
        MPI_Datatype::keep_with(|handle| {
            let (datatype, origin) = (self.datatype.clone(), self.origin.clone());
            Type::new(datatype, handle, origin, self.is_committed())
        })
    }

    /// The handle of the predefined datatype for a request that has no constant. It is made once.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn unnamed(
        wish: Wish,
        make: impl FnOnce() -> AbiResult<Datatype>,
    ) -> AbiResult<MPI_Datatype> {
        static UNNAMED: Mutex<Option<HashMap<Wish, MPI_Datatype>>> = Mutex::new(None);
        let mut unnamed = UNNAMED.lock().unwrap_or_else(PoisonError::into_inner);
        let unnamed = unnamed.get_or_insert_default();
        if let Some(handle) = unnamed.get(&wish) {
            return Ok(*handle);
        }
        let datatype = make()?;
        let handle = MPI_Datatype::keep_with(|handle| {
            Type::new(datatype, handle, Origin::Unnamed(handle), true)
        });
        unnamed.insert(wish, handle);
        Ok(handle)
    }

    /// Permits its use in messages from now on.
    pub(crate) fn commit(&self) {
        self.datatype.commit();
        self.committed.store(true, Ordering::Release);
    }

    pub(crate) fn is_committed(&self) -> bool {
        self.committed.load(Ordering::Acquire)
    }

    /// Whether it is predefined by the library, and cannot be freed.
    pub(crate) fn is_predefined(&self) -> bool {
        !matches!(self.origin, Origin::Made(..))
    }

    /// The datatype, for data that moves.
    ///
    /// # Errors
    /// The datatype has not been committed.
    #[inline]
    pub(crate) fn committed(&self) -> AbiResult<&Datatype> {
        if self.is_committed() {
            return Ok(&self.datatype);
        }
        let text = "the datatype has not been committed: call MPI_Type_commit first";
        Err(AbiError::new(ErrorClass::Type, text))
    }

    /// The name that the program has set, or that of the constant.
    pub(crate) fn name(&self) -> String {
        let given = self.name.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let constant = || self.datatype.as_named().map(|named| format!("MPI_{}", named.name()));
        given.or_else(constant).unwrap_or_default()
    }

    /// Sets the name, cut to the maximum length.
    pub(crate) fn set_name(&self, name: &str) {
        let name = &name[..name.floor_char_boundary(MPI_MAX_OBJECT_NAME as usize - 1)];
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.to_owned());
    }

    /// The arguments of the call that made it; `None` if it has a constant.
    pub(crate) fn arguments(&self) -> Option<Arguments<'_>> {
        let contents = self.datatype.contents()?;
        let (integers, counts) = match self.origin {
            Origin::Named(_) => return None,
            Origin::Made(Width::Count, _) => self.large(contents),
            _ => ([&*contents.integers, &[]], [&[][..], &[]]),
        };
        let is_large = matches!(self.origin, Origin::Made(Width::Count, _));
        let addresses = if is_large { &[] } else { &*contents.addresses };
        Some(Arguments { integers, addresses, counts, types: &contents.datatypes, of: self })
    }

    /// The integers that are returned as `int` and those that are returned as `MPI_Count` for a
    /// call with large counts.
    fn large<'a>(&self, contents: &'a Contents) -> ([&'a [i64]; 2], [&'a [i64]; 2]) {
        let integers = &*contents.integers;
        let dimensions = |place: usize| usize::try_from(integers[place]).unwrap_or(0);
        // Dimensions and other integers that are no counts stay `int`.
        let (first, last) = match self.datatype.envelope().combiner {
            Combiner::Subarray => (1, 1 + 3 * dimensions(0)),
            Combiner::Darray => (3, 3 + dimensions(2)),
            _ => return ([&[]; 2], [integers, &contents.addresses]),
        };
        ([&integers[..first], &integers[last..]], [&integers[first..last], &[]])
    }
}

impl Origin {
    fn made(width: Width, parts: &[FoundType]) -> Origin {
        Origin::Made(width, parts.iter().map(|part| part.origin.clone()).collect())
    }
}

/// The arguments of the call that made a datatype, in the order of `MPI_Type_get_contents`.
pub(crate) struct Arguments<'a> {
    integers: [&'a [i64]; 2],
    pub(crate) addresses: &'a [i64],
    counts: [&'a [i64]; 2],
    types: &'a [Datatype],
    of: &'a Type,
}

impl Arguments<'_> {
    pub(crate) fn integers(&self) -> impl Iterator<Item = i64> {
        self.integers.iter().flat_map(|list| list.iter().copied())
    }

    pub(crate) fn counts(&self) -> impl Iterator<Item = i64> {
        self.counts.iter().flat_map(|list| list.iter().copied())
    }

    /// How many integers, addresses, counts and datatypes there are.
    pub(crate) fn lengths(&self) -> [usize; 4] {
        let sum = |lists: [&[i64]; 2]| lists[0].len() + lists[1].len();
        [sum(self.integers), self.addresses.len(), sum(self.counts), self.types.len()]
    }

    /// Handles of the datatypes: for predefined ones their own, for others new ones, which the
    /// program must free.
    pub(crate) fn handles(&self) -> impl Iterator<Item = MPI_Datatype> {
        let parts: &[Origin] = match &self.of.origin {
            Origin::Made(_, parts) => parts,
            Origin::Named(_) | Origin::Unnamed(_) => &[],
        };
        parts.iter().zip(self.types).map(|(part, datatype)| part.handle(datatype))
    }
}

impl Origin {
    /// A handle of the datatype whose origin this is.
    fn handle(&self, datatype: &Datatype) -> MPI_Datatype {
        match self {
            Origin::Named(handle) | Origin::Unnamed(handle) => *handle,
            Origin::Made(..) => MPI_Datatype::keep_with(|handle| {
                // Whether it is committed is left open.
                Type::new(datatype.clone(), handle, self.clone(), true)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BASE, CONSTANTS, Type};
    use crate::handle::{Kind, MPI_ABI_Datatype, MPI_Datatype};

    /// The constants of the table that are datatypes, with their names.
    fn constants() -> impl Iterator<Item = (&'static str, usize)> {
        let table = include_str!("../../tables/constants.tsv").lines();
        let rows = table.map(|row| row.split('\t').collect::<Vec<_>>());
        rows.filter(|row| row[1] == "MPI_Datatype")
            .map(|row| (row[0], row[2].parse().expect("a number")))
    }

    #[test]
    fn each_constant_is_a_datatype_of_its_name() {
        assert!(constants().count() > 60, "the table has them");
        for (name, value) in constants().filter(|(name, _)| *name != "MPI_DATATYPE_NULL") {
            let datatype = MPI_Datatype::constant(value).object().unwrap();
            assert_eq!(datatype.handle.value(), value, "{name}");
            // Another test may have given a name to the one that all share.
            // Of two names for one datatype, the one that other libraries give it.
            let name = match name {
                "MPI_LONG_LONG" => "MPI_LONG_LONG_INT",
                "MPI_C_FLOAT_COMPLEX" => "MPI_C_COMPLEX",
                name => name,
            };
            assert_eq!(Type::named(value).unwrap().name(), name);
            assert!(datatype.is_committed() && datatype.is_predefined(), "{name}");
            assert!(datatype.datatype.size() > 0, "{name}");
        }
    }

    #[test]
    fn no_other_constant_is_a_datatype() {
        let known: Vec<usize> = constants().map(|(_, value)| value).collect();
        for value in (0..BASE + 2 * CONSTANTS).filter(|value| !known[1..].contains(value)) {
            assert!(MPI_ABI_Datatype::constant(value).is_none(), "{value:#x}");
        }
    }
}
