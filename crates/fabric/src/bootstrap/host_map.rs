//! Host map: which ranks share a host, from what the ranks themselves observe.
//!
//! What launchers report about hosts is not used: some number local ranks in another order, some
//! count a host several times, and none knows whether two containers can share memory. Instead each
//! rank publishes in a [`RankInfo`] what it observes: kernel boot, namespaces, user and process.
//! Ranks with equal observations are on one host.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;

use rustix::process::{geteuid, getpid};

use super::process::started;
use crate::kvs::{KeyValueSpace, all_gather};
use crate::{Error, Result, host};

/// The key under which ranks publish their `RankInfo`s.
const CARD: &str = "card";
/// The beginning of a `RankInfo`. The rest may differ in another version.
const VERSION: &str = concat!("motet ", env!("CARGO_PKG_VERSION"));

/// What one rank publishes about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankInfo {
    /// Equal on all ranks of a host, and different on all others.
    pub host: String,
    /// Equal on all ranks that reach each other without leaving the kernel.
    pub network: String,
    /// The name of the host, for messages.
    pub name: String,
    /// The process, by its number on its host.
    pub process: u32,
    /// When the process started, in the units of the system: together with its number this
    /// identifies it. 0 if unknown.
    pub started: u64,
    /// The cores on which it may run, one bit each.
    pub cores: Vec<u64>,
    /// The scheduling group of the process; may be empty.
    pub scheduling_group: String,
}

impl RankInfo {
    /// The `RankInfo` of this process.
    pub fn own() -> RankInfo {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let name: String = name.chars().filter(|letter| !letter.is_whitespace()).collect();
        let process = getpid().as_raw_nonzero().get() as u32;
        let started = started(process).unwrap_or_default();
        let place = format!("{}/{name}/{}", kernel(), geteuid().as_raw());
        RankInfo {
            host: surroundings(place, &["mnt", "pid", "ipc", "user"], process),
            network: surroundings(kernel(), &["net"], process),
            name,
            process,
            started,
            cores: host::allowed(),
            scheduling_group: host::autogroup::scheduling_group(),
        }
    }

    fn text(&self) -> String {
        let RankInfo { host, network, name, process, started, cores, scheduling_group } = self;
        let mut text = format!("{VERSION}\n{host}\n{network}\n{name}\n{process} {started}\n");
        for word in cores {
            // Writing to a string cannot fail.
            let _ = write!(text, "{word:x} ");
        }
        let _ = write!(text, "\n{scheduling_group}\n");
        text
    }

    fn read(text: &str) -> Option<RankInfo> {
        let mut lines = text.lines().skip(1);
        let (host, network) = (lines.next()?.to_owned(), lines.next()?.to_owned());
        let name = lines.next()?.to_owned();
        let (process, started) = lines.next()?.split_once(' ')?;
        let words = lines.next().unwrap_or_default().split_whitespace();
        let cores = words.map(|word| u64::from_str_radix(word, 16).ok()).collect::<Option<_>>()?;
        let (process, started) = (process.parse().ok()?, started.parse().ok()?);
        let scheduling_group = lines.next().unwrap_or_default().to_owned();
        Some(RankInfo { host, network, name, process, started, cores, scheduling_group })
    }
}

/// An id of the running kernel, which changes with each boot.
fn kernel() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

/// The conditions under which two processes can share something: the same place and the same
/// namespaces. For memory the place includes the host name and the user, since the kernel separates
/// users.
fn surroundings(place: String, namespaces: &[&str], process: u32) -> String {
    let mut text = place;
    for kind in namespaces {
        let file = fs::read_link(format!("/proc/self/ns/{kind}"));
        // A rank that cannot see its namespace counts as on a host of its own.
        let of = file.map_or(format!("{kind}:{process}"), |of| of.to_string_lossy().into_owned());
        let _ = write!(text, "/{of}");
    }
    text
}

/// The hosts of all ranks of a world.
#[derive(Debug)]
pub struct HostMap {
    rank: usize,
    cards: Vec<RankInfo>,
    /// The host of each rank. Hosts are numbered by their first ranks.
    hosts: Vec<usize>,
}

impl HostMap {
    /// Exchanges the `RankInfo`s of all ranks.
    ///
    /// # Errors
    /// Those of the key-value space; a rank of another version.
    pub fn gather(kvs: &mut dyn KeyValueSpace, own: &RankInfo) -> Result<HostMap> {
        let texts = all_gather(kvs, CARD, own.text().as_bytes())?;
        let mut cards = Vec::with_capacity(texts.len());
        for (rank, text) in texts.iter().enumerate() {
            let text = String::from_utf8_lossy(text);
            let version = text.lines().next().unwrap_or_default();
            if version != VERSION {
                return Err(Error::Environment(format!(
                    "rank {rank} is a program of `{version}` and this one of `{VERSION}`: build \
                     both with the same version"
                )));
            }
            let card = RankInfo::read(&text);
            let text = || Error::Environment(format!("rank {rank} tells nothing about itself"));
            cards.push(card.ok_or_else(text)?);
        }
        Ok(HostMap::new(kvs.rank(), cards))
    }

    fn new(rank: usize, cards: Vec<RankInfo>) -> HostMap {
        let mut known = HashMap::new();
        let mut hosts = Vec::with_capacity(cards.len());
        for card in &cards {
            let next = known.len();
            hosts.push(*known.entry(card.host.as_str()).or_insert(next));
        }
        HostMap { rank, hosts, cards }
    }

    /// Divides hosts, so that at most `share` consecutive ranks are on one host.
    pub(super) fn divide(&mut self, share: usize) {
        divide(&mut self.hosts, share);
    }

    /// The rank of this process.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.cards.len()
    }

    /// The `RankInfo` of a rank.
    pub fn rank_info(&self, rank: usize) -> &RankInfo {
        &self.cards[rank]
    }

    /// The number of the host of a rank, from 0.
    pub fn host(&self, rank: usize) -> usize {
        self.hosts[rank]
    }

    /// Whether some ranks cannot be reached through this host alone: another host, or another
    /// network of this one, is in between.
    pub fn leaves_host(&self) -> bool {
        self.cards.iter().any(|card| card.network != self.cards[self.rank].network)
    }

    /// The number of hosts.
    pub fn hosts(&self) -> usize {
        1 + self.hosts.iter().max().copied().unwrap_or_default()
    }

    /// The ranks on the host of this process, in order; the first of them is the leader.
    pub fn neighbours(&self) -> Vec<usize> {
        let own = self.hosts[self.rank];
        (0..self.ranks()).filter(|&rank| self.hosts[rank] == own).collect()
    }

    /// The ranks that may compete for the same cores as this process: those on its host, even if
    /// they [share no memory](crate::bootstrap::RANKS_PER_SEGMENT) with it.
    fn companions(&self) -> impl Iterator<Item = &RankInfo> {
        let own = &self.cards[self.rank].host;
        self.cards.iter().filter(move |card| card.host == *own)
    }

    /// The number of this process among them.
    pub fn local_rank(&self) -> usize {
        let own = &self.cards[self.rank].host;
        self.cards[..self.rank].iter().filter(|card| card.host == *own).count()
    }

    /// The number of these ranks, with this process.
    pub fn local_ranks(&self) -> usize {
        self.companions().count()
    }

    /// Whether the scheduler divides the cores between scheduling groups of these ranks. Then a
    /// rank that yields does not give its core to a rank of another group.
    pub fn spans_scheduling_groups(&self) -> bool {
        let own = &self.cards[self.rank].scheduling_group;
        self.companions().any(|card| card.scheduling_group != *own)
    }

    /// The number of cores on which they may run.
    pub fn cores(&self) -> usize {
        let mut all: Vec<u64> = Vec::new();
        for RankInfo { cores, .. } in self.companions() {
            all.resize(all.len().max(cores.len()), 0);
            all.iter_mut().zip(cores).for_each(|(all, own)| *all |= own);
        }
        all.iter().map(|word| word.count_ones() as usize).sum::<usize>().max(1)
    }
}

/// Divides hosts among those of their ranks that may share memory.
fn divide(hosts: &mut [usize], share: usize) {
    let mut seen = HashMap::new();
    let mut parts = HashMap::new();
    for host in hosts {
        let ranks: &mut usize = seen.entry(*host).or_default();
        let next = parts.len();
        let part = *parts.entry((*host, *ranks / share)).or_insert(next);
        *ranks += 1;
        *host = part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(host: &str, process: u32, cores: &[u64]) -> RankInfo {
        let (host, name) = (host.to_owned(), "node".to_owned());
        let network = format!("network of {host}");
        let (cores, scheduling_group) = (cores.to_vec(), String::new());
        RankInfo { host, network, name, process, started: 5, cores, scheduling_group }
    }

    #[test]
    fn hosts_are_divided() {
        let mut hosts = [0, 1, 0, 0, 1, 0];
        divide(&mut hosts, 2);
        assert_eq!(hosts, [0, 1, 0, 2, 1, 2]);
        divide(&mut hosts, 1);
        assert_eq!(hosts, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn cards_come_back_as_they_were() {
        let own = RankInfo::own();
        assert_eq!(RankInfo::read(&own.text()), Some(own));
        let mut many = card("a", 7, &[u64::MAX, 0, 1]);
        many.scheduling_group = "/a group".to_owned();
        assert_eq!(RankInfo::read(&many.text()), Some(many));
        for wrong in
            ["", "motet", "motet\na\nb\nc", "motet\na\nb\nc\n1\n", "motet\na\nb\nc\n1 2\nx\n"]
        {
            assert_eq!(RankInfo::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn all_that_see_the_same_are_on_one_host() {
        let cards = ["b", "a", "b", "c", "a"].map(|host| card(host, 1, &[3]));
        let host_map = HostMap::new(2, cards.to_vec());
        assert_eq!((host_map.hosts(), host_map.neighbours()), (3, vec![0, 2]));
        assert_eq!([0, 1, 2, 3, 4].map(|rank| host_map.host(rank)), [0, 1, 0, 2, 1]);
        assert_eq!((host_map.rank(), host_map.ranks(), host_map.rank_info(4).process), (2, 5, 1));
    }

    #[test]
    fn cores_of_a_host_are_those_of_all_its_ranks() {
        let cards = [card("a", 1, &[0b0011]), card("a", 2, &[0b0110, 1]), card("b", 3, &[!0])];
        let mut host_map = HostMap::new(0, cards.to_vec());
        assert_eq!((host_map.cores(), host_map.local_ranks()), (4, 2));
        host_map.divide(1);
        assert_eq!(
            (host_map.cores(), host_map.local_ranks(), host_map.neighbours()),
            (4, 2, vec![0])
        );
        assert_eq!(HostMap::new(0, vec![card("a", 1, &[])]).cores(), 1);
        let places: Vec<_> =
            (0..3).map(|rank| HostMap::new(rank, cards.to_vec()).local_rank()).collect();
        assert_eq!(places, [0, 1, 0]);
    }

    #[test]
    fn scheduling_groups_count_on_one_host_only() {
        let mut cards = ["a", "a", "b"].map(|host| card(host, 1, &[3]));
        let spans = |cards: &[RankInfo]| HostMap::new(0, cards.to_vec()).spans_scheduling_groups();
        assert!(!spans(&cards), "no groups");
        cards[2].scheduling_group = "/autogroup-7".to_owned();
        assert!(!spans(&cards), "of another host");
        cards[1].scheduling_group = "/autogroup-7".to_owned();
        assert!(spans(&cards));
        cards[0].scheduling_group = "/autogroup-7".to_owned();
        assert!(!spans(&cards), "one group");
    }

    #[test]
    fn a_process_has_started_once() {
        let own = started(std::process::id()).unwrap();
        assert_eq!(started(std::process::id()), Some(own));
        assert_eq!(started(u32::MAX), None);
    }
}
