//! Provider selection: chooses the libfabric provider by its capabilities.
//!
//! Motet needs little: reliable datagrams with tags. Among the providers that offer it, those for a
//! kind of network card come first, then those that work over any network. Providers that stay
//! inside one host are not used.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{CStr, CString, c_char, c_int};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::system::uname;

use super::dlopen::{Infos, Library};
use super::ffi::{self, FabricAttributes, Info};
use crate::{Error, Result, setting};

/// The variable that names the provider.
pub const PROVIDER: &str = "MOTET_PROVIDER";

/// The provider that [`PROVIDER`] names; `None` if it names none.
///
/// # Errors
/// [`Error::Setting`] if it is no text.
pub fn named_provider() -> Result<Option<String>> {
    setting::text(PROVIDER)
}

/// The time between two checks of a link that is down.
const LINK_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Providers that work over any network, the best first. Other providers that are not refused are
/// for a kind of network card, and precede them.
const FOR_ANY_NETWORK: [&str; 4] = ["tcp", "net", "tcp;ofi_rxm", "net;ofi_rxm"];
/// Providers that are never chosen, with the reason.
const REFUSED: [(&str, &str); 9] = [
    ("shm", "it stays inside one host"),
    ("sm2", "it stays inside one host"),
    ("lnx", "it needs to be told which others it joins"),
    ("sockets", "it has been given up by its makers"),
    ("udp", "it loses messages under load"),
    ("psm3", "over ordinary networks it is slower than tcp"),
    ("psm", "it has been given up by its makers"),
    ("off_coll", "it carries no messages"),
    ("ofi_hook", "it only looks at what others do"),
];

/// A provider with a network interface, by which a rank can reach other hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The provider.
    pub provider: String,
    /// The domain: the provider's name of the network card or interface.
    pub domain: String,
    /// The address of the interface, if it is an IP address.
    pub address: Option<IpAddr>,
}

impl Offer {
    fn of(info: &Info) -> Offer {
        // SAFETY: the library gives each information all its parts.
        let fabric = unsafe { &*info.fabric_attr };
        // SAFETY: as before.
        let domain = unsafe { &*info.domain_attr };
        let (provider, domain) = (text(fabric.prov_name), text(domain.name));
        Offer { provider, domain, address: address(info) }
    }

    /// Whether it reaches only this host.
    pub fn is_loopback(&self) -> bool {
        self.address.is_some_and(|address| address.is_loopback())
    }

    /// The order of preference: the smaller, the better. The provider counts most, then whether it
    /// reaches other hosts, then the address. The error is the reason of a refusal.
    fn rank(&self) -> std::result::Result<usize, &'static str> {
        let base = self.provider.split(';').next().unwrap_or_default();
        if let Some((_, why)) = REFUSED.iter().find(|(name, _)| *name == base) {
            return Err(why);
        }
        let general = FOR_ANY_NETWORK.iter().position(|name| *name == self.provider);
        let is_v6 = self.address.is_some_and(|address| address.is_ipv6());
        let provider = general.map_or(0, |place| place + 1);
        Ok(provider << 2 | usize::from(self.is_loopback()) << 1 | usize::from(is_v6))
    }
}

impl std::fmt::Display for Offer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} on {}", self.provider, self.domain)?;
        match self.address {
            Some(address) => write!(out, " ({address})"),
            None => Ok(()),
        }
    }
}

/// The provider that was chosen.
pub struct Choice {
    pub(super) info: Infos,
    /// Its description.
    pub offer: Offer,
    /// The reason of the choice.
    pub why: String,
    /// The other offers, each with the reason why it was not chosen.
    pub others: Vec<(Offer, String)>,
    /// Whether it writes into the memory of other ranks, if it was asked for that.
    pub writes: bool,
}

impl Choice {
    /// The same provider with remote writes that deliver immediate data, if it offers them.
    ///
    /// # Errors
    /// [`Error::Network`] if libfabric does not report its offers.
    pub fn with_writes(mut self, library: &Arc<Library>) -> Result<Choice> {
        let hints = hints(library, Some(&self.offer.provider))?;
        // SAFETY: fresh hints have all their parts, and nobody else has them.
        let info = unsafe { &mut *hints.first() };
        info.caps |= ffi::REMOTE | ffi::WRITE | ffi::REMOTE_WRITE;
        let found = library.matching_infos(ffi::INTERFACE, &hints)?;
        let is_this = |info: &&Info| Offer::of(info) == self.offer && tells_words(info);
        if let Some(info) = found.iter().find(is_this) {
            (self.info, self.writes) = (library.copy(info)?, true);
        }
        Ok(self)
    }
}

/// Whether a remote write delivers immediate data of this length.
fn tells_words(info: &Info) -> bool {
    // SAFETY: the library gives each information all its parts.
    unsafe { &*info.domain_attr }.cq_data_size >= size_of::<u32>()
}

/// Chooses a provider: the named one, or the best.
///
/// # Errors
/// [`Error::Network`] if none fits.
pub fn choose(library: &Arc<Library>, named: Option<&str>) -> Result<Choice> {
    let hints = hints(library, named)?;
    let found = library.matching_infos(ffi::INTERFACE, &hints)?;
    let infos: Vec<_> = found.iter().collect();
    let mut ranked = Vec::new();
    let mut others = Vec::new();
    for (at, info) in infos.iter().enumerate() {
        let offer = Offer::of(info);
        match offer.rank() {
            Err(why) if named.is_none() => others.push((offer, why.to_owned())),
            rank => ranked.push((rank.unwrap_or_default(), at)),
        }
    }
    ranked.sort_unstable();
    let mut ranked = ranked.into_iter().map(|(_, at)| (Offer::of(infos[at]), infos[at]));
    let Some((offer, info)) = ranked.next() else {
        return Err(nothing(library, named, &others));
    };
    let why = match named {
        Some(_) => format!("{PROVIDER} names it"),
        None if !FOR_ANY_NETWORK.contains(&offer.provider.as_str()) => {
            "it is made for this network card".into()
        }
        None => "no provider is made for a network card here, and this is the best of those \
                 that work over any network"
            .into(),
    };
    let rest = ranked.map(|(offer, _)| (offer, "another is preferred".to_owned()));
    let others = rest.chain(others).collect();
    Ok(Choice { info: library.copy(info)?, offer, why, others, writes: false })
}

/// Chooses a provider that reaches other hosts. While a link is down libfabric offers only what
/// remains: if that is the loopback of this host, the function waits for a link until the time
/// limit.
///
/// # Errors
/// As [`choose`]; [`Error::Network`] if no link comes up.
pub(super) fn choose_beyond(
    library: &Arc<Library>,
    named: Option<&str>,
    patience: Duration,
) -> Result<Choice> {
    let ends = Instant::now() + patience;
    loop {
        let choice = choose(library, named)?;
        if !choice.offer.is_loopback() {
            return Ok(choice);
        }
        if Instant::now() >= ends {
            return Err(Error::Network(format!(
                "{} cannot reach other hosts: for {} s libfabric has offered nothing better than \
                 {}. Is the link of this host up? `motet info --fabric` shows what there is",
                uname().nodename().to_string_lossy(),
                patience.as_secs_f32(),
                choice.offer
            )));
        }
        thread::sleep(LINK_POLL_INTERVAL);
    }
}

fn nothing(library: &Library, named: Option<&str>, others: &[(Offer, String)]) -> Error {
    let (version, file) = (library.version(), library.file());
    let what = "reliable datagrams with tags between hosts";
    Error::Network(match named {
        Some(name) => format!(
            "{PROVIDER} is {name}, but libfabric {version} ({file}) offers no {what} by that \
             name: `motet info --fabric` lists what it offers"
        ),
        None => {
            let others: Vec<_> =
                others.iter().map(|(offer, why)| format!("{offer}: {why}")).collect();
            let others = if others.is_empty() { "nothing".into() } else { others.join("; ") };
            format!(
                "libfabric {version} ({file}) offers no {what}. It has {others}. Is the network \
                 up? {PROVIDER} names a provider that is to be used all the same"
            )
        }
    })
}

/// The hints for libfabric.
fn hints(library: &Arc<Library>, named: Option<&str>) -> Result<Infos> {
    let hints = library.hints()?;
    // SAFETY: fresh hints have all their parts, and nobody else has them.
    let info = unsafe { &mut *hints.first() };
    info.caps = ffi::TAGGED | ffi::SEND | ffi::RECEIVE;
    info.mode = ffi::CONTEXT | ffi::CONTEXT2;
    // SAFETY: as before.
    let endpoint = unsafe { &mut *info.ep_attr };
    endpoint.kind = ffi::RELIABLE_DATAGRAMS;
    // SAFETY: as before.
    let domain = unsafe { &mut *info.domain_attr };
    domain.threading = ffi::BY_DOMAIN;
    domain.resource_mgmt = ffi::MANAGED;
    domain.mr_mode = ffi::LOCAL_MEMORY
        | ffi::VIRTUAL_ADDRESSES
        | ffi::ALLOCATED
        | ffi::PROVIDER_KEYS
        | ffi::MEMORY_OF_ENDPOINT;
    if let Some(named) = named {
        let name = CString::new(named)
            .map_err(|_| Error::Network(format!("{PROVIDER} is {named:?}: no name")))?;
        // SAFETY: as before.
        let fabric = unsafe { &mut *info.fabric_attr };
        // SAFETY: a name that ends. The library frees the copy with the hints, by the means of C.
        fabric.prov_name = unsafe { libc::strdup(name.as_ptr()) };
    }
    Ok(hints)
}

fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: a text of the library, which ends.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The address of the interface.
fn address(info: &Info) -> Option<IpAddr> {
    let bytes = (!info.src_addr.is_null() && info.src_addrlen <= 64).then(|| {
        // SAFETY: the library says how long its address is.
        unsafe { std::slice::from_raw_parts(info.src_addr.cast::<u8>(), info.src_addrlen) }
    })?;
    match info.addr_format {
        ffi::ADDRESS_V4 => {
            let bytes: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
            Some(Ipv4Addr::from(bytes).into())
        }
        ffi::ADDRESS_V6 => {
            let bytes: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
            Some(Ipv6Addr::from(bytes).into())
        }
        _ => None,
    }
}

/// The attributes of an information that an endpoint uses.
pub(super) struct Attributes {
    pub(super) fabric: *mut FabricAttributes,
    pub(super) memory: c_int,
    pub(super) inject: usize,
    /// In how many parts of memory a message may lie that is sent.
    pub(super) parts: usize,
    /// How many bits of a tag are carried.
    pub(super) tag_bits: u32,
    /// Bits of a key of registered memory.
    pub(super) key_bits: u32,
}

impl Attributes {
    /// # Safety
    /// The information is one that the library has made.
    pub(super) unsafe fn of(info: *mut Info) -> Attributes {
        // SAFETY: as promised.
        let info = unsafe { &*info };
        // SAFETY: it has all its parts.
        let domain = unsafe { &*info.domain_attr };
        // SAFETY: as before.
        let sends = unsafe { &*info.tx_attr };
        // SAFETY: as before.
        let format = unsafe { &*info.ep_attr }.mem_tag_format;
        Attributes {
            fabric: info.fabric_attr,
            memory: domain.mr_mode,
            inject: sends.inject_size,
            parts: sends.iov_limit,
            // The format has its highest bit in the highest bit of a tag. 0 limits nothing.
            tag_bits: if format == 0 { u64::BITS } else { u64::BITS - format.leading_zeros() },
            key_bits: u8::BITS * domain.mr_key_size.min(size_of::<u64>()) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(provider: &str, address: [u8; 4]) -> Offer {
        let address = Some(Ipv4Addr::from(address).into());
        Offer { provider: provider.into(), domain: "eth0".into(), address }
    }

    #[test]
    fn cards_go_before_any_network_and_that_before_loopback() {
        let order = [
            offer("verbs;ofi_rxm", [10, 0, 0, 1]),
            offer("tcp", [10, 0, 0, 1]),
            offer("tcp", [127, 0, 0, 1]),
            offer("net", [10, 0, 0, 1]),
            offer("tcp;ofi_rxm", [10, 0, 0, 1]),
        ];
        assert!(order.windows(2).all(|pair| pair[0].rank().unwrap() < pair[1].rank().unwrap()));
        for refused in ["shm", "udp;ofi_rxd", "sockets", "psm3"] {
            assert!(offer(refused, [10, 0, 0, 1]).rank().is_err(), "{refused}");
        }
    }

    #[test]
    fn a_choice_says_why() {
        let Ok(library) = Library::open() else {
            eprintln!("not tested: libfabric cannot be opened");
            return;
        };
        let choice = choose(&library, Some("tcp")).unwrap();
        assert!(choice.offer.provider.contains("tcp"), "{}", choice.offer);
        assert!(choice.why.contains(PROVIDER), "{}", choice.why);
        let choice = choose(&library, None).unwrap();
        assert!(choice.offer.rank().is_ok(), "{}", choice.offer);
        let error = choose(&library, Some("no-such")).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("MOTET_PROVIDER is no-such"), "{error}");
    }
}
