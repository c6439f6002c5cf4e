//! A whole server: harts that share memory, devices between them, and the software they boot.
//!
//! [`Machine`] is [`Hardware`] and the [`Workload`] on it, which it runs in a fixed order, whatever the host does; [`Guest`]
//! boots Linux on one and talks to it.

mod access;
mod booted;
mod checkpoint;
mod choice;
mod code;
mod error;
mod guest;
mod hardware;
mod machine;
mod parameters;
mod pause;
mod privileged;
mod workload;

pub use access::perform;
pub use checkpoint::Checkpoint;
pub use choice::{FromHarts, HartChoice};
pub use code::DecodedPrograms;
pub use error::MachineError;
pub use guest::{Extras, Guest, Network, Progress, Request, SHOWN};
pub use hardware::Hardware;
pub use machine::Machine;
pub use parameters::{MachineParameters, MAXIMUM_HARTS};
pub use pause::Pause;
pub use privileged::Privileged;
pub use workload::{Turn, Window, Workload};
