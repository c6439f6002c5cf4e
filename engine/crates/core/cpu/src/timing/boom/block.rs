//! Blocks of instructions, prepared for the model.

use super::parameters::{BoomLatencies, BoomParameters};
use super::steps::{self, Step};
use crate::instruction::{Instruction, Register};
use crate::operation::Class;
use crate::timing::BlockInstruction;
use rackwright_memory::LINE_BYTES;

/// One instruction of a block, or an action between two of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<const EXPLAINED: bool> {
    pub step: Step<EXPLAINED>,
    /// Virtual address of an instruction; physical address of a line.
    pub address: u64,
    /// The instruction itself, if it belongs to the vector unit.
    pub word: u32,
    /// From its start to that of an instruction that needs its result.
    pub latency: u8,
    /// From its start to its commit.
    pub commit: u8,
    /// Bytes of the instruction.
    length: u8,
    /// Places of its registers in the table of ready times.
    pub sources: [u8; 3],
    pub target: u8,
    /// Which instruction of the block this is; [`NO_INSTRUCTION`] if it is none.
    pub index: u8,
    /// In which of the block's chunks the front end finds it.
    pub chunk: u8,
    /// Whether it begins in the packet before.
    pub split: bool,
}

/// Index for entries that are not instructions, and for no branch.
pub(super) const NO_INSTRUCTION: u8 = u8::MAX;

impl<const EXPLAINED: bool> Entry<EXPLAINED> {
    /// Address of the next instruction.
    #[inline(always)]
    pub(super) fn following(&self) -> u64 {
        self.address + u64::from(self.length)
    }

    /// The position at which the front end finds the instruction: its second half if the first half is in the previous
    /// packet.
    #[inline(always)]
    pub(super) fn site(&self) -> u64 {
        self.address + 2 * u64::from(self.split)
    }
}

/// A block of instructions, prepared for the model.
#[derive(Clone, Debug)]
pub struct BoomBlock<const EXPLAINED: bool = false> {
    pub(super) entries: Box<[Entry<EXPLAINED>]>,
    /// Its number of instructions.
    pub(super) instructions: usize,
}

impl<const EXPLAINED: bool> BoomBlock<EXPLAINED> {
    pub(super) fn new(parameters: &BoomParameters, block: &[BlockInstruction]) -> BoomBlock<EXPLAINED> {
        let mut entries = Vec::with_capacity(2 * block.len() + 2);
        let mut line = None;
        let mut packets = Packets::new(block.first().map_or(0, |first| first.pc));
        let mut chunk = 0;
        for (index, instruction) in block.iter().enumerate() {
            let (place, begins) = packets.place(instruction);
            chunk = place.chunk;
            let end = instruction.physical + u64::from(instruction.instruction.length) - 1;
            let lies_in = end / LINE_BYTES * LINE_BYTES;
            if line != Some(lies_in) {
                line = Some(lies_in);
                entries.push(between(steps::line, lies_in, chunk));
            }
            if begins {
                entries.push(between(steps::packet, 0, chunk));
            }
            entries.push(entry(&parameters.latencies, instruction, index, place));
        }
        entries.push(between(steps::end, 0, chunk));
        BoomBlock {
            entries: entries.into(),
            instructions: block.len(),
        }
    }

    /// The block up to the instruction before which a run of it ended.
    #[cold]
    pub(super) fn part(&self, executed: usize) -> BoomBlock<EXPLAINED> {
        let last = self
            .entries
            .iter()
            .rposition(|entry| usize::from(entry.index) + 1 == executed);
        let kept = last.map_or(&[][..], |last| &self.entries[..=last]);
        let chunk = kept.last().map_or(0, |entry| entry.chunk);
        let end = between(steps::end, 0, chunk);
        BoomBlock {
            entries: kept.iter().copied().chain([end]).collect(),
            instructions: executed,
        }
    }
}

/// Bytes that one bank of the front end fetches at a time, and bytes of all banks.
const CHUNK_BYTES: u64 = 8;
const PACKET_BYTES: u64 = 16;

/// The position at which the front end finds an instruction.
#[derive(Clone, Copy)]
struct Place {
    chunk: u8,
    split: bool,
}

/// The packets of a block that is entered at its start: of two chunks, or of one at the end of a line.
struct Packets {
    first_chunk: u64,
    /// Address after the packet.
    end: u64,
}

impl Packets {
    fn new(pc: u64) -> Packets {
        Packets {
            first_chunk: pc / CHUNK_BYTES,
            end: pc / CHUNK_BYTES * CHUNK_BYTES,
        }
    }

    /// The place of the next instruction, and whether a packet begins with it.
    fn place(&mut self, at: &BlockInstruction) -> (Place, bool) {
        let last = at.pc + u64::from(at.instruction.length) - 1;
        let begins = last >= self.end;
        let split = begins && at.pc < self.end && at.pc / CHUNK_BYTES >= self.first_chunk;
        if begins {
            let start = self.end.max(at.pc / CHUNK_BYTES * CHUNK_BYTES);
            self.end = (start + PACKET_BYTES).min((start / LINE_BYTES + 1) * LINE_BYTES);
        }
        let site = at.pc + 2 * u64::from(split);
        let chunk = (site / CHUNK_BYTES - self.first_chunk) as u8;
        (Place { chunk, split }, begins)
    }
}

fn between<const EXPLAINED: bool>(step: Step<EXPLAINED>, address: u64, chunk: u8) -> Entry<EXPLAINED> {
    Entry {
        step,
        address,
        word: 0,
        latency: 0,
        commit: 0,
        length: 0,
        sources: [0; 3],
        target: NOWHERE,
        index: NO_INSTRUCTION,
        chunk,
        split: false,
    }
}

fn entry<const EXPLAINED: bool>(
    latencies: &BoomLatencies,
    at: &BlockInstruction,
    index: usize,
    place: Place,
) -> Entry<EXPLAINED> {
    let instruction = &at.instruction;
    let latency = latency(latencies, instruction);
    Entry {
        step: step(instruction),
        address: at.pc,
        word: instruction.word,
        latency,
        commit: latency + writes_back(instruction),
        length: instruction.length,
        sources: instruction.sources().map(register_place),
        target: match instruction.destination() {
            Register::NONE => NOWHERE,
            register => register_place(register),
        },
        index: index as u8,
        chunk: place.chunk,
        split: place.split,
    }
}

/// Size of the table of ready times: the number of values of an index of eight bits, so that no access needs a check.
pub(super) const PLACES: usize = 256;

/// The place for the ready times of unused results. Absent operands are not looked up there.
const NOWHERE: u8 = u8::MAX;

fn register_place(register: Register) -> u8 {
    register.index() as u8
}

fn step<const EXPLAINED: bool>(instruction: &Instruction) -> Step<EXPLAINED> {
    match instruction.class() {
        Class::Load => steps::load,
        Class::Store if is_float(instruction.sources()[1]) => steps::store_float,
        Class::Store => steps::store,
        Class::LoadReserved => steps::reserve,
        Class::Atomic | Class::StoreConditional => steps::atomic,
        Class::Multiply => steps::multiply,
        Class::Divide => steps::divide,
        Class::FloatDivide | Class::FloatRoot => steps::float_divide,
        Class::Branch => steps::branch,
        Class::Jump if instruction.is_call() => steps::fixed::<true, EXPLAINED>,
        Class::Jump => steps::fixed::<false, EXPLAINED>,
        Class::JumpRegister if instruction.is_return() => steps::function_return,
        Class::JumpRegister if instruction.is_call() => steps::jump::<true, EXPLAINED>,
        Class::JumpRegister => steps::jump::<false, EXPLAINED>,
        Class::FenceInstruction => steps::serial::<true, EXPLAINED>,
        Class::Custom => steps::command,
        Class::Vector => steps::vector,
        Class::VectorLoad => steps::vector_access::<false, EXPLAINED>,
        Class::VectorStore => steps::vector_access::<true, EXPLAINED>,
        Class::Fence | Class::Control | Class::System => steps::serial::<false, EXPLAINED>,
        _ if is_integer_to_float(instruction) => steps::integer_to_float,
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
fn simple<const EXPLAINED: bool>(instruction: &Instruction) -> Step<EXPLAINED> {
    match instruction.sources() {
        [Register::NONE, Register::NONE, _] => steps::simple::<0, EXPLAINED>,
        [_, Register::NONE, _] => steps::simple::<1, EXPLAINED>,
        _ => steps::simple::<2, EXPLAINED>,
    }
}

fn is_float(register: Register) -> bool {
    register != Register::NONE && register.0 >= 32
}

/// Whether the instruction brings a value from the integer to the floating-point registers.
fn is_integer_to_float(instruction: &Instruction) -> bool {
    matches!(instruction.class(), Class::FloatConvert | Class::FloatMove)
        && !is_float(instruction.sources()[0])
}

fn latency(latencies: &BoomLatencies, instruction: &Instruction) -> u8 {
    match instruction.class() {
        Class::Load if is_float(instruction.destination()) => latencies.float_load,
        Class::Load | Class::LoadReserved => latencies.load,
        Class::Atomic | Class::StoreConditional => latencies.atomic,
        Class::Multiply => latencies.multiply,
        Class::Divide => latencies.divide,
        Class::FloatDivide => latencies.float_divide,
        Class::FloatRoot => latencies.float_root,
        _ if is_integer_to_float(instruction) => latencies.integer_to_float,
        Class::FloatAdd
        | Class::FloatMultiply
        | Class::FloatFused
        | Class::FloatConvert
        | Class::FloatCompare
        | Class::FloatMove => latencies.float,
        Class::Fence | Class::FenceInstruction => 0,
        _ => 1,
    }
}

/// Cycles from the start to the commit of an instruction that takes one cycle.
pub(super) const LEAST_COMMIT: u8 = 1 + WRITES_BACK;
const WRITES_BACK: u8 = 3;

/// Cycles from when an instruction's result can be used to its commit. A result is used before it is written back if
/// there is a bypass from the unit, as for units that take one cycle.
fn writes_back(instruction: &Instruction) -> u8 {
    match instruction.class() {
        Class::Load | Class::LoadReserved => 1,
        Class::Atomic | Class::StoreConditional => 2,
        Class::Integer | Class::Branch | Class::Jump | Class::JumpRegister => WRITES_BACK,
        Class::Control | Class::System | Class::Store => WRITES_BACK,
        _ => 0,
    }
}
