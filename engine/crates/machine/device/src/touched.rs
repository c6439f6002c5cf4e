use rackwright_memory::{GuestMemory, PAGE_BYTES};
use std::marker::PhantomData;
use vm_memory::bitmap::{Bitmap, BitmapSlice, WithBitmapSlice};

/// Notes which pages of memory are written.
#[derive(Clone, Debug)]
pub struct Touched<'m> {
    /// Of the page of address 0; null where nobody asks for it.
    pages: *mut u8,
    /// Start of the range whose writes are reported.
    address: u64,
    memory: PhantomData<&'m mut GuestMemory>,
}

impl Touched<'_> {
    /// Of the memory from `address` on.
    pub(crate) fn of(memory: &mut GuestMemory, address: u64) -> Self {
        Touched {
            pages: memory.host().touched_base(),
            address,
            memory: PhantomData,
        }
    }

    /// Of memory whose pages are noted elsewhere.
    pub(crate) fn nowhere() -> Self {
        Touched {
            pages: std::ptr::null_mut(),
            address: 0,
            memory: PhantomData,
        }
    }
}

impl<'m> WithBitmapSlice<'_> for Touched<'m> {
    type S = Touched<'m>;
}

impl BitmapSlice for Touched<'_> {}

impl Bitmap for Touched<'_> {
    fn mark_dirty(&self, offset: usize, bytes: usize) {
        if self.pages.is_null() {
            return;
        }
        let start = self.address + offset as u64;
        for page in start / PAGE_BYTES..(start + bytes as u64).div_ceil(PAGE_BYTES) {
            // SAFETY: slices lie in guest memory, which is borrowed for as long as this lives, and whose pages have a byte each.
            unsafe { self.pages.add(page as usize).write(1) };
        }
    }

    fn dirty_at(&self, offset: usize) -> bool {
        let page = (self.address + offset as u64) / PAGE_BYTES;
        // SAFETY: as above.
        !self.pages.is_null() && unsafe { self.pages.add(page as usize).read() != 0 }
    }

    fn slice_at(&self, offset: usize) -> Self {
        Touched {
            address: self.address + offset as u64,
            ..self.clone()
        }
    }
}
