//! The model of DRX, the unit that restructures data: it runs the programs that the hardware runs, and gives the same
//! bytes and the same status.
//!
//! What instructions are is in the table that the hardware is elaborated from ([`isa`]).

mod calculators;
mod instruction;
/// The encoding of instructions.
pub mod isa;
mod loops;
mod machine;
mod number;
mod scratchpad;

pub use instruction::Instruction;
pub use machine::{Ended, Machine, Shape, Status};
