//! What only the untyped layer can be asked for: sides that share memory, data in place where there
//! is no such form, and collectives that do not exist where they are called.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

mod worlds;

use motet::raw::{Collective, Data, Mixed, On, Reduction, Root};
use motet::{
    Communicator, Datatype, ErrorClass, ErrorHandler, Info, Intercommunicator, Op, Reorder, Result,
    Sum, Tag, World,
};
use worlds::on_ranks;

/// The class of the error that a call is refused with, the same in all forms.
fn refused<'on>(collective: &Collective<'_>, on: impl Into<On<'on>>) -> ErrorClass {
    let on = on.into();
    // SAFETY: nothing is read or written, as the call is refused. (Were it not, the buffers of the
    // tests below would do for it.)
    let blocking = unsafe { collective.run(on) }.expect_err("refused").class();
    // SAFETY: see above.
    let nonblocking = unsafe { collective.start(on) }.map(drop).expect_err("refused").class();
    // SAFETY: see above.
    let persistent = unsafe { collective.init(on, &Info::new()) }.map(drop);
    assert_eq!((nonblocking, persistent.expect_err("refused").class()), (blocking, blocking));
    blocking
}

/// An intercommunicator of the odd and the even ranks.
fn across(world: &World) -> Result<Intercommunicator> {
    let me = world.rank();
    let group = world.split(Some((me % 2) as u32), 0)?.expect("all have a colour");
    group.intercomm_create(0, Some(world), 1 - me % 2, Tag(0))
}

/// Eight numbers that may be read and written.
fn numbers(memory: &mut [u64; 8]) -> Data<'static> {
    const DATATYPE: &Datatype = &Datatype::UINT64_T;
    Data { address: memory.as_mut_ptr().cast(), count: 1, datatype: DATATYPE }
}

/// spec: 66
#[test]
fn two_groups_have_no_scans_and_no_neighbours() {
    on_ranks(4, |world| {
        let across = across(world)?;
        across.set_error_handler(ErrorHandler::Return);
        let (mut first, mut second) = ([0; 8], [0; 8]);
        let (send, receive) = (numbers(&mut first), numbers(&mut second));
        let reduction = Reduction {
            input: Some(send.address),
            output: receive.address,
            count: 1,
            datatype: &Datatype::UINT64_T,
            op: &Op::SUM,
        };
        assert_eq!(refused(&Collective::Scan { reduction }, &across), ErrorClass::Comm);
        assert_eq!(refused(&Collective::Exscan { reduction }, &across), ErrorClass::Comm);
        let neighbours = Collective::NeighborAlltoall { send: Some(send), receive };
        assert_eq!(refused(&neighbours, &across), ErrorClass::Comm);
        assert_eq!(refused(&neighbours, &**world), ErrorClass::Topology);
        // What was refused was not begun: the order is as it was.
        let mut sum = [0];
        across.allreduce(&[1], &mut sum, Sum)?;
        assert_eq!(sum, [2]);
        Ok(())
    });
}

/// spec: 61, 76
#[test]
fn nothing_is_in_place_between_groups_and_among_neighbours() {
    on_ranks(4, |world| {
        let across = across(world)?;
        across.set_error_handler(ErrorHandler::Return);
        let mut memory = [0; 8];
        let receive = numbers(&mut memory);
        let reduction = Reduction {
            input: None,
            output: receive.address,
            count: 1,
            datatype: &Datatype::UINT64_T,
            op: &Op::SUM,
        };
        let (send, root) = (None, Root::Rank(0));
        let in_place = [
            Collective::Allgather { send, receive },
            Collective::Alltoall { send, receive },
            Collective::Gather { send, receive: None, root },
            Collective::Scatter { send, receive: None, root },
            Collective::Gather { send, receive: None, root: Root::Here },
            Collective::Scatter { send, receive: None, root: Root::Here },
            Collective::Reduce { reduction, root },
            Collective::Allreduce { reduction },
            Collective::ReduceScatterBlock { reduction },
            Collective::ReduceScatter { reduction, counts: &[1, 1] },
        ];
        for collective in in_place {
            assert_eq!(refused(&collective, &across), ErrorClass::Buffer, "{collective:?}");
        }
        let ring = world.cartesian(&[4], &[true], Reorder::Never)?.expect("a place");
        ring.set_error_handler(ErrorHandler::Return);
        for collective in [
            Collective::NeighborAllgather { send, receive },
            Collective::NeighborAlltoall { send, receive },
        ] {
            assert_eq!(refused(&collective, &ring), ErrorClass::Buffer, "{collective:?}");
        }
        ring.barrier()?;
        across.barrier()
    });
}

/// Both sides at one address are no exchange in place: each part is where it says.
fn exchange_within(comm: &Communicator, sources: &[Option<usize>]) -> Result<()> {
    let (me, datatypes) = (comm.rank() as u64, [Datatype::UINT64_T, Datatype::UINT64_T]);
    let mut buffer = [me, me + 100, 0, 0];
    let address = buffer.as_mut_ptr().cast();
    let side = |displacements| {
        let counts = &[1, 1];
        Mixed { address, counts, displacements, datatypes: &datatypes }
    };
    let (send, receive) = (Some(side(&[0, 8])), side(&[16, 24]));
    // SAFETY: both sides lie in the buffer, which nobody else uses while the call takes.
    unsafe { Collective::NeighborAlltoallw { send, receive }.run(comm) }?;
    let value = |at: usize| sources[at].map(|rank| rank as u64).expect("a ring has no end");
    assert_eq!(buffer, [me, me + 100, value(0) + 100, value(1)]);
    Ok(())
}

/// spec: 77
#[test]
fn one_address_for_both_sides_is_not_in_place() {
    on_ranks(3, |world| {
        let ring = world.cartesian(&[3], &[true], Reorder::Never)?.expect("a place");
        exchange_within(&ring, ring.neighbourhood().sources())?;
        // A reduction would overwrite what it still has to read.
        world.set_error_handler(ErrorHandler::Return);
        let mut memory = [0; 8];
        let both = numbers(&mut memory);
        let reduction = Reduction {
            input: Some(both.address),
            output: both.address,
            count: 1,
            datatype: &Datatype::UINT64_T,
            op: &Op::SUM,
        };
        assert_eq!(refused(&Collective::Allreduce { reduction }, &**world), ErrorClass::Buffer);
        Ok(())
    });
}
