//! Splits the output of a rank into whole lines.

use std::mem::take;

/// The longest line, in bytes, that is kept until its end arrives. A longer line is passed on in
/// pieces, between which lines of other ranks may appear.
pub const LONGEST_LINE: usize = 64 << 10;

const NEWLINE: u8 = b'\n';

/// One output stream of one rank.
pub(super) struct Lines {
    /// The prefix of each line; empty without labels.
    label: Vec<u8>,
    /// The beginning of a line whose end has not arrived.
    held: Vec<u8>,
    /// Whether the last bytes that were passed on did not end their line.
    inside: bool,
}

impl Lines {
    pub(super) fn new(label: Vec<u8>) -> Lines {
        Lines { label, held: Vec::new(), inside: false }
    }

    /// Takes the bytes that were read, and passes on the lines that are complete now.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut impl FnMut(&[u8])) {
        let last = bytes.iter().rposition(|&byte| byte == NEWLINE);
        let (whole, rest) = bytes.split_at(last.map_or(0, |at| at + 1));
        if !whole.is_empty() {
            self.release(out);
            self.pass(whole, out);
        }
        self.held.extend_from_slice(rest);
        if self.held.len() >= LONGEST_LINE {
            self.release(out);
        }
    }

    /// Whether part of a line is held back.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Passes on the part of a line that is held back.
    pub(super) fn release(&mut self, out: &mut impl FnMut(&[u8])) {
        let held = take(&mut self.held);
        self.pass(&held, out);
        self.held = held;
        self.held.clear();
    }

    /// The stream has ended, perhaps within a line. A labelled line gets a newline, so that the
    /// next label begins a line, too; without labels no byte is added.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(&[u8])) {
        self.release(out);
        if self.inside && !self.label.is_empty() {
            out(&[NEWLINE]);
            self.inside = false;
        }
    }

    fn pass(&mut self, bytes: &[u8], out: &mut impl FnMut(&[u8])) {
        if self.label.is_empty() {
            self.inside = bytes.last().map_or(self.inside, |&byte| byte != NEWLINE);
            return out(bytes);
        }
        for line in bytes.split_inclusive(|&byte| byte == NEWLINE) {
            if !self.inside {
                out(&self.label);
            }
            out(line);
            self.inside = !line.ends_with(&[NEWLINE]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes out for these pieces, and what only comes at the end.
    fn through(label: &str, pieces: &[&[u8]]) -> (Vec<u8>, Vec<u8>) {
        let mut lines = Lines::new(label.into());
        let (mut early, mut late) = (Vec::new(), Vec::new());
        for piece in pieces {
            lines.push(piece, &mut |bytes| early.extend_from_slice(bytes));
        }
        lines.finish(&mut |bytes| late.extend_from_slice(bytes));
        (early, late)
    }

    #[test]
    fn only_whole_lines_pass_before_the_end() {
        let (early, late) = through("", &[b"a", b"b\nc\xff\0", b"\nd", b"", b"e"]);
        assert_eq!(early, b"ab\nc\xff\0\n");
        assert_eq!(late, b"de");
    }

    #[test]
    fn each_line_has_one_label_and_the_last_one_an_end() {
        let (early, late) = through("[7] ", &[b"a\n\nb", b"c\nd", b"e"]);
        assert_eq!(early, b"[7] a\n[7] \n[7] bc\n");
        assert_eq!(late, b"[7] de\n");
        assert_eq!(through("[7] ", &[b"a\n"]).1, b"");
        assert_eq!(through("[7] ", &[]).1, b"");
    }

    #[test]
    fn a_line_without_end_comes_in_pieces_under_one_label() {
        let block = vec![b'x'; 10_000];
        let mut lines = Lines::new(b"[1] ".to_vec());
        let mut all = Vec::new();
        for _ in 0..1000 {
            lines.push(&block, &mut |bytes| all.extend_from_slice(bytes));
            assert!(lines.held.len() < LONGEST_LINE);
        }
        lines.push(b"\nz\n", &mut |bytes| all.extend_from_slice(bytes));
        assert_eq!(all.len(), b"[1] \n[1] z\n".len() + 10_000_000);
        assert!(all.starts_with(b"[1] xx") && all.ends_with(b"xx\n[1] z\n"));
    }

    #[test]
    fn what_was_shown_early_is_not_labelled_again() {
        let mut lines = Lines::new(b"[1] ".to_vec());
        let mut all = Vec::new();
        let mut out = |bytes: &[u8]| all.extend_from_slice(bytes);
        lines.push(b"your name? ", &mut out);
        assert!(lines.holds());
        lines.release(&mut out);
        assert!(!lines.holds());
        lines.push(b"thanks\n", &mut out);
        assert_eq!(all, b"[1] your name? thanks\n");
    }
}
