//! The same cases by the untyped layer, where outsiders pass addresses that nobody may look at.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ptr;
use std::sync::Arc;

use motet::op::Op;
use motet::raw::{Collective, Reduction, Root, TypedBuffer, VectorBuffer, WBuffer};
use motet::{Block, Communicator, Datatype, Error, Group, Info, Persistent, Result, World};

use crate::case::{Case, Kind};
use crate::oracle::{Share, compose};

static TYPE: Datatype = Datatype::UINT64_T;

/// Where blocks lie, in the words of a call.
struct Places {
    counts: Vec<usize>,
    displacements: Vec<isize>,
    offsets: Vec<isize>,
    datatypes: Vec<Datatype>,
}

impl Places {
    fn new(blocks: &[Block]) -> Places {
        Places {
            counts: blocks.iter().map(|block| block.count).collect(),
            displacements: blocks.iter().map(|block| block.start as isize).collect(),
            offsets: blocks.iter().map(|block| block.start.wrapping_mul(8) as isize).collect(),
            datatypes: vec![TYPE.clone(); blocks.len()],
        }
    }

    fn blocks(&self, address: *mut u8) -> VectorBuffer<'_> {
        let Places { counts, displacements, .. } = self;
        VectorBuffer { address, counts, displacements, datatype: &TYPE }
    }

    fn mixed(&self, address: *mut u8) -> WBuffer<'_> {
        let Places { counts, offsets: displacements, datatypes, .. } = self;
        WBuffer { address, counts, displacements, datatypes }
    }
}

fn operator(case: &Case) -> Op {
    if !case.ordered {
        return Op::SUM;
    }
    let function = |left: *const u8, both: *mut u8, len: usize, _: &_| {
        for at in 0..len {
            // SAFETY: so many items lie there.
            let first = unsafe { left.cast::<u64>().wrapping_add(at).read_unaligned() };
            // SAFETY: as above.
            let second = unsafe { both.cast::<u64>().wrapping_add(at).read_unaligned() };
            // SAFETY: as above, to be written.
            unsafe { both.cast::<u64>().wrapping_add(at).write_unaligned(compose(first, second)) };
        }
    };
    // SAFETY: it reads and writes the items that it is given.
    unsafe { Op::ordered(Arc::new(function)) }
}

/// What a rank passes: addresses, and the lists of its share.
struct Arguments<'a> {
    send: Option<*mut u8>,
    receive: *mut u8,
    lists: &'a Share,
    to: Places,
    from: Places,
    op: Op,
    is_root: bool,
}

impl<'a> Arguments<'a> {
    fn call(&'a self, case: &Case) -> Collective<'a> {
        let Arguments { to, from, receive, .. } = self;
        let (count, root) = (case.count, Root::Rank(case.root_rank()));
        let data = |address| TypedBuffer { address, count, datatype: &TYPE };
        let send = self.send.map(data);
        match case.kind {
            Kind::Barrier => Collective::Barrier,
            Kind::Bcast => Collective::Bcast { data: data(*receive), root },
            Kind::Gather => Collective::Gather { send, receive: Some(data(*receive)), root },
            Kind::Gatherv => {
                let own = |address| {
                    let count = self.lists.send.as_ref().map_or(0, Vec::len);
                    TypedBuffer { address, count, datatype: &TYPE }
                };
                let receive = Some(from.blocks(*receive));
                Collective::Gatherv { send: self.send.map(own), receive, root }
            }
            Kind::Scatter => {
                let receive = self.receives().then(|| data(*receive));
                Collective::Scatter { send: self.dealt().map(data), receive, root }
            }
            Kind::Scatterv => {
                let count = self.lists.receive.len();
                let own = TypedBuffer { address: *receive, count, datatype: &TYPE };
                let send = self.dealt().map(|address| to.blocks(address));
                Collective::Scatterv { send, receive: self.receives().then_some(own), root }
            }
            Kind::Allgather => Collective::Allgather { send, receive: data(*receive) },
            Kind::Allgatherv => {
                let own = |address| {
                    let count = self.lists.send.as_ref().map_or(0, Vec::len);
                    TypedBuffer { address, count, datatype: &TYPE }
                };
                let receive = from.blocks(*receive);
                Collective::Allgatherv { send: self.send.map(own), receive }
            }
            Kind::Alltoall => Collective::Alltoall { send, receive: data(*receive) },
            Kind::Alltoallv => {
                let send = self.send.map(|address| to.blocks(address));
                Collective::Alltoallv { send, receive: from.blocks(*receive) }
            }
            Kind::Alltoallw => {
                let send = self.send.map(|address| to.mixed(address));
                Collective::Alltoallw { send, receive: from.mixed(*receive) }
            }
            _ => self.reduction(case, root),
        }
    }

    /// At the root of a scatter in place, the one buffer is what is dealt out.
    fn dealt(&self) -> Option<*mut u8> {
        if self.is_root { Some(self.send.unwrap_or(self.receive)) } else { None }
    }

    fn receives(&self) -> bool {
        !self.is_root || self.send.is_some()
    }

    fn reduction(&'a self, case: &Case, root: Root) -> Collective<'a> {
        let Arguments { send: input, receive: output, op, .. } = self;
        let (input, output, count) = (*input, *output, case.count);
        let reduction = Reduction { input, output, count, datatype: &TYPE, op };
        match case.kind {
            Kind::Reduce => Collective::Reduce { reduction, root },
            Kind::Allreduce => Collective::Allreduce { reduction },
            Kind::ReduceScatterBlock => Collective::ReduceScatterBlock { reduction },
            Kind::ReduceScatter => {
                Collective::ReduceScatter { reduction, counts: &self.lists.counts }
            }
            Kind::Scan => Collective::Scan { reduction },
            _ => Collective::Exscan { reduction },
        }
    }
}

/// Whether all ranks but the root must name their data, wherever that of the root is.
fn needs_data_but_at_root(kind: Kind) -> bool {
    matches!(kind, Kind::Gather | Kind::Gatherv | Kind::Reduce)
}

/// Makes the operation of a case, runs it, and looks at all that was passed.
pub(crate) fn play(world: &World, case: &Case) -> Result<()> {
    let rank = world.rank();
    let mut share = Share::of(case, rank, 0);
    let is_root = case.place(rank) == Some(case.root);
    if !is_root && share.send.is_none() && needs_data_but_at_root(case.kind) {
        share.send = Some(std::mem::take(&mut share.receive));
        share.expected.clear();
    }
    let (mut send, mut receive) = (share.send.clone(), share.receive.clone());
    let is_member = case.place(rank).is_some();
    let of_buffer = |buffer: &mut Vec<u64>| match is_member {
        true => buffer.as_mut_ptr().cast::<u8>(),
        false => ptr::null_mut(),
    };
    let arguments = Arguments {
        send: send.as_mut().map(of_buffer),
        receive: of_buffer(&mut receive),
        to: Places::new(&share.to),
        from: Places::new(&share.from),
        lists: &share,
        op: operator(case),
        is_root,
    };
    let group = world.group().include(case.passed(rank)).expect("ranks of the world");
    let call = arguments.call(case);
    // SAFETY: the buffers of a member hold all that it names, and live until its operation is gone;
    // those of others are not looked at.
    let mut operation: Persistent<()> = unsafe { call.init_among(world, &group, &case.info()) }?;
    operation.run()?;
    drop(operation);
    assert_eq!(send, share.send, "the input of rank {rank} in {case:?}");
    for (at, (found, expected)) in receive.iter().zip(&share.expected).enumerate() {
        assert!(expected.is_none_or(|it| it == *found), "element {at} of rank {rank} in {case:?}");
    }
    Ok(())
}

/// The error of a call that is refused.
pub(crate) fn refused(call: &Collective<'_>, on: &Communicator, group: &Group) -> Error {
    // SAFETY: nothing begins, so no memory is used.
    unsafe { call.init_among(on, group, &Info::new()) }.expect_err("refused")
}
