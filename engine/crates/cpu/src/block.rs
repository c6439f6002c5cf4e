//! Blocks of decoded instructions, and where they are kept.

use crate::code::{Code, Way};
use crate::state::MicroOperation;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// Most instructions of a block.
pub(crate) const MAXIMUM: usize = 64;

/// A way out of a block, and where it leads a hart.
pub(crate) struct Exit<B> {
    pub(crate) way: Way,
    /// The block at the way's address, if `stamp` is the current one.
    pub(crate) target: *mut Block<B>,
    /// Whether it leads to the same page, so that translations don't matter.
    pub(crate) local: bool,
    pub(crate) stamp: u64,
}

/// Instructions that run one after the other, until one of them leaves, as a hart has come by them.
pub(crate) struct Block<B> {
    /// The first operation of the code, which is got at more often than anything else.
    pub(crate) first: *const MicroOperation,
    pub(crate) code: Arc<Code<B>>,
    pub(crate) exits: Box<[Exit<B>]>,
    /// Physical page of the second half of an instruction that crosses pages.
    pub(crate) second_page: Option<u64>,
    /// Up to which fence of instructions it is known to be what memory holds.
    pub(crate) generation: u64,
}

impl<B> Block<B> {
    pub(crate) fn new(code: Arc<Code<B>>, second_page: Option<u64>, generation: u64) -> Block<B> {
        let exit = |way: &Way| Exit {
            way: *way,
            target: std::ptr::null_mut(),
            local: false,
            stamp: 0,
        };
        Block {
            first: code.operations.as_ptr(),
            exits: code.ways.iter().map(exit).collect(),
            code,
            second_page,
            generation,
        }
    }

    pub(crate) fn pc(&self) -> u64 {
        self.code.instructions[0].pc
    }
}

/// What a block was decoded for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Key {
    pub(crate) pc: u64,
    pub(crate) physical: u64,
    /// Privilege, and whether floating point and vectors are available.
    pub(crate) context: u8,
}

/// Hashes keys faster than the standard hasher, whose defence against chosen keys nobody needs here.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// All blocks of a hart.
pub(crate) struct Blocks<B> {
    owned: Vec<*mut Block<B>>,
    by_key: HashMap<Key, *mut Block<B>, BuildHasherDefault<KeyHasher>>,
    recent: Box<[Recent<B>]>,
}

// SAFETY: the pointers are to blocks that this value owns; other threads may have their code too.
unsafe impl<B: Send + Sync> Send for Blocks<B> {}

struct Recent<B> {
    pc: u64,
    stamp: u64,
    block: *mut Block<B>,
}

/// Slots of the table by address.
const RECENT: usize = 4096;
/// Blocks kept before all are forgotten; about 100 MiB.
const CAPACITY: usize = 1 << 16;

impl<B> Blocks<B> {
    pub(crate) fn new() -> Blocks<B> {
        let empty = || Recent {
            pc: 0,
            stamp: 0,
            block: std::ptr::null_mut(),
        };
        Blocks {
            owned: Vec::new(),
            by_key: HashMap::default(),
            recent: std::iter::repeat_with(empty).take(RECENT).collect(),
        }
    }

    #[inline(always)]
    fn slot(pc: u64) -> usize {
        (pc >> 1 ^ pc >> 13) as usize % RECENT
    }

    /// The block at `pc` found last, if that was under `stamp`.
    #[inline(always)]
    pub(crate) fn recent(&self, pc: u64, stamp: u64) -> Option<*mut Block<B>> {
        let found = &self.recent[Self::slot(pc)];
        (found.pc == pc && found.stamp == stamp).then_some(found.block)
    }

    pub(crate) fn remember(&mut self, pc: u64, stamp: u64, block: *mut Block<B>) {
        self.recent[Self::slot(pc)] = Recent { pc, stamp, block };
    }

    pub(crate) fn get(&self, key: &Key) -> Option<*mut Block<B>> {
        self.by_key.get(key).copied()
    }

    pub(crate) fn insert(&mut self, key: Key, block: Block<B>) -> *mut Block<B> {
        let block = Box::into_raw(Box::new(block));
        self.owned.push(block);
        self.by_key.insert(key, block);
        block
    }

    pub(crate) fn is_full(&self) -> bool {
        self.owned.len() >= CAPACITY
    }

    /// Forgets all blocks. Stamps must change, so that no link to them is followed.
    pub(crate) fn clear(&mut self) {
        self.by_key.clear();
        self.recent.iter_mut().for_each(|recent| recent.stamp = 0);
        for block in self.owned.drain(..) {
            // SAFETY: it came from a box, and nothing uses it any more.
            drop(unsafe { Box::from_raw(block) });
        }
    }
}

impl<B> Drop for Blocks<B> {
    fn drop(&mut self) {
        self.clear();
    }
}
