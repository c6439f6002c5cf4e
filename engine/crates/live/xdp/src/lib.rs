//! UDP over AF_XDP, in addition to the sockets of the kernel: frames for selected addresses are received in memory
//! shared with the kernel, without its network stack, and sent from there.
//!
//! A program of some forty BPF instructions, which [`program`] writes itself, is attached to a network interface for as
//! long as [`Attachment`] lives. It passes IPv4 frames with complete UDP datagrams for opened addresses to the program,
//! and everything else to the kernel. Only the kernel is needed: no compiler and no library.
//!
//! Neighbours are not resolved: a datagram can be sent to a machine from which a frame was received, by the reverse
//! path.

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
