//! Time as types, so that a cycle of one clock cannot be added to another's by accident.
//!
//! A [`Cycle`] is an instant and [`Cycles`] a span, both counted by one clock; a [`Clock`] turns
//! them into [`Picosecond`]s, which every clock agrees on.

mod clock;
mod crossing;
mod cycle;

pub use clock::{Clock, ClockError, Picosecond};
pub use crossing::Crossing;
pub use cycle::{Cycle, Cycles};
