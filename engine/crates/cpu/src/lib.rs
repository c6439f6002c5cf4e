//! RISC-V harts (RV64GC) and the models of their timing.

mod instruction;
mod operation;
mod timing;

pub use instruction::{Instruction, Register};
pub use operation::{Class, Operation};
pub use timing::{divide_operands, BlockInstruction, BlockRun, Functional, Timing};
