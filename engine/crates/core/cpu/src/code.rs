//! Data that depend on instructions alone, created once for all harts that execute them.

use crate::lower::Lowered;
use crate::state::MicroOperation;
use crate::timing::BlockInstruction;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// An exit of a block to a known address, independent of the hart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// Address of the next instruction, from the block's first on: no jump to a known address leads further than 1 MiB.
    pub(crate) distance: i32,
    /// Instructions executed when the block is left here.
    pub(crate) executed: u8,
    /// Whether the last of them was a branch that was taken, or a jump.
    pub(crate) taken: bool,
}

impl Way {
    /// Address of the next instruction, for a block whose first is at `pc`.
    pub(crate) fn target(&self, pc: u64) -> u64 {
        pc.wrapping_add(self.distance as u64)
    }
}

/// The decoded instructions of a block. It is immutable.
pub(crate) struct Code<B> {
    pub(crate) operations: Box<[MicroOperation]>,
    pub(crate) ways: Box<[Way]>,
    pub(crate) timing: B,
    pub(crate) instructions: Box<[BlockInstruction]>,
}

impl<B> Code<B> {
    pub(crate) fn new(lowered: Lowered, timing: B, instructions: Vec<BlockInstruction>) -> Code<B> {
        Code {
            operations: lowered.operations.into(),
            ways: lowered.ways.into(),
            timing,
            instructions: instructions.into(),
        }
    }
}

/// Decoded code that harts with the same timing model and parameters have in common.
///
/// A thousand servers that run one program then have its code once in the host's caches, and not a thousand times.
pub struct SharedCode<B> {
    by_place: Mutex<HashMap<Place, Vec<Arc<Code<B>>>>>,
}

/// Virtual and physical address of the first instruction.
type Place = (u64, u64);

/// Maximum number of addresses with code; programs that generate more code do not share it.
const CAPACITY: usize = 1 << 16;
/// Maximum number of versions of code for one address; later code of a kernel at this address is not shared.
const VERSIONS: usize = 4;

impl<B> Default for SharedCode<B> {
    fn default() -> Self {
        SharedCode {
            by_place: Mutex::default(),
        }
    }
}

impl<B> SharedCode<B> {
    /// The code of these instructions, created by `make` unless a hart has already had identical ones.
    pub(crate) fn of(
        &self,
        instructions: Vec<BlockInstruction>,
        make: impl FnOnce(Vec<BlockInstruction>) -> Code<B>,
    ) -> Arc<Code<B>> {
        let place = (instructions[0].pc, instructions[0].physical);
        let mut by_place = self
            .by_place
            .lock()
            .expect("no thread panics while it holds code");
        let known = by_place.get(&place).into_iter().flatten();
        if let Some(found) = known.into_iter().find(|code| *code.instructions == *instructions) {
            return found.clone();
        }
        let made = Arc::new(make(instructions));
        if by_place.len() < CAPACITY {
            let versions = by_place.entry(place).or_default();
            if versions.len() < VERSIONS {
                versions.push(made.clone());
            }
        }
        made
    }
}
