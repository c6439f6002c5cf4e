//! Daronpon's dispatcher in RTL (`hardware/src/main/scala/rackwright/daronpon`): configured and driven frame by frame,
//! in place of the policy of a simulated switch, and in comparison with the policy crate on the same frames.
//!
//! [`Model`] is the reference for the unit: the policy crate behind frames of bytes. [`exercise()`] passes the same
//! arrivals to both and compares every byte of output.

mod datapath;
mod error;
mod exercise;
mod inspect;
mod model;
mod registers;
mod rewrite;
mod switch;
mod unit;

pub use datapath::{Datapath, Dropped};
pub use error::DaronponError;
pub use exercise::{exercise, pace, Exercise};
pub use model::Model;
pub use switch::UnitDispatching;
pub use unit::Unit;
