//! What parts of a simulated system hand to each other, whoever they are: commands of harts to units, and flits of links.

mod command;
mod flit;

pub use command::{Command, CommandContext};
pub use flit::{flits, flits_of, Flit, FLIT_BYTES};
