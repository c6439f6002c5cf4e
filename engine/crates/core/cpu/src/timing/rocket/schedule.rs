//! The static part: when the instructions of a block retire if every access hits and the front end keeps up.

use super::instructions::{
    awaits_vector, float_depth, is_access, is_acquire, is_float_arithmetic, is_release, registers,
    uses_multiplier,
};
use super::parameters::Latencies;
use super::predictor::{Flow, PACKET_BYTES};
use crate::instruction::{Instruction, Register};
use crate::operation::{Class, Operation};
use crate::timing::BlockInstruction;

/// The events that the dynamic part has to handle, in program order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Instructions from a line of the instruction cache, at this physical address.
    Line(u64),
    Load,
    Store,
    /// A read-modify-write, or a store-conditional.
    Atomic,
    /// A multiplication of all bits, for its low half.
    Multiply(Slack),
    /// A multiplication of the low 32 bits.
    MultiplyWord(Slack),
    /// A multiplication for its high half.
    MultiplyHigh,
    Divide(Slack),
    /// A vector instruction, this word, that stays in the registers.
    Vector(u32, Register),
    /// A vector load.
    VectorLoad(u32),
    /// A vector store.
    VectorStore(u32),
    /// An access of which the vector unit may still have some requests to send.
    AwaitVector,
    /// A conditional branch.
    Branch,
    /// Instructions that are in the cache may be out of date.
    ForgetInstructions,
}

/// A result that may be later than scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slack {
    /// Number of cycles before an instruction in the block depends on it; `None` if no instruction in the block does.
    pub cycles: Option<u16>,
    pub register: Register,
}

/// An [`Event`] with its place in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub event: Event,
    /// Which instruction it belongs to.
    pub index: u8,
    /// Packets of the front end from the block's first to the one with the instruction's last half.
    pub packet: u8,
    /// Retirement of the instruction, relative to the block's first.
    pub offset: u16,
    /// Whether the previous packet has its first half: if it is refetched, it is decoded a cycle later, because the
    /// decoder accepts nothing from the front end while it waits.
    pub split: bool,
    /// Whether the next access is split, and waits for the cache if this one misses, not for its result.
    pub before_split: bool,
}

/// A result that is ready late, after at least a few cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LateResult {
    pub index: u8,
    pub register: Register,
    /// When an instruction that needs it may retire, relative to the block's first retirement.
    pub ready: u16,
}

/// How the last instruction leaves a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// On to the next address, unless it is a branch that is taken.
    Sequential,
    /// By an unconditional jump.
    Jump { flow: Flow, indirect: bool },
}

/// The static schedule of a block of instructions.
#[derive(Clone, Debug)]
pub struct RocketBlock {
    pub(super) steps: Box<[Step]>,
    pub(super) late: Box<[LateResult]>,
    /// When registers defined elsewhere are first needed, relative to the first retirement.
    pub(super) needs: Box<[(Register, u8)]>,
    pub(super) instructions: Box<[Placed]>,
    pub(super) exit: Exit,
    /// Whether it has to wait for lines that the vector unit has requested.
    pub(super) awaits_vector: bool,
}

/// An instruction's place in address space and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// Address of its last half, by which the front end knows a jump.
    pub end: u64,
    /// Retirement, relative to the block's first.
    pub offset: u16,
    /// As [`Step::packet`].
    pub packet: u8,
    /// Cycles after it in which no instruction retires.
    pub after: u8,
    /// Whether it is the second one of a packet, decoded while the next packet arrives.
    pub buffered: bool,
}

/// The part of a block in which results of earlier blocks are checked; the longest latency.
const NEEDS_HORIZON: u32 = 64;

/// Represents the multiplier and divider in lists of registers.
pub(super) const MULTIPLIER: Register = Register(65);
/// Represents, in such lists, the accesses for which the next one has to wait, after a fence.
const FENCED: Register = Register(66);

struct Scheduler<'a> {
    latencies: &'a Latencies,
    ready: [u32; Register::COUNT],
    defined: [bool; Register::COUNT],
    needs: Vec<(Register, u8)>,
    now: u32,
    /// First cycle in which the integer multiplier and divider takes the next operation.
    multiplier: u32,
    /// The same of the floating-point unit, which a division blocks.
    float_unit: u32,
    last_access: Option<u32>,
    /// When the latest floating-point results are written; one can be per cycle.
    float_writes: [u32; 4],
    /// Whether the next access waits for the last one.
    fenced: bool,
}

impl RocketBlock {
    pub(super) fn new(latencies: &Latencies, block: &[BlockInstruction]) -> RocketBlock {
        let mut scheduler = Scheduler::new(latencies);
        let offsets: Vec<u32> = block
            .iter()
            .map(|entry| scheduler.issue(&entry.instruction))
            .collect();
        let instructions = placed(latencies, block, &offsets);
        RocketBlock {
            steps: steps(latencies, block, &instructions),
            late: late_results(latencies, block, &instructions)
                .into_iter()
                .chain(scheduler.late_access(block.len() - 1))
                .collect(),
            needs: scheduler.needs.into(),
            exit: exit(block),
            awaits_vector: block.iter().any(|entry| awaits_vector(entry.instruction.class())),
            instructions,
        }
    }
}

impl<'a> Scheduler<'a> {
    fn new(latencies: &'a Latencies) -> Scheduler<'a> {
        Scheduler {
            latencies,
            ready: [0; Register::COUNT],
            defined: [false; Register::COUNT],
            needs: Vec::new(),
            now: 0,
            multiplier: 0,
            float_unit: 0,
            last_access: None,
            float_writes: [0; 4],
            fenced: false,
        }
    }

    /// When the instruction retires.
    fn issue(&mut self, instruction: &Instruction) -> u32 {
        let mut at = self.now;
        for register in registers(instruction) {
            at = at.max(self.ready[register.index()]);
        }
        at = self.wait_for_units(instruction, at);
        at = self.wait_for_write(instruction, at);
        for register in registers(instruction) {
            self.note_need(register, at);
        }
        if uses_multiplier(instruction.class()) && self.multiplier == 0 {
            self.note_need(MULTIPLIER, at);
        }
        if is_access(instruction.class()) && self.last_access.is_none() {
            self.note_need(FENCED, at);
        }
        self.occupy(instruction, at);
        let target = instruction.destination();
        if target != Register::NONE {
            self.ready[target.index()] = at + self.latencies.of(instruction);
            self.defined[target.index()] = true;
        }
        self.now = at + 1 + self.latencies.after(instruction);
        at
    }

    fn wait_for_units(&self, instruction: &Instruction, at: u32) -> u32 {
        match instruction.class() {
            class if uses_multiplier(class) => at.max(self.multiplier),
            // Refused by a busy unit, an instruction tries again each time the pipeline has replayed it.
            class if is_float_arithmetic(class) => {
                let replay = self.latencies.replay;
                at + self.float_unit.saturating_sub(at).div_ceil(replay) * replay
            }
            class if is_acquire(instruction) || self.fenced && is_access(class) => self
                .last_access
                .map_or(at, |access| at.max(access + self.latencies.drain)),
            _ => at,
        }
    }

    /// An instruction that would write a floating-point register in the same cycle as an earlier one is replayed.
    fn wait_for_write(&mut self, instruction: &Instruction, at: u32) -> u32 {
        let Some(depth) = float_depth(instruction) else {
            return at;
        };
        let at = if self.float_writes.contains(&(at + depth)) {
            at + self.latencies.replay
        } else {
            at
        };
        self.float_writes.rotate_right(1);
        self.float_writes[0] = at + depth;
        at
    }

    fn occupy(&mut self, instruction: &Instruction, at: u32) {
        let latency = self.latencies.of(instruction);
        match instruction.class() {
            class if uses_multiplier(class) => self.multiplier = at + latency,
            Class::FloatDivide | Class::FloatRoot => {
                self.float_unit = at + latency - self.latencies.float_divide.tail;
            }
            class if is_access(class) => {
                self.last_access = Some(at);
                self.fenced = false;
            }
            _ => {}
        }
        self.fenced |= is_release(instruction);
    }

    /// The last access of a block that ends with instruction `last`, if a fence makes the next one wait for it.
    fn late_access(&self, last: usize) -> Option<LateResult> {
        let access = self.last_access.filter(|_| self.fenced)?;
        let ready = access + self.latencies.drain;
        (ready > self.now).then_some(LateResult {
            index: last as u8,
            register: FENCED,
            ready: ready as u16,
        })
    }

    fn note_need(&mut self, register: Register, at: u32) {
        let known = self.defined.get(register.index()) == Some(&true)
            || self.needs.iter().any(|&(needed, _)| needed == register);
        if !known && at < NEEDS_HORIZON {
            self.needs.push((register, at as u8));
        }
    }
}

fn placed(latencies: &Latencies, block: &[BlockInstruction], offsets: &[u32]) -> Box<[Placed]> {
    let first_packet = block.first().map_or(0, |entry| entry.pc / PACKET_BYTES);
    block
        .iter()
        .zip(offsets)
        .enumerate()
        .map(|(index, (entry, &offset))| {
            let end = entry.pc + u64::from(entry.instruction.length) - 2;
            Placed {
                end,
                offset: offset as u16,
                packet: (end / PACKET_BYTES - first_packet) as u8,
                after: latencies.after(&entry.instruction) as u8,
                buffered: index > 0 && entry.instruction.length == 2 && end % PACKET_BYTES != 0,
            }
        })
        .collect()
}

fn steps(latencies: &Latencies, block: &[BlockInstruction], placed: &[Placed]) -> Box<[Step]> {
    const LINE_BYTES: u64 = 64;
    let mut steps = Vec::new();
    let mut line = None;
    let mut vector_accesses = false;
    for (index, (entry, place)) in block.iter().zip(placed).enumerate() {
        let mut push = |event| {
            steps.push(Step {
                event,
                index: index as u8,
                packet: place.packet,
                offset: place.offset,
                split: is_split(entry, place),
                before_split: is_before_split(block, placed, index),
            });
        };
        let end = entry.physical + (place.end - entry.pc);
        for address in [entry.physical, end] {
            if line != Some(address / LINE_BYTES) {
                line = Some(address / LINE_BYTES);
                push(Event::Line(address));
            }
        }
        let class = entry.instruction.class();
        if vector_accesses && awaits_vector(class) {
            push(Event::AwaitVector);
            vector_accesses = false;
        }
        vector_accesses |= matches!(class, Class::VectorLoad | Class::VectorStore);
        match class {
            Class::Load | Class::LoadReserved => push(Event::Load),
            Class::Store => push(Event::Store),
            Class::Atomic | Class::StoreConditional => push(Event::Atomic),
            Class::Multiply => push(multiplication(
                entry.instruction.operation,
                slack(latencies, block, placed, index),
            )),
            Class::Divide => push(Event::Divide(slack(latencies, block, placed, index))),
            Class::Vector => push(Event::Vector(
                entry.instruction.word,
                entry.instruction.destination(),
            )),
            Class::VectorLoad => push(Event::VectorLoad(entry.instruction.word)),
            Class::VectorStore => push(Event::VectorStore(entry.instruction.word)),
            Class::Branch => push(Event::Branch),
            Class::FenceInstruction => push(Event::ForgetInstructions),
            _ => {}
        }
    }
    steps.into()
}

/// Whether two packets have a part of the instruction.
fn is_split(entry: &BlockInstruction, place: &Placed) -> bool {
    entry.instruction.length == 4 && place.end % PACKET_BYTES == 0
}

/// Whether the next access is split, and no instruction up to it needs the result of instruction `index`.
fn is_before_split(block: &[BlockInstruction], placed: &[Placed], index: usize) -> bool {
    let target = block[index].instruction.destination();
    let later = block[index + 1..].iter().zip(&placed[index + 1..]);
    for (entry, place) in later {
        if registers(&entry.instruction).any(|register| register == target) {
            return false;
        }
        if is_access(entry.instruction.class()) {
            return is_split(entry, place);
        }
    }
    false
}

fn multiplication(operation: Operation, slack: Slack) -> Event {
    match operation {
        Operation::Mul => Event::Multiply(slack),
        Operation::Mulw => Event::MultiplyWord(slack),
        _ => Event::MultiplyHigh,
    }
}

/// The slack of a multiplication or division.
fn slack(latencies: &Latencies, block: &[BlockInstruction], placed: &[Placed], index: usize) -> Slack {
    let target = block[index].instruction.destination();
    let due = u32::from(placed[index].offset) + latencies.of(&block[index].instruction);
    let waits = |later: &BlockInstruction| {
        uses_multiplier(later.instruction.class())
            || registers(&later.instruction).any(|register| register == target)
    };
    let waiting = block[index + 1..].iter().position(waits);
    Slack {
        cycles: waiting.map(|distance| {
            let at = u32::from(placed[index + 1 + distance].offset);
            at.saturating_sub(due) as u16
        }),
        register: target,
    }
}

/// Results that are not ready yet at a possible end of the block, which is after a branch or at its end.
fn late_results(latencies: &Latencies, block: &[BlockInstruction], placed: &[Placed]) -> Vec<LateResult> {
    let leaves = |index: usize| index + 1 == block.len() || block[index].instruction.class() == Class::Branch;
    let mut late = Vec::new();
    for (index, (entry, place)) in block.iter().zip(placed).enumerate() {
        let ready = place.offset + latencies.of(&entry.instruction) as u16;
        let register = entry.instruction.destination();
        let outlives = |exit: usize| leaves(exit) && placed[exit].offset + 1 < ready;
        if register != Register::NONE && (index..block.len()).any(outlives) {
            late.push(LateResult {
                index: index as u8,
                register,
                ready,
            });
        }
    }
    late
}

fn exit(block: &[BlockInstruction]) -> Exit {
    let Some(last) = block.last().map(|entry| entry.instruction) else {
        return Exit::Sequential;
    };
    let flow = if last.is_call() {
        Flow::Call
    } else if last.is_return() {
        Flow::Return
    } else {
        Flow::Jump
    };
    match last.class() {
        Class::Jump => Exit::Jump {
            flow,
            indirect: false,
        },
        Class::JumpRegister => Exit::Jump { flow, indirect: true },
        _ => Exit::Sequential,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode;
    use crate::timing::rocket::RocketParameters;

    /// ld a0, 0(a1)
    const LOAD: u32 = 0x0005_b503;
    /// ld a2, 8(a1)
    const LOAD_BESIDE: u32 = 0x0085_b603;
    /// ld a2, 0(a0)
    const LOAD_FROM_IT: u32 = 0x0005_3603;
    /// c.nop
    const SHORT: u32 = 1;

    /// Whether each access is split, and whether it precedes one that is split and does not need its result.
    fn accesses(words: &[u32]) -> Vec<(bool, bool)> {
        let mut pc = 0x8000_0000;
        let mut block = Vec::new();
        for &word in words {
            let instruction = decode(word);
            block.push(BlockInstruction {
                pc,
                physical: pc,
                instruction,
            });
            pc += u64::from(instruction.length);
        }
        let block = RocketBlock::new(&RocketParameters::measured().latencies, &block);
        let loads = block.steps.iter().filter(|step| step.event == Event::Load);
        loads.map(|step| (step.split, step.before_split)).collect()
    }

    #[test]
    fn an_access_of_which_two_packets_have_a_part_is_split() {
        assert_eq!(accesses(&[LOAD]), [(false, false)]);
        assert_eq!(accesses(&[SHORT, LOAD]), [(true, false)]);
        assert_eq!(
            accesses(&[LOAD, SHORT, LOAD_BESIDE]),
            [(false, true), (true, false)]
        );
    }

    #[test]
    fn an_access_that_needs_the_result_of_a_load_does_not_wait_for_the_cache() {
        assert_eq!(
            accesses(&[LOAD, SHORT, LOAD_FROM_IT]),
            [(false, false), (true, false)]
        );
    }
}
