use crate::PAGE_BYTES;
use rackwright_stats::ContentHash;
use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// The initial contents of any number of memories.
///
/// The host stores it once: a memory gets its own copy of a page at the first write to it
/// ([`Mapping::begin_with`](crate::Mapping::begin_with)).
pub struct Contents {
    file: File,
    /// The hash of each of its pages.
    pages: Arc<[ContentHash]>,
}

impl Contents {
    /// `bytes` bytes, whole pages, all of them zero.
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
        let pages = std::iter::repeat_n(ContentHash::default(), (bytes / PAGE_BYTES) as usize);
        Ok(Contents {
            file,
            pages: pages.collect(),
        })
    }

    /// Number of bytes.
    pub fn bytes(&self) -> u64 {
        self.pages.len() as u64 * PAGE_BYTES
    }

    /// Writes `from`, whole pages, at `offset`, the first byte of a page, before the first memory uses it.
    ///
    /// # Errors
    /// If it is not whole pages, or ends beyond the end, or the host has no memory for it.
    pub fn load(&mut self, offset: u64, from: &[u8]) -> io::Result<()> {
        const PAGE: usize = PAGE_BYTES as usize;
        let whole = |bytes: u64| bytes % PAGE_BYTES == 0;
        if !whole(offset) || !whole(from.len() as u64) {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let first = (offset / PAGE_BYTES) as usize;
        let pages = Arc::get_mut(&mut self.pages).ok_or(io::ErrorKind::ResourceBusy)?;
        let pages = pages.get_mut(first..first + from.len() / PAGE);
        let pages = pages.ok_or(io::ErrorKind::UnexpectedEof)?;
        for (page, content) in pages.iter_mut().zip(from.chunks_exact(PAGE)) {
            *page = ContentHash::of(content);
        }
        self.file.write_all_at(from, offset)
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn pages(&self) -> Arc<[ContentHash]> {
        self.pages.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GuestMemory;

    const BASE: u64 = 2 * PAGE_BYTES;

    fn contents() -> Contents {
        let mut contents = Contents::new(4 * PAGE_BYTES).unwrap();
        contents.load(PAGE_BYTES, &[7; 2 * PAGE_BYTES as usize]).unwrap();
        contents
    }

    fn memory(contents: &Contents) -> GuestMemory {
        let mut memory = GuestMemory::new(BASE + contents.bytes()).unwrap();
        memory.allow_all();
        memory.mapping().begin_with(BASE, contents).unwrap();
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
        memory.mapping().discard(BASE + PAGE_BYTES, PAGE_BYTES).unwrap();
        assert_eq!(byte(&memory, BASE + PAGE_BYTES), 0);
        assert_eq!(byte(&memory, BASE + 2 * PAGE_BYTES), 7);
    }

    #[test]
    fn memories_that_begin_alike_and_one_that_was_written_so_hold_the_same() {
        let contents = contents();
        let (mut one, mut other) = (memory(&contents), memory(&contents));
        let mut written = GuestMemory::new(one.end()).unwrap();
        written
            .load(BASE + PAGE_BYTES, &[7; 2 * PAGE_BYTES as usize])
            .unwrap();
        assert_eq!(one.contents(), written.contents());
        other.write(BASE + PAGE_BYTES, &[1]).unwrap();
        assert_ne!(other.contents(), one.contents());
        written.load(BASE + PAGE_BYTES, &[1]).unwrap();
        assert_eq!(other.contents(), written.contents());
        one.mapping().discard(BASE + 2 * PAGE_BYTES, PAGE_BYTES).unwrap();
        assert_eq!(one.pages().count(), 1);
    }

    #[test]
    fn nothing_lies_beyond_the_end() {
        let mut contents = contents();
        let page = [1; PAGE_BYTES as usize];
        assert!(contents.load(4 * PAGE_BYTES, &page).is_err());
        assert!(contents.load(u64::MAX - PAGE_BYTES + 1, &page).is_err());
        assert!(contents.load(PAGE_BYTES, &page[1..]).is_err());
        assert!(contents.load(1, &page).is_err());
        let mut small = GuestMemory::new(BASE).unwrap();
        assert!(small.mapping().begin_with(BASE, &contents).is_err());
    }
}
