//! Devices of the Virtual I/O Device specification 1.2 on the PCI bus, with split rings.
//!
//! A [`Virtio`] is the function that a driver finds: registers, feature negotiation, rings, the interrupt. What becomes
//! of requests is the business of a [`Model`]. A driver that breaks a rule finds a device that needs a reset, and the
//! error is counted; nothing of the request is done.

mod block;
mod chain;
mod entropy;
mod fault;
mod network;
mod registers;
mod ring;
mod transport;

pub use block::Block;
pub use entropy::Entropy;
pub use network::network_header;
pub use registers::{Register, WINDOW};
pub use transport::{Virtio, NO_VECTOR};
