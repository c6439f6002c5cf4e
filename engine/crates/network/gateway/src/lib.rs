//! Host ports: where a simulated network is joined to the machine that simulates it; and a network for one simulated machine
//! that needs no rights there.
//!
//! What comes in from the machine comes when it comes, so that a run with a host port in use is not
//! repeatable, unlike any other.

mod pace;
mod port;
mod tap;
pub mod user;
mod wire;

pub use pace::Pace;
pub use port::HostPort;
pub use tap::Tap;
pub use user::{UserCounters, UserNetwork};
pub use wire::{Socket, Wire};
