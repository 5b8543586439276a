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
