//! The model of DRX, the unit that restructures data: at its pins it does in every cycle what the hardware does.
//!
//! Each file is a box of the hardware's contract page, with what it holds in registers; a box's function `cycle` takes what
//! the others say in a cycle, gives what it says, and moves on. What instructions are is in the table that the hardware is
//! elaborated from ([`isa`]).

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
