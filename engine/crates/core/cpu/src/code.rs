//! What follows from instructions alone, made once for all harts that run them.

use crate::lower::Lowered;
use crate::state::MicroOperation;
use crate::timing::BlockInstruction;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A way out of a block to a known address, whoever runs it.
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

/// The decoded instructions of a block. Nothing in it changes.
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

/// Addresses for which code is kept; what a program that writes ever new code runs beyond them is not shared.
const CAPACITY: usize = 1 << 16;
/// Different code that is kept for one address: what a kernel puts there later is not shared.
const VERSIONS: usize = 4;

impl<B> Default for SharedCode<B> {
    fn default() -> Self {
        SharedCode {
            by_place: Mutex::default(),
        }
    }
}

impl<B> SharedCode<B> {
    /// The code of these instructions, made by `make` unless a hart has had the very same ones.
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
