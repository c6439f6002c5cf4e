//! Properties of single instructions in the pipeline: their dependencies, and the latencies of their results.

use super::parameters::Latencies;
use crate::instruction::{Instruction, Register};
use crate::operation::{Class, Operation};

/// All registers that an instruction waits for; the pipeline also waits before it writes one that is still to be written.
pub(super) fn registers(instruction: &Instruction) -> impl Iterator<Item = Register> {
    instruction
        .sources()
        .into_iter()
        .chain([instruction.destination()])
        .filter(|&register| register != Register::NONE)
}

pub(super) fn uses_multiplier(class: Class) -> bool {
    matches!(class, Class::Multiply | Class::Divide)
}

/// Whether an instruction of this class waits until the vector unit has all lines that it has requested.
pub(super) fn awaits_vector(class: Class) -> bool {
    is_access(class) || class == Class::Fence
}

pub(super) fn is_access(class: Class) -> bool {
    use Class::{Atomic, Load, LoadReserved, Store, StoreConditional};
    matches!(class, Load | Store | LoadReserved | StoreConditional | Atomic)
}

pub(super) fn is_float_arithmetic(class: Class) -> bool {
    use Class::{
        FloatAdd, FloatCompare, FloatConvert, FloatDivide, FloatFused, FloatMove, FloatMultiply, FloatRoot,
    };
    matches!(
        class,
        FloatAdd
            | FloatMultiply
            | FloatFused
            | FloatDivide
            | FloatRoot
            | FloatConvert
            | FloatCompare
            | FloatMove
    )
}

fn is_atomic(class: Class) -> bool {
    matches!(
        class,
        Class::Atomic | Class::LoadReserved | Class::StoreConditional
    )
}

/// Whether the instruction waits for earlier accesses: `fence.i`, and atomics with `aq`.
pub(super) fn is_acquire(instruction: &Instruction) -> bool {
    let class = instruction.class();
    class == Class::FenceInstruction || is_atomic(class) && instruction.word >> 26 & 1 != 0
}

/// Whether later accesses wait for earlier ones: fences, and atomics with `rl`.
pub(super) fn is_release(instruction: &Instruction) -> bool {
    let class = instruction.class();
    class == Class::Fence || is_atomic(class) && instruction.word >> 25 & 1 != 0
}

/// Stages from retirement to the write of a floating-point result: four for the double-precision multiply-add pipe,
/// three for the single-precision one, two for all short operations; divisions are handled separately.
pub(super) fn float_depth(instruction: &Instruction) -> Option<u32> {
    let class = instruction.class();
    let to_float = instruction.destination().0 >= 32 && instruction.destination() != Register::NONE;
    match class {
        Class::FloatDivide | Class::FloatRoot => None,
        Class::FloatAdd | Class::FloatMultiply | Class::FloatFused if is_double(instruction.operation) => {
            Some(4)
        }
        Class::FloatAdd | Class::FloatMultiply | Class::FloatFused => Some(3),
        _ if is_float_arithmetic(class) && to_float => Some(2),
        _ => None,
    }
}

/// Whether an access to a control register empties the pipeline: a write does, but for the registers that only hold values for
/// trap handlers (scratch to trap value, of either mode).
fn flushes(instruction: &Instruction) -> bool {
    let only_reads = matches!(
        instruction.operation,
        Operation::Csrrs | Operation::Csrrc | Operation::Csrrsi | Operation::Csrrci
    ) && instruction.rs1 == 0;
    let number = instruction.immediate | 0x200;
    !only_reads && !(0x340..=0x343).contains(&number)
}

fn is_double(operation: Operation) -> bool {
    use Operation::{FaddD, FdivD, FmaddD, FmsubD, FmulD, FnmaddD, FnmsubD, FsqrtD, FsubD};
    matches!(
        operation,
        FaddD | FsubD | FmulD | FmaddD | FmsubD | FnmsubD | FnmaddD | FdivD | FsqrtD
    )
}

impl Latencies {
    /// Cycles from an instruction's retirement to that of one that needs its result at once.
    pub(super) fn of(&self, instruction: &Instruction) -> u32 {
        let operation = instruction.operation;
        match instruction.class() {
            Class::Load if instruction.destination().0 >= 32 => self.float_load,
            Class::Load if operation.bytes() <= 2 => self.load_narrow,
            Class::Load | Class::LoadReserved | Class::Atomic => self.load_wide,
            Class::StoreConditional | Class::Control => self.slow_result,
            Class::Multiply => match operation {
                Operation::Mul | Operation::Mulw => self.multiply.least,
                _ => self.multiply.double,
            },
            Class::Divide => self.divide_least,
            Class::FloatDivide | Class::FloatRoot if is_double(operation) => self.float_divide.double,
            Class::FloatDivide | Class::FloatRoot => self.float_divide.single,
            _ if is_double(operation) => self.multiply_add_double,
            class if is_float_arithmetic(class) && instruction.destination().0 < 32 => self.slow_result,
            class if is_float_arithmetic(class) => self.float_other,
            _ => 1,
        }
    }

    /// Cycles after an instruction in which no instruction retires.
    pub(super) fn after(&self, instruction: &Instruction) -> u32 {
        match instruction.class() {
            Class::FenceInstruction => self.flush_instructions,
            Class::System => self.flush,
            Class::Control if flushes(instruction) => self.flush,
            _ => 0,
        }
    }
}
