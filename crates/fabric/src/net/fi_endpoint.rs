//! A libfabric endpoint with its fabric, domain, address vector and completion queue.
//!
//! One thread at a time uses it, and the provider is asked for no more thread safety than that.
//! Calls never wait, except [`FiEndpoint::wait`]. Every object of libfabric begins with its `Fid`.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod cq;
mod rma;

use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::Arc;

use super::dlopen::Library;
use super::ffi::{
    ANY_ADDRESS, Av, AvAttributes, Cq, CqAttributes, CqOps, Domain, DomainOps, ENABLE, Ep, Fabric,
    Fid, Info, LOCAL_MEMORY, MEMORY_OF_ENDPOINT, Memory, RECEIVE, REMOTE_WRITE, SEND, TABLE,
    TAGGED_ENTRIES, VIRTUAL_ADDRESSES, WAIT_ANY, WAIT_NONE, WRITE,
};
use super::provider::{Attributes, Choice};
pub(super) use super::transfer::{Begun, Context, Event, Target, WRITTEN};
use super::world_tag::random_bits;
use crate::{Region, RegionMut, Result};
pub(super) use cq::WaitFd;
pub(super) use rma::{RemoteAddr, RmaRegion};

/// Completions that a queue has room for, in addition to those of remote writes.
const COMPLETIONS: usize = 4096;
/// How often an endpoint is opened whose port turns out to be in use.
const OPENS_MAX: u32 = 32;
/// Bytes of the longest address.
const LONGEST_ADDRESS: usize = 256;

/// The purpose for which memory is registered.
#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    Send,
    Receive,
    Both,
    /// Writes by other endpoints.
    Writes,
}

/// Memory that the provider may use, with the handle that the provider needs for each transfer.
pub(super) struct Registration {
    memory: *mut Memory,
    handle: *mut c_void,
}

// SAFETY: used by the thread that has the endpoint.
unsafe impl Send for Registration {}

impl Registration {
    /// For providers that need no registration.
    pub(super) const NONE: Registration =
        Registration { memory: ptr::null_mut(), handle: ptr::null_mut() };
}

pub(super) struct FiEndpoint {
    library: Arc<Library>,
    fabric: *mut Fabric,
    domain: *mut Domain,
    addresses: *mut Av,
    queue: *mut Cq,
    endpoint: *mut Ep,
    /// Bytes of the longest message that the provider copies when it is sent.
    inject: usize,
    /// Whether a message may consist of two parts of memory.
    joins: bool,
    /// Whether the endpoint writes into windows of other endpoints, and permits their writes.
    writes: bool,
    /// Whether windows are addressed by virtual address, and not by offset.
    has_addresses: bool,
    /// The key of the next registration, if the provider leaves the choice to the caller.
    next_key: u64,
    /// How many bits of a tag the provider carries.
    tag_bits: u32,
    /// The bits of all tags that name the world.
    world: u64,
    registers: bool,
    binds_memory: bool,
    can_wait: bool,
    wait_fd: WaitFd,
}

// SAFETY: one thread uses a endpoint at a time (`&mut`, or the lock of the rank), and that is what
// the provider was asked to bear.
unsafe impl Send for FiEndpoint {}

impl FiEndpoint {
    /// Opens an endpoint. `waits` says whether a thread will sleep in [`FiEndpoint::wait`];
    /// `written` bounds the remote writes that complete before the queue is polled.
    pub(super) fn open(
        library: &Arc<Library>,
        choice: &Choice,
        waits: bool,
        written: usize,
    ) -> Result<FiEndpoint> {
        let info = choice.info.first();
        // SAFETY: the library gives an information all its parts, which live as long as it.
        let attributes = unsafe { Attributes::of(info) };
        let mut ep = FiEndpoint {
            library: Arc::clone(library),
            fabric: library.open_fabric(attributes.fabric)?,
            domain: ptr::null_mut(),
            addresses: ptr::null_mut(),
            queue: ptr::null_mut(),
            endpoint: ptr::null_mut(),
            inject: attributes.inject,
            joins: attributes.parts >= 2,
            writes: choice.writes,
            has_addresses: attributes.memory & VIRTUAL_ADDRESSES != 0,
            next_key: first_key(random_bits(), attributes.key_bits),
            tag_bits: attributes.tag_bits,
            world: 0,
            registers: attributes.memory & LOCAL_MEMORY != 0,
            binds_memory: attributes.memory & MEMORY_OF_ENDPOINT != 0,
            can_wait: waits,
            wait_fd: WaitFd::default(),
        };
        ep.open_domain(info)?;
        ep.open_addresses()?;
        ep.open_queue(COMPLETIONS + written)?;
        ep.open_endpoint(info)?;
        Ok(ep)
    }

    fn open_domain(&mut self, info: *mut Info) -> Result<()> {
        let (fabric, null) = (self.fabric, ptr::null_mut());
        // SAFETY: it has just been opened.
        let open = unsafe { &*fabric }.ops.domain.expect("fabrics open domains");
        // SAFETY: an open fabric and an information about it.
        let opened = unsafe { open(fabric, info, &mut self.domain, null) };
        self.check("open a domain", opened)
    }

    fn open_addresses(&mut self) -> Result<()> {
        let open = self.of_domain().av_open.expect("domains open tables of addresses");
        let mut attributes = AvAttributes {
            kind: TABLE,
            rx_ctx_bits: 0,
            count: 0,
            ep_per_node: 0,
            name: ptr::null(),
            map_addr: ptr::null_mut(),
            flags: 0,
        };
        let (domain, null) = (self.domain, ptr::null_mut());
        // SAFETY: an open domain and whole attributes.
        let opened = unsafe { open(domain, &mut attributes, &mut self.addresses, null) };
        self.check("open a table of addresses", opened)
    }

    fn open_queue(&mut self, size: usize) -> Result<()> {
        let open = self.of_domain().cq_open.expect("domains open queues");
        let mut attributes = CqAttributes {
            size,
            flags: 0,
            format: TAGGED_ENTRIES,
            wait_obj: if self.can_wait { WAIT_ANY } else { WAIT_NONE },
            signaling_vector: 0,
            wait_cond: 0,
            wait_set: ptr::null_mut(),
        };
        let (domain, null) = (self.domain, ptr::null_mut());
        // SAFETY: an open domain and whole attributes.
        let mut opened = unsafe { open(domain, &mut attributes, &mut self.queue, null) };
        if opened != 0 && self.can_wait {
            // Some providers cannot wait: then a thread that waits polls now and then.
            self.can_wait = false;
            attributes.wait_obj = WAIT_NONE;
            // SAFETY: as before.
            opened = unsafe { open(domain, &mut attributes, &mut self.queue, null) };
        }
        self.check("open a queue of completions", opened)
    }

    /// Opens the endpoint. Where ports are limited to a range, libfabric may choose one that
    /// another endpoint has, and finds out when it enables the endpoint: then this function tries
    /// again.
    fn open_endpoint(&mut self, info: *mut Info) -> Result<()> {
        let open = self.of_domain().endpoint.expect("domains open endpoints");
        let mut attempts = 0;
        loop {
            attempts += 1;
            let (domain, null) = (self.domain, ptr::null_mut());
            // SAFETY: an open domain and the information by which it was opened.
            let opened = unsafe { open(domain, info, &mut self.endpoint, null) };
            self.check("open an endpoint", opened)?;
            let endpoint: *mut Fid = self.endpoint.cast();
            self.bind("bind addresses", endpoint, self.addresses.cast(), 0)?;
            self.bind("bind a queue", endpoint, self.queue.cast(), SEND | RECEIVE)?;
            let enabled = self.enable(endpoint);
            if enabled != -libc::EADDRINUSE || attempts == OPENS_MAX {
                return self.check("enable an endpoint", enabled);
            }
            self.endpoint = ptr::null_mut();
            // SAFETY: opened above, and not used afterwards.
            unsafe { close(endpoint) };
        }
    }

    /// Binds an open object to another.
    fn bind(&self, what: &str, object: *mut Fid, to: *mut Fid, flags: u64) -> Result<()> {
        // SAFETY: an object that this endpoint has opened.
        let bind = unsafe { &*object }.ops.bind.expect("objects can be bound");
        // SAFETY: two such objects.
        self.check(what, unsafe { bind(object, to, flags) })
    }

    /// Enables an open object. Returns the code of libfabric, 0 on success.
    fn enable(&self, object: *mut Fid) -> c_int {
        // SAFETY: an object that this endpoint has opened.
        let control = unsafe { &*object }.ops.control.expect("objects can be controlled");
        // SAFETY: such an object; this command takes nothing.
        unsafe { control(object, ENABLE, ptr::null_mut()) }
    }

    fn of_domain(&self) -> &'static DomainOps {
        // SAFETY: open as long as the endpoint.
        unsafe { &*self.domain }.ops
    }

    fn of_endpoint(&self) -> &Ep {
        // SAFETY: open as long as the endpoint.
        unsafe { &*self.endpoint }
    }

    fn of_queue(&self) -> &'static CqOps {
        // SAFETY: open as long as the endpoint.
        unsafe { &*self.queue }.ops
    }

    fn check(&self, what: &str, code: c_int) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(self.library.error(what, code.into())) }
    }

    /// Bytes of the longest message that [`FiEndpoint::inject`] takes.
    pub(super) fn longest_inject(&self) -> usize {
        self.inject
    }

    /// The address by which other endpoints reach this one.
    pub(super) fn address(&mut self) -> Result<Vec<u8>> {
        let (mut address, mut bytes) = (vec![0; LONGEST_ADDRESS], LONGEST_ADDRESS);
        let name = self.of_endpoint().cm.getname.expect("endpoints have names");
        // SAFETY: the endpoint is open; the memory has the length that is told.
        let code = unsafe { name(self.endpoint.cast(), address.as_mut_ptr().cast(), &mut bytes) };
        self.check("tell the address of an endpoint", code)?;
        address.truncate(bytes);
        Ok(address)
    }

    /// How many bits of a tag the provider carries.
    pub(super) fn tag_bits(&self) -> u32 {
        self.tag_bits
    }

    /// Joins a world: from here on the messages of the endpoint carry these bits, and its receives
    /// match messages with the same bits only (`world_tag`).
    pub(super) fn join_world(&mut self, world: u64) {
        self.world = world;
    }

    /// Adds another endpoint to the address vector.
    pub(super) fn insert_address(&mut self, address: &[u8]) -> Result<Target> {
        let (mut target, null) = (ANY_ADDRESS, ptr::null_mut());
        // SAFETY: open as long as the endpoint.
        let insert = unsafe { &*self.addresses }.ops.insert.expect("tables take addresses");
        let start = address.as_ptr().cast();
        // SAFETY: the table is open; the address is one that a endpoint of this provider told.
        let code = unsafe { insert(self.addresses, start, 1, &mut target, 0, null) };
        if code != 1 || target == ANY_ADDRESS {
            return Err(self.library.error("take an address", i64::from(code.min(-libc::EINVAL))));
        }
        Ok(Target(target))
    }

    /// Registers memory with the provider, if the provider needs that. The provider caches
    /// registrations of memory that is registered repeatedly.
    ///
    /// # Safety
    /// The memory stays until the registration has been ended by [`FiEndpoint::forget`], or the
    /// endpoint closed.
    pub(super) unsafe fn register(&mut self, region: Region, to: Access) -> Result<Registration> {
        let needs_none = !self.registers && !matches!(to, Access::Writes);
        if needs_none {
            return Ok(Registration::NONE);
        }
        let (mut memory, key) = (ptr::null_mut(), self.next_key);
        self.next_key += 1;
        // SAFETY: open as long as the endpoint.
        let register = unsafe { &*self.domain }.mr.reg.expect("domains register memory");
        let (start, bytes) = (region.start().cast(), region.bytes());
        let access = match to {
            Access::Send if self.writes => SEND | WRITE,
            Access::Send => SEND,
            Access::Receive => RECEIVE,
            Access::Both => SEND | RECEIVE,
            Access::Writes => REMOTE_WRITE,
        };
        let (domain, null) = (self.domain.cast(), ptr::null_mut());
        // SAFETY: the domain is open; the memory stays, as promised.
        let code = unsafe { register(domain, start, bytes, access, 0, key, 0, &mut memory, null) };
        self.check("register memory", code)?;
        if self.binds_memory {
            self.bind("bind memory", memory.cast(), self.endpoint.cast(), 0)?;
            self.check("enable memory", self.enable(memory.cast()))?;
        }
        // SAFETY: it has just been opened.
        Ok(Registration { memory, handle: unsafe { &*memory }.mem_desc })
    }

    /// Ends a registration.
    pub(super) fn forget(&mut self, registration: Registration) {
        if !registration.memory.is_null() {
            // SAFETY: it was opened by `register`, and is closed once, since it is moved here.
            unsafe { close(registration.memory.cast()) };
        }
    }

    /// Sends bytes that are copied now. No event reports the completion.
    pub(super) fn inject(&mut self, to: Target, tag: u64, data: &[u8]) -> Begun {
        debug_assert!(data.len() <= self.inject);
        let inject = self.of_endpoint().tagged.inject.expect("endpoints inject");
        let start = data.as_ptr().cast();
        // SAFETY: the endpoint is open; the data is copied before the call returns.
        begun(unsafe { inject(self.endpoint, start, data.len(), to.0, self.world | tag) })
    }

    /// Sends bytes. If the send has begun, an event reports its completion.
    ///
    /// # Safety
    /// Until then, or until the endpoint has closed, data and context stay where they are, the data
    /// unchanged.
    pub(super) unsafe fn send(
        &mut self,
        to: Target,
        tag: u64,
        data: Region,
        registration: &Registration,
        context: *mut Context,
    ) -> Begun {
        let send = self.of_endpoint().tagged.send.expect("endpoints send");
        let (start, bytes, handle) = (data.start().cast(), data.bytes(), registration.handle);
        let (tag, context) = (self.world | tag, context.cast());
        // SAFETY: the endpoint is open; the rest is promised.
        begun(unsafe { send(self.endpoint, start, bytes, handle, to.0, tag, context) })
    }

    /// Whether [`FiEndpoint::send_joined`] may be used.
    pub(super) fn joins(&self) -> bool {
        self.joins
    }

    /// As [`FiEndpoint::send`], for a message in two parts of memory.
    ///
    /// # Safety
    /// As [`FiEndpoint::send`].
    pub(super) unsafe fn send_joined(
        &mut self,
        to: Target,
        tag: u64,
        parts: [(Region, &Registration); 2],
        context: *mut Context,
    ) -> Begun {
        let send = self.of_endpoint().tagged.sendv.expect("endpoints send from several places");
        let part = |(region, _): (Region, _)| libc::iovec {
            iov_base: region.start().cast_mut().cast(),
            iov_len: region.bytes(),
        };
        let places = parts.map(part);
        let mut handles = parts.map(|(_, registration)| registration.handle);
        let (count, handles) = (places.len(), handles.as_mut_ptr());
        let (endpoint, tag, context) = (self.endpoint, self.world | tag, context.cast());
        // SAFETY: the endpoint is open, the vectors are as long as said and are read now; the rest
        // is promised.
        begun(unsafe { send(endpoint, places.as_ptr(), handles, count, to.0, tag, context) })
    }

    /// Receives a message with this tag; bits of `ignore` may differ. An event reports the
    /// completion.
    ///
    /// # Safety
    /// Until then, or until the endpoint has closed, memory and context stay where they are, and
    /// nobody else uses the memory.
    pub(super) unsafe fn receive(
        &mut self,
        tag: u64,
        ignore: u64,
        into: RegionMut,
        registration: &Registration,
        context: *mut Context,
    ) -> Begun {
        let receive = self.of_endpoint().tagged.recv.expect("endpoints receive");
        let (start, bytes) = (into.start().cast(), into.bytes());
        let (handle, context, from) = (registration.handle, context.cast(), ANY_ADDRESS);
        let tag = self.world | tag;
        // SAFETY: as for `send`.
        begun(unsafe { receive(self.endpoint, start, bytes, handle, from, tag, ignore, context) })
    }

    /// Cancels a receive, unless its message has begun to arrive. An event reports the end in both
    /// cases.
    ///
    /// # Safety
    /// The context is that of a receive whose event has not come.
    pub(super) unsafe fn cancel(&mut self, context: *mut Context) {
        let cancel = self.of_endpoint().ops.cancel.expect("endpoints cancel");
        // SAFETY: the endpoint is open; the rest is promised. If it is too late for that, the
        // message comes.
        let _ = unsafe { cancel(self.endpoint.cast(), context.cast()) };
    }

    /// Closes the endpoint. After it returns, the provider does not use the memory of transfers any
    /// more, and reports no event of them. The caller must have ended all registrations.
    pub(super) fn close(&mut self) {
        self.wait_fd.set(ptr::null_mut());
        let objects: [*mut Fid; 5] = [
            mem::replace(&mut self.endpoint, ptr::null_mut()).cast(),
            mem::replace(&mut self.queue, ptr::null_mut()).cast(),
            mem::replace(&mut self.addresses, ptr::null_mut()).cast(),
            mem::replace(&mut self.domain, ptr::null_mut()).cast(),
            mem::replace(&mut self.fabric, ptr::null_mut()).cast(),
        ];
        for object in objects {
            // SAFETY: null, or opened by `open` and not closed before; those that were made of it
            // have been closed.
            unsafe { close(object) };
        }
    }
}

impl Drop for FiEndpoint {
    fn drop(&mut self) {
        self.close();
    }
}

/// The first key of an endpoint: a random one where keys are long, so that a late write of another
/// world finds no memory by it.
fn first_key(random: u64, key_bits: u32) -> u64 {
    if key_bits < u32::BITS {
        return 1;
    }
    // Half of all keys stay for further registrations.
    1 + (random >> (u64::BITS - key_bits) >> 1)
}

/// The result of a call that starts a transfer. A host that cannot be reached is no final error:
/// the link may come back, and if it does not, the failure detector finds out.
fn begun(code: isize) -> Begun {
    match -(code as i32) {
        0 => Begun::Yes,
        libc::EAGAIN | libc::ENETDOWN | libc::ENETUNREACH | libc::EHOSTUNREACH => Begun::NotNow,
        error => Begun::Never(error),
    }
}

/// Closes an object of libfabric, if there is one.
///
/// # Safety
/// It is open (every object begins with its `Fid`), and not used afterwards.
unsafe fn close(object: *mut Fid) {
    if object.is_null() {
        return;
    }
    // SAFETY: open, as promised.
    let Some(close) = unsafe { &*object }.ops.close else { return };
    // SAFETY: as promised. An object that refuses to close stays: there is nothing else to do.
    let _ = unsafe { close(object) };
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use super::*;
    use crate::net::{choose, world_tag};

    /// Two endpoints that know each other; nothing where there is no libfabric.
    fn pair(waits: bool) -> Option<[(FiEndpoint, Target); 2]> {
        let Ok(library) = Library::open() else {
            eprintln!("not tested: libfabric cannot be opened");
            return None;
        };
        let choice = choose(&library, None).unwrap().with_writes(&library).unwrap();
        let [mut first, mut second] =
            [(); 2].map(|()| FiEndpoint::open(&library, &choice, waits, 0).unwrap());
        let (to_first, to_second) = (first.address().unwrap(), second.address().unwrap());
        let to_second = first.insert_address(&to_second).unwrap();
        let to_first = second.insert_address(&to_first).unwrap();
        Some([(first, to_second), (second, to_first)])
    }

    /// Polls until there is an event.
    fn event(first: &mut FiEndpoint, second: &mut FiEndpoint) -> Event {
        let (mut events, begun) = (Vec::new(), Instant::now());
        while events.is_empty() {
            first.poll(&mut events);
            second.poll(&mut Vec::new());
            assert!(begun.elapsed() < Duration::from_secs(20), "nothing came");
        }
        assert_eq!((events.len(), events[0].error), (1, 0));
        events[0]
    }

    #[test]
    fn bytes_go_from_endpoint_to_endpoint() {
        let Some([(mut first, to_second), (mut second, _)]) = pair(false) else { return };
        let mut memory = vec![0; 100];
        let mut context = Box::new(Context::new(7));
        // SAFETY: memory and context outlive the ports' use of them: an event is waited for.
        let begun = unsafe {
            let into = RegionMut::of(&mut memory);
            second.receive(5, 2, into, &Registration::NONE, &mut *context)
        };
        assert_eq!(begun, Begun::Yes);
        inject(&mut first, (to_second, &mut second), 5 | 2, b"hello");
        let came = event(&mut second, &mut first);
        assert_eq!((came.name, came.bytes, came.tag), (7, 5, 7));
        assert_eq!(&memory[..5], b"hello");
    }

    /// Sends so many bytes, trying again until that has begun.
    fn inject(from: &mut FiEndpoint, to: (Target, &mut FiEndpoint), tag: u64, data: &[u8]) {
        let start = Instant::now();
        while from.inject(to.0, tag, data) != Begun::Yes {
            from.poll(&mut Vec::new());
            to.1.poll(&mut Vec::new());
            assert!(start.elapsed() < Duration::from_secs(20), "never connected");
        }
    }

    #[test]
    fn messages_of_another_world_do_not_arrive() {
        let Some([(mut first, to_second), (mut second, _)]) = pair(false) else { return };
        let Some([(mut other, _), _]) = pair(false) else { return };
        let own = world_tag::of_world(5, first.tag_bits());
        assert_ne!(own, 0, "the provider carries tags of {} bits", first.tag_bits());
        first.join_world(own);
        second.join_world(own);
        other.join_world(world_tag::of_world(6, other.tag_bits()));
        let address = second.address().unwrap();
        let from_other = other.insert_address(&address).unwrap();

        let (mut memory, mut context) = (vec![0; 8], Box::new(Context::new(7)));
        // SAFETY: memory and context outlive the use: an event is waited for.
        let begun = unsafe {
            let into = RegionMut::of(&mut memory);
            second.receive(0, u32::MAX.into(), into, &Registration::NONE, &mut *context)
        };
        assert_eq!(begun, Begun::Yes);
        inject(&mut other, (from_other, &mut second), 1, b"other");
        let (start, mut events) = (Instant::now(), Vec::new());
        while start.elapsed() < Duration::from_millis(50) {
            other.poll(&mut Vec::new());
            second.poll(&mut events);
        }
        assert!(events.is_empty(), "{events:?}");
        inject(&mut first, (to_second, &mut second), 2, b"own");
        let came = event(&mut second, &mut first);
        assert_eq!((came.tag, came.bytes, &memory[..3]), (2, 3, b"own".as_slice()));
        second.close();
    }

    #[test]
    fn a_link_that_is_down_may_come_back() {
        assert_eq!(begun(0), Begun::Yes);
        assert_eq!(begun(-(libc::EHOSTUNREACH as isize)), Begun::NotNow);
        assert_eq!(begun(-(libc::ECONNRESET as isize)), Begun::Never(libc::ECONNRESET));
    }

    #[test]
    fn keys_of_memory_are_random_where_they_are_long() {
        assert_eq!(first_key(u64::MAX, 16), 1);
        assert_eq!(first_key(u64::MAX, 32), 1 << 31);
        assert_eq!(first_key(u64::MAX, 64), 1 << 63);
        assert_eq!(first_key(0, 64), 1);
    }

    #[test]
    fn bytes_are_written_into_a_window() {
        let Some([(mut first, to_second), (mut second, _)]) = pair(false) else { return };
        if !first.writes() {
            return eprintln!("not tested: the provider does not write into other ranks' memory");
        }
        let mut memory = vec![0; 4096];
        let into = RegionMut::of(&mut memory);
        // SAFETY: the memory outlives the endpoint's use of it: it is closed before.
        let (registration, window) = unsafe { second.open_window(into).unwrap() };
        let window = RmaRegion::from_bytes(&window.to_bytes()).unwrap();
        let (start, mut context) = (Instant::now(), Box::new(Context::new(9)));
        let data = vec![7; 3000];
        for (at, bytes) in [(0, 5), (1000, data.len())] {
            let place = RemoteAddr { target: to_second, window, offset: at };
            let word = 0xfedc_ba98 - at as u32;
            loop {
                let begun = if bytes <= first.longest_inject() {
                    first.inject_write(place, word, &data[..bytes])
                } else {
                    let data = Region::of(&data[..bytes]);
                    // SAFETY: data and context outlive the use: an event is waited for.
                    unsafe { first.write(place, word, data, &Registration::NONE, &mut *context) }
                };
                if begun == Begun::Yes {
                    break;
                }
                first.poll(&mut Vec::new());
                second.poll(&mut Vec::new());
                assert!(start.elapsed() < Duration::from_secs(20), "never connected");
            }
            let came = event(&mut second, &mut first);
            assert_eq!((came.name, came.tag), (WRITTEN, u64::from(word)));
        }
        assert!(memory[..5] == [7; 5] && memory[5..1000].iter().all(|&byte| byte == 0));
        assert!(memory[1000..4000] == data && memory[4000..].iter().all(|&byte| byte == 0));
        second.forget(registration);
        second.close();
    }

    #[test]
    fn a_wait_fd_wakes_who_waits_and_nobody_once_the_endpoint_is_closed() {
        let Some([(mut first, _), (mut second, _)]) = pair(true) else { return };
        let (wait_fd, begun, mut waits) = (first.wait_fd(), Instant::now(), 0);
        let has_rung = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                has_rung.store(true, Ordering::Release);
                wait_fd.ring();
            });
            while !has_rung.load(Ordering::Acquire) {
                first.wait(Duration::from_secs(50), &mut Vec::new());
                waits += 1;
            }
        });
        assert!(waits > 0 && begun.elapsed() < Duration::from_secs(40), "nobody was woken");
        first.close();
        wait_fd.ring();
        second.close();
    }

    #[test]
    fn who_waits_is_woken() {
        let Some([(mut first, to_second), (mut second, _)]) = pair(true) else { return };
        let mut memory = vec![0; 8];
        let mut context = Box::new(Context::new(1));
        // SAFETY: as above; the endpoint is closed before they are gone if nothing comes.
        let begun = unsafe {
            let into = RegionMut::of(&mut memory);
            second.receive(0, 0, into, &Registration::NONE, &mut *context)
        };
        assert_eq!(begun, Begun::Yes);
        let start = Instant::now();
        let mut events = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while first.inject(to_second, 0, b"x") != Begun::Yes {
                    first.wait(Duration::from_millis(1), &mut Vec::new());
                    assert!(start.elapsed() < Duration::from_secs(20), "never connected");
                }
            });
            while events.is_empty() {
                second.wait(Duration::from_secs(2), &mut events);
                assert!(start.elapsed() < Duration::from_secs(20), "nothing came");
            }
        });
        assert_eq!((events[0].name, memory[0]), (1, b'x'));
        second.close();
    }
}
