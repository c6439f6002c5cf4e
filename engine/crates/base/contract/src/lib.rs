//! The data that parts of a simulated system exchange: commands of harts to units, flits of links, responses of ports,
//! and message-signalled interrupts.

mod command;
mod flit;
mod message;
mod port;

pub use command::{Command, CommandContext};
pub use flit::{flits, flits_of, Flit, FLIT_BYTES};
pub use message::{Level, Message, HIGHEST_IDENTITY};
pub use port::{Answer, Ticket, Tickets};

/// The page of registers of the first unit that has any; the pages of other units follow. Above all memory of a server,
/// and below its window of PCI Express.
pub const UNIT_REGISTERS: u64 = 1 << 40;
