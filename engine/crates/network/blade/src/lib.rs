//! Memory blades: servers that keep pages of memory for other servers, without a processor.
//!
//! A [`Blade`] has one port. Clients ask it to [`Store`](Operation::Store) pages and to
//! [`Fetch`](Operation::Fetch) them again; the protocol is in `software/remote-memory/PROTOCOL.md`. What a
//! blade keeps, and which writes count, is [`Pages`], which knows neither network nor time.

mod message;
mod model;
mod pages;

pub use message::{Malformed, Message, Operation, Status, PAGE_BYTES};
pub use model::{Blade, BladeCounters, BladeParameters};
pub use pages::Pages;
