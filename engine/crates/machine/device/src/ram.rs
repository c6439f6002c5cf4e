use rackwright_memory::{GuestFault, GuestMemory, PAGE_BYTES};
use std::marker::PhantomData;
use vm_memory::bitmap::{Bitmap, BitmapSlice, WithBitmapSlice};
use vm_memory::{
    GuestAddress, GuestMemoryBackend, GuestMemoryError, GuestMemoryRegion, GuestMemoryRegionBytes,
    GuestUsize, MemoryRegionAddress, VolatileSlice,
};

/// The memory of the machine as seen by a device: all of it, and nothing else.
pub struct Ram<'m> {
    memory: &'m mut GuestMemory,
    region: Region<'m>,
}

/// Memory as the crates of rust-vmm see it.
pub struct Region<'m> {
    base: u64,
    start: *mut u8,
    bytes: u64,
    touched: Touched<'m>,
}

/// Notes which pages of memory are written.
#[derive(Clone, Debug)]
pub struct Touched<'m> {
    /// Of the page of address 0.
    pages: *mut u8,
    /// Start of the range whose writes are reported.
    address: u64,
    memory: PhantomData<&'m mut GuestMemory>,
}

impl<'m> Ram<'m> {
    /// The memory from `base` on.
    ///
    /// # Panics
    /// When there is no memory from there on.
    pub fn new(memory: &'m mut GuestMemory, base: u64) -> Ram<'m> {
        assert!(base < memory.end(), "memory begins at {base:#x}");
        let region = Region {
            base,
            start: memory.host_base().wrapping_add(base as usize),
            bytes: memory.end() - base,
            touched: Touched {
                pages: memory.touched_base(),
                address: base,
                memory: PhantomData,
            },
        };
        Ram { memory, region }
    }

    /// The memory itself, for a device in RTL.
    pub fn memory(&mut self) -> &mut GuestMemory {
        self.memory
    }

    /// Whether all of a range of at least one byte is memory.
    pub fn holds(&self, address: u64, bytes: u64) -> bool {
        let end = address.checked_add(bytes);
        address >= self.region.base && end.is_some_and(|end| end <= self.memory.end())
    }

    /// Copies the bytes at `address` into `into`.
    ///
    /// # Errors
    /// [`GuestFault`] if there is no memory.
    pub fn fetch(&self, address: u64, into: &mut [u8]) -> Result<(), GuestFault> {
        self.memory.read(address, into)
    }

    /// Copies `from` to `address`.
    ///
    /// # Errors
    /// [`GuestFault`] if there is no memory; then nothing has changed.
    pub fn put(&mut self, address: u64, from: &[u8]) -> Result<(), GuestFault> {
        self.memory.write(address, from)
    }
}

impl<'m> GuestMemoryBackend for Ram<'m> {
    type R = Region<'m>;

    fn iter(&self) -> impl Iterator<Item = &Region<'m>> {
        std::iter::once(&self.region)
    }
}

impl<'m> GuestMemoryRegion for Region<'m> {
    type B = Touched<'m>;

    fn len(&self) -> GuestUsize {
        self.bytes
    }

    fn start_addr(&self) -> GuestAddress {
        GuestAddress(self.base)
    }

    fn bitmap(&self) -> Touched<'m> {
        self.touched.clone()
    }

    fn get_slice(
        &self,
        offset: MemoryRegionAddress,
        count: usize,
    ) -> Result<VolatileSlice<'_, Touched<'m>>, GuestMemoryError> {
        let end = offset.0.checked_add(count as u64);
        if end.is_none_or(|end| end > self.bytes) {
            return Err(GuestMemoryError::InvalidBackendAddress);
        }
        // SAFETY: the range was checked to lie in guest memory, which is borrowed for as long as this region lives.
        Ok(unsafe {
            let start = self.start.add(offset.0 as usize);
            VolatileSlice::with_bitmap(start, count, self.touched.slice_at(offset.0 as usize), None)
        })
    }
}

impl<'m> WithBitmapSlice<'_> for Touched<'m> {
    type S = Touched<'m>;
}

impl BitmapSlice for Touched<'_> {}

impl Bitmap for Touched<'_> {
    fn mark_dirty(&self, offset: usize, bytes: usize) {
        let start = self.address + offset as u64;
        for page in start / PAGE_BYTES..(start + bytes as u64).div_ceil(PAGE_BYTES) {
            // SAFETY: slices lie in guest memory, which is borrowed for as long as this lives, and whose pages have a byte each.
            unsafe { self.pages.add(page as usize).write(1) };
        }
    }

    fn dirty_at(&self, offset: usize) -> bool {
        let page = (self.address + offset as u64) / PAGE_BYTES;
        // SAFETY: as above.
        unsafe { self.pages.add(page as usize).read() != 0 }
    }

    fn slice_at(&self, offset: usize) -> Self {
        Touched {
            address: self.address + offset as u64,
            ..self.clone()
        }
    }
}

impl GuestMemoryRegionBytes for Region<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use vm_memory::Bytes;

    #[test]
    fn both_ways_lead_to_the_same_bytes() {
        let mut memory = GuestMemory::new(0x4000).unwrap();
        memory.allow_all();
        let mut ram = Ram::new(&mut memory, 0x1000);
        ram.put(0x3ffc, &[1, 2, 3, 4]).unwrap();
        assert_eq!(ram.read_obj::<u32>(GuestAddress(0x3ffc)).unwrap(), 0x0403_0201);
        assert!(ram.read_obj::<u32>(GuestAddress(0x3ffd)).is_err());
        assert!(ram.read_obj::<u32>(GuestAddress(0xffe)).is_err());
        assert!(ram.holds(0x1000, 0x3000) && !ram.holds(0x1000, 0x3001));
        assert!(!ram.holds(0xfff, 1) && !ram.holds(u64::MAX, 2));
    }

    #[test]
    fn what_devices_write_is_seen_to_be_there() {
        let memory = || {
            let mut memory = GuestMemory::new(0x4000).unwrap();
            memory.allow_all();
            memory
        };
        let (mut one, mut other) = (memory(), memory());
        Ram::new(&mut one, 0x1000).put(0x2ffc, &[4; 8]).unwrap();
        let ram = Ram::new(&mut other, 0x1000);
        ram.write_obj([4_u8; 8], GuestAddress(0x2ffc)).unwrap();
        assert_eq!(one.contents(), other.contents());
        assert_eq!(other.pages().count(), 2);
    }
}
