//! UDP over AF_XDP, beside the sockets of the kernel: frames for chosen addresses come into memory that is
//! shared with the kernel, without its network stack, and frames leave from there.
//!
//! A program of some forty BPF instructions, which [`program`] writes itself, is attached to a network
//! interface for as long as [`Attachment`] lives. It hands over IPv4 frames with whole datagrams of UDP for
//! addresses that were opened, and passes on everything else to the kernel. Nothing but the kernel is needed:
//! no compiler and no library.
//!
//! Neighbours are not looked up: a datagram can be sent to whom a frame was received from, by the way back.

mod attachment;
mod bpf;
mod checksum;
mod error;
mod frame;
mod incoming;
mod instruction;
mod interface;
mod memory;
mod outgoing;
pub mod program;
mod ring;
mod socket;

pub use attachment::{Attachment, Mode, Queue};
pub use error::XdpError;
pub use frame::{Arrived, Malformed, Neighbor, Route};
pub use incoming::Incoming;
pub use interface::Interface;
pub use outgoing::Outgoing;
pub use socket::Counts;
