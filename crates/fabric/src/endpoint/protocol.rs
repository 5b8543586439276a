//! How a message travels inside a host.

#[cfg(test)]
mod golden;
