//! Reading a guest's memory by its own addresses, without a trace: no accessed bits, no time.

use rackwright_cpu::View;
use rackwright_memory::{GuestMemory, PAGE_BYTES};

/// A guest's memory as it is mapped by some page tables.
#[derive(Clone, Copy)]
pub(crate) struct Mapped<'a> {
    pub(crate) memory: &'a GuestMemory,
    /// As in `satp`.
    pub(crate) page_tables: u64,
}

impl<'a> Mapped<'a> {
    /// As it is mapped for a hart.
    pub(crate) fn of(view: View<'a>) -> Mapped<'a> {
        Mapped {
            memory: view.memory(),
            page_tables: view.page_tables(),
        }
    }

    /// Where `address` lies in memory; Sv39, Sv48 and Sv57 (privileged manual 20211203, section 4.3.2).
    fn physical(&self, address: u64) -> Option<u64> {
        let levels = match self.page_tables >> 60 {
            0 => return Some(address),
            mode @ 8..=10 => mode - 5,
            _ => return None,
        };
        let mut table = (self.page_tables & 0xfff_ffff_ffff) * PAGE_BYTES;
        for level in (0..levels).rev() {
            let mut bytes = [0; 8];
            let place = table + (address >> (12 + 9 * level) & 0x1ff) * 8;
            self.memory.read(place, &mut bytes).ok()?;
            let entry = u64::from_le_bytes(bytes);
            if entry & 1 == 0 {
                return None;
            }
            let page = (entry >> 10 & 0xfff_ffff_ffff) * PAGE_BYTES;
            if entry & 0b1010 != 0 {
                let inside = (PAGE_BYTES << (9 * level)) - 1;
                return Some(page & !inside | address & inside);
            }
            table = page;
        }
        None
    }

    /// Eight bytes, which must not cross a page.
    pub(crate) fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.memory.read(self.physical(address)?, &mut bytes).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    /// Four bytes, which must not cross a page.
    pub(crate) fn half(&self, address: u64) -> Option<u32> {
        let mut bytes = [0; 4];
        self.memory.read(self.physical(address)?, &mut bytes).ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    /// A text of at most `most` bytes that ends with a zero.
    pub(crate) fn text(&self, address: u64, most: u64) -> Option<String> {
        let mut text = Vec::new();
        for at in address..address + most {
            let mut byte = [0];
            self.memory.read(self.physical(at)?, &mut byte).ok()?;
            if byte[0] == 0 {
                break;
            }
            text.push(byte[0]);
        }
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}
