//! Daronpon's dispatcher in RTL (`hardware/src/main/scala/rackwright/daronpon`): set up and driven frame by frame, in the
//! place of the policy of a simulated switch, and beside the policy crate on the same frames.
//!
//! [`Model`] is what the unit has to be: the policy crate behind frames of bytes. [`exercise()`] gives both the same
//! arrivals and compares every byte that leaves.

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
