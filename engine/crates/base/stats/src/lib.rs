//! What a run leaves behind: its [`Digest`], with the [`ContentSum`] of its memories, and its [`Counters`]; and who looks on
//! while it goes on.

mod content;
mod counters;
mod digest;
mod observer;

pub use content::{ContentHash, ContentSum};
pub use counters::Counters;
pub use digest::Digest;
pub use observer::UnitObserver;
