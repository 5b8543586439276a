//! What is said on the standard error, and how texts of users are shown there.

use std::fmt::{self, Display, Write as _};
use std::io::{self, Write};

/// Writes a line to the standard error, all of it at once. Ranks share that place, and whoever ends
/// a job may be ended by the launcher in the next moment: a line in parts would be mixed with those
/// of others, or cut off. The line stays one, whatever is in it: see [`printable`].
pub fn log_line(line: impl Display) {
    let line = format!("{}\n", printable(line));
    // Nobody is left to be told that it cannot be written.
    let _ = io::stderr().write_all(line.as_bytes());
}

/// A text that stays within its line and leaves a terminal alone, with escapes for characters that
/// would not. Names, hints, arguments and paths are what a user has made them; one with a line
/// break could otherwise say anything in the name of the library. What has no such characters is
/// shown as it is, so a text may go through this more than once.
pub fn printable(text: impl Display) -> impl Display {
    Printable(text)
}

struct Printable<T>(T);

impl<T: Display> Display for Printable<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(out), "{}", self.0)
    }
}

/// Writes what it is given, with escapes.
struct Escaping<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl fmt::Write for Escaping<'_, '_> {
    fn write_str(&mut self, mut text: &str) -> fmt::Result {
        while let Some(at) = text.find(breaks_out) {
            self.0.write_str(&text[..at])?;
            let mut rest = text[at..].chars();
            let found = rest.next().expect("one was found");
            write!(self.0, "{}", found.escape_default())?;
            text = rest.as_str();
        }
        self.0.write_str(text)
    }
}

/// Whether a character moves the cursor, ends a line or changes the order in which others are
/// shown: control characters, line and paragraph separators, marks of direction.
fn breaks_out(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixDatagram;
    use std::process::{Command, Stdio};

    use super::{log_line, printable};

    const CHILD: &str = "MOTET_TEST_OF_A_COMPLAINT";

    /// Each letter that is a byte, and those that turn a line around.
    #[test]
    fn what_breaks_out_of_a_line_is_escaped() {
        for byte in 0..=u8::MAX {
            let shown = printable(char::from(byte)).to_string();
            match byte {
                0..0x20 | 0x7f..0xa0 => assert!(shown.starts_with('\\'), "{byte:#x}: {shown:?}"),
                _ => assert_eq!(shown, char::from(byte).to_string()),
            }
        }
        let name = "x\u{1b}[31m\nmotet: rank 7\r\t\u{202e}\u{2028}";
        let shown = r"x\u{1b}[31m\nmotet: rank 7\r\t\u{202e}\u{2028}";
        assert_eq!(printable(name).to_string(), shown);
        assert_eq!(printable(printable(name)).to_string(), shown, "once is enough");
        let harmless = r#"é ∘ 日本 "quoted" \ 'x'"#;
        assert_eq!(printable(harmless).to_string(), harmless);
    }

    /// Each write to a socket of datagrams is one of them.
    #[test]
    fn a_line_is_written_at_once() {
        if env::var_os(CHILD).is_some() {
            log_line(format_args!("rank {}: {} is {:?}", 3, "a\npart", ["one", "more"]));
            return;
        }
        let (here, there) = UnixDatagram::pair().unwrap();
        let program = env::current_exe().unwrap();
        let arguments = ["--exact", "--nocapture", "stderr::tests::a_line_is_written_at_once"];
        let ended = Command::new(program)
            .args(arguments)
            .env(CHILD, "1")
            .stdout(Stdio::null())
            .stderr(OwnedFd::from(there))
            .status();
        assert!(ended.unwrap().success());
        let mut line = [0; 200];
        let bytes = here.recv(&mut line).unwrap();
        assert_eq!(&line[..bytes], b"rank 3: a\\npart is [\"one\", \"more\"]\n");
    }
}
