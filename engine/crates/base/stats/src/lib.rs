//! The results of a run: its [`Digest`], with the [`ContentSum`] of its memories, and its [`Counters`]; and observers
//! of a run in progress.

mod content;
mod counters;
mod digest;
mod lanes;
mod observer;

pub use content::{ContentHash, ContentSum};
pub use counters::Counters;
pub use digest::Digest;
pub use observer::UnitObserver;
