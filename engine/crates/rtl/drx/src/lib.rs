//! The model of DRX, the unit that restructures data: its behaviour at the pins equals that of the hardware in every
//! cycle.
//!
//! Each file is a box of the hardware's contract page, with the state of its registers; a box's function `cycle` takes
//! the outputs of others in a cycle, returns its own outputs, and updates its state. The instructions are defined in
//! the table from which the hardware is elaborated ([`isa`]).

mod beats;
mod calculators;
mod chunk;
mod completion;
mod control;
mod executor;
mod fifo;
mod instruction;
/// The encoding of instructions.
pub mod isa;
mod load;
mod loops;
mod manifest;
mod number;
mod program;
mod repeater;
mod router;
mod scratchpad;
mod shape;
mod status;
mod step;
mod store;
mod transfer;
mod unit;
mod vector;
mod window;

pub use shape::Shape;
pub use unit::{design, Drx};
