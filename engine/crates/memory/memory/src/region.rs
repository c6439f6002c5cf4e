use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

/// Address space reserved from the host. It reads as zeros, or as the files mapped into it, and takes the host's memory
/// for pages that are written.
pub(crate) struct Region {
    start: NonNull<u8>,
    length: usize,
    /// Maximum number of bytes after extensions.
    reserved: usize,
    /// Ranges to which files are mapped.
    mapped: Vec<Range<usize>>,
}

// SAFETY: a region is plain memory with one owner.
unsafe impl Send for Region {}
// SAFETY: through `&Region` only the address is reachable; who dereferences it answers for races.
unsafe impl Sync for Region {}

impl Region {
    /// Reserves `length` bytes, and `room` bytes behind them for extensions; both are multiples of the page size.
    pub(crate) fn reserve(length: usize, room: usize) -> io::Result<Region> {
        let reserved = length + room;
        if reserved == 0 {
            return Ok(Region {
                start: NonNull::dangling(),
                length,
                reserved,
                mapped: Vec::new(),
            });
        }
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh anonymous mapping touches no existing memory.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                reserved,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                -1,
                0,
            )
        };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(Region {
                start,
                length,
                reserved,
                mapped: Vec::new(),
            }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Maps `range`, whole pages, to the file from its start on; writes stay in the region.
    ///
    /// # Panics
    /// When the range leaves the region.
    pub(crate) fn map(&mut self, range: Range<usize>, file: &File) -> io::Result<()> {
        assert!(
            range.start <= range.end && range.end <= self.length,
            "the range leaves the region"
        );
        if range.is_empty() {
            return Ok(());
        }
        // SAFETY: the new mapping replaces a part of this region, which nobody else owns, and is private.
        let start = unsafe {
            libc::mmap(
                self.start().add(range.start).cast(),
                range.len(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE,
                file.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        self.mapped.push(range);
        Ok(())
    }

    /// Maps `range`, whole pages, to those of the file from `offset` on: writes go to the file, if it is `writable`,
    /// and others' writes to it are visible.
    ///
    /// # Panics
    /// When the range leaves the region.
    pub(crate) fn share(
        &mut self,
        range: Range<usize>,
        (file, offset): (&File, u64),
        writable: bool,
    ) -> io::Result<()> {
        let access = if writable {
            libc::PROT_READ | libc::PROT_WRITE
        } else {
            libc::PROT_READ
        };
        self.replace(range, access, libc::MAP_SHARED, file.as_raw_fd(), offset)
    }

    /// Makes `range`, whole pages that were [shared](Region::share), the region's own again: zeros.
    ///
    /// # Panics
    /// When the range leaves the region.
    pub(crate) fn unshare(&mut self, range: Range<usize>) -> io::Result<()> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        self.replace(range, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    }

    fn replace(
        &mut self,
        range: Range<usize>,
        access: i32,
        flags: i32,
        file: i32,
        offset: u64,
    ) -> io::Result<()> {
        assert!(
            range.start <= range.end && range.end <= self.length,
            "the range leaves the region"
        );
        if range.is_empty() {
            return Ok(());
        }
        let offset = offset.try_into().map_err(io::Error::other)?;
        // SAFETY: the new mapping replaces a part of this region, which nobody else owns.
        let start = unsafe {
            libc::mmap(
                self.start().add(range.start).cast(),
                range.len(),
                access,
                flags | libc::MAP_FIXED,
                file,
                offset,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Maximum number of bytes after extensions.
    pub(crate) fn reserved(&self) -> usize {
        self.reserved
    }

    /// Extends it by whole pages; returns whether there was room.
    pub(crate) fn extend(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.reserved - self.length;
        if fits {
            self.length += bytes;
        }
        fits
    }

    /// Sets a range to zero; whole pages are returned to the host, unless a file is mapped there.
    pub(crate) fn zero(&mut self, range: Range<usize>) {
        const PAGE: usize = crate::PAGE_BYTES as usize;
        let whole = range.start.next_multiple_of(PAGE)..range.end / PAGE * PAGE;
        let in_file = |file: &Range<usize>| file.start < range.end && range.start < file.end;
        if whole.is_empty() || self.mapped.iter().any(in_file) {
            return self.fill_zero(range);
        }
        self.fill_zero(range.start..whole.start);
        self.fill_zero(whole.end..range.end);
        // SAFETY: the pages lie in this mapping, which is private, and where no file is, so that they read
        // as zeros afterwards.
        unsafe {
            libc::madvise(
                self.start().add(whole.start).cast(),
                whole.len(),
                libc::MADV_DONTNEED,
            )
        };
    }

    /// Allocates the host's memory for all of it now, instead of page by page at the first use. Without effect on hosts
    /// that cannot (Linux before 5.14).
    pub(crate) fn populate(&mut self) {
        // SAFETY: the range is this mapping; its contents stay as they are.
        unsafe { libc::madvise(self.start().cast(), self.length, libc::MADV_POPULATE_WRITE) };
    }

    fn fill_zero(&mut self, range: Range<usize>) {
        assert!(range.end <= self.length, "the range leaves the region");
        // SAFETY: the range lies in the region.
        unsafe { self.start().add(range.start).write_bytes(0, range.len()) };
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if self.reserved > 0 {
            // SAFETY: the mapping is this region's own and no longer used.
            unsafe { libc::munmap(self.start().cast(), self.reserved) };
        }
    }
}
