//! The tables, and a walk through them.

use crate::Entry;
use rackwright_memory::PAGE_BYTES;

/// Bits of an address that one table resolves.
const INDEX_BITS: u32 = 9;
const ENTRY_BYTES: u64 = 8;
const OFFSET_BITS: u32 = PAGE_BYTES.trailing_zeros();

/// The page tables that the register `satp` names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageTables {
    /// Address of the first table.
    root: u64,
    levels: u32,
}

impl PageTables {
    /// Those of a value of `satp`; none if it says that addresses are physical, or a mode that is reserved.
    #[inline]
    pub fn of(satp: u64) -> Option<PageTables> {
        let levels = match satp >> 60 {
            mode @ 8..=10 => mode as u32 - 5,
            _ => return None,
        };
        let root = (satp & 0xfff_ffff_ffff) * PAGE_BYTES;
        Some(PageTables { root, levels })
    }

    /// Whether all bits of `address` that the tables don't resolve are copies of the highest one that they do.
    #[inline]
    pub fn is_canonical(&self, address: u64) -> bool {
        let unused = u64::BITS - OFFSET_BITS - INDEX_BITS * self.levels;
        (address as i64) << unused >> unused == address as i64
    }

    /// Follows the entries of `address`, of which the bits count that the tables resolve, to the first that is not of a
    /// further table. `read` reads an entry; its errors end the walk.
    #[inline]
    pub fn walk<E>(&self, address: u64, mut read: impl FnMut(u64) -> Result<u64, E>) -> Result<Walk, E> {
        let mut table = self.root;
        let mut level = self.levels;
        loop {
            level -= 1;
            let index = address >> (OFFSET_BITS + INDEX_BITS * level) & ((1 << INDEX_BITS) - 1);
            let place = table + index * ENTRY_BYTES;
            let entry = Entry(read(place)?);
            if level == 0 || !entry.is_of_table() {
                return Ok(Walk {
                    address,
                    entry,
                    place,
                    level,
                });
            }
            table = entry.address();
        }
    }
}

/// How a walk has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walk {
    /// The virtual address.
    pub address: u64,
    /// The last entry, of a page or of nothing.
    pub entry: Entry,
    /// Where that lies.
    pub place: u64,
    /// Tables that would have come behind that of the entry.
    pub level: u32,
}

impl Walk {
    /// Bytes of the page that an entry of this level stands for.
    #[inline]
    pub fn span(&self) -> u64 {
        PAGE_BYTES << (INDEX_BITS * self.level)
    }

    /// The physical address, if there is a page and it lies at a multiple of its size.
    #[inline]
    pub fn physical(&self) -> Option<u64> {
        let inside = self.span() - 1;
        let page = self.entry.address();
        (self.entry.is_of_page() && page & inside == 0).then_some(page | self.address & inside)
    }
}
