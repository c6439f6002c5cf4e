//! Servers: harts, memory, caches and accelerators on one clock.
//!
//! A [`Server`] runs one program on a hart with units in RTL beside it. A [`Bench`] is the smallest
//! machine: one unit against memory, without a hart.

mod bare;
mod bench;
mod boot;
mod card;
mod carded;
mod error;
mod linked;
mod linux;
mod network;
mod networked;
mod nic;
mod pager;
mod program;
mod program_server;
mod reported;
mod run;
mod server;
mod stamps;
mod user;
mod width;

pub use bare::BARE_METAL_BYTES;
pub use bench::Bench;
pub use card::CardFeatures;
pub use carded::LinuxStart;
pub use error::ServerError;
pub use linux::{LinuxConfig, LinuxServer};
pub use network::NetworkConfig;
pub use networked::NetworkedServer;
pub use nic::REGISTERS as NIC_REGISTERS;
pub use program_server::{ProgramConfig, ProgramServer};
pub use rackwright_cpu::{CpuModel, ServerParameters};
pub use rackwright_machine::DecodedPrograms;
pub use rackwright_unit::{
    AttachedUnit, Guard, LastRequest, PlacedUnit, SentFrame, Surroundings, UnitError, Wait,
};
pub use reported::{Output, Reported};
pub use run::Progress;
pub use server::{Server, ServerConfig, USER_BYTES};
pub use stamps::{Event, Moment, Stamp};
pub use user::{user_guest, UserConfig};
