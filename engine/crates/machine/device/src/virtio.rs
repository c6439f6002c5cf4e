//! Devices of the Virtual I/O Device specification 1.2 on the PCI bus, with split rings.
//!
//! A [`Virtio`] is the function that a driver finds: registers, feature negotiation, rings, the interrupt. A [`Model`]
//! executes the requests. If a driver violates a rule, the device needs a reset, and the error is counted; the request
//! has no effect.

mod block;
mod chain;
mod entropy;
mod fault;
mod neighbour;
mod network;
mod registers;
mod ring;
mod transport;

pub use block::Block;
pub use entropy::Entropy;
pub use network::{network_header, Network};
pub use registers::{Register, WINDOW};
pub use transport::{Virtio, NO_VECTOR};
