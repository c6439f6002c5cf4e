//! Host ports, which connect a simulated network to the machine that simulates it; and a network for one simulated
//! machine that needs no privileges there.
//!
//! Input from the machine arrives at arbitrary times, so that a run that uses a host port is not repeatable, unlike any
//! other.

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
