//! What is said on the standard error.

use std::fmt::Display;
use std::io::{self, Write};

/// Writes a line to the standard error, all of it at once. Ranks share that place, and whoever ends
/// a job may be ended by the launcher in the next moment: a line in parts would be mixed with those
/// of others, or cut off.
pub fn complain(line: impl Display) {
    let line = format!("{line}\n");
    // Nobody is left to be told that it cannot be written.
    let _ = io::stderr().write_all(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixDatagram;
    use std::process::{Command, Stdio};

    use super::complain;

    const CHILD: &str = "MOTET_TEST_OF_A_COMPLAINT";

    /// Each write to a socket of datagrams is one of them.
    #[test]
    fn a_line_is_written_at_once() {
        if env::var_os(CHILD).is_some() {
            complain(format_args!("rank {}: {} is {:?}", 3, "a part", ["one", "more"]));
            return;
        }
        let (here, there) = UnixDatagram::pair().unwrap();
        let program = env::current_exe().unwrap();
        let arguments = ["--exact", "--nocapture", "complaint::tests::a_line_is_written_at_once"];
        let ended = Command::new(program)
            .args(arguments)
            .env(CHILD, "1")
            .stdout(Stdio::null())
            .stderr(OwnedFd::from(there))
            .status();
        assert!(ended.unwrap().success());
        let mut line = [0; 200];
        let bytes = here.recv(&mut line).unwrap();
        assert_eq!(&line[..bytes], b"rank 3: a part is [\"one\", \"more\"]\n");
    }
}
