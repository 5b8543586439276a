//! Classes and codes of errors that a program adds. (MPI 4.1 §9.5)

use std::collections::BTreeMap;
use std::fmt;

use super::{ErrorClass, ErrorKind, Result, recent};

/// The last code that the standard reserves. (`MPI_ERR_LASTCODE`)
pub(super) const LAST_PREDEFINED: i32 = 16383;
/// The most bytes of a text, and one for the end that C needs. (`MPI_MAX_ERROR_STRING`)
pub(super) const MAX_TEXT: usize = 512;

/// The number of an error, or of a class of errors: each class is the code of an error, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorCode(pub i32);

impl ErrorCode {
    /// The class of the standard that this code is, or to which it belongs
    /// ([`Error::code_with_text`](crate::Error::code_with_text)).
    pub fn class(self) -> Option<ErrorClass> {
        ErrorClass::from_code(self.0).or_else(|| recent::class_of(self))
    }

    /// A code of a class that keeps a text for [`ErrorCodes::text_of`]: the last 48 texts of the
    /// process are kept, and older codes have the text of their class. The text becomes one line
    /// of at most 511 bytes. The same text of the same class has the same code.
    ///
    /// ```
    /// use motet::{ErrorClass, ErrorCode, ErrorCodes};
    ///
    /// let code = ErrorCode::with_text(ErrorClass::Rank, "there is no rank 7");
    /// assert_eq!(code.class(), Some(ErrorClass::Rank));
    /// let text = ErrorCodes::new().text_of(code);
    /// assert_eq!(text.as_deref(), Some("MPI_ERR_RANK: there is no rank 7"));
    /// ```
    pub fn with_text(class: ErrorClass, text: &str) -> ErrorCode {
        recent::keep(class, text)
    }
}

impl From<ErrorClass> for ErrorCode {
    fn from(class: ErrorClass) -> ErrorCode {
        ErrorCode(class.code())
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The classes, codes and texts that a program has added to those of the standard.
///
/// The process has no such list by itself: a program that needs one keeps it.
///
/// ```
/// let mut codes = motet::ErrorCodes::new();
/// let weather = codes.add_class()?;
/// let storm = codes.add_code(weather)?;
/// codes.set_text(storm, "a storm is coming")?;
/// assert_eq!(codes.class_of(storm), Some(weather));
/// assert_eq!(codes.text_of(storm).as_deref(), Some("a storm is coming"));
/// # Ok::<(), motet::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorCodes {
    added: BTreeMap<ErrorCode, Added>,
    /// The last code that was given out. No code is given out twice, so that an old one is never
    /// mistaken for a new one.
    given: i32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Added {
    class: ErrorCode,
    text: String,
}

impl ErrorCodes {
    /// Only the classes of the standard.
    pub fn new() -> ErrorCodes {
        ErrorCodes::default()
    }

    /// Adds a class, which is a code as well. (`MPI_Add_error_class`)
    ///
    /// # Errors
    /// All numbers have been given out.
    pub fn add_class(&mut self) -> Result<ErrorCode> {
        let code = self.fresh()?;
        self.added.insert(code, Added { class: code, text: String::new() });
        Ok(code)
    }

    /// Adds a code to a class, of the standard or added. (`MPI_Add_error_code`)
    ///
    /// # Errors
    /// A code that is no class; all numbers have been given out.
    pub fn add_code(&mut self, class: ErrorCode) -> Result<ErrorCode> {
        if self.class_of(class) != Some(class) {
            return wrong(class, "is not a class of errors");
        }
        let code = self.fresh()?;
        self.added.insert(code, Added { class, text: String::new() });
        Ok(code)
    }

    /// Sets the text of an added class or code. (`MPI_Add_error_string`)
    ///
    /// # Errors
    /// A code that was not added; a text of more than 511 bytes.
    pub fn set_text(&mut self, code: ErrorCode, text: impl Into<String>) -> Result<()> {
        let text = text.into();
        if text.len() >= MAX_TEXT {
            let problem = format!("has {} bytes, but may have {}", text.len(), MAX_TEXT - 1);
            return Err(ErrorKind::Argument { which: "text of an error", problem }.into());
        }
        self.of_program(code)?.text = text;
        Ok(())
    }

    /// Removes an added class. (`MPI_Remove_error_class`)
    ///
    /// # Errors
    /// A class that was not added, or that has codes or a text.
    pub fn remove_class(&mut self, class: ErrorCode) -> Result<()> {
        if self.without_text(class)? != class {
            return wrong(class, "is a code and not a class");
        }
        if self.added.iter().any(|(&code, added)| added.class == class && code != class) {
            return wrong(class, "is a class that has codes: remove those first");
        }
        self.added.remove(&class);
        Ok(())
    }

    /// Removes an added code. (`MPI_Remove_error_code`)
    ///
    /// # Errors
    /// A code that was not added, that is a class, or that has a text.
    pub fn remove_code(&mut self, code: ErrorCode) -> Result<()> {
        if self.without_text(code)? == code {
            return wrong(code, "is a class and not a code");
        }
        self.added.remove(&code);
        Ok(())
    }

    /// Removes the text of an added class or code. (`MPI_Remove_error_string`)
    ///
    /// # Errors
    /// A code that was not added, or that has no text.
    pub fn remove_text(&mut self, code: ErrorCode) -> Result<()> {
        if self.of_program(code)?.text.is_empty() {
            return wrong(code, "has no text");
        }
        self.of_program(code)?.text.clear();
        Ok(())
    }

    /// The class of a code; `None` if there is no such code. (`MPI_Error_class`)
    pub fn class_of(&self, code: ErrorCode) -> Option<ErrorCode> {
        let added = self.added.get(&code).map(|added| added.class);
        added.or_else(|| code.class().map(ErrorCode::from))
    }

    /// The text of a code: the one that was set for an added code, the one that a code keeps, else
    /// the name and the meaning of its class. `None` if there is no such code. (`MPI_Error_string`)
    pub fn text_of(&self, code: ErrorCode) -> Option<String> {
        let added = self.added.get(&code).map(|added| added.text.clone());
        let predefined =
            || code.class().map(|class| format!("{}: {}", class.name(), class.description()));
        added.or_else(|| recent::text_of(code)).or_else(predefined)
    }

    /// The largest code there is. (`MPI_LASTUSEDCODE`)
    pub fn last_used(&self) -> ErrorCode {
        self.added.keys().next_back().copied().unwrap_or(ErrorCode(LAST_PREDEFINED))
    }

    fn fresh(&mut self) -> Result<ErrorCode> {
        let Some(next) = self.given.max(LAST_PREDEFINED).checked_add(1) else {
            let what = "one more code of errors";
            return Err(ErrorKind::NoMemory { what, bytes: size_of::<Added>() }.into());
        };
        self.given = next;
        Ok(ErrorCode(next))
    }

    /// The class of an added code without a text, which may be removed.
    fn without_text(&mut self, code: ErrorCode) -> Result<ErrorCode> {
        let Added { class, text } = self.of_program(code)?;
        if text.is_empty() {
            return Ok(*class);
        }
        wrong(code, "has a text: remove that first")
    }

    fn of_program(&mut self, code: ErrorCode) -> Result<&mut Added> {
        match self.added.get_mut(&code) {
            Some(added) => Ok(added),
            None => wrong(code, "was not added by the program"),
        }
    }
}

fn wrong<T>(code: ErrorCode, problem: &str) -> Result<T> {
    let problem = format!("{code} {problem}");
    Err(ErrorKind::Argument { which: "error code", problem }.into())
}
