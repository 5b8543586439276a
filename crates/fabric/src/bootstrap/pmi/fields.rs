//! Parser of the fields `name=value` of both PMI protocols.

use crate::Error;

/// The fields of one message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Parses a message. Parts that are no fields are skipped, as in other clients; `None` if the
    /// bytes are no text.
    pub(super) fn parse(bytes: &[u8], separator: char) -> Option<Fields> {
        let text = str::from_utf8(bytes).ok()?.trim_matches(['\n', '\r', '\0']);
        let pairs = text.split(separator).filter_map(|field| field.trim().split_once('='));
        Some(Fields(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()))
    }

    /// The value of a field, the first if there are several.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The value of a field that is a number.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.get(name)?.parse().ok()
    }

    /// The command of the message.
    pub(super) fn command(&self) -> &str {
        self.get("cmd").unwrap_or_default()
    }

    /// The error for this message in place of the expected one.
    pub(super) fn unexpected(&self, protocol: &str) -> Error {
        let command = self.command();
        Error::Environment(format!("its {protocol} server answers what was not asked: `{command}`"))
    }

    /// Whether the server reports success. No report means success.
    pub(super) fn is_success(&self) -> bool {
        self.get("rc").is_none_or(|code| code == "0")
    }

    /// The server's text about a failure.
    pub(super) fn complaint(&self) -> &str {
        let texts = ["errmsg", "msg", "rc"];
        texts.into_iter().find_map(|name| self.get(name)).unwrap_or("no reason given")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let fields = Fields::parse(b"cmd=get_result rc=0 value=(vector,(0,1,4))\n", ' ').unwrap();
        assert_eq!((fields.command(), fields.is_success()), ("get_result", true));
        assert_eq!(fields.get("value"), Some("(vector,(0,1,4))"));
        assert_eq!((fields.get("key"), fields.number("rc")), (None, Some(0)));
        let fields = Fields::parse(b"cmd=kvs-get-response;rc=-1;errmsg=no such key;", ';').unwrap();
        assert!(!fields.is_success());
        assert_eq!(fields.complaint(), "no such key");
    }

    #[test]
    fn what_is_no_field_is_passed_over_and_what_is_no_text_is_refused() {
        assert_eq!(Fields::parse(b"", ' '), Some(Fields::default()));
        assert_eq!(Fields::parse(b"  ready  \n", ' '), Some(Fields::default()));
        assert_eq!(Fields::parse(b"=\n", ' ').unwrap().get(""), Some(""));
        assert_eq!(Fields::parse(b"a=\xff\n", ' '), None);
    }
}
