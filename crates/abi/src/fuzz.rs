//! Fuzzing: random calls of every function of the library, in any order, with handles that are
//! valid, stale, of another kind, or garbage. None may crash.
//!
//! Addresses are valid by the standard (enough room, or null where the library can detect it),
//! since a C library cannot defend itself against others; numbers that give the size behind an
//! address are small. The process is a world of one rank, and all errors are returned. The fuzzer
//! leaves out the calls that would wait for another rank, that end the process, or that free memory
//! which the library must have allocated.
//!
//! `MOTET_FUZZ_CALLS` is the number of calls, `MOTET_FUZZ_SEED` the seed, `MOTET_FUZZ_WITHOUT`
//! names more calls to leave out, and `MOTET_FUZZ_TRACE` prints each call to standard error before
//! it is made.

#![allow(unsafe_code)] // listed in docs/unsafe.md
#![allow(clippy::undocumented_unsafe_blocks)] // the arguments are made as the module says

mod arguments;
mod callbacks;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{env, process, thread};

use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::constants;
use crate::exports;
use crate::handle::*;
use crate::objects::MPI_Status;

use arguments::Argument;

/// Calls that are not made: by name, or by how the name begins (with `*`).
const LEFT_OUT: [&str; 28] = [
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Finalize",
    "MPI_Abort",
    // Wait for a message, or for an operation that needs one.
    "MPI_Wait*",
    "MPI_Recv",
    "MPI_Recv_c",
    "MPI_Send",
    "MPI_Send_c",
    "MPI_Ssend",
    "MPI_Ssend_c",
    "MPI_Rsend",
    "MPI_Rsend_c",
    "MPI_Sendrecv*",
    "MPI_Probe",
    "MPI_Mprobe",
    "MPI_Comm_disconnect",
    "MPI_Buffer_flush",
    "MPI_Comm_flush_buffer",
    "MPI_Session_flush_buffer",
    "MPI_*uffer_detach*",
    "MPI_*detach_buffer*",
    // Wait for the other group, which is the process itself.
    "MPI_Intercomm_create",
    "MPI_Intercomm_create_from_groups",
    // Frees what it is given.
    "MPI_Free_mem",
    // Returns a number that is no code.
    "MPI_*_toint",
    // Takes memory for good.
    "MPI_Add_error_*",
    "MPIX_End",
];

fn is_left_out(name: &str) -> bool {
    let more = env::var("MOTET_FUZZ_WITHOUT").unwrap_or_default();
    LEFT_OUT.into_iter().chain(more.split(',')).any(|pattern| match pattern.split_once('*') {
        None => name == pattern,
        Some((start, rest)) => {
            name.starts_with(start) && rest.split('*').all(|part| name.contains(part))
        }
    })
}

/// A status of nothing.
const NO_STATUS: MPI_Status =
    MPI_Status { MPI_SOURCE: -1, MPI_TAG: -2, MPI_ERROR: 0, MPI_internal: [0; 5] };

/// What is done with a result.
trait Code {
    fn code(self) -> c_int;
}

impl Code for c_int {
    fn code(self) -> c_int {
        self
    }
}

macro_rules! no_code {
    ($($kind:ty)*) => { $(impl Code for $kind {
        fn code(self) -> c_int {
            constants::MPI_SUCCESS
        }
    })* };
}

no_code!(f64 isize MPI_Comm MPI_Datatype MPI_Errhandler MPI_File MPI_Group MPI_Info MPI_Message
    MPI_Op MPI_Request MPI_Session MPI_Win);

/// Each function of the library as one that makes up its arguments.
mod calls {
    use super::*;
    use std::ffi::{c_char, c_void};

    macro_rules! export {
        ($name:ident ($($parameter:ident: $kind:ty),*) -> $result:ty $body:block) => {
            #[allow(unused_variables)] // of functions without parameters
            pub(super) fn $name(fuzz: &mut Fuzz) -> c_int {
                $(let $parameter = {
                    let name = stringify!($parameter).trim_start_matches('_');
                    <$kind as Argument>::make(fuzz, name, stringify!($kind))
                };)*
                unsafe { exports::$name($($parameter),*) }.code()
            }
        };
    }

    include!(concat!(env!("OUT_DIR"), "/exports.rs"));

    /// All of them.
    pub(super) fn all() -> Vec<(&'static str, Call)> {
        let all: &[(&'static str, Call)] = &include!(concat!(env!("OUT_DIR"), "/names.rs"));
        all.iter().copied().filter(|(name, _)| !is_left_out(name)).collect()
    }
}

/// A function with arguments that it makes up.
type Call = fn(&mut Fuzz) -> c_int;

/// Random numbers of one call.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.roll() % end as u64) as usize
    }

    /// Whether something happens that happens in so many of a hundred cases.
    fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Handles of one kind.
#[derive(Default)]
struct Pool {
    live: Vec<usize>,
    stale: Vec<usize>,
}

/// Handles that a call is given the place of.
struct Places {
    kind: u8,
    handles: Box<[usize; arguments::HANDLES]>,
    before: [usize; arguments::HANDLES],
}

/// What the calls of a sequence have to do with.
struct Fuzz {
    dice: Dice,
    call: &'static str,
    pools: BTreeMap<u8, Pool>,
    keyvals: Vec<c_int>,
    places: Vec<Places>,
    room: arguments::Room,
    /// How many calls have succeeded, of which functions, and how many objects they have made.
    succeeded: u64,
    functions: BTreeSet<&'static str>,
    objects: u64,
}

impl Fuzz {
    fn new() -> Fuzz {
        let (pools, room) = (BTreeMap::new(), arguments::Room::new());
        let mut fuzz = Fuzz {
            dice: Dice(0),
            call: "",
            pools,
            keyvals: Vec::new(),
            places: Vec::new(),
            room,
            succeeded: 0,
            functions: BTreeSet::new(),
            objects: 0,
        };
        fuzz.keyvals.extend([constants::MPI_TAG_UB, constants::MPI_UNIVERSE_SIZE]);
        fuzz
    }

    /// Makes a call.
    fn make(&mut self, name: &'static str, call: Call, seed: u64) {
        self.dice = Dice(seed);
        self.call = name;
        self.places.clear();
        let code = call(self);
        assert_ne!(code, constants::MPI_ERR_INTERN, "{name} ({seed:#x}) is not to fail inside");
        assert_ne!(code, constants::MPI_ERR_UNKNOWN, "{name} ({seed:#x}) is to say what failed");
        let places = std::mem::take(&mut self.places);
        if code == constants::MPI_SUCCESS {
            self.succeeded += 1;
            self.functions.insert(name);
            places.iter().for_each(|places| self.absorb(places));
        }
        self.learn_keyval(name, code);
    }

    /// Takes over the handles that a call has given, and knows those that it has taken away.
    fn absorb(&mut self, places: &Places) {
        let pool = self.pools.entry(places.kind).or_default();
        for (&now, &before) in places.handles.iter().zip(&places.before) {
            if now == before {
                continue;
            }
            if let Some(at) = pool.live.iter().position(|&live| live == before)
                && now < 4096
            {
                pool.stale.push(pool.live.swap_remove(at));
            }
            if now >= 4096 && !pool.live.contains(&now) {
                pool.live.push(now);
                self.objects += 1;
            }
        }
        if places.kind == arguments::TYPE {
            self.drop_wide_types();
        }
    }

    /// Datatypes whose items are wider than the buffers are not used.
    fn drop_wide_types(&mut self) {
        let pool = self.pools.entry(arguments::TYPE).or_default();
        pool.live.retain(|&value| {
            let (mut lower, mut extent, mut from, mut span) = (0, 0, 0, 0);
            let mut handle = MPI_Datatype::constant(value);
            unsafe { exports::MPI_Type_get_extent_c(handle, &raw mut lower, &raw mut extent) };
            unsafe { exports::MPI_Type_get_true_extent_c(handle, &raw mut from, &raw mut span) };
            let mut size = 0; // Items of no extent can be many.
            unsafe { exports::MPI_Type_size_c(handle, &raw mut size) };
            let is_narrow = [lower, extent, from, span, size].iter().all(|x: &i64| x.abs() <= 2048);
            if !is_narrow {
                unsafe { exports::MPI_Type_free(&raw mut handle) };
            }
            is_narrow
        });
    }

    fn learn_keyval(&mut self, name: &str, code: c_int) {
        if name.ends_with("_create_keyval") && code == constants::MPI_SUCCESS {
            self.keyvals.push(self.room.first_int());
        }
    }

    /// One object of each kind, so that a sequence has something to begin with.
    fn stock(&mut self) {
        let world = constants::MPI_COMM_WORLD;
        let mut comm = constants::MPI_COMM_NULL;
        unsafe { exports::MPI_Comm_dup(world, &raw mut comm) };
        let mut group = constants::MPI_GROUP_NULL;
        unsafe { exports::MPI_Comm_group(world, &raw mut group) };
        let mut datatype = constants::MPI_DATATYPE_NULL;
        unsafe { exports::MPI_Type_contiguous(2, constants::MPI_INT, &raw mut datatype) };
        unsafe { exports::MPI_Type_commit(&raw mut datatype) };
        let mut info = constants::MPI_INFO_NULL;
        unsafe { exports::MPI_Info_create(&raw mut info) };
        let mut op = constants::MPI_OP_NULL;
        unsafe { exports::MPI_Op_create(callbacks::of("user_fn", 1), 1, &raw mut op) };
        let (mut request, no_info) = (constants::MPI_REQUEST_NULL, constants::MPI_INFO_NULL);
        unsafe { exports::MPI_Barrier_init(world, no_info, &raw mut request) };
        let made = [
            (arguments::COMM, comm.value()),
            (arguments::GROUP, group.value()),
            (arguments::TYPE, datatype.value()),
            (arguments::INFO, info.value()),
            (arguments::OP, op.value()),
            (arguments::REQUEST, request.value()),
        ];
        for (kind, value) in made {
            self.pools.entry(kind).or_default().live.push(value);
        }
    }

    /// Frees what there is, as a program would.
    fn clean(&mut self) {
        self.receive_all();
        for value in self.live(arguments::REQUEST) {
            clean_request(MPI_Request::constant(value));
        }
        for value in self.live(arguments::COMM) {
            unsafe { exports::MPI_Comm_free(&mut MPI_Comm::constant(value)) };
        }
        for value in self.live(arguments::TYPE) {
            unsafe { exports::MPI_Type_free(&mut MPI_Datatype::constant(value)) };
        }
        for value in self.live(arguments::GROUP) {
            unsafe { exports::MPI_Group_free(&mut MPI_Group::constant(value)) };
        }
        for value in self.live(arguments::INFO) {
            unsafe { exports::MPI_Info_free(&mut MPI_Info::constant(value)) };
        }
        for value in self.live(arguments::OP) {
            unsafe { exports::MPI_Op_free(&mut MPI_Op::constant(value)) };
        }
        for value in self.live(arguments::HANDLER) {
            unsafe { exports::MPI_Errhandler_free(&mut MPI_Errhandler::constant(value)) };
        }
        for value in self.live(arguments::SESSION) {
            unsafe { exports::MPI_Session_finalize(&mut MPI_Session::constant(value)) };
        }
        for mut keyval in self.keyvals.split_off(2) {
            unsafe { exports::MPI_Comm_free_keyval(&raw mut keyval) };
            unsafe { exports::MPI_Type_free_keyval(&raw mut keyval) };
        }
        self.detach();
    }

    fn live(&mut self, kind: u8) -> Vec<usize> {
        let pool = self.pools.entry(kind).or_default();
        let live = std::mem::take(&mut pool.live);
        pool.stale.extend(&live);
        let len = pool.stale.len();
        pool.stale.drain(..len.saturating_sub(50));
        live
    }

    /// Receives what has been sent on the two communicators that stay.
    fn receive_all(&mut self) {
        let buffer = self.room.received();
        for value in self.live(arguments::MESSAGE) {
            let mut message = MPI_Message::constant(value);
            let (bytes, status) = (constants::MPI_BYTE, std::ptr::null_mut());
            unsafe { exports::MPI_Mrecv(buffer, 1 << 16, bytes, &raw mut message, status) };
        }
        for comm in [constants::MPI_COMM_WORLD, constants::MPI_COMM_SELF] {
            let mut flag = 1;
            while flag == 1 {
                flag = 0;
                let (source, tag) = (constants::MPI_ANY_SOURCE, constants::MPI_ANY_TAG);
                let mut status = NO_STATUS;
                unsafe { exports::MPI_Iprobe(source, tag, comm, &raw mut flag, &raw mut status) };
                let bytes = constants::MPI_BYTE;
                if flag == 1 {
                    let status = &raw mut status;
                    unsafe { exports::MPI_Recv(buffer, 1 << 16, bytes, source, tag, comm, status) };
                }
            }
        }
    }

    /// Takes back the buffers that were attached.
    fn detach(&mut self) {
        let (address, bytes) = (self.room.received(), &mut 0);
        unsafe { exports::MPI_Buffer_detach(address, bytes) };
        for comm in [constants::MPI_COMM_WORLD, constants::MPI_COMM_SELF] {
            unsafe { exports::MPI_Comm_detach_buffer(comm, address, bytes) };
        }
    }
}

/// Gives a request up: a message is cancelled, a collective is completed, the rest is left alone.
fn clean_request(mut request: MPI_Request) {
    let request = &raw mut request;
    unsafe { exports::MPI_Cancel(request) };
    let handle = unsafe { *request };
    unsafe { exports::MPI_Grequest_complete(handle) };
    for _ in 0..3 {
        let mut flag = 0;
        unsafe { exports::MPI_Test(request, &raw mut flag, std::ptr::null_mut()) };
    }
    unsafe { exports::MPI_Request_free(request) };
}

/// What is being called, and since when.
static NOW: Mutex<Option<(&str, u64, Instant)>> = Mutex::new(None);
const LIMIT: Duration = Duration::from_secs(60);

/// Ends the test when a call does not come back.
fn watch() {
    thread::spawn(|| {
        loop {
            thread::sleep(Duration::from_secs(1));
            let now = *NOW.lock().expect("nobody panics with it");
            if let Some((name, seed, _)) = now.filter(|(.., since)| since.elapsed() > LIMIT) {
                eprintln!("{name} ({seed:#x}) does not come back");
                process::exit(1);
            }
        }
    });
}

fn number(variable: &str, otherwise: u64) -> u64 {
    env::var(variable).map_or(otherwise, |text| text.parse().expect("it is a number"))
}

/// Makes so many calls at random, in sequences of up to 200.
///
/// spec: 60, 61
#[test]
fn no_call_crashes_whatever_the_handles_are() {
    let (calls, seed) = (number("MOTET_FUZZ_CALLS", 1_000_000), number("MOTET_FUZZ_SEED", 1));
    let is_traced = env::var_os("MOTET_FUZZ_TRACE").is_some();
    println!("MOTET_FUZZ_SEED={seed} brings the same calls back");
    let none = std::ptr::null_mut();
    assert_eq!(unsafe { exports::MPI_Init(none, none.cast()) }, constants::MPI_SUCCESS);
    for comm in [constants::MPI_COMM_WORLD, constants::MPI_COMM_SELF] {
        unsafe { exports::MPI_Comm_set_errhandler(comm, constants::MPI_ERRORS_RETURN) };
    }
    watch();
    let all = calls::all();
    assert!(all.len() > 500, "there are more functions than {}", all.len());
    let cases = (calls / 100) as u32; // of 100 calls on average
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let sequences = proptest::collection::vec((0..all.len(), any::<u64>()), 1..200);
    let fuzz = std::cell::RefCell::new(Fuzz::new());
    let made = std::cell::Cell::new(0_u64);
    let outcome = TestRunner::new_with_rng(config, random).run(&sequences, |sequence| {
        let mut fuzz = fuzz.borrow_mut();
        fuzz.stock();
        for (which, seed) in sequence {
            let (name, call) = all[which];
            if is_traced {
                eprintln!("{name} {seed:#x}");
            }
            *NOW.lock().expect("nobody panics with it") = Some((name, seed, Instant::now()));
            fuzz.make(name, call, seed);
            made.set(made.get() + 1);
        }
        fuzz.clean();
        Ok(())
    });
    outcome.expect("no sequence fails");
    let fuzz = fuzz.into_inner();
    println!(
        "{} calls of {} functions; {} calls of {} functions succeeded and made {} objects",
        made.get(),
        all.len(),
        fuzz.succeeded,
        fuzz.functions.len(),
        fuzz.objects
    );
    assert!(fuzz.succeeded > made.get() / 10, "not everything is garbage");
    assert!(calls < 20_000 || fuzz.functions.len() > 300, "{:?}", fuzz.functions);
    let mut size = 0;
    unsafe { exports::MPI_Comm_size(constants::MPI_COMM_WORLD, &raw mut size) };
    assert_eq!(size, 1, "the library still works");
}
