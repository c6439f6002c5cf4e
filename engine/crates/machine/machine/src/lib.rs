//! A whole server: harts that share memory, devices between them, and the software they boot.
//!
//! [`Machine`] runs harts and devices in a fixed order, whatever the host does; [`Guest`] boots Linux on one and talks to it.

mod access;
mod checkpoint;
mod choice;
mod code;
mod error;
mod guest;
mod machine;
mod member;
mod parameters;

pub use access::perform;
pub use checkpoint::Checkpoint;
pub use choice::{FromHarts, HartChoice};
pub use code::DecodedPrograms;
pub use error::MachineError;
pub use guest::{Extras, Guest, Network, Progress, Request, SHOWN};
pub use machine::{Machine, Pause};
pub use parameters::{MachineParameters, MAXIMUM_HARTS};
