//! Units in RTL with their connections, and a hart with the units beside it.
//!
//! An [`AttachedUnit`] is an instance of a design between the command path and the memory hierarchy. A [`Core`] is a
//! hart whose custom instructions reach such units. All kinds of machines consist of cores.

mod activity;
mod attached;
mod attachment;
mod beat;
mod clock;
mod commands;
mod core;
mod digest;
mod error;
mod frames;
mod guard;
mod interrupts;
mod landmarks;
mod observation;
mod observed;
mod pins;
mod ports;
mod reach;
mod record;
mod registers;
mod rocket;
mod rules;
mod sleep;
mod stall;
mod state;
mod streams;
mod surroundings;
mod wait;

pub use attached::AttachedUnit;
pub use attachment::{interrupts_processes, observe, Attachment, PlacedUnit, LINK_STREAMS};
pub use clock::UnitClock;
pub use commands::Commands;
pub use core::{counters, unit_counters, Core};
pub use error::UnitError;
pub use frames::SentFrame;
pub use guard::Guard;
pub use landmarks::{Access, Landmarks};
pub use observation::Observation;
pub use ports::MemoryPorts;
pub use reach::{assign, interrupt_word, names, FunctRange, Reach, REGISTER_PAGE};
pub use registers::Registers;
pub use rocket::RocketCores;
pub use sleep::{raised, Sleeper};
pub use stall::{Awaited, Stall};
pub use streams::Streams;
pub use surroundings::Surroundings;
pub use wait::{Asked, LastRequest, Wait};
