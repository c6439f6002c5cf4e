//! What a run leaves behind: its [`Digest`], with the [`ContentSum`] of its memories, and its [`Counters`].

mod content;
mod counters;
mod digest;

pub use content::{ContentHash, ContentSum};
pub use counters::Counters;
pub use digest::Digest;
