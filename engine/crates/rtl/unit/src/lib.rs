//! Units in RTL with their connections, and a hart with the units beside it.
//!
//! An [`AttachedUnit`] is an instance of a design between the command path and the memory hierarchy. A [`Core`] is a hart
//! whose custom instructions reach such units. Machines of every kind are made of cores.

mod attached;
mod attachment;
mod core;
mod digest;
mod error;
mod frames;
mod guard;
mod landmarks;
mod observed;
mod ports;
mod reach;
mod rules;
mod stall;
mod wait;

pub use attached::{AttachedUnit, Surroundings};
pub use attachment::{Attachment, PlacedUnit};
pub use core::{counters, unit_counters, Core};
pub use error::UnitError;
pub use frames::SentFrame;
pub use guard::Guard;
pub use landmarks::{Access, Landmarks};
pub use observed::observe;
pub use reach::{assign, names, FunctRange, Reach, REGISTER_PAGE};
pub use stall::{Awaited, Stall};
pub use wait::{Asked, LastRequest, Wait};
