//! A source file in three layers: the text, its code alone, and its comments alone.
//!
//! Rules about code must not trip over a word in a comment or a string, and rules about comments
//! must not trip over code. Both layers are as long as the text, byte for byte: what does not
//! belong to a layer is blanked, so an offset means the same place in all three.

use std::iter::successors;
use std::ops::Range;

/// A Rust file split into code and comments.
pub(crate) struct Source {
    /// Path from the workspace root, with `/` between its parts.
    pub(crate) path: String,
    /// The file as it is.
    pub(crate) text: String,
    /// Comments and the insides of string and character literals blanked.
    pub(crate) code: String,
    /// Everything except comments blanked.
    pub(crate) comments: String,
}

/// An identifier or keyword of the code layer.
#[derive(Clone, Copy)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) start: usize,
}

impl Word<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// An attribute, `#[...]` or `#![...]`.
pub(crate) struct Attribute {
    pub(crate) span: Range<usize>,
    pub(crate) inner: bool,
    /// What stands between the brackets, without white space.
    pub(crate) content: String,
}

/// A module that is compiled only for tests.
pub(crate) enum TestModule {
    /// `mod name { ... }`, with the place it takes.
    Inline(Range<usize>),
    /// `mod name;`, which lives in a file of its own.
    File(String),
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let mut lexer = Lexer::new(text);
        lexer.run();
        Source {
            path: path.to_owned(),
            text: text.to_owned(),
            code: lexer.code,
            comments: lexer.comments,
        }
    }

    /// The number of the line, from 1, that holds the byte at `offset`.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        1 + self.text[..offset].bytes().filter(|&byte| byte == b'\n').count()
    }

    /// Identifiers and keywords of the code, in order.
    pub(crate) fn words(&self) -> impl Iterator<Item = Word<'_>> {
        successors(next_word(&self.code, 0), |word| next_word(&self.code, word.end()))
    }

    /// The first character at or behind `offset` that is no white space.
    pub(crate) fn next_char(&self, offset: usize) -> Option<(usize, char)> {
        let rest = &self.code[offset..];
        let start = offset + (rest.len() - rest.trim_start().len());
        self.code[start..].chars().next().map(|c| (start, c))
    }

    /// The place just behind the bracket that closes the one at `open`.
    pub(crate) fn close_of(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for (at, byte) in self.code.bytes().enumerate().skip(open) {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
        }
        self.code.len()
    }

    pub(crate) fn attributes(&self) -> Vec<Attribute> {
        let mut found = Vec::new();
        for (hash, _) in self.code.match_indices('#') {
            let after = &self.code[hash + 1..];
            let inner = after.starts_with('!');
            let open = hash + 1 + usize::from(inner);
            if self.code[open..].starts_with('[') {
                let end = self.close_of(open);
                let content = &self.code[open + 1..end.saturating_sub(1).max(open + 1)];
                let content = content.split_whitespace().collect();
                found.push(Attribute { span: hash..end, inner, content });
            }
        }
        found
    }

    /// Modules behind `#[cfg(test)]` or `#[cfg(all(test, ...))]`.
    pub(crate) fn test_modules(&self) -> Vec<TestModule> {
        let attributes = self.attributes();
        let is_test =
            |a: &&Attribute| a.content == "cfg(test)" || a.content.starts_with("cfg(all(test,");
        attributes
            .iter()
            .filter(is_test)
            .filter_map(|a| self.module_behind(a, &attributes))
            .collect()
    }

    fn module_behind(&self, attribute: &Attribute, all: &[Attribute]) -> Option<TestModule> {
        let mut at = attribute.span.end;
        while let Some((next, '#')) = self.next_char(at) {
            at = all.iter().find(|a| a.span.start == next)?.span.end;
        }
        let mut words = successors(next_word(&self.code, at), |w| next_word(&self.code, w.end()));
        let visibility = ["pub", "crate", "super"];
        let keyword = words.find(|word| !visibility.contains(&word.text))?;
        let name = words.next()?;
        if keyword.text != "mod" {
            return None;
        }
        match self.next_char(name.end())? {
            (open, '{') => Some(TestModule::Inline(attribute.span.start..self.close_of(open))),
            (_, ';') => Some(TestModule::File(name.text.to_owned())),
            _ => None,
        }
    }

    /// Inline test modules only: the places that size rules leave out.
    pub(crate) fn test_spans(&self) -> Vec<Range<usize>> {
        let inline = |module| match module {
            TestModule::Inline(span) => Some(span),
            TestModule::File(_) => None,
        };
        self.test_modules().into_iter().filter_map(inline).collect()
    }
}

fn is_word_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn next_word(code: &str, from: usize) -> Option<Word<'_>> {
    let start = from + code[from..].find(is_word_char)?;
    let rest = &code[start..];
    let len = rest.find(|c| !is_word_char(c)).unwrap_or(rest.len());
    Some(Word { text: &rest[..len], start })
}

/// Which layer a piece of text belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Layer {
    Code,
    Comment,
    /// The inside of a literal: in neither layer.
    Literal,
}

/// Walks over a Rust text once, token by token as far as layers need it.
struct Lexer<'a> {
    rest: &'a str,
    code: String,
    comments: String,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
        let room = text.len();
        let (code, comments) = (String::with_capacity(room), String::with_capacity(room));
        Lexer { rest: text, code, comments }
    }

    fn run(&mut self) {
        while let Some(first) = self.rest.chars().next() {
            if self.rest.starts_with("//") {
                self.take(self.rest.find('\n').unwrap_or(self.rest.len()), Layer::Comment);
            } else if self.rest.starts_with("/*") {
                self.block_comment();
            } else if is_word_char(first) {
                self.word();
            } else if first == '"' {
                self.string();
            } else if first == '\'' {
                self.quote();
            } else {
                self.take(first.len_utf8(), Layer::Code);
            }
        }
    }

    /// Moves `len` bytes into their layer and blanks them in the others.
    fn take(&mut self, len: usize, layer: Layer) {
        let (piece, rest) = self.rest.split_at(len);
        let blank: String = piece
            .chars()
            .flat_map(|c| std::iter::repeat_n(if c == '\n' { c } else { ' ' }, c.len_utf8()))
            .collect();
        self.code.push_str(if layer == Layer::Code { piece } else { &blank });
        self.comments.push_str(if layer == Layer::Comment { piece } else { &blank });
        self.rest = rest;
    }

    /// Block comments nest.
    fn block_comment(&mut self) {
        let (mut depth, mut at) = (0_usize, 0);
        loop {
            let rest = &self.rest[at..];
            if rest.starts_with("/*") {
                (depth, at) = (depth + 1, at + 2);
            } else if rest.starts_with("*/") {
                (depth, at) = (depth - 1, at + 2);
            } else {
                at += rest.chars().next().map_or(0, char::len_utf8);
            }
            if depth == 0 || at >= self.rest.len() {
                return self.take(at, Layer::Comment);
            }
        }
    }

    /// A word, which may be the prefix of a literal (`b"`, `cr#"`) or of a raw identifier.
    fn word(&mut self) {
        let len = self.rest.find(|c| !is_word_char(c)).unwrap_or(self.rest.len());
        let word = &self.rest[..len];
        let after = &self.rest[len..];
        let hashes = after.len() - after.trim_start_matches('#').len();
        let raw_string = after[hashes..].starts_with('"');
        if word == "r" && hashes == 1 && !raw_string {
            self.raw_identifier();
        } else if matches!(word, "r" | "br" | "cr") && raw_string {
            self.take(len, Layer::Code);
            self.raw_string(hashes);
        } else if matches!(word, "b" | "c") && after.starts_with('"') {
            self.take(len, Layer::Code);
            self.string();
        } else {
            self.take(len, Layer::Code);
        }
    }

    /// `r#unsafe` is a name: it becomes `r_unsafe`, one word that is no keyword.
    fn raw_identifier(&mut self) {
        self.take("r#".len(), Layer::Literal);
        self.code.truncate(self.code.len() - "r#".len());
        self.code.push_str("r_");
    }

    fn raw_string(&mut self, hashes: usize) {
        let end = format!("\"{}", "#".repeat(hashes));
        self.take(hashes + 1, Layer::Code);
        self.take(self.rest.find(&end).unwrap_or(self.rest.len()), Layer::Literal);
        self.take(end.len().min(self.rest.len()), Layer::Code);
    }

    fn string(&mut self) {
        self.take(1, Layer::Code);
        self.literal_until('"');
    }

    /// A character literal or a lifetime: only the first has a closing quote.
    fn quote(&mut self) {
        self.take(1, Layer::Code);
        let mut ahead = self.rest.chars();
        let (first, second) = (ahead.next(), ahead.next());
        if first == Some('\\') || second == Some('\'') {
            self.literal_until('\'');
        }
    }

    /// Blanks up to `end`, minding escapes, and keeps `end` itself.
    fn literal_until(&mut self, end: char) {
        let mut escaped = false;
        let close = self.rest.find(|c| {
            let is_end = !escaped && c == end;
            escaped = !escaped && c == '\\';
            is_end
        });
        self.take(close.unwrap_or(self.rest.len()), Layer::Literal);
        self.take(end.len_utf8().min(self.rest.len()), Layer::Code);
    }
}

mod tests {
    use super::{Source, TestModule};

    fn code(text: &str) -> String {
        Source::new("sample.rs", text).code
    }

    #[test]
    fn comments_are_blanked_and_kept_apart() {
        let source = Source::new("sample.rs", "a // x\nb /* y /* z */ y */ c\n/// d\n");
        assert_eq!(source.code.split_whitespace().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(source.comments.lines().next(), Some("  // x"));
        assert!(source.comments.contains("/* y /* z */ y */"));
        assert_eq!(source.code.len(), source.text.len());
    }

    #[test]
    fn strings_of_every_kind_are_blanked() {
        assert_eq!(code(r#"f("a\"b", c)"#), r#"f("    ", c)"#);
        assert_eq!(code(r##"r#"a"b"# x"##), r##"r#"   "# x"##);
        assert_eq!(code("b\"ab\" br\"a\\\" cr\"a\" c\"a\""), "b\"  \" br\"  \" cr\" \" c\" \"");
        assert_eq!(code("\"// no comment\" y"), "\"             \" y");
        assert_eq!(code("\"a\nb\""), "\" \n \"");
    }

    #[test]
    fn characters_and_lifetimes_are_told_apart() {
        assert_eq!(code("'{' '\\'' b'\"' x"), "' ' '  ' b' ' x");
        assert_eq!(code("fn f<'a>(x: &'a str) {}"), "fn f<'a>(x: &'a str) {}");
        assert_eq!(code("'\\u{1F600}' 'é'"), "'         ' '  '");
    }

    #[test]
    fn a_raw_identifier_is_no_keyword() {
        let source = Source::new("sample.rs", "let r#unsafe = r#fn;");
        let words: Vec<_> = source.words().map(|word| word.text).collect();
        assert_eq!(words, ["let", "r_unsafe", "r_fn"]);
    }

    #[test]
    fn an_open_end_does_not_hang_or_panic() {
        for text in ["\"a", "r#\"a", "/* a", "'\\", "'", "b'", "r#", "#[", "#![a", "// a"] {
            let source = Source::new("sample.rs", text);
            assert_eq!(source.code.len(), text.len(), "{text}");
            assert!(source.attributes().len() < 2, "{text}");
        }
    }

    #[test]
    fn attributes_are_read_without_white_space() {
        let source =
            Source::new("sample.rs", "#![forbid( unsafe_code )]\n#[a = \"x]\"]\nfn f() {}");
        let attributes = source.attributes();
        let contents: Vec<_> = attributes.iter().map(|a| (a.inner, a.content.as_str())).collect();
        assert_eq!(contents, [(true, "forbid(unsafe_code)"), (false, "a=\"\"")]);
    }

    #[test]
    fn test_modules_are_found_inline_and_in_files() {
        let text = "#[cfg(test)]\n#[allow(x)]\npub(crate) mod tests {\n fn f() {}\n}\nfn g() {}\n\
                    #[cfg(all(test, unix))]\nmod laws;\n#[cfg(not(test))]\nmod other {}\n\
                    #[cfg(test)]\nfn h() {}\n";
        let source = Source::new("sample.rs", text);
        let modules = source.test_modules();
        assert_eq!(modules.len(), 2);
        assert!(
            matches!(&modules[0], TestModule::Inline(span) if &text[span.end..][..3] == "\nfn")
        );
        assert!(matches!(&modules[1], TestModule::File(name) if name == "laws"));
    }
}
