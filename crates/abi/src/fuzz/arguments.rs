//! Generates random arguments.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use super::{Fuzz, NO_STATUS, Places, callbacks};
use crate::constants;
use crate::handle::*;
use crate::objects::MPI_Status;

pub(super) const COMM: u8 = MPI_ABI_Comm::CODE;
pub(super) const TYPE: u8 = MPI_ABI_Datatype::CODE;
pub(super) const HANDLER: u8 = MPI_ABI_Errhandler::CODE;
pub(super) const GROUP: u8 = MPI_ABI_Group::CODE;
pub(super) const INFO: u8 = MPI_ABI_Info::CODE;
pub(super) const MESSAGE: u8 = MPI_ABI_Message::CODE;
pub(super) const OP: u8 = MPI_ABI_Op::CODE;
pub(super) const REQUEST: u8 = MPI_ABI_Request::CODE;
pub(super) const SESSION: u8 = MPI_ABI_Session::CODE;

/// Room for so many handles is behind each address of handles.
pub(super) const HANDLES: usize = 16;
/// And for so many numbers, statuses, characters.
const NUMBERS: usize = 512;
const STATUSES: usize = 16;
const CHARACTERS: usize = 1 << 14;
/// Each buffer, in bytes; addresses are in the middle.
const BUFFER: usize = 1 << 20;
/// So many lists of each kind are there at once.
const LISTS: usize = 24;

/// Memory of the caller.
pub(super) struct Room {
    sent: Vec<u64>,
    received: Vec<u64>,
    attached: Vec<u64>,
    ints: Vec<[c_int; NUMBERS]>,
    longs: Vec<[i64; NUMBERS]>,
    addresses: Vec<[isize; NUMBERS]>,
    unsigned: Vec<[usize; NUMBERS]>,
    statuses: Vec<[MPI_Status; STATUSES]>,
    text: Vec<u8>,
    texts: Vec<CString>,
    words: Vec<*mut c_char>,
    turn: usize,
    last_ints: usize,
}

impl Room {
    pub(super) fn new() -> Room {
        let buffer = || vec![0; BUFFER / 8];
        let texts = [
            "",
            "key",
            "value",
            "mpi_minimum_memory_alignment",
            "true",
            "external32",
            "native",
            "mpi://SELF",
            "mpi://WORLD",
            "mpi_hw_resource_type",
        ];
        let mut texts: Vec<String> = texts.map(str::to_owned).to_vec();
        texts.extend([1, 37, 300, 5000].map(|len| "x".repeat(len)));
        texts.push("a\u{e9}\u{1f600}".to_owned());
        let text = |text| CString::new(text).expect("it has no zero inside");
        let texts: Vec<CString> = texts.into_iter().map(text).collect();
        let words = (0..32).map(|at| texts[at % texts.len()].as_ptr().cast_mut()).collect();
        Room {
            sent: buffer(),
            received: buffer(),
            attached: buffer(),
            ints: vec![[0; NUMBERS]; LISTS],
            longs: vec![[0; NUMBERS]; LISTS],
            addresses: vec![[0; NUMBERS]; LISTS],
            unsigned: vec![[0; NUMBERS]; LISTS],
            statuses: vec![[NO_STATUS; STATUSES]; LISTS],
            text: vec![0; CHARACTERS],
            texts,
            words,
            turn: 0,
            last_ints: 0,
        }
    }

    fn next(&mut self) -> usize {
        self.turn = (self.turn + 1) % LISTS;
        self.turn
    }

    /// The buffer that is received into.
    pub(super) fn received(&mut self) -> *mut c_void {
        self.received[BUFFER / 16..].as_mut_ptr().cast()
    }

    /// What the last call has written to the first of its integers.
    pub(super) fn first_int(&self) -> c_int {
        self.ints[self.last_ints][0]
    }
}

/// What can be made up. It is told the name and the type of the parameter.
pub(super) trait Argument {
    fn make(fuzz: &mut Fuzz, name: &str, kind: &str) -> Self;
}

/// A number that says how much there is of something, or counts.
fn small(fuzz: &mut Fuzz) -> i64 {
    if fuzz.dice.percent(70) { fuzz.dice.below(4) as i64 } else { fuzz.dice.below(11) as i64 - 2 }
}

/// Numbers with which nothing is measured.
const FREE: [&str; 14] = [
    "rank",
    "root",
    "source",
    "dest",
    "tag",
    "color",
    "key",
    "errorcode",
    "errorclass",
    "level",
    "direction",
    "split_type",
    "comparison",
    "order",
];

impl Argument for c_int {
    fn make(fuzz: &mut Fuzz, name: &str, _: &str) -> c_int {
        if name.contains("keyval") && fuzz.dice.percent(70) {
            let known = fuzz.keyvals.clone();
            return fuzz.dice.pick(&known);
        }
        let is_free = FREE.iter().any(|word| name.contains(word));
        if !is_free || fuzz.dice.percent(70) {
            return small(fuzz) as c_int;
        }
        let special = [-1, -2, -3, -4, -32766, 1 << 20, 1 << 28, i32::MAX, i32::MIN, 60, 100, 4097];
        fuzz.dice.pick(&special)
    }
}

impl Argument for i64 {
    fn make(fuzz: &mut Fuzz, _: &str, _: &str) -> i64 {
        small(fuzz)
    }
}

impl Argument for isize {
    fn make(fuzz: &mut Fuzz, _: &str, _: &str) -> isize {
        fuzz.dice.below(67) as isize - 2
    }
}

impl Argument for usize {
    fn make(fuzz: &mut Fuzz, _: &str, _: &str) -> usize {
        let garbage = [0, 1, 2, 3, 63, 4096, usize::MAX];
        fuzz.dice.pick(&garbage)
    }
}

impl<K: Kind> Argument for Handle<K> {
    fn make(fuzz: &mut Fuzz, _: &str, _: &str) -> Handle<K> {
        Handle::constant(handle(fuzz, K::CODE))
    }
}

/// A handle where one of this kind should be.
fn handle(fuzz: &mut Fuzz, kind: u8) -> usize {
    let value = match fuzz.dice.below(100) {
        0..76 => live(fuzz, kind),
        76..86 => constant(fuzz, kind),
        86..91 => stale(fuzz, kind),
        91..95 => {
            let other = 1 + fuzz.dice.below(11) as u8;
            live(fuzz, other)
        }
        _ => garbage(fuzz),
    };
    let is_fatal = [constants::MPI_ERRORS_ARE_FATAL, constants::MPI_ERRORS_ABORT]
        .iter()
        .any(|handler| handler.value() == value);
    if is_fatal { constants::MPI_ERRORS_RETURN.value() } else { value }
}

fn live(fuzz: &mut Fuzz, kind: u8) -> usize {
    let live = fuzz.pools.get(&kind).map_or(&[][..], |pool| &pool.live);
    if live.is_empty() { constant(fuzz, kind) } else { live[fuzz.dice.below(live.len())] }
}

fn stale(fuzz: &mut Fuzz, kind: u8) -> usize {
    let stale = fuzz.pools.get(&kind).map_or(&[][..], |pool| &pool.stale);
    if stale.is_empty() { garbage(fuzz) } else { stale[fuzz.dice.below(stale.len())] }
}

/// What is predefined of the kind, the null handle too.
fn constant(fuzz: &mut Fuzz, kind: u8) -> usize {
    match kind {
        COMM => fuzz.dice.pick(&[0x101, 0x101, 0x102, 0x100]),
        GROUP => fuzz.dice.pick(&[0x109, 0x108]),
        TYPE => fuzz
            .dice
            .pick(&[0x209, 0x209, 0x214, 0x247, 0x200, 0x207, 0x22b])
            .max(if fuzz.dice.percent(30) { 0x200 + fuzz.dice.below(0x100) } else { 0 }),
        OP => 0x20 + fuzz.dice.below(0x1e),
        INFO => fuzz.dice.pick(&[MPI_Info::constant(0x130).value(), 0x131]),
        HANDLER => fuzz.dice.pick(&[0x143, 0x140]),
        MESSAGE => fuzz.dice.pick(&[0x128, 0x129]),
        REQUEST => 0x180,
        SESSION => 0x120,
        _ => fuzz.dice.below(0x300),
    }
}

fn garbage(fuzz: &mut Fuzz) -> usize {
    let wild = fuzz.dice.roll() as usize;
    match fuzz.dice.below(6) {
        0 => fuzz.dice.below(4100),
        1 => wild,
        2 => fuzz.dice.pick(&[0, usize::MAX, usize::MAX / 2, 1 << 63, 0xdead_beef, 4095, 4096]),
        // What may pass for a handle: a kind, a generation, a place.
        3 => fuzz.dice.below(16) << 56 | fuzz.dice.below(4) << 32 | fuzz.dice.below(80),
        4 => fuzz.dice.below(16) << 56 | (wild & 0x00ff_ffff_ffff_ffff),
        _ => fuzz.room.sent.as_ptr() as usize + fuzz.dice.below(4096),
    }
}

impl<K: Kind> Argument for *mut Handle<K> {
    fn make(fuzz: &mut Fuzz, _: &str, _: &str) -> *mut Handle<K> {
        if fuzz.dice.percent(2) {
            return null_mut();
        }
        let handles: [usize; HANDLES] = std::array::from_fn(|_| handle(fuzz, K::CODE));
        let places = Places { kind: K::CODE, handles: Box::new(handles), before: handles };
        fuzz.places.push(places);
        let places = fuzz.places.last_mut().expect("one has been added");
        places.handles.as_mut_ptr().cast()
    }
}

impl<K: Kind> Argument for *const Handle<K> {
    fn make(fuzz: &mut Fuzz, name: &str, kind: &str) -> *const Handle<K> {
        <*mut Handle<K>>::make(fuzz, name, kind).cast_const()
    }
}

/// A list of integers with room for more; now and then none.
fn ints(fuzz: &mut Fuzz) -> *mut c_int {
    if fuzz.dice.percent(2) {
        return null_mut();
    }
    let at = fuzz.room.next();
    let list: [c_int; NUMBERS] = std::array::from_fn(|_| 0);
    fuzz.room.ints[at] = list;
    for place in 0..16 {
        fuzz.room.ints[at][place] = small(fuzz) as c_int;
    }
    fuzz.room.last_ints = at;
    fuzz.room.ints[at].as_mut_ptr()
}

impl Argument for *mut c_int {
    fn make(fuzz: &mut Fuzz, name: &str, _: &str) -> *mut c_int {
        let list = ints(fuzz);
        if name.contains("keyval") && !list.is_null() && fuzz.dice.percent(70) {
            let known = fuzz.keyvals.clone();
            let at = fuzz.room.last_ints;
            fuzz.room.ints[at][0] = fuzz.dice.pick(&known);
        }
        list
    }
}

impl Argument for *const c_int {
    fn make(fuzz: &mut Fuzz, name: &str, _: &str) -> *const c_int {
        if name.contains("weights") && fuzz.dice.percent(40) {
            return fuzz.dice.pick(&[10, 11]) as *const c_int;
        }
        ints(fuzz).cast_const()
    }
}

impl Argument for *mut [c_int; 3] {
    fn make(fuzz: &mut Fuzz, _: &str, _: &str) -> *mut [c_int; 3] {
        ints(fuzz).cast()
    }
}

impl Argument for *mut i64 {
    fn make(fuzz: &mut Fuzz, _: &str, _: &str) -> *mut i64 {
        if fuzz.dice.percent(2) {
            return null_mut();
        }
        let at = fuzz.room.next();
        fuzz.room.longs[at] = [0; NUMBERS];
        for place in 0..16 {
            fuzz.room.longs[at][place] = small(fuzz);
        }
        fuzz.room.longs[at].as_mut_ptr()
    }
}

impl Argument for *const i64 {
    fn make(fuzz: &mut Fuzz, name: &str, kind: &str) -> *const i64 {
        <*mut i64>::make(fuzz, name, kind).cast_const()
    }
}

impl Argument for *mut isize {
    fn make(fuzz: &mut Fuzz, _: &str, _: &str) -> *mut isize {
        if fuzz.dice.percent(2) {
            return null_mut();
        }
        let at = fuzz.room.next();
        fuzz.room.addresses[at] = [0; NUMBERS];
        for place in 0..16 {
            fuzz.room.addresses[at][place] = fuzz.dice.below(40) as isize - 4;
        }
        fuzz.room.addresses[at].as_mut_ptr()
    }
}

impl Argument for *const isize {
    fn make(fuzz: &mut Fuzz, name: &str, kind: &str) -> *const isize {
        <*mut isize>::make(fuzz, name, kind).cast_const()
    }
}

impl Argument for *mut usize {
    fn make(fuzz: &mut Fuzz, _: &str, _: &str) -> *mut usize {
        let at = fuzz.room.next();
        fuzz.room.unsigned[at] = [0; NUMBERS];
        fuzz.room.unsigned[at].as_mut_ptr()
    }
}

impl Argument for *mut MPI_Status {
    fn make(fuzz: &mut Fuzz, _: &str, _: &str) -> *mut MPI_Status {
        if fuzz.dice.percent(20) {
            return null_mut();
        }
        let at = fuzz.room.next();
        let garbage = fuzz.dice.roll() as c_int;
        let internal = [garbage; 5];
        let status = MPI_Status { MPI_internal: internal, ..NO_STATUS };
        fuzz.room.statuses[at] = [status; STATUSES];
        fuzz.room.statuses[at].as_mut_ptr()
    }
}

impl Argument for *const MPI_Status {
    fn make(fuzz: &mut Fuzz, name: &str, kind: &str) -> *const MPI_Status {
        <*mut MPI_Status>::make(fuzz, name, kind).cast_const()
    }
}

impl Argument for *mut c_char {
    fn make(fuzz: &mut Fuzz, _: &str, _: &str) -> *mut c_char {
        if fuzz.dice.percent(2) { null_mut() } else { fuzz.room.text.as_mut_ptr().cast() }
    }
}

impl Argument for *const c_char {
    fn make(fuzz: &mut Fuzz, _: &str, _: &str) -> *const c_char {
        if fuzz.dice.percent(2) {
            return null();
        }
        let at = fuzz.dice.below(fuzz.room.texts.len());
        fuzz.room.texts[at].as_ptr()
    }
}

impl Argument for *mut *mut c_char {
    fn make(fuzz: &mut Fuzz, _: &str, _: &str) -> *mut *mut c_char {
        fuzz.room.words.as_mut_ptr()
    }
}

impl Argument for *mut *mut *mut c_char {
    fn make(_: &mut Fuzz, _: &str, _: &str) -> *mut *mut *mut c_char {
        null_mut()
    }
}

/// Somewhere in the middle of a buffer; or the constant that says that there is none of its own.
fn data(fuzz: &mut Fuzz, is_sent: bool) -> usize {
    if fuzz.dice.percent(3) {
        return 1;
    }
    let offset = 8 * fuzz.dice.below(64);
    let buffer = if is_sent { &fuzz.room.sent } else { &fuzz.room.received };
    buffer.as_ptr() as usize + BUFFER / 2 + offset
}

impl Argument for *mut c_void {
    fn make(fuzz: &mut Fuzz, name: &str, _: &str) -> *mut c_void {
        if fuzz.call.contains("attach_buffer") || fuzz.call.contains("Buffer_attach") {
            return fuzz.room.attached.as_mut_ptr().cast();
        }
        if !name.contains("buf") && fuzz.dice.percent(5) {
            return null_mut();
        }
        if name.contains("buf") || name.contains("addr") {
            return data(fuzz, false) as *mut c_void;
        }
        fuzz.room.received()
    }
}

impl Argument for *const c_void {
    fn make(fuzz: &mut Fuzz, name: &str, kind: &str) -> *const c_void {
        if kind == "Callback" {
            let roll = fuzz.dice.below(600);
            return callbacks::of(name, roll) as Callback;
        }
        data(fuzz, true) as *const c_void
    }
}
