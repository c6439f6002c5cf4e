//! Servers: harts, memory, caches and accelerators on one clock.
//!
//! A [`Bench`] is the smallest of them: one unit in RTL against memory, without a hart.

mod bench;
mod error;
mod guard;
mod unit;

pub use bench::Bench;
pub use error::ServerError;
pub use guard::Guard;
pub use unit::{AttachedUnit, Surroundings};
