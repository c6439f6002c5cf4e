use crate::far_memory::{Far, FarMemory};
use crate::touched::Touched;
use rackwright_memory::{GuestFault, GuestMemory};
use rackwright_time::Cycle;
use std::iter::FusedIterator;
use vm_memory::bitmap::Bitmap;
use vm_memory::guest_memory::GuestMemorySliceIterator;
use vm_memory::{
    GuestAddress, GuestMemoryBackend, GuestMemoryError, GuestMemoryRegion, GuestMemoryRegionBytes,
    GuestUsize, MemoryRegionAddress, Permissions, VolatileSlice,
};

/// The memory of the machine as seen by a device: all of it, and nothing else.
pub struct Ram<'m>(Way<'m>);

enum Way<'m> {
    /// Accesses take no time.
    Direct {
        memory: &'m mut GuestMemory,
        all: All<'m>,
    },
    /// They are requests of the device.
    Far(Far<'m>),
}

/// The one region of memory.
pub struct All<'m>(Region<'m>);

/// Memory as the crates of rust-vmm see it.
pub struct Region<'m> {
    base: u64,
    start: *mut u8,
    bytes: u64,
    touched: Touched<'m>,
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
            start: memory.host().base().wrapping_add(base as usize),
            bytes: memory.end() - base,
            touched: Touched::of(memory, base),
        };
        let all = All(region);
        Ram(Way::Direct { memory, all })
    }

    /// Memory that the device reaches by requests. After the last write, [`Ram::flush`] must be called.
    pub fn far(memory: &'m mut dyn FarMemory) -> Ram<'m> {
        Ram(Way::Far(Far::new(memory)))
    }

    /// The memory itself, for a device in RTL.
    ///
    /// # Panics
    /// For far memory, which such devices cannot have.
    pub fn memory(&mut self) -> &mut GuestMemory {
        match &mut self.0 {
            Way::Direct { memory, .. } => memory,
            Way::Far(_) => panic!("far memory is reached by requests only"),
        }
    }

    /// Whether all of a range of at least one byte is memory; of far memory, requests find that out.
    pub fn holds(&self, address: u64, bytes: u64) -> bool {
        let end = address.checked_add(bytes);
        match &self.0 {
            Way::Direct { memory, all } => {
                address >= all.0.base && end.is_some_and(|end| end <= memory.end())
            }
            Way::Far(_) => end.is_some(),
        }
    }

    /// Copies the bytes at `address` into `into`.
    ///
    /// # Errors
    /// [`GuestFault`] if there is no memory.
    pub fn fetch(&self, address: u64, into: &mut [u8]) -> Result<(), GuestFault> {
        match &self.0 {
            Way::Direct { memory, .. } => memory.read(address, into),
            Way::Far(far) => far.read(address, into),
        }
    }

    /// Copies `from` to `address`.
    ///
    /// # Errors
    /// [`GuestFault`] if there is no memory; then nothing has changed. Writes to far memory return no error.
    pub fn put(&mut self, address: u64, from: &[u8]) -> Result<(), GuestFault> {
        match &mut self.0 {
            Way::Direct { memory, .. } => memory.write(address, from),
            Way::Far(far) => {
                far.write(address, from);
                Ok(())
            }
        }
    }

    /// Now, after the accesses so far, of a device that has begun with them at `begun`.
    pub fn now(&self, begun: Cycle) -> Cycle {
        match &self.0 {
            Way::Direct { .. } => begun,
            Way::Far(far) => begun.max(far.now()),
        }
    }

    /// Has all writes be on their way.
    pub fn flush(&self) {
        if let Way::Far(far) = &self.0 {
            far.flush();
        }
    }
}

/// At most one range of memory.
struct Slices<'a, 'm>(Option<VolatileSlice<'a, Touched<'m>>>);

impl<'a, 'm> Iterator for Slices<'a, 'm> {
    type Item = Result<VolatileSlice<'a, Touched<'m>>, GuestMemoryError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl FusedIterator for Slices<'_, '_> {}

impl<'a, 'm> GuestMemorySliceIterator<'a, Touched<'m>> for Slices<'a, 'm> {}

impl<'m> vm_memory::GuestMemory for Ram<'m> {
    type PhysicalMemory = All<'m>;
    type Bitmap = Touched<'m>;

    fn check_range(&self, address: GuestAddress, count: usize, _: Permissions) -> bool {
        count == 0 || self.holds(address.0, count as u64)
    }

    fn get_slices<'a>(
        &'a self,
        address: GuestAddress,
        count: usize,
        access: Permissions,
    ) -> Result<impl GuestMemorySliceIterator<'a, Touched<'m>>, GuestMemoryError> {
        if count == 0 {
            return Ok(Slices(None));
        }
        let slice = match &self.0 {
            Way::Direct { all, .. } => {
                let offset = address.0.checked_sub(all.0.base);
                let offset = offset.ok_or(GuestMemoryError::InvalidGuestAddress(address))?;
                all.0.get_slice(MemoryRegionAddress(offset), count)?
            }
            Way::Far(far) if access == Permissions::Write => far.slice_to_write(address.0, count),
            Way::Far(far) => {
                let read = far.slice_to_read(address.0, count);
                read.map_err(|_| GuestMemoryError::InvalidGuestAddress(address))?
            }
        };
        Ok(Slices(Some(slice)))
    }
}

impl<'m> GuestMemoryBackend for All<'m> {
    type R = Region<'m>;

    fn iter(&self) -> impl Iterator<Item = &Region<'m>> {
        std::iter::once(&self.0)
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
