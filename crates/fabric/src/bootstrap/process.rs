//! Liveness check: whether a process of this host still runs.
//!
//! A rank may be declared dead only on evidence, so what the system refuses to tell is no evidence.
//! That is why no descriptor of the process is asked for (`pidfd_open`): old kernels and sandboxes
//! refuse it, a rank may have no descriptor left, and a program may close those that are not its
//! own. A signal that is none (`kill(pid, 0)`) needs neither descriptor nor privilege.

use std::fs;

use crate::cma::is_gone;

/// A process, by its number and when it started, in ticks since the kernel has; 0 if that could not
/// be found out.
pub(super) type Process = (u32, u64);

/// Whether a process has certainly ended: there is none of this number, or it waits to be fetched
/// by its parent, or its number belongs to another one.
pub(super) fn has_ended((number, start): Process) -> bool {
    if is_gone(number) {
        return true;
    }
    // It may be that `/proc` cannot be read, for want of a descriptor, say: that tells nothing.
    let Some(seen) = Seen::of(number) else { return false };
    seen.has_ended || (start != 0 && seen.started != start)
}

/// When a process has started; nothing if that cannot be seen.
pub(super) fn started(number: u32) -> Option<u64> {
    Seen::of(number).map(|seen| seen.started)
}

/// What the system shows of a process.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    started: u64,
    /// Whether only its parent has not asked yet how it ended.
    has_ended: bool,
}

impl Seen {
    fn of(number: u32) -> Option<Seen> {
        Seen::read(&fs::read(format!("/proc/{number}/stat")).ok()?)
    }

    /// Reads a line of the form `77 (name) S 1 ...`, where the name may hold anything.
    fn read(line: &[u8]) -> Option<Seen> {
        let end_of_name = line.iter().rposition(|&byte| byte == b')')?;
        let fields = std::str::from_utf8(&line[end_of_name + 1..]).ok()?;
        let mut fields = fields.split_ascii_whitespace();
        let state = fields.next()?;
        let threads: u64 = fields.nth(16)?.parse().ok()?;
        let started = fields.nth(1)?.parse().ok()?;
        // The first thread may have ended while others run.
        let has_ended = matches!(state, "Z" | "X" | "x") && threads <= 1;
        Some(Seen { started, has_ended })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn this_process_runs_and_one_that_started_at_another_time_does_not() {
        let number = std::process::id();
        let start = started(number).unwrap();
        assert!(!has_ended((number, start)) && !has_ended((number, 0)));
        assert!(has_ended((number, start - 1)), "its number belongs to another one now");
    }

    #[test]
    fn who_waits_to_be_fetched_has_ended() {
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let process = (child.id(), started(child.id()).unwrap());
        assert!(!has_ended(process));
        child.kill().unwrap();
        while !has_ended(process) {
            std::thread::yield_now();
        }
        // It was seen although nobody has fetched it.
        assert!(!is_gone(process.0));
        child.wait().unwrap();
        assert!(has_ended(process));
    }

    #[test]
    fn lines_of_any_name_are_read() {
        let line = |name, state, threads| {
            format!("7 ({name}) {state} 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 {threads} 0 4711 8")
        };
        let seen = |name, state, threads| Seen::read(line(name, state, threads).as_bytes());
        let of = |has_ended| Some(Seen { started: 4711, has_ended });
        assert_eq!(seen("a) Z 1", "S", 1), of(false));
        assert_eq!(seen("a", "Z", 1), of(true));
        assert_eq!(seen("a", "Z", 2), of(false), "a thread of it runs");
        assert_eq!(Seen::read(b"7 (\xff) R 1 7"), None);
        assert_eq!(Seen::read(b""), None);
    }
}
