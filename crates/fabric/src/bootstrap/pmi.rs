//! Clients of the wire protocols PMI-1 and PMI-2.
//!
//! A launcher gives each rank a socket, at the other end of which a server answers one request
//! after another. Both protocols are text: PMI-1 has lines of fields with blanks between them,
//! PMI-2 has messages with a length prefix and semicolons between fields. Values are text without
//! blanks and of limited length, so Motet encodes its values as hexadecimal digits, in parts
//! (`values`).
//!
//! Answers of the server are untrusted: whatever the bytes are, the result is an answer or an
//! error, in bounded time and memory.

mod fields;
mod socket;
mod v1;
mod v2;
mod values;

pub(super) use socket::PmiSocket;
pub(super) use v1::PmiV1;
pub(super) use v2::PmiV2;

#[cfg(test)]
mod tests;
