//! A complete server: harts that share memory, devices between them, and the software that they boot.
//!
//! [`Machine`] consists of [`Hardware`] and the [`Workload`] on it, which it runs in a fixed order, independent of the
//! host; [`Guest`] boots Linux on one and communicates with it.

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
mod processor;
mod state;
mod workload;

pub use access::perform;
pub use checkpoint::Checkpoint;
pub use choice::{FromHarts, HartChoice};
pub use code::DecodedPrograms;
pub use error::MachineError;
pub use guest::{Extras, Guest, Network, Progress, Request, SHOWN};
pub use hardware::Hardware;
pub use machine::Machine;
pub use parameters::{Interrupts, MachineParameters, MAXIMUM_HARTS};
pub use pause::Pause;
pub use privileged::Privileged;
pub use processor::Processor;
pub use workload::{Turn, Window, Workload};
