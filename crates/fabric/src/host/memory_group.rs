//! The control group that limits the memory of this process, as that of a container does.
//!
//! When the group is full, the kernel kills a process of it (SIGKILL), and only the group's
//! counters show that.

use std::fs;
use std::path::{Path, PathBuf};

/// The root directory of control groups.
const ROOT: &str = "/sys/fs/cgroup";
/// A value above this means no limit: version 1 of control groups has a number for that.
const UNLIMITED_MIN_BYTES: u64 = 1 << 60;

/// The group with the lowest limit among all groups of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryGroup {
    /// The limit in bytes of all its processes together.
    pub limit: u64,
    /// The file with the number of killed processes.
    events: PathBuf,
}

impl MemoryGroup {
    /// Finds the group; `None` if there is no limit.
    pub fn find() -> Option<MemoryGroup> {
        MemoryGroup::among(&fs::read_to_string("/proc/self/cgroup").ok()?, Path::new(ROOT))
    }

    /// How many processes the kernel has killed because this group was full.
    pub fn kills(&self) -> u64 {
        let text = fs::read_to_string(&self.events).unwrap_or_default();
        let mut counts = text.lines().filter_map(|line| line.strip_prefix("oom_kill "));
        counts.next().and_then(|count| count.trim().parse().ok()).unwrap_or_default()
    }

    /// Finds it by lines of the form `4:memory:/path`, or `0::/path` where there is one hierarchy.
    fn among(lines: &str, root: &Path) -> Option<MemoryGroup> {
        let fields = lines.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
        let groups = fields.filter_map(|(kinds, path)| {
            if kinds.is_empty() {
                lowest(root, path, ["memory.max", "memory.events"])
            } else if kinds.split(',').any(|kind| kind == "memory") {
                let files = ["memory.limit_in_bytes", "memory.oom_control"];
                lowest(&root.join("memory"), path, files)
            } else {
                None
            }
        });
        groups.min_by_key(|group| group.limit)
    }
}

/// The lowest limit from a group up to the root. The root that a container sees is its own group.
fn lowest(root: &Path, path: &str, [limit, events]: [&str; 2]) -> Option<MemoryGroup> {
    let own = root.join(path.trim_start_matches('/'));
    let groups = own.ancestors().take_while(|group| group.starts_with(root));
    let limited = groups.filter_map(|group| {
        let text = fs::read_to_string(group.join(limit)).ok()?;
        let limit = text.trim().parse().ok().filter(|&limit| limit < UNLIMITED_MIN_BYTES)?;
        Some(MemoryGroup { limit, events: group.join(events) })
    });
    limited.min_by_key(|group| group.limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tests::files;

    #[test]
    fn the_lowest_limit_counts() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let found = |lines: &str| MemoryGroup::among(lines, root);
        assert_eq!(found("0::/pod/job\n"), None);
        files(
            root,
            &[
                ("pod/memory.max", "268435456\n"),
                ("pod/memory.events", "low 0\noom 3\noom_kill 2\noom_group_kill 0\n"),
                ("pod/job/memory.max", "max\n"),
            ],
        );
        let group = found("0::/pod/job\n").unwrap();
        assert_eq!((group.limit, group.kills()), (256 << 20, 2));
        assert_eq!(found("1:name=systemd:/pod\n"), None);
        files(
            root,
            &[
                ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
                ("memory/job/memory.limit_in_bytes", "1048576\n"),
                ("memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n"),
            ],
        );
        let group = found("5:cpu,memory:/job\n0::/\n").unwrap();
        assert_eq!((group.limit, group.kills()), (1 << 20, 7));
        assert_eq!(found("5:memory:/\n"), None, "a number for no limit");
        assert_eq!(found("no lines"), None);
    }
}
