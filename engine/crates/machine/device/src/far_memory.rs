use crate::touched::Touched;
use rackwright_memory::GuestFault;
use rackwright_time::Cycle;
use std::cell::RefCell;
use vm_memory::VolatileSlice;

/// Memory that a device reaches by requests, which take time.
pub trait FarMemory {
    /// Reads the bytes at `address`, of which there is at least one.
    ///
    /// # Errors
    /// [`GuestFault`] if the request is refused, or not completed.
    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), GuestFault>;

    /// Writes at least one byte at `address`, behind all earlier writes; later reads return it.
    fn write(&mut self, address: u64, from: &[u8]);

    /// Now: when the last read was complete.
    fn now(&self) -> Cycle;
}

/// Accesses to far memory. The crates of rust-vmm access memory through slices: those that are read are requested
/// first, those that are written afterwards.
pub(crate) struct Far<'m>(RefCell<State<'m>>);

struct State<'m> {
    memory: &'m mut dyn FarMemory,
    /// The contents of slices, aligned for all accesses. They do not move, and remain as long as this does.
    copies: Vec<Box<[u64]>>,
    /// The slice that is being written: its address, its number, and its bytes.
    written: Option<(u64, usize, usize)>,
}

impl State<'_> {
    fn flush(&mut self) {
        if let Some((address, number, count)) = self.written.take() {
            let copy = &mut self.copies[number];
            // SAFETY: the copy has at least `count` bytes, and its slice is not written any more.
            let bytes = unsafe { std::slice::from_raw_parts(copy.as_mut_ptr().cast::<u8>(), count) };
            self.memory.write(address, bytes);
        }
    }

    /// A copy of `count` bytes for a slice: its number, and where it is.
    fn copy(&mut self, count: usize) -> (usize, *mut u8) {
        self.copies.push(vec![0; count.div_ceil(8)].into_boxed_slice());
        let number = self.copies.len() - 1;
        (number, self.copies[number].as_mut_ptr().cast())
    }
}

impl<'m> Far<'m> {
    pub(crate) fn new(memory: &'m mut dyn FarMemory) -> Far<'m> {
        Far(RefCell::new(State {
            memory,
            copies: Vec::new(),
            written: None,
        }))
    }

    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> Result<(), GuestFault> {
        let mut state = self.0.borrow_mut();
        state.flush();
        if into.is_empty() {
            return Ok(());
        }
        state.memory.read(address, into)
    }

    pub(crate) fn write(&self, address: u64, from: &[u8]) {
        let mut state = self.0.borrow_mut();
        state.flush();
        if !from.is_empty() {
            state.memory.write(address, from);
        }
    }

    pub(crate) fn flush(&self) {
        self.0.borrow_mut().flush();
    }

    pub(crate) fn now(&self) -> Cycle {
        self.0.borrow().memory.now()
    }

    /// A slice with the contents of memory.
    pub(crate) fn slice_to_read(
        &self,
        address: u64,
        count: usize,
    ) -> Result<VolatileSlice<'_, Touched<'m>>, GuestFault> {
        let mut bytes = vec![0; count];
        self.read(address, &mut bytes)?;
        let (_, start) = self.0.borrow_mut().copy(count);
        // SAFETY: the copy has room for the bytes; it remains, and does not move, as long as this does.
        Ok(unsafe {
            start.copy_from_nonoverlapping(bytes.as_ptr(), count);
            VolatileSlice::with_bitmap(start, count, Touched::nowhere(), None)
        })
    }

    /// A slice whose contents are written to memory before the next access.
    pub(crate) fn slice_to_write(&self, address: u64, count: usize) -> VolatileSlice<'_, Touched<'m>> {
        let mut state = self.0.borrow_mut();
        state.flush();
        let (number, start) = state.copy(count);
        state.written = Some((address, number, count));
        // SAFETY: as above.
        unsafe { VolatileSlice::with_bitmap(start, count, Touched::nowhere(), None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ram::Ram;
    use rackwright_memory::Access;
    use vm_memory::{Bytes, GuestAddress};

    /// Sixteen bytes, and the accesses to them.
    #[derive(Default)]
    struct Recorded {
        bytes: [u8; 16],
        accesses: Vec<(Access, u64, usize)>,
    }

    impl FarMemory for Recorded {
        fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), GuestFault> {
            self.accesses.push((Access::Read, address, into.len()));
            let access = Access::Read;
            let place = address as usize..address as usize + into.len();
            let there = self.bytes.get(place).ok_or(GuestFault { address, access })?;
            into.copy_from_slice(there);
            Ok(())
        }

        fn write(&mut self, address: u64, from: &[u8]) {
            self.accesses.push((Access::Write, address, from.len()));
            self.bytes[address as usize..][..from.len()].copy_from_slice(from);
        }

        fn now(&self) -> Cycle {
            Cycle::new(10 * self.accesses.len() as u64)
        }
    }

    #[test]
    fn each_access_is_a_request_in_the_order_of_the_program() {
        let mut memory = Recorded::default();
        let mut ram = Ram::far(&mut memory);
        ram.put(3, &[1, 2]).unwrap();
        ram.write_obj(0x0605_u16, GuestAddress(6)).unwrap();
        assert_eq!(ram.read_obj::<u32>(GuestAddress(3)).unwrap(), 0x0500_0201);
        assert_eq!(
            (ram.now(Cycle::new(1)), ram.now(Cycle::new(99))),
            (Cycle::new(30), Cycle::new(99))
        );
        assert!(ram.read_obj::<u32>(GuestAddress(14)).is_err());
        assert!(ram.fetch(16, &mut [0]).is_err());
        ram.store(7_u16, GuestAddress(8), std::sync::atomic::Ordering::Release)
            .unwrap();
        ram.flush();
        let (read, write) = (Access::Read, Access::Write);
        let all = [
            (write, 3, 2),
            (write, 6, 2),
            (read, 3, 4),
            (read, 14, 4),
            (read, 16, 1),
            (write, 8, 2),
        ];
        assert_eq!(memory.accesses, all);
        assert_eq!(memory.bytes[..10], [0, 0, 0, 1, 2, 0, 5, 6, 7, 0]);
    }
}
