//! An entry of a page table.

use rackwright_memory::PAGE_BYTES;

/// Bits of an entry (privileged manual, figure 4.18).
pub mod bit {
    /// The other bits have the meanings given here.
    pub const VALID: u64 = 1;
    /// The page may be read.
    pub const READ: u64 = 1 << 1;
    /// The page may be written.
    pub const WRITE: u64 = 1 << 2;
    /// The page may be executed.
    pub const EXECUTE: u64 = 1 << 3;
    /// The page is a program's.
    pub const USER: u64 = 1 << 4;
    /// The page was used.
    pub const ACCESSED: u64 = 1 << 6;
    /// The page was written.
    pub const DIRTY: u64 = 1 << 7;
    /// Two bits that belong to software.
    pub const SOFTWARE: u64 = 3 << 8;
    /// Reserved, or of extensions that no hart has.
    pub const RESERVED: u64 = 0x3ff << 54;
}

/// An entry of a page table: of a page, of a further table, or invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry(pub u64);

impl Entry {
    /// Whether any of `bits` is set.
    #[inline]
    pub fn has(self, bits: u64) -> bool {
        self.0 & bits != 0
    }

    /// The address of the page or of the table.
    #[inline]
    pub fn address(self) -> u64 {
        (self.0 >> 10 & 0xfff_ffff_ffff) * PAGE_BYTES
    }

    /// Whether it is the entry of a further table.
    #[inline]
    pub fn is_of_table(self) -> bool {
        let of_pages_only = bit::READ | bit::WRITE | bit::EXECUTE | bit::ACCESSED | bit::DIRTY | bit::USER;
        self.has(bit::VALID) && !self.has(of_pages_only | bit::RESERVED)
    }

    /// Whether it is the entry of a page. A page that may be written but not read is reserved.
    #[inline]
    pub fn is_of_page(self) -> bool {
        let readable = self.has(bit::READ) || (self.has(bit::EXECUTE) && !self.has(bit::WRITE));
        self.has(bit::VALID) && readable && !self.has(bit::RESERVED)
    }
}
