//! Retired instructions by kind.

use rackwright_cpu::{BlockInstruction, Class};

/// The distinguished classes, as named in counters.
pub(crate) const CLASSES: [&str; 13] = [
    "retired.integer",
    "retired.multiply",
    "retired.divide",
    "retired.load",
    "retired.store",
    "retired.atomic",
    "retired.branch",
    "retired.jump",
    "retired.float",
    "retired.fence",
    "retired.system",
    "retired.custom",
    "retired.vector",
];

/// Room for the classes in a register or two of the host.
pub(crate) const ROOM: usize = 16;

/// Instructions of each class.
#[derive(Clone, Default, Debug)]
pub(crate) struct Classes([u64; ROOM]);

/// The classes of a block's instructions: the number of each class, and the class of each instruction.
pub(crate) struct BlockClasses {
    whole: [u8; ROOM],
    each: Box<[u8]>,
}

impl BlockClasses {
    pub(crate) fn of(instructions: &[BlockInstruction]) -> BlockClasses {
        let each: Box<[u8]> = instructions
            .iter()
            .map(|at| index(at.instruction.class()))
            .collect();
        BlockClasses {
            whole: counts(&each),
            each,
        }
    }
}

/// Number of instructions of each class among at most 255 instructions.
#[inline(always)]
fn counts(classes: &[u8]) -> [u8; ROOM] {
    // In registers: a count in memory would have to wait for itself each time.
    let one = |class: &u8| 1u128 << (8 * u32::from(*class));
    classes.iter().map(one).sum::<u128>().to_le_bytes()
}

impl Classes {
    /// Counts the first `executed` instructions of a block.
    #[inline(always)]
    pub(crate) fn add(&mut self, block: &BlockClasses, executed: usize) {
        let more = if executed == block.each.len() {
            block.whole
        } else {
            counts(&block.each[..executed])
        };
        for (count, more) in self.0.iter_mut().zip(more) {
            *count += u64::from(more);
        }
    }

    /// Counts an instruction that is in no block.
    pub(crate) fn add_one(&mut self, class: Class) {
        self.0[usize::from(index(class))] += 1;
    }

    pub(crate) fn counts(&self) -> &[u64] {
        &self.0[..CLASSES.len()]
    }
}

fn index(class: Class) -> u8 {
    match class {
        Class::Integer => 0,
        Class::Multiply => 1,
        Class::Divide => 2,
        Class::Load | Class::LoadReserved => 3,
        Class::Store | Class::StoreConditional => 4,
        Class::Atomic => 5,
        Class::Branch => 6,
        Class::Jump | Class::JumpRegister => 7,
        Class::FloatAdd
        | Class::FloatMultiply
        | Class::FloatFused
        | Class::FloatDivide
        | Class::FloatRoot
        | Class::FloatConvert
        | Class::FloatCompare
        | Class::FloatMove => 8,
        Class::Fence | Class::FenceInstruction => 9,
        Class::Control | Class::System => 10,
        Class::Custom => 11,
        Class::VectorConfigure | Class::VectorLoad | Class::VectorStore | Class::Vector => 12,
    }
}
