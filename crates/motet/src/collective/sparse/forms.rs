//! Makes the forms of the sparse collectives from the rows of their table.

use motet_plan::Block;

use super::{Neighbours, sparse_collectives};
use crate::Element;
use crate::base::error::Result;
use crate::base::info::Info;
use crate::collective::CollectiveArgs;
use crate::collective::blocking::{input, output};
use crate::comm::communicator::Communicator;
use crate::comm::persistent::Persistent;
use crate::data::buffer::{Buffers, RecvBuffer, SendBuffer};
use crate::data::kernel::kernel;
use crate::data::op::Operator;

/// Makes the blocking forms.
macro_rules! blocking_sparse {
    (
        ()
        moving { $(
            $(#[doc = $about:literal])*
            $blocking:ident $nonblocking:ident $init:ident $begin:ident $proposal:literal
                = $shape:ident ($to:ty, $from:ty);
        )* }
        reducing { $(
            $(#[doc = $reducing_about:literal])*
            $reducing:ident $reducing_nonblocking:ident $reducing_init:ident
                $reducing_begin:ident $reducing_proposal:literal
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
            let shape = CollectiveArgs::$shape(self, input, output, to.into(), from.into());
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
            let (input, output) = (input(send), output(receive));
            let (to, from, commutes) = (to.into(), from.into(), operator.is_commutative());
            let shape = CollectiveArgs::$reducing_shape(self, input, output, to, from, commutes);
            self.run_blocking::<T>(stringify!($reducing), shape, Some(kernel(operator)))
        }
    )*};
}

/// Makes the nonblocking and two-phase forms, as rows of the table in `nonblocking`.
macro_rules! pending_sparse {
    (
        ($form:ident $life:lifetime)
        moving { $(
            $(#[doc = $about:literal])*
            $blocking:ident $nonblocking:ident $init:ident $begin:ident $proposal:literal
                = $shape:ident ($to:ty, $from:ty);
        )* }
        reducing { $(
            $(#[doc = $reducing_about:literal])*
            $reducing:ident $reducing_nonblocking:ident $reducing_init:ident
                $reducing_begin:ident $reducing_proposal:literal
                = $reducing_shape:ident ($reducing_to:ty, $reducing_from:ty);
        )* }
    ) => {
        $(collective! { $form
            $blocking $nonblocking $begin
            <'a, S, R>(
                buffers: (S, R),
                to: impl Into<crate::Neighbours<'a, $to>>,
                from: impl Into<crate::Neighbours<'a, $from>>
            ) -> (S, R)
            where [
                S: SendBuffer<Element = R::Element> + $life,
                R: RecvBuffer + $life,
            ]
            |on, call, parts| {
                let (input, output) = (<(S, R)>::input(parts), <(S, R)>::output(parts));
                let shape = CollectiveArgs::$shape(on, input, output, to.into(), from.into());
                on.prepare::<<R as SendBuffer>::Element>(call, shape, None)
            }
        })*

        $(collective! { $form
            $reducing $reducing_nonblocking $reducing_begin
            <'a, S, R, O>(
                buffers: (S, R),
                operator: O,
                to: impl Into<crate::Neighbours<'a, $reducing_to>>,
                from: impl Into<crate::Neighbours<'a, $reducing_from>>
            ) -> (S, R)
            where [
                S: SendBuffer<Element = R::Element> + $life,
                R: RecvBuffer + $life,
                O: Operator<<R as SendBuffer>::Element>,
            ]
            |on, call, parts| {
                let (input, output) = (<(S, R)>::input(parts), <(S, R)>::output(parts));
                let (to, from, commutes) = (to.into(), from.into(), operator.is_commutative());
                let shape = CollectiveArgs::$reducing_shape(on, input, output, to, from, commutes);
                on.prepare::<<R as SendBuffer>::Element>(call, shape, Some(kernel(operator)))
            }
        })*

        collective! { $form
            /// With one buffer it is
            /// [`exchangew_in_place`](crate::Communicator::exchangew_in_place); buffers of
            /// [`Items`](crate::buffer::Items) are refused.
            exchangew iexchangew exchangew_begin
            <'a, B>(
                buffers: B,
                to: impl Into<crate::Neighbours<'a, TypedBlock>>,
                from: impl Into<crate::Neighbours<'a, TypedBlock>>
            ) -> B
            where [
                B: Buffers<Element: AnyBytes> + $life,
            ]
            |on, call, parts| on.prepare_edges::<B>(call, to, from, parts)
        }
    };
}

pub(crate) use pending_sparse;

/// Makes the persistent forms.
macro_rules! persistent_sparse {
    (
        ()
        moving { $(
            $(#[doc = $about:literal])*
            $blocking:ident $nonblocking:ident $init:ident $begin:ident $proposal:literal
                = $shape:ident ($to:ty, $from:ty);
        )* }
        reducing { $(
            $(#[doc = $reducing_about:literal])*
            $reducing:ident $reducing_nonblocking:ident $reducing_init:ident
                $reducing_begin:ident $reducing_proposal:literal
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
                let shape = CollectiveArgs::$shape(self, input, output, to.into(), from.into());
                self.prepare::<<R as SendBuffer>::Element>(stringify!($init), shape, None)
            })
        }
    )*
    $(
        #[doc = concat!(
            "Persistent [`", stringify!($reducing), "`](crate::Communicator::",
            stringify!($reducing), "). (", $reducing_proposal,
            " as _init of the 2008 proposal)\n\n",
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
                let args = CollectiveArgs::$reducing_shape(self, input, output, to, from, commutes);
                let (call, kernel) = (stringify!($reducing_init), Some(kernel(operator)));
                self.prepare::<<R as SendBuffer>::Element>(call, args, kernel)
            })
        }
    )*};
}

impl Communicator {
    sparse_collectives!(blocking_sparse());
}

impl Communicator {
    sparse_collectives!(persistent_sparse());
}
