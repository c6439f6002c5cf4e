//! UDP of the kernel in batches: many datagrams for one system call, and datagrams to one address as one
//! message that the kernel cuts (generic segmentation offload) or has joined (generic receive offload).
//!
//! Nothing here allocates after it was made, but for an outbox that meets more than it has met before.

#![expect(clippy::disallowed_methods, reason = "it waits in real time")]

mod inbox;
mod outbox;
mod poll;
mod socket;

pub use inbox::{Datagram, Inbox};
pub use outbox::{Outbox, Sent};
pub use poll::{Poll, Waker};
pub use socket::{Options, Socket};
