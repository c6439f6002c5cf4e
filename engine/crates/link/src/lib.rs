//! Links between models: flits, and the windows in which they travel.
//!
//! A link of latency L lets both of its ends advance L cycles before they need anything from each
//! other. What crosses it in that time is a [`Window`]: only the valid flits, each with its cycle.

mod flit;
mod link;
mod window;

pub use flit::Flit;
pub use link::{Link, LinkError};
pub use window::Window;
