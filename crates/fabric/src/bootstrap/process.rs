//! Liveness check: whether a process of this host still runs.
//!
//! A rank may be declared dead only on evidence, and a refusal of the system is no evidence.
//! Therefore the check uses no descriptor of the process (`pidfd_open`): old kernels and sandboxes
//! refuse it, a rank may have no descriptor left, and a program may close descriptors that are not
//! its own. A null signal (`kill(pid, 0)`) needs neither a descriptor nor a privilege.

use std::fs;

use crate::cma::is_gone;

/// A process, by its number and its start, in ticks since the boot; 0 if the start is unknown.
pub(super) type Process = (u32, u64);

/// Whether a process has certainly ended: no process has this number, or it is a zombie, or another
/// process has its number.
pub(super) fn has_ended((number, start): Process) -> bool {
    if is_gone(number) {
        return true;
    }
    // `/proc` may be unreadable, for example for want of a descriptor: that proves nothing.
    let Some(seen) = Seen::of(number) else { return false };
    seen.has_ended || (start != 0 && seen.started != start)
}

/// When a process has started; `None` if that is not visible.
pub(super) fn started(number: u32) -> Option<u64> {
    Seen::of(number).map(|seen| seen.started)
}

/// What `/proc` shows of a process.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    started: u64,
    /// Whether it is a zombie.
    has_ended: bool,
}

impl Seen {
    fn of(number: u32) -> Option<Seen> {
        Seen::read(&fs::read(format!("/proc/{number}/stat")).ok()?)
    }

    /// Parses a line of the form `77 (name) S 1 ...`, where the name may contain any bytes.
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
    use crate::watchdog::Watchdog;
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
        let _watchdog = Watchdog::start();
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let process = (child.id(), started(child.id()).unwrap());
        assert!(!has_ended(process));
        child.kill().unwrap();
        while !has_ended(process) {
            std::thread::yield_now();
        }
        // The end was seen although the parent has not taken the status.
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
