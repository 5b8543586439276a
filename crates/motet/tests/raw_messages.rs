//! Messages of the untyped layer: data of every layout, in every form, in one group and between
//! two.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod worlds;

use motet::datatype::Datatype;
use motet::op::Op;
use motet::raw::{
    self, Collective, CommRef, Incoming, Outgoing, Partitions, Reduction, Request, Root, SendMode,
    SendRecv, SendRecvReplace, Status, TypedBuffer,
};
use motet::{
    ANY_SOURCE, ANY_TAG, BufferRoom, Communicator, ErrorClass, Info, Intercommunicator, PROC_NULL,
    Result, Settings, Source, Sum, TAG_UB, Tag, TagFilter, World, hint::DETERMINISTIC,
};
use worlds::{on_ranks, on_ranks_with};

const TAG: Tag = Tag(4);
const POISON: i32 = -77;
const MODES: [SendMode; 4] =
    [SendMode::Standard, SendMode::Synchronous, SendMode::Buffered, SendMode::Ready];

/// Items of three integers: where they lie, and how far the next item is, in integers.
#[derive(Clone, Copy, Debug)]
struct Layout {
    places: [usize; 3],
    extent: usize,
}

const ROW: Layout = Layout { places: [0, 1, 2], extent: 3 };
const COLUMN: Layout = Layout { places: [0, 4, 8], extent: 9 };
const GAPPED: Layout = Layout { places: [2, 0, 3], extent: 6 };
const LAYOUTS: [Layout; 3] = [ROW, COLUMN, GAPPED];

impl Layout {
    fn datatype(self) -> Datatype {
        let made = match self.extent {
            3 => Datatype::contiguous(3, &Datatype::INT),
            9 => Datatype::vector(3, 1, 4, &Datatype::INT),
            _ => Datatype::structured(&[1, 1, 1], &[8, 0, 12], &[const { Datatype::INT }; 3])
                .and_then(|gapped| Datatype::resized(0, 24, &gapped)),
        };
        made.unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Memory for items, poisoned where no data is.
struct Items {
    layout: Layout,
    datatype: Datatype,
    memory: Vec<i32>,
    count: usize,
}

impl Items {
    fn poisoned(layout: Layout, count: usize) -> Items {
        let memory = vec![POISON; layout.extent * count + 3];
        Items { layout, datatype: layout.datatype(), memory, count }
    }

    fn holding(layout: Layout, values: &[i32]) -> Items {
        let mut items = Items::poisoned(layout, values.len() / 3);
        items.put(values);
        items
    }

    fn put(&mut self, values: &[i32]) {
        for (at, value) in values.iter().enumerate() {
            self.memory[at / 3 * self.layout.extent + self.layout.places[at % 3]] = *value;
        }
    }

    fn data(&mut self) -> TypedBuffer<'_> {
        let address = self.memory.as_mut_ptr().cast();
        TypedBuffer { address, count: self.count, datatype: &self.datatype }
    }

    /// That the items hold these values first, and poison everywhere else.
    #[track_caller]
    fn hold(&self, values: &[i32]) {
        let mut expected = Items::poisoned(self.layout, self.count);
        expected.put(values);
        assert_eq!(self.memory, expected.memory, "{:?}", self.layout);
    }
}

fn values(seed: usize, items: usize) -> Vec<i32> {
    (0..3 * items).map(|at| (seed * 1000 + at) as i32).collect()
}

fn class<T>(result: Result<T>) -> Option<ErrorClass> {
    result.err().map(|error| error.class())
}

fn outgoing(items: &mut Items, to: usize, mode: SendMode) -> Outgoing<'_> {
    Outgoing { data: items.data(), to, tag: TAG, mode }
}

fn incoming(items: &mut Items, from: Source) -> Incoming<'_> {
    Incoming { data: items.data(), from, tag: TagFilter::Tag(TAG) }
}

// All memory below lives until the operations on it are complete, and is not looked at before:
// that is the reason for every call here.

fn send(on: CommRef<'_>, items: &mut Items, to: usize, mode: SendMode) -> Result<()> {
    // SAFETY: see above.
    unsafe { outgoing(items, to, mode).run(on) }
}

fn isend(on: CommRef<'_>, items: &mut Items, to: usize, mode: SendMode) -> Result<Request> {
    // SAFETY: see above.
    unsafe { outgoing(items, to, mode).start(on) }
}

fn send_init(on: CommRef<'_>, items: &mut Items, to: usize, mode: SendMode) -> Result<Request> {
    // SAFETY: see above.
    unsafe { outgoing(items, to, mode).init(on) }
}

fn recv(on: CommRef<'_>, items: &mut Items, from: impl Into<Source>) -> Result<Status> {
    // SAFETY: see above.
    unsafe { incoming(items, from.into()).run(on) }
}

fn irecv(on: CommRef<'_>, items: &mut Items, from: impl Into<Source>) -> Result<Request> {
    // SAFETY: see above.
    unsafe { incoming(items, from.into()).start(on) }
}

fn recv_init(on: CommRef<'_>, items: &mut Items, from: impl Into<Source>) -> Result<Request> {
    // SAFETY: see above.
    unsafe { incoming(items, from.into()).init(on) }
}

/// The second rank of the world against the first.
fn across(world: &World) -> Result<Intercommunicator> {
    let alone = world.split(Some(world.rank() as u32), 0)?.expect("all have a colour");
    alone.intercomm_create(0, Some(world), 1 - world.rank(), TAG)
}

/// Runs a body on two ranks, in one group and between two; the number is that of the partner.
fn everywhere(body: impl Fn(CommRef<'_>, bool, usize) -> Result<()> + Sync) {
    for settings in [Settings::new(), Settings::new().without_single_copy()] {
        on_ranks_with(2, &settings, |world| {
            let inter = across(world)?;
            let first = world.rank() == 0;
            let comm: &Communicator = world;
            comm.attach_buffer(BufferRoom::Automatic)?;
            inter.attach_buffer(BufferRoom::Automatic)?;
            body(CommRef::from(comm), first, 1 - world.rank())?;
            body(CommRef::from(&inter), first, 0)?;
            inter.detach_buffer()?;
            comm.detach_buffer().map(drop)
        });
    }
}

/// Few items, and more than fit into a cell.
const COUNTS: [usize; 4] = [0, 1, 5, 9000];

/// spec: 3, 20
#[test]
fn layouts_of_every_kind_meet_in_blocking_calls() {
    everywhere(|on, first, other| {
        for (turn, count) in COUNTS.into_iter().enumerate() {
            for (from, to) in LAYOUTS.into_iter().flat_map(|from| LAYOUTS.map(|to| (from, to))) {
                let sent = values(turn, count);
                if first {
                    let mut items = Items::holding(from, &sent);
                    MODES.into_iter().try_for_each(|mode| send(on, &mut items, other, mode))?;
                    items.hold(&sent);
                    continue;
                }
                for _ in MODES {
                    let mut items = Items::poisoned(to, count);
                    let status = recv(on, &mut items, other)?;
                    items.hold(&sent);
                    let (source, tag) = (Source::Rank(other), TagFilter::Tag(TAG));
                    assert_eq!((status.source, status.tag), (source, tag));
                    assert_eq!(status.count(&to.datatype()), Some(count as u64));
                    assert_eq!(status.elements(&from.datatype()), Some(3 * count as u64));
                }
            }
        }
        Ok(())
    });
}

/// spec: 3, 20, 31
#[test]
fn layouts_of_every_kind_meet_in_nonblocking_calls() {
    everywhere(|on, first, other| {
        for (count, mode) in COUNTS.into_iter().flat_map(|count| MODES.map(|mode| (count, mode))) {
            let sent = values(count, count);
            let mut items: Vec<Items> = match first {
                true => LAYOUTS.map(|layout| Items::holding(layout, &sent)).into(),
                false => LAYOUTS.iter().rev().map(|&to| Items::poisoned(to, count)).collect(),
            };
            let begin = |items: &mut Items| match first {
                true => isend(on, items, other, mode),
                false => irecv(on, items, ANY_SOURCE),
            };
            let mut set: Vec<Request> = items.iter_mut().map(begin).collect::<Result<_>>()?;
            set.push(Request::null());
            let mut statuses = vec![];
            raw::wait_all(&mut set, &mut statuses)?;
            assert!(set.iter().all(Request::is_null));
            items.iter().for_each(|items| items.hold(&sent));
            let bytes = if first { 0 } else { 12 * count as u64 };
            assert!(statuses[..3].iter().all(|status| status.bytes == bytes), "{statuses:?}");
        }
        Ok(())
    });
}

/// spec: 5, 31, 32, 40
#[test]
fn persistent_messages_send_what_is_there_at_the_start() {
    everywhere(|on, first, other| {
        for count in COUNTS {
            let mut items = LAYOUTS.map(|layout| Items::poisoned(layout, count));
            let init = |(items, mode): (&mut Items, SendMode)| match first {
                true => send_init(on, items, other, mode),
                false => recv_init(on, items, other),
            };
            let modes = [SendMode::Standard, SendMode::Synchronous, SendMode::Buffered];
            let mut set: Vec<Request> =
                items.iter_mut().zip(modes).map(init).collect::<Result<_>>()?;
            assert!(set.iter().all(|request| request.is_persistent() && !request.is_active()));
            assert_eq!(set[0].wait()?, Status::EMPTY);
            for round in 0..4 {
                let sent = values(round, count);
                if first {
                    items.iter_mut().for_each(|items| items.put(&sent));
                }
                raw::start_all(&mut set)?;
                raw::wait_all(&mut set, &mut vec![])?;
                items.iter().for_each(|items| items.hold(&sent));
            }
        }
        Ok(())
    });
}

/// Two messages with the same arguments meet by the order of their inits, in whatever order they
/// are started. What is sent is what is there when the last part is ready.
///
/// spec: 5, 51
#[test]
fn messages_in_parts_go_when_the_last_part_is_ready() {
    const PARTS: usize = 6;
    everywhere(|on, first, other| {
        let mut items = [COLUMN, GAPPED].map(|layout| Items::poisoned(layout, PARTS));
        let init = |items: &mut Items| match first {
            // SAFETY: see above.
            true => unsafe { outgoing(items, other, MODES[0]).init_in_parts(on, PARTS) },
            // SAFETY: see above.
            false => unsafe { incoming(items, other.into()).init_in_parts(on, 2) },
        };
        let mut set: Vec<Request> = items.iter_mut().map(init).collect::<Result<_>>()?;
        let parts: Vec<Partitions> = set.iter().filter_map(Request::parts).collect();
        assert_eq!(parts.len(), 2);
        for round in 0..4 {
            let sent = [values(round, PARTS), values(round + 10, PARTS)];
            if first {
                raw::start_all(&mut set)?;
                items.iter_mut().zip(&sent).for_each(|(items, sent)| items.put(sent));
                (1..PARTS).try_for_each(|part| parts[0].ready(part))?;
                (0..PARTS).try_for_each(|part| parts[1].ready(part))?;
                assert_eq!(set[0].test()?, None, "a part is missing");
                parts[0].ready(0)?;
            } else {
                set.iter_mut().rev().try_for_each(Request::start)?;
                while !parts[0].has_arrived(1)? {
                    std::thread::yield_now();
                }
                items[0].hold(&sent[0]);
            }
            raw::wait_all(&mut set, &mut vec![])?;
            items.iter().zip(&sent).for_each(|(items, sent)| items.hold(sent));
        }
        Ok(())
    });
}

/// spec: 61
#[test]
fn parts_are_named_once_in_each_run() {
    everywhere(|on, first, other| {
        let mut items = Items::holding(COLUMN, &values(1, 2));
        // SAFETY: see above.
        let mut sent = unsafe { outgoing(&mut items, other, MODES[0]).init_in_parts(on, 2) }?;
        let mut place = Items::poisoned(COLUMN, 2);
        // SAFETY: see above.
        let mut received = unsafe { incoming(&mut place, other.into()).init_in_parts(on, 2) }?;
        let all = |request: &Request| request.parts().expect("of a message in parts");
        let (out, into) = (all(&sent), all(&received));
        assert_eq!(class(out.ready(0)), Some(ErrorClass::Request), "not started");
        assert_eq!(into.has_arrived(1).ok(), Some(true), "nothing is under way");
        assert_eq!(class(into.has_arrived(2)), Some(ErrorClass::Arg));
        assert_eq!(class(into.ready(0)), Some(ErrorClass::Request));
        assert_eq!(class(out.has_arrived(0)), Some(ErrorClass::Request));
        received.start()?;
        sent.start()?;
        assert_eq!(class(out.ready(2)), Some(ErrorClass::Arg));
        out.ready(1)?;
        assert_eq!(class(out.ready(1)), Some(ErrorClass::Arg), "twice");
        out.ready(0)?;
        assert_eq!(class(out.ready(0)), Some(ErrorClass::Request), "all are ready");
        sent.wait()?;
        received.wait()?;
        place.hold(&values(1, 2));
        let mut any = incoming(&mut items, ANY_SOURCE);
        // SAFETY: it is refused.
        assert_eq!(class(unsafe { any.init_in_parts(on, 2) }), Some(ErrorClass::Arg));
        (any.from, any.tag) = (Source::Rank(usize::from(first)), ANY_TAG);
        // SAFETY: it is refused.
        assert_eq!(class(unsafe { any.init_in_parts(on, 2) }), Some(ErrorClass::Arg));
        Ok(())
    });
}

/// A message that is shorter than its receive fills what it covers, in the middle of an item too.
///
/// spec: 3, 20
#[test]
fn a_shorter_message_fills_what_it_covers() {
    everywhere(|on, first, other| {
        for (elements, layout) in [0, 1, 2, 4, 14, 20_000].into_iter().zip(LAYOUTS.repeat(2)) {
            let (sent, count) = (values(elements, elements.div_ceil(3)), elements + 2);
            if first {
                let mut row = sent[..elements].to_vec();
                let address = row.as_mut_ptr().cast();
                let data = TypedBuffer { address, count: elements, datatype: &Datatype::INT };
                let message = Outgoing { data, to: other, tag: TAG, mode: SendMode::Standard };
                // SAFETY: see above.
                unsafe { message.run(on) }?;
                continue;
            }
            let mut items = Items::poisoned(layout, count);
            let status = irecv(on, &mut items, other)?.wait()?;
            items.hold(&sent[..elements]);
            let whole = elements.is_multiple_of(3).then_some(elements as u64 / 3);
            assert_eq!(status.count(&layout.datatype()), whole);
            assert_eq!(status.elements(&layout.datatype()), Some(elements as u64));
        }
        Ok(())
    });
}

/// spec: 63
#[test]
fn what_does_not_fit_is_an_error_of_the_receiver_and_writes_nothing() {
    everywhere(|on, first, other| {
        for layout in LAYOUTS {
            for count in [2, 9000] {
                if first {
                    let mut items = Items::holding(COLUMN, &values(1, count));
                    for _ in 0..2 {
                        send(on, &mut items, other, SendMode::Standard)?;
                    }
                    continue;
                }
                let mut items = Items::poisoned(layout, count - 1);
                assert_eq!(class(recv(on, &mut items, other)), Some(ErrorClass::Truncate));
                items.hold(&[]);
                let mut request = irecv(on, &mut items, other)?;
                assert_eq!(class(request.wait()), Some(ErrorClass::Truncate));
                items.hold(&[]);
            }
        }
        Ok(())
    });
}

/// What has the same bytes may be received as another type, but not in check mode.
///
/// spec: 20
#[test]
fn another_type_is_an_error_in_check_mode() {
    for (settings, ends) in
        [(Settings::new(), None), (Settings::new().check(), Some(ErrorClass::Type))]
    {
        on_ranks_with(2, &settings, |world| {
            let comm: &Communicator = world;
            let (on, first) = (CommRef::from(comm), world.rank() == 0);
            for count in [2, 9000] {
                if first {
                    let mut items = Items::holding(COLUMN, &values(1, count));
                    send(on, &mut items, 1, SendMode::Standard)?;
                    continue;
                }
                let mut floats = vec![1.0f32; 3 * count];
                let address = floats.as_mut_ptr().cast();
                let data = TypedBuffer { address, count: 3 * count, datatype: &Datatype::FLOAT };
                let message = Incoming { data, from: ANY_SOURCE, tag: ANY_TAG };
                // SAFETY: see above.
                let ended = unsafe { message.run(on) };
                assert_eq!(class(ended), ends);
                assert_eq!(floats.iter().all(|&value| value == 1.0), ends.is_some());
            }
            Ok(())
        });
    }
}

/// spec: 20
#[test]
fn structures_of_different_elements_travel_as_bytes() {
    everywhere(|on, first, other| {
        let types = [Datatype::DOUBLE, Datatype::INT];
        let pair = Datatype::structured(&[1, 1], &[0, 8], &types)?;
        assert_eq!(pair.extent(), 16);
        let value = |at: usize| if at % 4 < 3 { at as u32 } else { u32::MAX };
        let filled: Vec<u32> = (0..40).map(|at| if first { value(at) } else { u32::MAX }).collect();
        let mut memory = filled.clone();
        let data = TypedBuffer { address: memory.as_mut_ptr().cast(), count: 10, datatype: &pair };
        if first {
            let message = Outgoing { data, to: other, tag: TAG, mode: SendMode::Synchronous };
            // SAFETY: see above.
            unsafe { message.start(on) }?.wait()?;
            assert_eq!(memory, filled);
            return Ok(());
        }
        // SAFETY: see above.
        let status = unsafe { Incoming { data, from: ANY_SOURCE, tag: ANY_TAG }.run(on) }?;
        assert!(memory.iter().enumerate().all(|(at, &found)| found == value(at)), "{memory:?}");
        assert_eq!((status.count(&pair), status.elements(&pair)), (Some(10), Some(20)));
        let some = Status { bytes: 12 + 8, ..status };
        assert_eq!((some.count(&pair), some.elements(&pair)), (None, Some(3)));
        let none = Status { bytes: 12 + 9, ..status };
        assert_eq!((none.count(&pair), none.elements(&pair)), (None, None));
        Ok(())
    });
}

/// The elements of a generalized operation's status are those that are set.
#[test]
fn a_status_tells_the_elements_that_it_was_given() {
    let types = [Datatype::DOUBLE, Datatype::INT, Datatype::CHAR];
    let mixed = Datatype::structured(&[1, 3, 2], &[0, 8, 20], &types).expect("a structure");
    for elements in (0..40).chain([6_000_000_000]) {
        for datatype in [&mixed, &Datatype::INT, &COLUMN.datatype()] {
            let mut status = Status::EMPTY;
            status.set_elements(datatype, elements).expect("it has elements");
            assert_eq!(status.elements(datatype), Some(elements));
            let each = datatype.elements();
            let whole = elements.is_multiple_of(each).then_some(elements / each);
            assert_eq!(status.count(datatype), whole);
        }
    }
    let nothing = Datatype::contiguous(0, &Datatype::INT).expect("an empty one");
    let mut status = Status::EMPTY;
    assert_eq!(class(status.set_elements(&mixed, u64::MAX)), Some(ErrorClass::Arg));
    assert_eq!(class(status.set_elements(&nothing, 1)), Some(ErrorClass::Arg));
    assert!(status.set_elements(&nothing, 0).is_ok());
    assert_eq!((status.count(&nothing), status.elements(&nothing)), (Some(0), Some(0)));
}

/// Both ranks send and receive at once, elsewhere and in place of what they send.
///
/// spec: 3
#[test]
fn swaps_and_replacements_of_every_layout() {
    everywhere(|on, first, other| {
        for (count, layout) in COUNTS.into_iter().flat_map(|n| LAYOUTS.map(|layout| (n, layout))) {
            let (own, theirs) = (usize::from(first), usize::from(!first));
            let (sent, comes) = (values(own, count), values(theirs, count));
            let (here, there) = if first { (layout, COLUMN) } else { (GAPPED, layout) };
            for blocking in [true, false] {
                let mut from = Items::holding(here, &sent);
                let mut to = Items::poisoned(there, count);
                let outgoing = outgoing(&mut from, other, SendMode::Standard);
                let swap = SendRecv { outgoing, incoming: incoming(&mut to, other.into()) };
                let status = match blocking {
                    // SAFETY: see above.
                    true => unsafe { swap.run(on) }?,
                    // SAFETY: see above.
                    false => unsafe { swap.start(on) }?.wait()?,
                };
                assert_eq!(status.bytes, 12 * count as u64);
                from.hold(&sent);
                to.hold(&comes);
                let data = from.data();
                let replace =
                    SendRecvReplace { data, to: (other, TAG), from: (ANY_SOURCE, ANY_TAG) };
                let status = match blocking {
                    // SAFETY: see above.
                    true => unsafe { replace.run(on) }?,
                    // SAFETY: see above.
                    false => unsafe { replace.start(on) }?.wait()?,
                };
                assert_eq!(status.source, Source::Rank(other));
                from.hold(&comes);
            }
        }
        Ok(())
    });
}

/// A message that is found is as long as its data, whatever lies between, and is received into
/// other data.
#[test]
fn probes_tell_the_size_of_the_data_and_take_it() {
    everywhere(|on, first, other| {
        for (count, layout) in COUNTS.into_iter().zip([COLUMN, GAPPED, ROW, COLUMN]) {
            let sent = values(count, count);
            if first {
                let mut items = Items::holding(GAPPED, &sent);
                send(on, &mut items, other, SendMode::Standard)?;
                send(on, &mut items, other, SendMode::Standard)?;
                continue;
            }
            for blocking in [true, false] {
                let found: Status = match on {
                    CommRef::Intercommunicator(inter) => inter.probe(ANY_SOURCE, ANY_TAG)?.into(),
                    CommRef::Communicator(comm) => comm.probe(ANY_SOURCE, ANY_TAG)?.into(),
                };
                assert_eq!(found.count(&layout.datatype()), Some(count as u64));
                let message = match on {
                    CommRef::Intercommunicator(inter) => inter.mprobe(other, TAG)?,
                    CommRef::Communicator(comm) => comm.mprobe(other, TAG)?,
                };
                assert_eq!(Status::from(message.status()), found);
                let mut items = Items::poisoned(layout, count);
                let status = match blocking {
                    // SAFETY: see above.
                    true => unsafe { message.mrecv_data(items.data()) }?,
                    // SAFETY: see above.
                    false => unsafe { message.imrecv_data(items.data()) }?.wait()?,
                };
                assert_eq!(status, found);
                items.hold(&sent);
            }
        }
        Ok(())
    });
}

/// Nobody takes what is sent to it and sends nothing, in every form.
#[test]
fn nobody_is_a_partner_in_every_form() {
    everywhere(|on, _, _| {
        let nothing = Status { source: Source::Rank(PROC_NULL), ..Status::EMPTY };
        for layout in LAYOUTS {
            let mut items = Items::holding(layout, &values(1, 2));
            for mode in MODES {
                send(on, &mut items, PROC_NULL, mode)?;
                isend(on, &mut items, PROC_NULL, mode)?.wait()?;
                let mut stored = send_init(on, &mut items, PROC_NULL, mode)?;
                stored.start()?;
                stored.wait()?;
            }
            assert_eq!(recv(on, &mut items, PROC_NULL)?, nothing);
            assert_eq!(irecv(on, &mut items, PROC_NULL)?.wait()?, nothing);
            let mut stored = recv_init(on, &mut items, PROC_NULL)?;
            stored.start()?;
            assert_eq!(stored.wait()?, nothing);
            let (to, from) = ((PROC_NULL, TAG), (Source::Rank(PROC_NULL), ANY_TAG));
            // SAFETY: see above.
            let status = unsafe { SendRecvReplace { data: items.data(), to, from }.run(on) }?;
            assert_eq!(status, nothing);
            items.hold(&values(1, 2));
        }
        Ok(())
    });
}

/// spec: 61
#[test]
fn wrong_arguments_are_refused_before_anything_is_sent() {
    everywhere(|on, _, other| {
        let mut items = Items::holding(COLUMN, &values(1, 2));
        assert_eq!(class(send(on, &mut items, 2, MODES[0])), Some(ErrorClass::Rank));
        assert_eq!(class(irecv(on, &mut items, 2)), Some(ErrorClass::Rank));
        let mut message = outgoing(&mut items, other, SendMode::Standard);
        message.tag = Tag(TAG_UB + 1);
        // SAFETY: it is refused, as all are here.
        let started = unsafe { message.start(on) };
        assert_eq!(class(started), Some(ErrorClass::Tag));
        message.tag = TAG;
        message.data.address = std::ptr::null_mut();
        // SAFETY: see above.
        assert_eq!(class(unsafe { message.run(on) }), Some(ErrorClass::Buffer));
        let (data, tag) = (message.data, ANY_TAG);
        let receive = Incoming { data, from: ANY_SOURCE, tag };
        // SAFETY: see above.
        assert_eq!(class(unsafe { receive.init(on) }), Some(ErrorClass::Buffer));
        let swap = SendRecv {
            outgoing: Outgoing { mode: SendMode::Buffered, ..message },
            incoming: receive,
        };
        // SAFETY: see above.
        assert_eq!(class(unsafe { swap.start(on) }), Some(ErrorClass::Arg));
        Ok(())
    });
}

/// spec: 83
#[test]
fn reductions_between_groups_know_the_hint() {
    on_ranks(2, |world| {
        let inter = across(world)?;
        let (mut own, mut sum) = ([1.5f64], [0.0f64]);
        let reduction = Reduction {
            input: Some(own.as_mut_ptr().cast()),
            output: sum.as_mut_ptr().cast(),
            count: 1,
            datatype: &Datatype::DOUBLE,
            op: &Op::SUM,
        };
        let info = Info::new().with(DETERMINISTIC, "true");
        // SAFETY: see above.
        let operation = unsafe { Collective::Allreduce { reduction }.init(&inter, &info) }?;
        assert!(operation.explain().contains("the same on every machine"), "{operation:?}");
        operation.start()?.wait()?;
        assert_eq!(sum, [1.5]);
        let typed = inter.allreduce_init((vec![1.5f64], vec![0.0f64]), Sum, &info)?;
        assert!(typed.explain().contains("the same on every machine"), "{typed:?}");
        Ok(())
    });
}

/// What the untyped layer calls truth values is any bytes: they are not received as `bool`, from
/// which they may come.
#[test]
fn untyped_truth_values_are_no_bool() {
    on_ranks_with(2, &Settings::new(), |world| {
        let (comm, other): (&Communicator, _) = (world, 1 - world.rank());
        for datatype in [Datatype::C_BOOL, Datatype::BYTE, Datatype::LOGICAL1] {
            let mut bytes = [7_u8, 1];
            let data =
                TypedBuffer { address: bytes.as_mut_ptr().cast(), count: 2, datatype: &datatype };
            let mut values = [false, true];
            if world.rank() == 0 {
                let message = Outgoing { data, to: other, tag: TAG, mode: SendMode::Standard };
                // SAFETY: see above.
                unsafe { message.run(comm) }?;
                // SAFETY: see above.
                unsafe { Collective::Bcast { data, root: Root::Rank(0) }.run(comm) }?;
                // SAFETY: see above.
                unsafe { Incoming { data, from: ANY_SOURCE, tag: ANY_TAG }.run(comm) }?;
                assert_eq!(bytes, [0, 1]);
                continue;
            }
            let received = world.recv(&mut values, other, TAG);
            let given = world.bcast(&mut values, 0);
            for error in [received.err(), given.err()] {
                assert_eq!(error.map(|error| error.class()), Some(ErrorClass::Type));
            }
            assert_eq!(values, [false, true]);
            world.send(&values, other, TAG)?;
        }
        Ok(())
    });
}
