//! Reading a guest's memory by its own addresses, without a trace: no accessed bits, no time.

use rackwright_cpu::View;
use rackwright_memory::GuestMemory;
use rackwright_translation::PageTables;

/// A guest's memory as mapped by given page tables.
#[derive(Clone, Copy)]
pub(crate) struct Mapped<'a> {
    pub(crate) memory: &'a GuestMemory,
    /// As in `satp`.
    pub(crate) page_tables: u64,
}

impl<'a> Mapped<'a> {
    /// The memory as mapped for a hart.
    pub(crate) fn of(view: View<'a>) -> Mapped<'a> {
        Mapped {
            memory: view.memory(),
            page_tables: view.page_tables(),
        }
    }

    /// The physical address of `address`.
    fn physical(&self, address: u64) -> Option<u64> {
        if self.page_tables >> 60 == 0 {
            return Some(address);
        }
        let tables = PageTables::of(self.page_tables)?;
        let walk = tables.walk(address, |place| self.memory.word(place));
        walk.ok()?.physical()
    }

    /// Eight bytes, which must not cross a page.
    pub(crate) fn word(&self, address: u64) -> Option<u64> {
        self.memory.word(self.physical(address)?).ok()
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
