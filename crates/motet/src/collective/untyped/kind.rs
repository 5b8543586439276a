//! Kind and call name of an untyped collective.

use super::collective::Collective;
use crate::base::collective_kind::{CollectiveKind, Form, collective_kinds};

macro_rules! kinds {
    ($($variant:ident = $($name:literal)*;)*) => {
        impl Collective<'_> {
            /// Returns the kind of the collective.
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
    /// Returns the name of the call in a form.
    pub(crate) fn call(&self, form: Form) -> &'static str {
        self.kind().call(form)
    }
}
