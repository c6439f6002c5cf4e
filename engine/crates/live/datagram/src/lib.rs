//! UDP of the kernel in batches: many datagrams for one system call, and datagrams to one address as one
//! message that the kernel cuts (generic segmentation offload) or has joined (generic receive offload).
//!
//! After construction, nothing here allocates, except for an outbox that has to grow.

#![expect(clippy::disallowed_methods, reason = "it waits in real time")]

mod inbox;
mod outbox;
mod poll;
mod socket;

pub use inbox::{Datagram, Inbox};
pub use outbox::{Outbox, Sent};
pub use poll::{Poll, Waker};
pub use socket::{Options, Socket};
