//! RISC-V harts (RV64GC) and the models of their timing.

mod compressed;
mod decode;
mod float;
mod instruction;
mod operation;
mod timing;

pub use decode::decode;
pub use instruction::{Instruction, Register};
pub use operation::{Class, Operation};
pub use timing::{Boom, BoomBlock, BoomLatencies, BoomParameters, 
    FrontEnd, Latencies, MissPath, Rocket, RocketBlock, RocketParameters, divide_operands, BlockInstruction, BlockRun, Functional, Timing};
