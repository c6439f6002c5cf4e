//! The state of a running simulation as bytes, for checkpoints.
//!
//! A part names each of its fields once, in [`State::pass`], and the same function writes the state and reads it back:
//! the two cannot differ. State is restored into a part that was built from the same description, so that parameters,
//! addresses and connections are not in it.

mod basic;
mod pass;

pub use pass::{Pass, State, StateError};
