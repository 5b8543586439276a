//! Which collective a call is of.

use super::collective::Collective;
use crate::base::collective_kind::{CollectiveKind, Form, collective_kinds};

macro_rules! kinds {
    ($($variant:ident = $($name:literal)*;)*) => {
        impl Collective<'_> {
            /// Which collective it is.
            pub fn kind(&self) -> CollectiveKind {
                match self {
                    $(Collective::$variant { .. } => CollectiveKind::$variant,)*
                }
            }
        }
    };
}

collective_kinds!(kinds);

impl Collective<'_> {
    /// The name of the call in a form.
    pub(crate) fn call(&self, form: Form) -> &'static str {
        self.kind().call(form)
    }
}
