//! RISC-V harts (RV64GC with machine, supervisor and user mode, and the vector extension) and the models of their timing.
//!
//! A [`Hart`] runs code in a guest memory. It decodes blocks of instructions once and caches them; it stops if a
//! decision of the caller is needed ([`Stop`]): environment calls, custom instructions, accesses to devices. Time is
//! the business of its [`Timing`] model, which it is generic over.

mod access;
mod address;
mod block;
mod cause;
mod chunks;
mod code;
mod compressed;
mod control;
mod counters;
mod decode;
mod device;
mod feature;
mod fetch;
mod float;
mod handlers;
mod hart;
mod imsic;
mod instruction;
mod lower;
mod model;
mod operation;
mod outside;
mod protection;
mod reply;
mod saved;
mod server;
mod sharing;
mod state;
mod stop;
mod system;
mod thread;
mod timing;
mod translations;
mod trap;
mod vector;
mod view;

pub use address::Privilege;
pub use cause::{Cause, Exception, Fault, Interrupt};
pub use code::SharedCode;
pub use control::Control;
pub use counters::Counters;
pub use decode::decode;
pub use device::DeviceAccess;
pub use feature::Feature;
pub use hart::{ExecutionEnvironment, Hart};
pub use instruction::{Instruction, Register};
pub use model::{CpuModel, UnknownCpu};
pub use operation::{Class, Operation};
pub use reply::Reply;
pub use saved::{Registers, SavedHart};
pub use server::ServerParameters;
pub use sharing::Sharing;
pub use state::State;
pub use stop::{CustomInstruction, Stop};
pub use thread::Thread;
pub use timing::{
    Accounts, BlockInstruction, BlockRun, Boom, BoomBlock, BoomLatencies, BoomMisses, BoomParameters,
    DivideOperands, FloatDivideLatencies, FrontEnd, Functional, Latencies, MissPath, MultiplyLatencies,
    Replaced, Rocket, RocketBlock, RocketParameters, Timing, VectorParameters, VectorRun, FAILED_STORE,
};
pub use vector::VectorRegisters;
pub use view::{Trap, View};
