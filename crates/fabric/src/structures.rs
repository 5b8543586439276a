//! Structure types of this process: maps the signature of a structure to its number.
//!
//! A message tells the type of its elements by a [`TypeCode`], in which there is no room for all
//! that a structure consists of. So a process numbers the structures that it meets, its own and
//! those of its peers. What identifies a structure is its *signature*, a text that tells the type
//! and the place of each field: two structures are the same type if and only if their signatures
//! are equal, letter by letter. A rank introduces a structure to a peer, by its number and its
//! signature, before the first message of that type (`endpoint/introductions.rs`).

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use crate::TypeCode;

/// The most structures that a process can number. Further ones are [`TypeCode::NAMELESS`].
pub const STRUCTURES_MAX: usize = (1 << 14) - 3;

/// The structures of a process: at most [`STRUCTURES_MAX`], and none is ever removed.
struct Known {
    signatures: Vec<&'static str>,
    codes: Option<HashMap<&'static str, TypeCode>>,
}

static KNOWN: RwLock<Known> = RwLock::new(Known::nothing());

impl Known {
    const fn nothing() -> Known {
        Known { signatures: Vec::new(), codes: None }
    }

    fn find(&self, signature: &str) -> Option<TypeCode> {
        self.codes.as_ref()?.get(signature).copied()
    }

    /// The code of a signature, which gets a number if it has none and one is left.
    fn find_or_add(&mut self, signature: &str, is_strict: bool) -> TypeCode {
        if let Some(code) = self.find(signature) {
            return code;
        }
        if self.signatures.len() == STRUCTURES_MAX {
            return TypeCode::NAMELESS;
        }
        let code = TypeCode::of_structure(self.signatures.len() as u16, is_strict);
        let signature: &'static str = Box::leak(signature.into());
        self.signatures.push(signature);
        self.codes.get_or_insert_default().insert(signature, code);
        code
    }
}

/// The code of the structure with this signature, which determines whether any bytes are a value of
/// it or it is strict. [`TypeCode::NAMELESS`] if the process has [numbered](STRUCTURES_MAX) too
/// many.
pub fn code_of(signature: &str, is_strict: bool) -> TypeCode {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner).find(signature);
    known.unwrap_or_else(|| {
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        known.find_or_add(signature, is_strict)
    })
}

/// The signature of a structure, if this process has numbered it.
pub fn signature_of(code: TypeCode) -> Option<&'static str> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    known.signatures.get(code.number()).copied().filter(|_| code.is_structure())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_has_one_code() {
        let [one, two] = ["{0: a test; 1 byte}", "{0: another test; 1 byte}"];
        let codes = [code_of(one, false), code_of(two, true)];
        assert_ne!(codes[0], codes[1]);
        assert_eq!([code_of(one, false), code_of(two, true)], codes);
        assert_eq!(codes.map(signature_of), [Some(one), Some(two)]);
        assert_eq!(codes.map(TypeCode::is_strict), [false, true]);
        let marks = [TypeCode::NAMELESS, TypeCode::SPOILED, TypeCode::OPERATOR_FAILED];
        let mut others = [TypeCode::BYTES, TypeCode(0x501)].into_iter().chain(marks);
        assert!(others.all(|code| signature_of(code).is_none()));
    }

    #[test]
    fn structures_beyond_the_last_number_have_no_name() {
        let mut known = Known::nothing();
        let codes: Vec<_> =
            (0..STRUCTURES_MAX).map(|at| known.find_or_add(&at.to_string(), at % 2 == 1)).collect();
        assert!(codes.iter().enumerate().all(|(at, code)| code.number() == at));
        assert_eq!(known.find_or_add("one more", false), TypeCode::NAMELESS);
        assert_eq!(known.find_or_add("7", true), codes[7]);
    }
}
