//! Operations of the typed layer, started and completed one by one.

use motet::op::ordered;
use motet::{
    Block, Communicator, Datatype, Info, Member, Members, Persistent, Result, Running, Sum,
    TypedBlock,
    buffer::{Buffers, OwnInput},
};

use crate::case::{Case, Kind};
use crate::oracle::{Share, compose};

/// An operation of any kind.
pub(crate) trait Operation {
    fn start(&mut self, round: usize) -> Result<()>;
    fn finish(&mut self, round: usize) -> Result<()>;
}

struct Played<B: Buffers + 'static> {
    case: Case,
    rank: usize,
    idle: Option<Persistent<B>>,
    running: Option<Running<B>>,
}

impl<B: Buffers<Element = u64> + OwnInput + 'static> Operation for Played<B> {
    fn start(&mut self, round: usize) -> Result<()> {
        let share = Share::of(&self.case, self.rank, round);
        let mut operation = self.idle.take().expect("it is not running");
        if let Some(send) = &share.send {
            operation.input_mut().copy_from_slice(send);
        }
        operation.output_mut().copy_from_slice(&share.receive);
        self.running = Some(operation.start()?);
        Ok(())
    }

    fn finish(&mut self, round: usize) -> Result<()> {
        let share = Share::of(&self.case, self.rank, round);
        let operation = self.running.take().expect("it is running").wait()?;
        let told = || format!("rank {} in round {round} of {:?}", self.rank, self.case);
        if let Some(send) = &share.send {
            assert_eq!(operation.input(), send, "the input of {}", told());
        }
        for (at, (found, expected)) in operation.output().iter().zip(&share.expected).enumerate() {
            assert!(expected.is_none_or(|it| it == *found), "element {at} of {}", told());
        }
        self.idle = Some(operation);
        Ok(())
    }
}

struct Barrier {
    idle: Option<Persistent<()>>,
    running: Option<Running<()>>,
}

impl Operation for Barrier {
    fn start(&mut self, _: usize) -> Result<()> {
        self.running = Some(self.idle.take().expect("it is not running").start()?);
        Ok(())
    }

    fn finish(&mut self, _: usize) -> Result<()> {
        self.idle = Some(self.running.take().expect("it is running").wait()?);
        Ok(())
    }
}

/// A barrier in place of an operation.
pub(crate) fn barrier(members: &Members<'_>) -> Result<Box<dyn Operation>> {
    let idle = Some(members.barrier_init(&Info::new())?);
    Ok(Box::new(Barrier { idle, running: None }))
}

/// The members of the group of a case, as a rank passes it.
pub(crate) fn members<'a>(world: &'a Communicator, case: &Case) -> Result<Members<'a>> {
    let group = world.group().include(case.passed(world.rank())).expect("ranks of the world");
    world.members(&group)
}

/// The operation of a case.
pub(crate) fn operation(
    members: &Members<'_>,
    case: &Case,
    rank: usize,
) -> Result<Box<dyn Operation>> {
    let share = Share::of(case, rank, 0);
    let (info, played) = (case.info(), (case.clone(), rank));
    let Share { send, receive, .. } = share.clone();
    match (case.kind, send) {
        (Kind::Barrier, _) => barrier(members),
        (Kind::Bcast, _) => {
            let root = members.member(case.root_rank())?;
            boxed(played, root.bcast_init(receive, &info)?)
        }
        (_, Some(send)) => boxed(played, init(members, case, (send, receive), &share)?),
        (_, None) => boxed(played, init(members, case, receive, &share)?),
    }
}

fn boxed<B>((case, rank): (Case, usize), operation: Persistent<B>) -> Result<Box<dyn Operation>>
where
    B: Buffers<Element = u64> + OwnInput + 'static,
{
    Ok(Box::new(Played { case, rank, idle: Some(operation), running: None }))
}

fn init<B>(
    members: &Members<'_>,
    case: &Case,
    buffers: B,
    Share { to, from, counts, .. }: &Share,
) -> Result<Persistent<B>>
where
    B: Buffers<Element = u64> + 'static,
{
    let info = &case.info();
    let root = || members.member(case.root_rank());
    match case.kind {
        Kind::Barrier | Kind::Bcast => unreachable!("they have fewer buffers"),
        Kind::Gather => root()?.gather_init(buffers, info),
        Kind::Gatherv => root()?.gatherv_init(buffers, from, info),
        Kind::Scatter => root()?.scatter_init(buffers, info),
        Kind::Scatterv => root()?.scatterv_init(buffers, to, info),
        Kind::Allgather => members.allgather_init(buffers, info),
        Kind::Allgatherv => members.allgatherv_init(buffers, from, info),
        Kind::Alltoall => members.alltoall_init(buffers, info),
        Kind::Alltoallv => members.alltoallv_init(buffers, to, from, info),
        Kind::Alltoallw => members.alltoallw_init(buffers, &parts(to), &parts(from), info),
        _ if case.ordered => reduction(members, case, (buffers, counts), ordered(compose)),
        _ => reduction(members, case, (buffers, counts), Sum),
    }
}

fn parts(blocks: &[Block]) -> Vec<TypedBlock> {
    let part = |&Block { start, count }: &Block| {
        TypedBlock::new(start.wrapping_mul(8) as isize, count, &Datatype::UINT64_T)
    };
    blocks.iter().map(part).collect()
}

fn reduction<B, O>(
    members: &Members<'_>,
    case: &Case,
    (buffers, counts): (B, &[usize]),
    operator: O,
) -> Result<Persistent<B>>
where
    B: Buffers<Element = u64> + 'static,
    O: motet::op::Operator<u64>,
{
    let info = &case.info();
    match case.kind {
        Kind::Reduce => {
            let root: Member<'_> = members.member(case.root_rank())?;
            root.reduce_init(buffers, operator, info)
        }
        Kind::Allreduce => members.allreduce_init(buffers, operator, info),
        Kind::ReduceScatterBlock => members.reduce_scatter_block_init(buffers, operator, info),
        Kind::ReduceScatter => members.reduce_scatter_init(buffers, counts, operator, info),
        Kind::Scan => members.scan_init(buffers, operator, info),
        _ => members.exscan_init(buffers, operator, info),
    }
}
