//! The tables, and a walk through them.

use crate::Entry;
use rackwright_memory::PAGE_BYTES;

/// Number of bits of an address that one table resolves.
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
    /// The tables of a value of `satp`; none if it selects physical addresses, or a reserved mode.
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

    /// Follows the entries for `address`, using the bits that the tables resolve, to the first entry that does not
    /// point to a further table. `read` reads an entry; its errors end the walk.
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

/// The result of a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walk {
    /// The virtual address.
    pub address: u64,
    /// The last entry, of a page or invalid.
    pub entry: Entry,
    /// Where that lies.
    pub place: u64,
    /// Number of levels of tables below that of the entry.
    pub level: u32,
}

impl Walk {
    /// Size in bytes of a page at this level.
    #[inline]
    pub fn span(&self) -> u64 {
        PAGE_BYTES << (INDEX_BITS * self.level)
    }

    /// The physical address, if there is a page and it is aligned to its size.
    #[inline]
    pub fn physical(&self) -> Option<u64> {
        let inside = self.span() - 1;
        let page = self.entry.address();
        (self.entry.is_of_page() && page & inside == 0).then_some(page | self.address & inside)
    }
}
