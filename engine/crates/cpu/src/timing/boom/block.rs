use super::parameters::{BoomLatencies, BoomParameters};
use crate::instruction::{Instruction, Register};
use crate::operation::{Class, Operation};
use crate::timing::BlockInstruction;

/// What an instruction does beyond taking a port for some cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Takes a number of cycles and nothing that others could be short of.
    Simple,
    /// Takes the port of the floating-point unit.
    Float,
    Load,
    Store,
    /// Executes at the head of the reorder buffer.
    Atomic,
    Multiply,
    Divide,
    /// Floating-point division: its unit takes nothing else meanwhile.
    FloatDivide,
    Branch,
    Call,
    Return,
    Jump,
    /// A direct jump: always predicted.
    Fixed,
    /// A call of a function in a register.
    CallRegister,
    /// Waits until memory accesses are done.
    Fence,
    /// Leaves for a unit when nothing before it can fail any more; what follows goes on.
    Command,
    /// Waits until everything is done, and everything waits for it.
    Serial,
    /// The same; instructions that are in the cache may be out of date.
    ForgetInstructions,
}

/// One instruction of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub action: Action,
    pub latency: u8,
    /// Places of its registers in the table of ready times.
    pub sources: [u8; 3],
    pub target: u8,
    /// Whether the instruction is the first one of the block in its line of the instruction cache.
    pub new_line: bool,
}

/// A block of instructions, prepared for the model.
#[derive(Clone, Debug)]
pub struct BoomBlock {
    pub(super) entries: Box<[Entry]>,
    /// Virtual and physical address of each instruction, and the address behind it.
    pub(super) addresses: Box<[Address]>,
}

/// Where an instruction is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    pub pc: u64,
    pub physical: u64,
    pub next: u64,
}

const LINE_BYTES: u64 = 64;

impl BoomBlock {
    pub(super) fn new(parameters: &BoomParameters, block: &[BlockInstruction]) -> BoomBlock {
        let mut line = None;
        let entries = block.iter().map(|place| {
            let new_line = line != Some(place.physical / LINE_BYTES);
            line = Some(place.physical / LINE_BYTES);
            entry(&parameters.latencies, &place.instruction, new_line)
        });
        let address = |place: &BlockInstruction| Address {
            pc: place.pc,
            physical: place.physical,
            next: place.pc + u64::from(place.instruction.length),
        };
        BoomBlock {
            entries: entries.collect(),
            addresses: block.iter().map(address).collect(),
        }
    }
}

fn entry(latencies: &BoomLatencies, instruction: &Instruction, new_line: bool) -> Entry {
    Entry {
        action: action(instruction),
        latency: latency(latencies, instruction) as u8,
        sources: instruction.sources().map(place),
        target: match instruction.destination() {
            Register::NONE => NOWHERE,
            register => place(register),
        },
        new_line,
    }
}

/// Size of the table of ready times: as many as an index of eight bits can name, so that no access needs a check.
pub(super) const PLACES: usize = 256;

/// Where the ready times of results go that nobody needs. It is not where absent operands are looked for.
const NOWHERE: u8 = u8::MAX;

fn place(register: Register) -> u8 {
    register.index() as u8
}

fn action(instruction: &Instruction) -> Action {
    match instruction.class() {
        Class::Load => Action::Load,
        Class::Store => Action::Store,
        Class::Atomic | Class::LoadReserved | Class::StoreConditional => Action::Atomic,
        Class::Multiply => Action::Multiply,
        Class::Divide => Action::Divide,
        Class::FloatDivide | Class::FloatRoot => Action::FloatDivide,
        Class::Branch => Action::Branch,
        Class::Jump if instruction.is_call() => Action::Call,
        Class::Jump => Action::Fixed,
        Class::JumpRegister if instruction.is_return() => Action::Return,
        Class::JumpRegister if instruction.is_call() => Action::CallRegister,
        Class::JumpRegister => Action::Jump,
        Class::Fence => Action::Fence,
        Class::FenceInstruction => Action::ForgetInstructions,
        Class::Custom => Action::Command,
        Class::Control | Class::System => Action::Serial,
        Class::FloatAdd
        | Class::FloatMultiply
        | Class::FloatFused
        | Class::FloatConvert
        | Class::FloatCompare
        | Class::FloatMove => Action::Float,
        _ => Action::Simple,
    }
}

fn latency(latencies: &BoomLatencies, instruction: &Instruction) -> u32 {
    match instruction.class() {
        Class::Load => latencies.load,
        Class::Atomic | Class::LoadReserved | Class::StoreConditional => latencies.atomic,
        Class::Multiply => latencies.multiply,
        Class::Divide => latencies.divide_least,
        Class::FloatAdd | Class::FloatMultiply | Class::FloatFused => latencies.float,
        Class::FloatDivide | Class::FloatRoot => match instruction.operation {
            Operation::FdivD | Operation::FsqrtD => latencies.float_divide_double,
            _ => latencies.float_divide_single,
        },
        Class::FloatConvert | Class::FloatCompare | Class::FloatMove => latencies.float_other,
        _ => 1,
    }
}
