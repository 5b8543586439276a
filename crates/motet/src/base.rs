//! Values that all layers above pass around: errors, groups, hints.

pub(crate) mod collective_kind;
pub(crate) mod error;
pub(crate) mod group;
pub(crate) mod hints;
pub(crate) mod info;
pub(crate) mod status;
