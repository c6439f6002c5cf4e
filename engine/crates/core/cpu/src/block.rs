//! Blocks of decoded instructions, and their storage.

use crate::chunks::Chunks;
use crate::code::{Code, Way};
use crate::state::MicroOperation;
use hashbrown::HashTable;
use std::sync::Arc;

/// Most instructions of a block.
pub(crate) const MAXIMUM: usize = 64;

/// An exit of a block, and its successor. It is small, because every hart has tens of thousands.
pub(crate) struct Exit<B> {
    /// The block at the exit's address, valid while `stamp` is the current one for exits within a page, or from page to
    /// page.
    pub(crate) target: *mut Block<B>,
    pub(crate) stamp: u64,
    pub(crate) way: Way,
}

/// Instructions that are executed one after the other, up to one that leaves, as decoded for a hart.
pub(crate) struct Block<B> {
    /// The first operation of the code, which is accessed more often than anything else.
    pub(crate) first: *const MicroOperation,
    pub(crate) code: Arc<Code<B>>,
    /// One for each exit of the code, but none until it has been executed twice: much of a system's code is executed
    /// only once.
    pub(crate) exits: *mut [Exit<B>],
    /// Address of the first instruction.
    pub(crate) pc: u64,
    /// Physical page of the second half of an instruction that crosses pages, or `NO_PAGE`.
    second_page: u64,
    /// The latest fence of instructions after which it has been compared with memory.
    pub(crate) generation: u64,
    /// That of its key.
    context: u8,
    has_run: bool,
}

// A thousand servers have tens of thousands of each.
const _: () = assert!(size_of::<Exit<()>>() == 24 && size_of::<Block<()>>() == 64);

/// No physical page: none is at an odd address.
const NO_PAGE: u64 = u64::MAX;

impl<B> Block<B> {
    /// Physical page of the second half of an instruction that crosses pages.
    pub(crate) fn second_page(&self) -> Option<u64> {
        (self.second_page != NO_PAGE).then_some(self.second_page)
    }

    fn place(&self) -> (u64, u64) {
        (self.pc, self.code.instructions[0].physical)
    }

    fn is_of(&self, key: &Key) -> bool {
        self.place() == key.place() && self.context == key.context
    }
}

/// The identity of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) pc: u64,
    pub(crate) physical: u64,
    /// Privilege, and whether floating point and vectors are available.
    pub(crate) context: u8,
}

impl Key {
    fn place(&self) -> (u64, u64) {
        (self.pc, self.physical)
    }
}

/// A hash of the virtual and physical address of a first instruction. It is faster than the standard one, whose
/// protection against chosen keys is not needed here.
fn hash((pc, physical): (u64, u64)) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (pc.wrapping_mul(FACTOR).rotate_left(5) ^ physical).wrapping_mul(FACTOR);
    mixed ^ mixed >> 32
}

/// All blocks of a hart.
pub(crate) struct Blocks<B> {
    blocks: Chunks<Block<B>>,
    exits: Chunks<Exit<B>>,
    by_place: HashTable<*mut Block<B>>,
    recent: Box<[Recent<B>]>,
}

// SAFETY: the pointers are to blocks and exits that this value owns; other threads may have their code too.
unsafe impl<B: Send + Sync> Send for Blocks<B> {}

struct Recent<B> {
    pc: u64,
    stamp: u64,
    block: *mut Block<B>,
}

/// Slots of the table by address.
const RECENT: usize = 4096;
/// Maximum number of blocks before all are dropped; about 100 MiB.
const CAPACITY: usize = 1 << 16;

impl<B> Blocks<B> {
    pub(crate) fn new() -> Blocks<B> {
        let empty = || Recent {
            pc: 0,
            stamp: 0,
            block: std::ptr::null_mut(),
        };
        Blocks {
            blocks: Chunks::new(),
            exits: Chunks::new(),
            by_place: HashTable::new(),
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
        // SAFETY: what is in the table lives as long as the table.
        let is_it = |block: &*mut Block<B>| unsafe { (**block).is_of(key) };
        self.by_place.find(hash(key.place()), is_it).copied()
    }

    /// Stores a block of this code as that of `key`; `second_page` and `generation` are those of [`Block`].
    pub(crate) fn insert(
        &mut self,
        key: &Key,
        code: Arc<Code<B>>,
        second_page: Option<u64>,
        generation: u64,
    ) -> *mut Block<B> {
        let block = self.blocks.keep(std::iter::once(Block {
            first: code.operations.as_ptr(),
            exits: std::ptr::slice_from_raw_parts_mut(std::ptr::dangling_mut(), 0),
            code,
            pc: key.pc,
            second_page: second_page.unwrap_or(NO_PAGE),
            generation,
            context: key.context,
            has_run: false,
        }));
        let block = block.cast::<Block<B>>();
        // SAFETY: as in `get`.
        let is_it = |block: &*mut Block<B>| unsafe { (**block).is_of(key) };
        let hash_of = |block: &*mut Block<B>| hash(unsafe { (**block).place() });
        *self
            .by_place
            .entry(hash(key.place()), is_it, hash_of)
            .or_insert(block)
            .get_mut() = block;
        block
    }

    /// Takes note that a block without exits has run; from the second time on it has some.
    pub(crate) fn has_run(&mut self, block: &mut Block<B>) {
        if block.has_run {
            block.exits = self.exits.keep(block.code.ways.iter().map(|way| Exit {
                target: std::ptr::null_mut(),
                stamp: 0,
                way: *way,
            }));
        }
        block.has_run = true;
    }

    pub(crate) fn is_full(&self) -> bool {
        self.blocks.len() >= CAPACITY
    }

    /// Forgets all blocks. Stamps must change, so that no link to them is followed.
    pub(crate) fn clear(&mut self) {
        self.by_place.clear();
        self.recent.iter_mut().for_each(|recent| recent.stamp = 0);
        self.blocks = Chunks::new();
        self.exits = Chunks::new();
    }
}
