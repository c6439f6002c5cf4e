//! Blocks of instructions, prepared for the model.

use super::parameters::{BoomLatencies, BoomParameters};
use super::steps::{self, Step};
use crate::instruction::{Instruction, Register};
use crate::operation::{Class, Operation};
use crate::timing::BlockInstruction;
use rackwright_memory::LINE_BYTES;

/// One instruction of a block, or what has to be done between two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub step: Step,
    /// Virtual address of an instruction; physical address of a line.
    pub address: u64,
    pub latency: u8,
    /// Bytes of the instruction.
    length: u8,
    /// Places of its registers in the table of ready times.
    pub sources: [u8; 3],
    pub target: u8,
    /// Which instruction of the block this is; [`NO_INSTRUCTION`] if it is none.
    pub index: u8,
}

/// Index of what is not an instruction, and of no branch.
pub(super) const NO_INSTRUCTION: u8 = u8::MAX;

impl Entry {
    /// Address behind the instruction.
    #[inline(always)]
    pub(super) fn following(&self) -> u64 {
        self.address + u64::from(self.length)
    }
}

/// A block of instructions, prepared for the model.
#[derive(Clone, Debug)]
pub struct BoomBlock {
    pub(super) entries: Box<[Entry]>,
    /// How many instructions it has.
    pub(super) instructions: usize,
}

impl BoomBlock {
    pub(super) fn new(parameters: &BoomParameters, block: &[BlockInstruction]) -> BoomBlock {
        let mut entries = Vec::with_capacity(block.len() + 2);
        let mut line = None;
        for (index, instruction) in block.iter().enumerate() {
            let lies_in = instruction.physical / LINE_BYTES * LINE_BYTES;
            if line != Some(lies_in) {
                line = Some(lies_in);
                entries.push(between(steps::line, lies_in));
            }
            entries.push(entry(&parameters.latencies, instruction, index));
        }
        entries.push(between(steps::end, 0));
        BoomBlock {
            entries: entries.into(),
            instructions: block.len(),
        }
    }

    /// The block up to the instruction before which a run of it ended.
    #[cold]
    pub(super) fn part(&self, executed: usize) -> BoomBlock {
        let last = self
            .entries
            .iter()
            .rposition(|entry| usize::from(entry.index) + 1 == executed);
        let kept = last.map_or(&[][..], |last| &self.entries[..=last]);
        BoomBlock {
            entries: kept.iter().copied().chain([between(steps::end, 0)]).collect(),
            instructions: executed,
        }
    }
}

fn between(step: Step, address: u64) -> Entry {
    Entry {
        step,
        address,
        latency: 0,
        length: 0,
        sources: [0; 3],
        target: NOWHERE,
        index: NO_INSTRUCTION,
    }
}

fn entry(latencies: &BoomLatencies, at: &BlockInstruction, index: usize) -> Entry {
    let instruction = &at.instruction;
    Entry {
        step: step(instruction),
        address: at.pc,
        latency: latency(latencies, instruction) as u8,
        length: instruction.length,
        sources: instruction.sources().map(place),
        target: match instruction.destination() {
            Register::NONE => NOWHERE,
            register => place(register),
        },
        index: index as u8,
    }
}

/// Size of the table of ready times: as many as an index of eight bits can name, so that no access needs a check.
pub(super) const PLACES: usize = 256;

/// Where the ready times of results go that nobody needs. It is not where absent operands are looked for.
const NOWHERE: u8 = u8::MAX;

fn place(register: Register) -> u8 {
    register.index() as u8
}

fn step(instruction: &Instruction) -> Step {
    match instruction.class() {
        Class::Load => steps::load,
        Class::Store => steps::store,
        Class::Atomic | Class::LoadReserved | Class::StoreConditional => steps::atomic,
        Class::Multiply => steps::multiply,
        Class::Divide => steps::divide,
        Class::FloatDivide | Class::FloatRoot => steps::float_divide,
        Class::Branch => steps::branch,
        Class::Jump if instruction.is_call() => steps::fixed::<true>,
        Class::Jump => steps::fixed::<false>,
        Class::JumpRegister if instruction.is_return() => steps::function_return,
        Class::JumpRegister if instruction.is_call() => steps::jump::<true>,
        Class::JumpRegister => steps::jump::<false>,
        Class::Fence => steps::fence,
        Class::FenceInstruction => steps::serial::<true>,
        Class::Custom => steps::command,
        Class::Control | Class::System => steps::serial::<false>,
        Class::FloatAdd
        | Class::FloatMultiply
        | Class::FloatFused
        | Class::FloatConvert
        | Class::FloatCompare
        | Class::FloatMove => steps::float,
        _ => simple(instruction),
    }
}

/// Most integer instructions have one operand, or two.
fn simple(instruction: &Instruction) -> Step {
    match instruction.sources() {
        [Register::NONE, Register::NONE, _] => steps::simple::<0>,
        [_, Register::NONE, _] => steps::simple::<1>,
        _ => steps::simple::<2>,
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
