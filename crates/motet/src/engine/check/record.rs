//! A record tells another rank of one collective call.

/// The longest record in bytes: it fits a cell of every eager ring.
pub(crate) const RECORD_MAX_BYTES: usize = 512;
/// Words of 8 bytes before the text.
const WORDS: usize = 10;
const TEXT_AT: usize = WORDS * 8;

/// The kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A call.
    Call,
    /// A call whose arguments were refused: the text says why.
    Refused,
    /// The communicator has been freed.
    Freed,
    /// A mismatch of two calls: the text names them.
    Verdict,
}

impl Kind {
    fn from_word(word: u64) -> Option<Kind> {
        [Kind::Call, Kind::Refused, Kind::Freed, Kind::Verdict]
            .into_iter()
            .find(|&kind| kind as u64 == word)
    }
}

/// One call of one rank, as sent to another rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) communicator: u64,
    pub(crate) number: u64,
    pub(crate) kind: Kind,
    /// The fingerprint of the arguments that must be equal on all ranks.
    pub(crate) fingerprint: u64,
    /// The fingerprint of the group that the call takes; 0, of an empty one, agrees with every
    /// other.
    pub(crate) group: u64,
    /// The fingerprint of the arguments that must be equal on all members of the group; 0 agrees
    /// with every other.
    pub(crate) shared: u64,
    /// Whether the receiver of the record is in the group.
    pub(crate) includes: bool,
    /// The type of the elements; 0 agrees with every other.
    pub(crate) element: u64,
    /// The fingerprint of the data that the sender of the record sends to its receiver in this
    /// call.
    pub(crate) sends: u64,
    /// The fingerprint of the data that it expects from its receiver.
    pub(crate) expects: u64,
    /// The call with its arguments and source line, for people.
    pub(crate) text: String,
}

impl Record {
    /// Encodes it. A text that is too long is cut at its end.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let words = [
            self.communicator,
            self.number,
            self.kind as u64,
            self.fingerprint,
            self.group,
            self.shared,
            u64::from(self.includes),
            self.element,
            self.sends,
            self.expects,
        ];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let end = self.text.floor_char_boundary(RECORD_MAX_BYTES - TEXT_AT);
        bytes.extend_from_slice(&self.text.as_bytes()[..end]);
        bytes
    }

    /// Decodes it; `None` if the bytes are no record.
    pub(crate) fn read(bytes: &[u8]) -> Option<Record> {
        let (head, text) = bytes.split_at_checked(TEXT_AT)?;
        let (head, _) = head.as_chunks();
        let word = |at: usize| u64::from_le_bytes(head[at]);
        Some(Record {
            communicator: word(0),
            number: word(1),
            kind: Kind::from_word(word(2))?,
            fingerprint: word(3),
            group: word(4),
            shared: word(5),
            includes: word(6) != 0,
            element: word(7),
            sends: word(8),
            expects: word(9),
            text: String::from_utf8_lossy(text).into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(text: &str) -> Record {
        let (kind, text) = (Kind::Refused, text.to_owned());
        let (fingerprint, element, sends, expects) = (u64::MAX, 2, 3, 4);
        let (communicator, number) = (1 << 60, 7);
        Record {
            communicator,
            number,
            kind,
            fingerprint,
            group: 5,
            shared: 6,
            includes: true,
            element,
            sends,
            expects,
            text,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for text in ["", "bcast at a.rs:1", "× é"] {
            assert_eq!(Record::read(&record(text).to_bytes()), Some(record(text)));
        }
    }

    #[test]
    fn a_long_text_loses_its_end() {
        let bytes = record(&"×".repeat(RECORD_MAX_BYTES)).to_bytes();
        assert!(bytes.len() <= RECORD_MAX_BYTES);
        let read = Record::read(&bytes).unwrap();
        assert_eq!(read.text, "×".repeat((RECORD_MAX_BYTES - TEXT_AT) / 2));
    }

    #[test]
    fn what_is_no_record_is_not_read() {
        assert_eq!(Record::read(&[0; TEXT_AT - 1]), None);
        let mut bytes = record("").to_bytes();
        bytes[16] = 9;
        assert_eq!(Record::read(&bytes), None);
    }
}
