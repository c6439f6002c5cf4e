//! What a run leaves behind: its [`Digest`] and its [`Counters`].

mod counters;
mod digest;

pub use counters::Counters;
pub use digest::Digest;
