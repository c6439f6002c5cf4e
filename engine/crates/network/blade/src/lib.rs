//! Memory blades: servers that keep pages of memory for other servers, without a processor.
//!
//! A [`Blade`] has one port. Clients request it to [`Store`](Operation::Store) pages and to [`Fetch`](Operation::Fetch)
//! them again; the protocol is in `software/remote-memory/PROTOCOL.md`. [`Pages`] stores the pages and decides which
//! writes take effect, independent of network and time.

mod message;
mod model;
mod pages;

pub use message::{Malformed, Message, Operation, Status, PAGE_BYTES};
pub use model::{Blade, BladeCounters, BladeParameters};
pub use pages::Pages;
