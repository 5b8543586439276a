//! The three forms of the sparse collectives, made from their rows.

use motet_plan::Block;

use super::{Neighbours, sparse_collectives};
use crate::Element;
use crate::buffer::{Buffers, RecvBuffer, SendBuffer};
use crate::collective::Shape;
use crate::collective::blocking::{input, output};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::info::Info;
use crate::kernel::kernel;
use crate::op::Operator;
use crate::persistent::Persistent;
use crate::request::Request;

/// The blocking forms.
macro_rules! blocking_sparse {
    (
        ()
        moving { $(
            $(#[doc = $about:literal])*
            $blocking:ident $nonblocking:ident $init:ident $proposal:literal
                = $shape:ident ($to:ty, $from:ty);
        )* }
        reducing { $(
            $(#[doc = $reducing_about:literal])*
            $reducing:ident $reducing_nonblocking:ident $reducing_init:ident
                $reducing_proposal:literal
                = $reducing_shape:ident ($reducing_to:ty, $reducing_from:ty);
        )* }
    ) => {$(
        $(#[doc = $about])*
        #[doc = concat!("\n(", $proposal, " of the 2008 proposal)")]
        #[track_caller]
        pub fn $blocking<'a, T: Element>(
            &self,
            send: &[T],
            receive: &mut [T],
            to: impl Into<Neighbours<'a, $to>>,
            from: impl Into<Neighbours<'a, $from>>,
        ) -> Result<()> {
            let (input, output) = (input(send), output(receive));
            let shape = Shape::$shape(self, input, output, to.into(), from.into());
            self.run_blocking::<T>(stringify!($blocking), shape, None)
        }
    )*
    $(
        $(#[doc = $reducing_about])*
        #[doc = concat!("\n(", $reducing_proposal, " of the 2008 proposal)")]
        #[track_caller]
        pub fn $reducing<'a, T: Element>(
            &self,
            send: &[T],
            receive: &mut [T],
            operator: impl Operator<T>,
            to: impl Into<Neighbours<'a, $reducing_to>>,
            from: impl Into<Neighbours<'a, $reducing_from>>,
        ) -> Result<()> {
            let (input, output, commutes) = (input(send), output(receive), operator.is_commutative());
            let (to, from) = (to.into(), from.into());
            let shape = Shape::$reducing_shape(self, input, output, to, from, commutes);
            self.run_blocking::<T>(stringify!($reducing), shape, Some(kernel(operator)))
        }
    )*};
}

/// The nonblocking forms, for buffers that live at least for `$life`: see `nonblocking`.
macro_rules! nonblocking_sparse {
    (
        ($life:lifetime)
        moving { $(
            $(#[doc = $about:literal])*
            $blocking:ident $nonblocking:ident $init:ident $proposal:literal
                = $shape:ident ($to:ty, $from:ty);
        )* }
        reducing { $(
            $(#[doc = $reducing_about:literal])*
            $reducing:ident $reducing_nonblocking:ident $reducing_init:ident
                $reducing_proposal:literal
                = $reducing_shape:ident ($reducing_to:ty, $reducing_from:ty);
        )* }
    ) => {$(
        #[doc = concat!(
            "Nonblocking [`", stringify!($blocking), "`](crate::Communicator::",
            stringify!($blocking), ").\n\n# Errors\nArguments that the blocking form refuses.",
        )]
        #[track_caller]
        pub fn $nonblocking<'a, S, R>(
            &self,
            buffers: (S, R),
            to: impl Into<Neighbours<'a, $to>>,
            from: impl Into<Neighbours<'a, $from>>,
        ) -> Result<Request<(S, R)>>
        where
            S: SendBuffer<Element = R::Element> + $life,
            R: RecvBuffer + $life,
        {
            self.post(buffers, |parts| {
                let (input, output) = (<(S, R)>::input(parts), <(S, R)>::output(parts));
                let (comm, call) = (self.communicator(), stringify!($nonblocking));
                let shape = Shape::$shape(comm, input, output, to.into(), from.into());
                self.prepare::<<R as SendBuffer>::Element>(call, shape, None)
            })
        }
    )*
    $(
        #[doc = concat!(
            "Nonblocking [`", stringify!($reducing), "`](crate::Communicator::",
            stringify!($reducing), ").\n\n# Errors\nArguments that the blocking form refuses.",
        )]
        #[track_caller]
        pub fn $reducing_nonblocking<'a, S, R, O>(
            &self,
            buffers: (S, R),
            operator: O,
            to: impl Into<Neighbours<'a, $reducing_to>>,
            from: impl Into<Neighbours<'a, $reducing_from>>,
        ) -> Result<Request<(S, R)>>
        where
            S: SendBuffer<Element = R::Element> + $life,
            R: RecvBuffer + $life,
            O: Operator<<R as SendBuffer>::Element>,
        {
            self.post(buffers, |parts| {
                let (input, output) = (<(S, R)>::input(parts), <(S, R)>::output(parts));
                let (comm, call) = (self.communicator(), stringify!($reducing_nonblocking));
                let (to, from, commutes) = (to.into(), from.into(), operator.is_commutative());
                let shape = Shape::$reducing_shape(comm, input, output, to, from, commutes);
                let kernel = Some(kernel(operator));
                self.prepare::<<R as SendBuffer>::Element>(call, shape, kernel)
            })
        }
    )*};
}

pub(crate) use nonblocking_sparse;

/// The persistent forms.
macro_rules! persistent_sparse {
    (
        ()
        moving { $(
            $(#[doc = $about:literal])*
            $blocking:ident $nonblocking:ident $init:ident $proposal:literal
                = $shape:ident ($to:ty, $from:ty);
        )* }
        reducing { $(
            $(#[doc = $reducing_about:literal])*
            $reducing:ident $reducing_nonblocking:ident $reducing_init:ident
                $reducing_proposal:literal
                = $reducing_shape:ident ($reducing_to:ty, $reducing_from:ty);
        )* }
    ) => {$(
        #[doc = concat!(
            "Persistent [`", stringify!($blocking), "`](crate::Communicator::",
            stringify!($blocking), "). (", $proposal, "_init of the 2008 proposal)\n\n",
            "# Errors\nArguments that the blocking form refuses.",
        )]
        #[track_caller]
        pub fn $init<'a, S, R>(
            &self,
            buffers: (S, R),
            to: impl Into<Neighbours<'a, $to>>,
            from: impl Into<Neighbours<'a, $from>>,
            info: &Info,
        ) -> Result<Persistent<(S, R)>>
        where
            S: SendBuffer<Element = R::Element> + 'static,
            R: RecvBuffer + 'static,
        {
            self.persistent_with(buffers, info, |parts| {
                let (input, output) = (<(S, R)>::input(parts), <(S, R)>::output(parts));
                let shape = Shape::$shape(self, input, output, to.into(), from.into());
                self.prepare::<<R as SendBuffer>::Element>(stringify!($init), shape, None)
            })
        }
    )*
    $(
        #[doc = concat!(
            "Persistent [`", stringify!($reducing), "`](crate::Communicator::",
            stringify!($reducing), "). (", $reducing_proposal, " as _init of the 2008 proposal)\n\n",
            "# Errors\nArguments that the blocking form refuses.",
        )]
        #[track_caller]
        pub fn $reducing_init<'a, S, R, O>(
            &self,
            buffers: (S, R),
            operator: O,
            to: impl Into<Neighbours<'a, $reducing_to>>,
            from: impl Into<Neighbours<'a, $reducing_from>>,
            info: &Info,
        ) -> Result<Persistent<(S, R)>>
        where
            S: SendBuffer<Element = R::Element> + 'static,
            R: RecvBuffer + 'static,
            O: Operator<<R as SendBuffer>::Element>,
        {
            self.persistent_with(buffers, info, |parts| {
                let (input, output) = (<(S, R)>::input(parts), <(S, R)>::output(parts));
                let (to, from, commutes) = (to.into(), from.into(), operator.is_commutative());
                let shape = Shape::$reducing_shape(self, input, output, to, from, commutes);
                let (call, kernel) = (stringify!($reducing_init), Some(kernel(operator)));
                self.prepare::<<R as SendBuffer>::Element>(call, shape, kernel)
            })
        }
    )*};
}

impl Communicator {
    sparse_collectives!(blocking_sparse());
}

impl Communicator {
    sparse_collectives!(nonblocking_sparse('static));
}

impl Communicator {
    sparse_collectives!(persistent_sparse());
}
