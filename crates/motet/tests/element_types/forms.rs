//! One exchange between two ranks, each of which has its own type of elements, in any form.

use motet::{
    ANY_SOURCE, ANY_TAG, Datatype, ErrorClass, Info, Intercommunicator, Result, Tag, TypedBlock,
    World, op,
};

use super::shapes::{SHAPES, Shape, With, bytes, told, with_shape};
use crate::worlds::Random;

/// Elements of basic types that are sent: so many, or a multiple of it.
const ELEMENTS: usize = 6;
/// Rounds of a persistent operation.
const ROUNDS: usize = 3;

/// What two ranks do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    pub(crate) form: usize,
    /// The number of the type that each of them has.
    pub(crate) types: [usize; 2],
    pub(crate) times: usize,
    pub(crate) seed: u64,
}

/// The cases of this number and the next ones.
pub(crate) fn trials(seed: usize, forms: usize) -> impl Iterator<Item = Trial> {
    let mut random = Random(seed as u64);
    std::iter::repeat_with(move || {
        let first = random.below(SHAPES);
        let second = if random.below(3) == 0 { first } else { random.below(SHAPES) };
        let times = match random.below(40) {
            0 => 1 + random.below(3000),
            1..9 => 1 + random.below(60),
            _ => 1,
        };
        let form = random.below(forms);
        let alike: Vec<usize> = (0..SHAPES).filter(|&at| bytes(at) == bytes(first)).collect();
        let second = match form < MESSAGES || second == first {
            true => second,
            false => alike[random.below(alike.len())],
        };
        Trial { form, types: [first, second], times, seed: random.next() }
    })
}

/// Where they do it.
pub(crate) struct TrialCommunicators<'a> {
    pub(crate) world: &'a World,
    pub(crate) across: &'a Intercommunicator,
}

impl TrialCommunicators<'_> {
    /// Of two ranks, with an intercommunicator between them.
    pub(crate) fn with<T>(
        world: &World,
        body: impl FnOnce(&TrialCommunicators) -> Result<T>,
    ) -> Result<T> {
        let own = world.split(Some(world.rank() as u32), 0)?.expect("all have a colour");
        let across = own.intercomm_create(0, Some(world), 1 - world.rank(), Tag(0))?;
        body(&TrialCommunicators { world, across: &across })
    }
}

/// One side of a trial.
struct TrialSide<'a, T> {
    place: &'a TrialCommunicators<'a>,
    me: usize,
    other: usize,
    tag: Tag,
    /// What this rank sends, and what the other one sends if it has the same type.
    values: [Vec<T>; 2],
    /// What lies where something is to be received.
    before: Vec<T>,
}

/// What has come, or nothing if the buffer is lost with the error.
type Came<T> = (Result<()>, Option<Vec<T>>);

/// Plays one side. The other one receives what it sends if and only if the types are alike.
pub(crate) fn play(place: &TrialCommunicators, trial: &Trial) -> Result<()> {
    with_shape(trial.types[place.world.rank()], Exchange(place, trial))
}

struct Exchange<'a>(&'a TrialCommunicators<'a>, &'a Trial);

impl With for Exchange<'_> {
    type Output = Result<()>;

    fn with<T: Shape>(self) -> Result<()> {
        play_as::<T>(self.0, self.1)
    }
}

fn play_as<T: Shape>(place: &TrialCommunicators, trial: &Trial) -> Result<()> {
    let me = place.world.rank();
    let count = ELEMENTS * trial.times / T::told_of_one().1;
    let values = |seed: u64| {
        let mut random = Random(seed);
        (0..count).map(|_| T::some(&mut random)).collect::<Vec<T>>()
    };
    let own = [trial.seed, trial.seed ^ 0x5555];
    let side = TrialSide {
        place,
        me,
        other: 1 - me,
        tag: Tag(trial.seed as u32 & 0xffff),
        values: [values(own[me]), values(own[1 - me])],
        before: values(trial.seed ^ 0x3333),
    };
    let [own, other] = [me, 1 - me].map(|rank| told(trial.types[rank]));
    let (_, form) = side.forms()[trial.form];
    for (outcome, came) in form(&side) {
        let came_whole = came.as_ref().is_none_or(|came| came == &side.values[1]);
        assert!(came.iter().flatten().all(T::is_valid), "rank {me}: {trial:?}: {came:?}");
        match outcome {
            Ok(()) if own == other => assert!(came_whole, "rank {me}: {trial:?}: {came:?}"),
            Ok(()) => panic!("rank {me}: {trial:?}: {other} came as {own}: {came:?}"),
            Err(error) if own == other => panic!("rank {me}: {trial:?}: {error}"),
            Err(error) => {
                let classes = [ErrorClass::Type, ErrorClass::Other, ErrorClass::Truncate];
                assert!(classes.contains(&error.class()), "rank {me}: {trial:?}: {error}");
            }
        }
    }
    Ok(())
}

/// So many forms there are.
pub(crate) const FORMS: usize = 25;

/// The first of these are messages, whose ranks need not agree on anything. In all others they
/// agree on the bytes that each of them has.
pub(crate) const MESSAGES: usize = 10;

type Form<T> = for<'a, 'b> fn(&'a TrialSide<'b, T>) -> Vec<Came<T>>;

impl<T: Shape> TrialSide<'_, T> {
    fn forms(&self) -> [(&'static str, Form<T>); FORMS] {
        [
            ("recv", |side| side.receiving(TrialSide::recv)),
            ("irecv", |side| side.receiving(TrialSide::irecv)),
            ("probe", |side| side.receiving(TrialSide::probe)),
            ("mprobe", |side| side.receiving(TrialSide::mprobe)),
            ("imrecv", |side| side.receiving(TrialSide::imrecv)),
            ("recv from any", |side| side.receiving(TrialSide::recv_any)),
            ("recv_init", |side| side.recv_init()),
            ("sendrecv", |side| side.sendrecv()),
            ("isendrecv_replace", |side| side.replace()),
            ("sparse_exchange", |side| side.sparse_exchange()),
            ("bcast", |side| side.bcast()),
            ("ibcast", |side| side.ibcast()),
            ("bcast_init", |side| side.bcast_init()),
            ("gather", |side| side.gather()),
            ("scatter", |side| side.scatter()),
            ("allgather", |side| side.allgather()),
            ("alltoall", |side| side.alltoall()),
            ("alltoall_init", |side| side.alltoall_init()),
            ("exchange", |side| side.exchange()),
            ("exchange_init", |side| side.exchange_init()),
            ("allreduce", |side| side.allreduce()),
            ("allreduce_init", |side| side.allreduce_init()),
            ("scan", |side| side.scan()),
            ("across", |side| side.across()),
            ("phases", |side| side.phases()),
        ]
    }

    /// The part of the other rank, in a buffer that has a part for each.
    fn theirs(&self, all: Vec<T>) -> Vec<T> {
        let count = self.before.len();
        all[self.other * count..][..count].to_vec()
    }

    fn of_both(&self, values: &[T]) -> Vec<T> {
        [values, values].concat()
    }

    fn receiving(&self, receive: fn(&Self) -> Came<T>) -> Vec<Came<T>> {
        let sent = self.place.world.isend(self.values[0].clone(), self.other, self.tag);
        let came = receive(self);
        let sent = sent.and_then(|sent| sent.wait());
        assert!(sent.is_ok(), "who sends does not care what becomes of it: {sent:?}");
        vec![came]
    }

    fn recv(&self) -> Came<T> {
        let mut got = self.before.clone();
        let outcome = self.place.world.recv(&mut got, self.other, self.tag);
        self.untouched_unless_ok(&outcome.as_ref().map(drop), &got);
        (outcome.map(drop), Some(got))
    }

    fn untouched_unless_ok<E>(&self, outcome: &std::result::Result<(), E>, got: &[T]) {
        assert!(outcome.is_ok() || got == self.before, "something was written: {got:?}");
    }

    fn irecv(&self) -> Came<T> {
        let pending = self.place.world.irecv(self.before.clone(), self.other, self.tag);
        split(pending.and_then(|pending| pending.wait()))
    }

    fn probe(&self) -> Came<T> {
        let found = self.place.world.probe(self.other, self.tag).expect("a message has come");
        assert_eq!(found.source, self.other);
        self.recv()
    }

    fn mprobe(&self) -> Came<T> {
        let mut got = self.before.clone();
        let message = self.place.world.mprobe(self.other, self.tag);
        let outcome = message.and_then(|message| message.mrecv(&mut got)).map(drop);
        self.untouched_unless_ok(&outcome, &got);
        (outcome, Some(got))
    }

    fn imrecv(&self) -> Came<T> {
        let message = self.place.world.mprobe(self.other, self.tag);
        let pending = message.and_then(|message| message.imrecv(self.before.clone()));
        split(pending.and_then(|pending| pending.wait()))
    }

    fn recv_any(&self) -> Came<T> {
        let mut got = self.before.clone();
        let outcome = self.place.world.recv(&mut got, ANY_SOURCE, ANY_TAG).map(drop);
        self.untouched_unless_ok(&outcome, &got);
        (outcome, Some(got))
    }

    fn recv_init(&self) -> Vec<Came<T>> {
        let TrialSide { place: TrialCommunicators { world, .. }, other, tag, .. } = *self;
        let mut sent = world.send_init(self.values[0].clone(), other, tag).expect("it fits");
        let mut got = world.recv_init(self.before.clone(), other, tag).expect("it fits");
        let mut rounds = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let sending = sent.start().expect("it may start");
            let outcome = got.run();
            sent = sending.wait().expect("who sends does not care what becomes of it");
            rounds.push((outcome, Some(got.output().to_vec())));
        }
        rounds
    }

    fn sendrecv(&self) -> Vec<Came<T>> {
        let mut got = self.before.clone();
        let (to, from) = ((&self.values[0][..], self.other, self.tag), (self.other, self.tag));
        let outcome = self.place.world.sendrecv(to, (&mut got[..], from.0, from.1));
        vec![(outcome.map(drop), Some(got))]
    }

    fn replace(&self) -> Vec<Came<T>> {
        let ends = (self.other, self.tag);
        let pending = self.place.world.isendrecv_replace(self.values[0].clone(), ends, ends);
        vec![split(pending.and_then(|pending| pending.wait()))]
    }

    fn sparse_exchange(&self) -> Vec<Came<T>> {
        let came = self.place.world.sparse_exchange([(self.other, &self.values[0][..])]);
        vec![split(came.map(|mut came| came.remove(0).1))]
    }

    /// A call in which one rank only receives. What the other one is told does not matter.
    fn by_one(&self, call: impl Fn(usize, &mut Vec<T>) -> Result<()>) -> Vec<Came<T>> {
        let root = usize::from(self.tag.0 % 2 == 1);
        let mut buffer = if self.me == root { self.values[0].clone() } else { self.before.clone() };
        let outcome = call(root, &mut buffer);
        if self.me == root { Vec::new() } else { vec![(outcome, Some(buffer))] }
    }

    fn bcast(&self) -> Vec<Came<T>> {
        self.by_one(|root, buffer| self.place.world.bcast(buffer, root))
    }

    fn ibcast(&self) -> Vec<Came<T>> {
        self.by_one(|root, buffer| {
            let pending = self.place.world.ibcast(std::mem::take(buffer), root)?;
            *buffer = pending.wait()?;
            Ok(())
        })
    }

    fn bcast_init(&self) -> Vec<Came<T>> {
        self.by_one(|root, buffer| {
            let data = buffer.clone();
            let mut all = self.place.world.bcast_init(data, root, &Info::new())?;
            let outcomes: Vec<_> = (0..ROUNDS).map(|_| all.run()).collect();
            buffer.copy_from_slice(all.output());
            outcomes.into_iter().collect()
        })
    }

    fn gather(&self) -> Vec<Came<T>> {
        let root = usize::from(self.tag.0 % 2 == 1);
        let mut got = if self.me == root { self.of_both(&self.before) } else { Vec::new() };
        let outcome = self.place.world.gather(&self.values[0], &mut got, root);
        if self.me == root { vec![(outcome, Some(self.theirs(got)))] } else { Vec::new() }
    }

    fn scatter(&self) -> Vec<Came<T>> {
        let root = usize::from(self.tag.0 % 2 == 1);
        let sent = if self.me == root { self.of_both(&self.values[0]) } else { Vec::new() };
        let mut got = self.before.clone();
        let outcome = self.place.world.scatter(&sent, &mut got, root);
        if self.me == root { Vec::new() } else { vec![(outcome, Some(got))] }
    }

    fn allgather(&self) -> Vec<Came<T>> {
        let mut got = self.of_both(&self.before);
        let outcome = self.place.world.allgather(&self.values[0], &mut got);
        vec![(outcome, Some(self.theirs(got)))]
    }

    fn alltoall(&self) -> Vec<Came<T>> {
        let (sent, mut got) = (self.of_both(&self.values[0]), self.of_both(&self.before));
        let outcome = self.place.world.alltoall(&sent, &mut got);
        vec![(outcome, Some(self.theirs(got)))]
    }

    fn alltoall_init(&self) -> Vec<Came<T>> {
        let buffers = (self.of_both(&self.values[0]), self.of_both(&self.before));
        let all = self.place.world.alltoall_init(buffers, &Info::new());
        // In check mode the mismatch may be found here.
        let mut all = match all {
            Ok(all) => all,
            Err(error) => return vec![(Err(error), None)],
        };
        let round = |_| (all.run(), Some(self.theirs(all.output().to_vec())));
        (0..ROUNDS).map(round).collect()
    }

    fn exchange(&self) -> Vec<Came<T>> {
        let (mut got, other) = (self.before.clone(), [self.other]);
        let outcome = self.place.world.exchange(&self.values[0], &mut got, &other, &other);
        vec![(outcome, Some(got))]
    }

    fn exchange_init(&self) -> Vec<Came<T>> {
        let (buffers, other) = ((self.values[0].clone(), self.before.clone()), [self.other]);
        let all = self.place.world.exchange_init(buffers, &other, &other, &Info::new());
        // In check mode the mismatch may be found here.
        let mut all = match all {
            Ok(all) => all,
            Err(error) => return vec![(Err(error), None)],
        };
        let round = |_| (all.run(), Some(all.output().to_vec()));
        (0..ROUNDS).map(round).collect()
    }

    /// The operator that takes what the other rank has.
    fn takes_theirs(&self) -> impl motet::Operator<T> + use<T> {
        // Both ranks must agree on the operator, and so on whose values they take.
        op::ordered(|_, right| right)
    }

    fn allreduce(&self) -> Vec<Came<T>> {
        let mut got = self.before.clone();
        let outcome = self.place.world.allreduce(&self.values[0], &mut got, self.takes_theirs());
        self.last(outcome, got)
    }

    /// The values of rank 1 have come to both.
    fn last(&self, outcome: Result<()>, got: Vec<T>) -> Vec<Came<T>> {
        let is_own = self.me == 1 && outcome.is_ok();
        assert!(!is_own || got == self.values[0], "{got:?}");
        vec![(outcome, if self.me == 1 { None } else { Some(got) })]
    }

    fn allreduce_init(&self) -> Vec<Came<T>> {
        let buffers = (self.values[0].clone(), self.before.clone());
        let world = self.place.world;
        let all = world.allreduce_init(buffers, self.takes_theirs(), &Info::new());
        // In check mode the mismatch may be found here.
        let mut all = match all {
            Ok(all) => all,
            Err(error) => return vec![(Err(error), None)],
        };
        let round = |_| {
            let outcome = all.run();
            self.last(outcome, all.output().to_vec())
        };
        (0..ROUNDS).flat_map(round).collect()
    }

    fn scan(&self) -> Vec<Came<T>> {
        let mut got = self.before.clone();
        let first = op::ordered(|left, _| left);
        let outcome = self.place.world.scan(&self.values[0], &mut got, first);
        if self.me == 0 { Vec::new() } else { vec![(outcome, Some(got))] }
    }

    fn across(&self) -> Vec<Came<T>> {
        let (across, mut got) = (self.place.across, self.before.clone());
        let outcome = across.allgather(&self.values[0], &mut got);
        let sent = across.isend(self.values[0].clone(), 0, self.tag);
        let mut message = self.before.clone();
        let received = across.recv(&mut message, 0, self.tag).map(drop);
        sent.and_then(|sent| sent.wait()).expect("who sends does not care");
        vec![(outcome, Some(got)), (received, Some(message))]
    }

    fn phases(&self) -> Vec<Came<T>> {
        let buffers = (self.values[0].clone(), self.of_both(&self.before));
        let mut phases = self.place.world.phases().expect("there is one root");
        let ended = phases.allgather_begin(buffers).and_then(|phase| phase.end());
        vec![split(ended.map(|(_, got)| self.theirs(got)))]
    }
}

fn split<T>(ended: Result<Vec<T>>) -> Came<T> {
    match ended {
        Ok(got) => (Ok(()), Some(got)),
        Err(error) => (Err(error), None),
    }
}

/// The bytes of a type are received as bytes, whatever it is; bytes are received as a type only if
/// all bytes are values of it.
pub(crate) fn play_raw(world: &World, trial: &Trial) -> Result<()> {
    with_shape(trial.types[1], OfBytes(world, trial))
}

struct OfBytes<'a>(&'a World, &'a Trial);

impl With for OfBytes<'_> {
    type Output = Result<()>;

    fn with<T: Shape>(self) -> Result<()> {
        play_raw_as::<T>(self.0, self.1)
    }
}

fn play_raw_as<T: Shape>(world: &World, trial: &Trial) -> Result<()> {
    let count = ELEMENTS * trial.times / T::told_of_one().1;
    let mut random = Random(trial.seed);
    let before: Vec<T> = (0..count).map(|_| T::some(&mut random)).collect();
    let bytes = count * size_of::<T>();
    if world.rank() == 0 {
        let sent: Vec<u8> = (0..bytes).map(|_| random.next() as u8).collect();
        let (mut got, part) = (vec![0; bytes], TypedBlock::new(0, bytes, &Datatype::BYTE));
        let both = [(1, part)];
        let outcome = world.exchangew(&sent, &mut got, &both, &both);
        // A rank that refuses what it receives tells those that may wait for it.
        return if T::told().contains("bool") { Ok(()) } else { outcome };
    }
    let mut got = before.clone();
    let outcome = world.exchange(&before, &mut got, &[0], &[0]);
    assert!(got.iter().all(T::is_valid), "{trial:?}: {got:?}");
    let is_strict = T::told().contains("bool");
    assert_eq!(outcome.is_err(), is_strict, "{trial:?}: {outcome:?}");
    assert!(!is_strict || got == before, "{trial:?}: {got:?}");
    Ok(())
}

/// Has the process number all structures, the last ones first.
pub(crate) fn send_all_to_oneself(world: &World) -> Result<()> {
    (0..SHAPES).rev().try_for_each(|number| with_shape(number, ToOneself(world)))
}

struct ToOneself<'a>(&'a World);

impl With for ToOneself<'_> {
    type Output = Result<()>;

    fn with<T: Shape>(self) -> Result<()> {
        let ToOneself(world) = self;
        let (sent, mut got) = ([T::some(&mut Random(1))], [T::some(&mut Random(2))]);
        let pending = world.isend(sent.to_vec(), world.rank(), Tag(7))?;
        world.recv(&mut got, world.rank(), Tag(7))?;
        assert_eq!(got, sent);
        pending.wait().map(drop)
    }
}
