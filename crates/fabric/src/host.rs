//! Facts about the host: cores, caches, memory and kernel.
//!
//! Motet uses these facts for its choices and shows them to the user, so a fact that cannot be
//! determined is unknown and never an error.

pub(crate) mod autogroup;
mod memory_group;
mod probe_cma;

use std::fs;
use std::path::Path;
use std::thread::available_parallelism;

use rustix::process::Resource;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

pub use autogroup::Autogroup;
pub use memory_group::MemoryGroup;
pub use probe_cma::probe_cma;

use crate::limits::limit_of;

/// The number of cores, counted in three ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cores {
    /// Cores that are online.
    pub online: Option<usize>,
    /// Cores on which this process may run.
    pub allowed: Option<usize>,
    /// Cores that can be used at the same time: those that are allowed, or fewer if a control group
    /// grants less time.
    pub usable: usize,
}

/// Counts the cores.
pub fn cores() -> Cores {
    let allowed = sched_getaffinity(None).ok().as_ref().map(CpuSet::count);
    let allowed = allowed.map(|count| count as usize);
    let usable = available_parallelism().map_or(1, usize::from);
    Cores { online: line("/sys/devices/system/cpu/online").and_then(count), allowed, usable }
}

/// The cores on which this thread may run, one bit each; empty if the system does not report them.
pub fn allowed() -> Vec<u64> {
    let Ok(cores) = sched_getaffinity(None) else { return Vec::new() };
    let mut words = vec![0; CpuSet::MAX_CPU.div_ceil(64)];
    for core in (0..CpuSet::MAX_CPU).filter(|&core| cores.is_set(core)) {
        words[core / 64] |= 1 << (core % 64);
    }
    let used = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
    words.truncate(used);
    words
}

/// These cores in the order in which they are assigned to ranks: where several are hardware threads
/// of one physical core, first one of each, or ranks would share one core while another is idle.
pub(crate) fn in_turns(cores: &[usize]) -> Vec<usize> {
    let path = |core| format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list");
    one_of_each(cores, |core| line(path(core)).as_deref().and_then(numbers))
}

/// As `in_turns`, where `siblings` returns the hardware threads of the same physical core.
fn one_of_each(cores: &[usize], siblings: impl Fn(usize) -> Option<Vec<usize>>) -> Vec<usize> {
    let before = |&core: &usize| {
        let siblings = siblings(core).unwrap_or_default();
        siblings.iter().filter(|&&other| other < core && cores.contains(&other)).count()
    };
    let mut ordered = cores.to_vec();
    ordered.sort_by_cached_key(before);
    ordered
}

/// Restricts this thread, and processes that it starts from now on, to one core.
///
/// # Errors
/// The error of the system if it refuses.
pub fn stay_on_one_core() -> std::io::Result<()> {
    let allowed = sched_getaffinity(None)?;
    let first = (0..CpuSet::MAX_CPU).find(|&core| allowed.is_set(core));
    let mut one = CpuSet::new();
    one.set(first.ok_or(rustix::io::Errno::INVAL)?);
    Ok(sched_setaffinity(None, &one)?)
}

/// The model of the processor.
pub fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    field(&text, "model name").map(str::to_owned)
}

/// Bytes of the second-level cache of a core.
pub fn second_level_cache() -> Option<usize> {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    let mut caches = caches.filter_map(|entry| Some(entry.ok()?.path()));
    let second = caches.find(|cache| line(cache.join("level")).as_deref() == Some("2"))?;
    cache_bytes(&line(second.join("size"))?)
}

/// Bytes of memory of the machine.
pub fn memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    kibibytes(field(&text, "MemTotal")?)
}

/// Bytes of a page.
pub fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// The version of the kernel.
pub fn kernel() -> Option<String> {
    line("/proc/sys/kernel/osrelease")
}

/// The system's settings of huge pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HugePages {
    /// When memory shared through a file gets huge pages: `never`, `advise`, `always`, ...
    pub shared: Option<String>,
    /// When private memory gets huge pages.
    pub private: Option<String>,
    /// Bytes of a reserved huge page.
    pub bytes: Option<u64>,
    /// How many huge pages are reserved.
    pub reserved: Option<u64>,
}

/// Reads the settings of huge pages.
pub fn huge_pages() -> HugePages {
    let folder = Path::new("/sys/kernel/mm/transparent_hugepage");
    let choice = |file| line(folder.join(file)).as_deref().and_then(chosen).map(str::to_owned);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    HugePages {
        shared: choice("shmem_enabled"),
        private: choice("enabled"),
        bytes: field(&memory, "Hugepagesize").and_then(kibibytes),
        reserved: field(&memory, "HugePages_Total").and_then(|text| text.parse().ok()),
    }
}

/// How far the Yama security module restricts reading another process: 0 for not at all. `None`
/// where there is no such module.
pub fn ptrace_scope() -> Option<u8> {
    line("/proc/sys/kernel/yama/ptrace_scope")?.parse().ok()
}

/// The most files that a process may open, and the most processes of this user. `None` means no
/// limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open files: the hard limit, up to which the process may raise its limit.
    pub files: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u64>,
}

/// Reads the limits.
pub fn limits() -> Limits {
    Limits {
        files: limit_of(Resource::Nofile).maximum,
        processes: limit_of(Resource::Nproc).current,
    }
}

/// The first line of a file, trimmed.
fn line(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}

/// The value of a key in lines of the form `key : value`.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    let mut values = pairs.filter(|(name, _)| name.trim() == key);
    values.next().map(|(_, value)| value.trim())
}

/// The bytes of a size of the form `123K` or `4M`.
fn cache_bytes(text: &str) -> Option<usize> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let shift = match unit {
        "K" => 10,
        "M" => 20,
        _ => return None,
    };
    number.parse::<usize>().ok()?.checked_mul(1 << shift)
}

/// The bytes of a size of the form `123 kB`.
fn kibibytes(text: &str) -> Option<u64> {
    text.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The word in brackets in a list of choices, as in `always [madvise] never`.
fn chosen(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(word, _)| word)
}

/// How many numbers a list such as `0-3,8` contains.
fn count(list: impl AsRef<str>) -> Option<usize> {
    numbers(list.as_ref()).map(|numbers| numbers.len())
}

/// The numbers of a list such as `0-3,8`.
fn numbers(list: &str) -> Option<Vec<usize>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some(first..=last)
    };
    let ranges: Option<Vec<_>> = list.split(',').map(range).collect();
    Some(ranges?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files below a folder, by their paths and texts: what a system may have to say.
    pub(super) fn files(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn lists_of_cores_are_counted() {
        assert_eq!(count("0"), Some(1));
        assert_eq!(count("0-3,8"), Some(5));
        assert_eq!(count("0-1,4-5,9"), Some(5));
        assert_eq!(count(""), None);
        assert_eq!(count("3-x"), None);
        assert_eq!(count("3-1"), None);
    }

    #[test]
    fn one_thread_of_each_core_comes_first() {
        let ordered = |cores: &[usize], lists: &[&str]| {
            one_of_each(cores, |core| {
                lists
                    .iter()
                    .filter_map(|list| numbers(list))
                    .find(|siblings| siblings.contains(&core))
            })
        };
        let side_by_side = ["0-1", "2-3", "4-5"];
        assert_eq!(ordered(&[0, 1, 2, 3, 4, 5], &side_by_side), [0, 2, 4, 1, 3, 5]);
        assert_eq!(ordered(&[1, 2, 3, 5], &side_by_side), [1, 2, 5, 3], "of those that are there");
        assert_eq!(ordered(&[0, 1, 2, 3], &["0,2", "1,3"]), [0, 1, 2, 3]);
        assert_eq!(ordered(&[0, 1, 4, 5, 6], &["0-1", "4", "5", "6"]), [0, 4, 5, 6, 1]);
        assert_eq!(ordered(&[7, 9], &[]), [7, 9], "the system says nothing");
        let mut all = in_turns(&[0, 1]);
        all.sort_unstable();
        assert_eq!(all, [0, 1]);
    }

    #[test]
    fn fields_and_choices_are_found() {
        let text = "MemTotal:       16 kB\nmodel name\t: A : B\nHugePages_Total:       3\n";
        assert_eq!(field(text, "MemTotal").and_then(kibibytes), Some(16_384));
        assert_eq!(field(text, "model name"), Some("A : B"));
        assert_eq!(field(text, "model"), None);
        assert_eq!(chosen("always [madvise] never"), Some("madvise"));
        assert_eq!(chosen("none"), None);
        assert_eq!(cache_bytes("1024K"), Some(1 << 20));
        assert_eq!(cache_bytes("2M"), Some(2 << 20));
        for unknown in ["", "K", "12", "x4K"] {
            assert_eq!(cache_bytes(unknown), None, "{unknown:?}");
        }
    }

    #[test]
    fn this_machine_has_cores_and_pages() {
        let cores = cores();
        assert!(cores.usable >= 1 && cores.allowed.is_none_or(|allowed| allowed >= cores.usable));
        assert!(page_bytes().is_power_of_two());
    }
}
