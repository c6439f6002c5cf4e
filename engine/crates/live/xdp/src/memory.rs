use std::io;
use std::ptr::NonNull;

/// Bytes of a chunk of memory, which has room for one frame. The kernel allows 2048 and 4096.
pub(crate) const CHUNK_BYTES: usize = 2048;

/// Bytes that the kernel reserves before each received frame.
const HEADROOM: usize = 256;

/// The longest frame that a chunk has room for.
pub(crate) const LONGEST_FRAME: usize = CHUNK_BYTES - HEADROOM;

/// Memory that was mapped, until it is dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it is plain memory; who may write where is the business of those who use it.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps memory of this process alone, or that of a descriptor at this offset.
    pub(crate) fn new(bytes: usize, of: Option<(i32, libc::off_t)>) -> io::Result<Mapping> {
        let (flags, descriptor, offset) = match of {
            Some((descriptor, offset)) => (libc::MAP_SHARED, descriptor, offset),
            None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0),
        };
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = flags | libc::MAP_POPULATE;
        // SAFETY: a new mapping, at a place that the kernel chooses.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, descriptor, offset) };
        match NonNull::new(start.cast()).filter(|_| start != libc::MAP_FAILED) {
            Some(start) => Ok(Mapping { start, bytes }),
            None => Err(io::Error::last_os_error()),
        }
    }

    /// Its first byte.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Its length.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The address of these bytes, if they are all inside.
    pub(crate) fn range(&self, start: u64, bytes: usize) -> Option<NonNull<u8>> {
        let start = usize::try_from(start).ok()?;
        let is_inside = start.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        // SAFETY: it is inside of the mapping.
        is_inside.then(|| unsafe { self.start.add(start) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nothing borrowed from it lives longer.
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), self.bytes);
        }
    }
}
