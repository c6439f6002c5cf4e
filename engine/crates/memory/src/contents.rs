use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;

/// What any number of memories begin with.
///
/// The host has it once: a memory takes a page of its own where it first writes
/// ([`GuestMemory::begin_with`](crate::GuestMemory::begin_with)).
pub struct Contents {
    file: File,
    bytes: u64,
}

impl Contents {
    /// So many bytes, whole pages, all of them zero.
    ///
    /// # Errors
    /// When the host has no memory for a file.
    pub fn new(bytes: u64) -> io::Result<Contents> {
        // SAFETY: the name is a string that ends with zero.
        let file = unsafe { libc::memfd_create(c"guest memory".as_ptr(), libc::MFD_CLOEXEC) };
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just made, and belongs to nobody else.
        let file = unsafe { File::from_raw_fd(file) };
        file.set_len(bytes)?;
        Ok(Contents { file, bytes })
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes `from` at `offset`, before any memory begins with it.
    ///
    /// # Errors
    /// When it lies beyond the end, or the host has no memory for it.
    pub fn load(&mut self, offset: u64, from: &[u8]) -> io::Result<()> {
        let end = offset.checked_add(from.len() as u64);
        if end.is_none_or(|end| end > self.bytes) {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        self.file.write_all_at(from, offset)
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GuestMemory, PAGE_BYTES};

    const BASE: u64 = 2 * PAGE_BYTES;

    fn contents() -> Contents {
        let mut contents = Contents::new(4 * PAGE_BYTES).unwrap();
        contents.load(PAGE_BYTES, &[7; 2 * PAGE_BYTES as usize]).unwrap();
        contents
    }

    fn memory(contents: &Contents) -> GuestMemory {
        let mut memory = GuestMemory::new(BASE + contents.bytes()).unwrap();
        memory.allow_all();
        memory.begin_with(BASE, contents).unwrap();
        memory
    }

    fn byte(memory: &GuestMemory, address: u64) -> u8 {
        let mut byte = [0];
        memory.read(address, &mut byte).unwrap();
        byte[0]
    }

    #[test]
    fn memories_that_begin_alike_keep_their_writes_to_themselves() {
        let contents = contents();
        let (mut one, other) = (memory(&contents), memory(&contents));
        drop(contents);
        let place = BASE + PAGE_BYTES + 100;
        one.write(place, &[1]).unwrap();
        assert_eq!([byte(&one, place), byte(&other, place)], [1, 7]);
        assert_eq!(
            [byte(&one, place + 1), byte(&one, BASE), byte(&one, 0)],
            [7, 0, 0]
        );
    }

    #[test]
    fn discarded_bytes_do_not_come_back() {
        let mut memory = memory(&contents());
        memory.discard(BASE + PAGE_BYTES, PAGE_BYTES).unwrap();
        assert_eq!(byte(&memory, BASE + PAGE_BYTES), 0);
        assert_eq!(byte(&memory, BASE + 2 * PAGE_BYTES), 7);
    }

    #[test]
    fn nothing_lies_beyond_the_end() {
        let mut contents = contents();
        assert!(contents.load(4 * PAGE_BYTES - 1, &[1, 2]).is_err());
        assert!(contents.load(u64::MAX, &[1, 2]).is_err());
        let mut small = GuestMemory::new(BASE).unwrap();
        assert!(small.begin_with(BASE, &contents).is_err());
    }
}
