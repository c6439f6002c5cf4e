//! Reading the instructions of a block.

use crate::address::{allowed, AddressSpace, Purpose};
use crate::block::MAXIMUM;
use crate::cause::Exception;
use crate::control::Legal;
use crate::decode::decode;
use crate::lower::{alone, leaves, meets_others};
use crate::operation::{Class, File, Operation};
use crate::protection::Regions;
use crate::timing::BlockInstruction;
use crate::translations::FetchContext;
use rackwright_memory::{GuestMemory, PAGE_BYTES};

/// The instructions of a block, and the physical page of the second half of one that crosses pages.
pub(crate) struct Fetched {
    pub(crate) instructions: Vec<BlockInstruction>,
    pub(crate) second_page: Option<u64>,
}

/// The source of instructions.
pub(crate) struct Source<'a> {
    pub(crate) memory: &'a mut GuestMemory,
    pub(crate) space: AddressSpace,
    /// The protection of physical memory.
    pub(crate) regions: &'a Regions,
    /// The cached translations of the address space.
    pub(crate) context: &'a mut FetchContext,
}

/// The physical address of the instruction at `pc`.
pub(crate) fn locate(source: &mut Source<'_>, pc: u64) -> Result<u64, Exception> {
    if let Some(known) = source.context.find(pc) {
        return Ok(known);
    }
    let found = source
        .space
        .physical(source.memory, source.regions, pc, Purpose::Fetch)?;
    let physical = found.physical;
    if !allowed(source.memory, physical, Purpose::Fetch) {
        let cause = Purpose::Fetch.access_fault();
        return Err(Exception { cause, value: pc });
    }
    source.context.remember(pc, &found);
    Ok(physical)
}

/// Half an instruction at a place that [`locate`] found.
fn half(memory: &GuestMemory, physical: u64) -> u32 {
    let mut bytes = [0; 2];
    memory
        .fetch(physical, &mut bytes)
        .expect("the page was found executable");
    u16::from_le_bytes(bytes).into()
}

/// Whether `instructions` are still the ones in memory, at `physical` and, for one that crosses pages, at `second`.
pub(crate) fn unchanged(
    memory: &GuestMemory,
    instructions: &[BlockInstruction],
    physical: u64,
    second: Option<u64>,
) -> bool {
    let mut at = physical;
    instructions.iter().all(|known| {
        let instruction = &known.instruction;
        let mut word = half(memory, at);
        if instruction.length == 4 {
            word |= half(memory, second.unwrap_or(at + 2)) << 16;
        }
        at += u64::from(instruction.length);
        word == instruction.word
    })
}

/// Reads the block at `pc`, which is at the physical address `physical`. Instructions of extensions that are not
/// `legal` are illegal.
pub(crate) fn fetch(
    source: &mut Source<'_>,
    pc: u64,
    physical: u64,
    legal: Legal,
) -> Result<Fetched, Exception> {
    let mut fetched = Fetched {
        instructions: Vec::new(),
        second_page: None,
    };
    let room = PAGE_BYTES - pc % PAGE_BYTES;
    let mut offset = 0;
    while offset < room && fetched.instructions.len() < MAXIMUM {
        let low = half(source.memory, physical + offset);
        let mut high = 0;
        if low & 3 == 3 {
            if offset + 2 < room {
                high = half(source.memory, physical + offset + 2);
            } else if offset > 0 {
                break;
            } else {
                let second = locate(source, pc + 2)?;
                fetched.second_page = Some(second);
                high = half(source.memory, second);
            }
        }
        let mut instruction = decode(high << 16 | low);
        if !is_legal(instruction.operation, legal) {
            instruction.operation = Operation::Illegal;
        }
        let class = instruction.class();
        if (alone(class) || meets_others(class)) && offset > 0 {
            break;
        }
        fetched.instructions.push(BlockInstruction {
            pc: pc + offset,
            physical: physical + offset,
            instruction,
        });
        offset += u64::from(instruction.length);
        if leaves(class) {
            break;
        }
    }
    Ok(fetched)
}

fn is_legal(operation: Operation, legal: Legal) -> bool {
    (legal.float || !uses_float(operation)) && (legal.vector || !operation.class().is_vector())
}

fn uses_float(operation: Operation) -> bool {
    operation.destination_file() == File::Float
        || operation.source_files().contains(&File::Float)
        || operation.class() == Class::FloatMove
        || operation == Operation::VectorFloat
}
