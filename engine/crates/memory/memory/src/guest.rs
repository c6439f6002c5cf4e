use crate::cache::LINE_BYTES;
use crate::fault::{Access, GuestFault};
use crate::host_access::HostAccess;
use crate::mapping::Mapping;
use crate::prefetch::prefetch;
use crate::region::Region;
use rackwright_state::{Pass, State, StateError};
use rackwright_stats::{ContentHash, ContentSum};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// Bytes of a page, the unit of protection.
pub const PAGE_BYTES: u64 = 4096;

/// The accesses that a page allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Protection(pub(crate) u8);

impl Protection {
    /// None: the page does not exist.
    pub const NONE: Protection = Protection(0);
    /// Reading.
    pub const READ: Protection = Protection(1);
    /// Writing.
    pub const WRITE: Protection = Protection(2);
    /// Running.
    pub const EXECUTE: Protection = Protection(4);
    /// Reading and writing.
    pub const READ_WRITE: Protection = Protection(3);
    /// Everything.
    pub const ALL: Protection = Protection(7);

    /// Both together.
    pub const fn with(self, other: Protection) -> Protection {
        Protection(self.0 | other.0)
    }

    /// Whether all accesses in `needed` are allowed.
    #[inline]
    pub const fn allows(self, needed: Protection) -> bool {
        self.0 & needed.0 == needed.0
    }
}

/// The memory of a simulated machine: flat, sparse, and protected by the page.
///
/// The host reserves address space only; a page takes memory when it is first written. All bytes
/// are zero at the start.
pub struct GuestMemory {
    pub(crate) region: Region,
    /// The bits of each page's protection: zeros, which take the host's memory only when they are accessed.
    pub(crate) protection: Vec<u8>,
    /// Not zero for each page that may have been written: zeros as well.
    pub(crate) touched: Vec<u8>,
    /// The first page of the shared initial contents, and the hashes of this page and those after it.
    pub(crate) begun: (usize, Arc<[ContentHash]>),
    pub(crate) stamps: ProtectionStamps,
    written: Box<[u32; WRITTEN]>,
}

/// Counters of writes that lines share.
const WRITTEN: usize = 256;

/// The versions of memories' page protection that a translation buffer or a decoder has used. Stamps of different
/// memories, and of different states of one, differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProtectionStamps {
    /// Changes with every change of protection.
    pub data: u64,
    /// Changes when a page begins or ceases to be executable, or when instructions are announced to have changed.
    pub code: u64,
}

pub(crate) fn fresh_stamp() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl GuestMemory {
    /// Memory at the addresses 0 to `bytes` (rounded up to a page), with no page accessible yet.
    ///
    /// # Errors
    /// When the host cannot reserve that much address space.
    pub fn new(bytes: u64) -> io::Result<GuestMemory> {
        GuestMemory::with_room(bytes, 0)
    }

    /// The same, with `room`, whole pages, for [extensions](Mapping::extend).
    ///
    /// # Errors
    /// When the host cannot reserve that much address space.
    pub fn with_room(bytes: u64, room: u64) -> io::Result<GuestMemory> {
        let pages = bytes.div_ceil(PAGE_BYTES);
        let region = Region::reserve((pages * PAGE_BYTES) as usize, room as usize)?;
        Ok(GuestMemory {
            region,
            protection: vec![Protection::NONE.0; pages as usize],
            touched: vec![0; pages as usize],
            begun: (0, Arc::default()),
            stamps: ProtectionStamps {
                data: fresh_stamp(),
                code: fresh_stamp(),
            },
            written: Box::new([0; WRITTEN]),
        })
    }

    /// The host's pages behind it.
    pub fn mapping(&mut self) -> Mapping<'_> {
        Mapping { memory: self }
    }

    /// Access by host addresses.
    #[inline]
    pub fn host(&mut self) -> HostAccess<'_> {
        HostAccess { memory: self }
    }

    /// The first address beyond memory.
    #[inline]
    pub fn end(&self) -> u64 {
        self.region.len() as u64
    }

    /// Makes all of memory readable, writable and executable, as bare metal finds it.
    pub fn allow_all(&mut self) {
        self.protection.fill(Protection::ALL.0);
        self.stamps.data = fresh_stamp();
        self.stamps.code = fresh_stamp();
    }

    /// Sets the protection of all pages that hold a byte of the range.
    ///
    /// # Errors
    /// [`GuestFault`] if the range leaves memory; then nothing has changed.
    pub fn protect(&mut self, address: u64, length: u64, protection: Protection) -> Result<(), GuestFault> {
        let end = self.end_of(address, length, Access::Write)?;
        let pages = (address / PAGE_BYTES) as usize..end.div_ceil(PAGE_BYTES) as usize;
        let pages = &mut self.protection[pages];
        self.stamps.data = fresh_stamp();
        if protection.allows(Protection::EXECUTE)
            || pages
                .iter()
                .any(|page| Protection(*page).allows(Protection::EXECUTE))
        {
            self.stamps.code = fresh_stamp();
        }
        pages.fill(protection.0);
        Ok(())
    }

    /// Announces that instructions may have changed: decoded ones are compared with memory before they run again.
    pub fn code_changed(&mut self) {
        self.stamps.code = fresh_stamp();
    }

    /// Which state of the protection this is.
    #[inline]
    pub fn stamps(&self) -> ProtectionStamps {
        self.stamps
    }

    /// The accesses allowed to the page at `address`; none beyond memory.
    #[inline]
    pub fn protection(&self, address: u64) -> Protection {
        let page = (address / PAGE_BYTES) as usize;
        self.protection
            .get(page)
            .map_or(Protection::NONE, |bits| Protection(*bits))
    }

    /// Announces a coming access; changes nothing.
    #[inline]
    pub fn prefetch(&self, address: u64) {
        prefetch(self.region.start().wrapping_add(address as usize));
    }

    /// Copies the bytes at `address` into `into`.
    ///
    /// # Errors
    /// [`GuestFault`] if one of them may not be read; the contents of `into` are then unspecified.
    #[inline]
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), GuestFault> {
        let source = self.check(address, into.len() as u64, Access::Read)?;
        // SAFETY: the range was checked to lie in the region; `into` is the caller's own memory.
        unsafe { copy(source, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// The eight bytes at `address`, the lowest first.
    ///
    /// # Errors
    /// As [`GuestMemory::read`].
    #[inline]
    pub fn word(&self, address: u64) -> Result<u64, GuestFault> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Copies the bytes at `address` into `into`, as a hart fetches instructions.
    ///
    /// # Errors
    /// [`GuestFault`] when the page of one of them may not be run.
    pub fn fetch(&self, address: u64, into: &mut [u8]) -> Result<(), GuestFault> {
        let last = self.end_of(address, into.len() as u64, Access::Read)?.max(1) - 1;
        for place in [address, last] {
            if !self.protection(place).allows(Protection::EXECUTE) {
                let access = Access::Read;
                return Err(GuestFault {
                    address: place,
                    access,
                });
            }
        }
        // SAFETY: the range lies in the region; `into` is the caller's own memory.
        unsafe {
            let source = self.region.start().add(address as usize);
            std::ptr::copy_nonoverlapping(source, into.as_mut_ptr(), into.len());
        }
        Ok(())
    }

    /// Copies `from` to `address`, as a writer other than the current hart: reservations of the lines are lost.
    ///
    /// # Errors
    /// [`GuestFault`] if one of the bytes may not be written; then nothing has changed.
    #[inline]
    pub fn write(&mut self, address: u64, from: &[u8]) -> Result<(), GuestFault> {
        self.store(address, from)?;
        self.count_write(address, from.len() as u64);
        Ok(())
    }

    /// Copies `from` to `address`, as the hart that runs.
    ///
    /// # Errors
    /// [`GuestFault`] if one of the bytes may not be written; then nothing has changed.
    #[inline]
    pub fn store(&mut self, address: u64, from: &[u8]) -> Result<(), GuestFault> {
        let target = self.check(address, from.len() as u64, Access::Write)?;
        self.touch(address, from.len() as u64);
        // SAFETY: the range was checked to lie in the region; `from` is the caller's own memory.
        unsafe { copy(from.as_ptr(), target.cast_mut(), from.len()) };
        Ok(())
    }

    /// A number that changes with every [`GuestMemory::write`] to the line of `address`, and with writes to some other
    /// lines.
    #[inline]
    pub fn writes(&self, address: u64) -> u32 {
        self.written[(address / LINE_BYTES) as usize % WRITTEN]
    }

    #[inline]
    fn count_write(&mut self, address: u64, length: u64) {
        let first = address / LINE_BYTES;
        let lines = (address + length).div_ceil(LINE_BYTES) - first;
        for line in first..first + lines.min(WRITTEN as u64) {
            let count = &mut self.written[line as usize % WRITTEN];
            *count = count.wrapping_add(1);
        }
    }

    /// Copies `from` to `address` regardless of protection, as a loader does.
    ///
    /// # Errors
    /// [`GuestFault`] when the range leaves memory.
    pub fn load(&mut self, address: u64, from: &[u8]) -> Result<(), GuestFault> {
        self.end_of(address, from.len() as u64, Access::Write)?;
        self.touch(address, from.len() as u64);
        // SAFETY: the range lies in the region.
        unsafe {
            let target = self.region.start().add(address as usize);
            std::ptr::copy_nonoverlapping(from.as_ptr(), target, from.len());
        }
        Ok(())
    }

    /// The pages that are not all zero: their addresses and hashes.
    pub fn pages(&self) -> impl Iterator<Item = (u64, ContentHash)> + '_ {
        let hashes = self.touched.iter().enumerate().map(|(page, touched)| {
            let hash = if *touched == 0 {
                self.begun_with(page)
            } else {
                ContentHash::of(self.page(page))
            };
            (page as u64 * PAGE_BYTES, hash)
        });
        hashes.filter(|(_, hash)| !hash.is_zero())
    }

    /// A hash that distinguishes its contents from others, regardless of writers, times, and protection.
    pub fn contents(&self) -> ContentSum {
        let mut sum = ContentSum::default();
        self.pages()
            .for_each(|(address, hash)| sum.add(address.into(), hash));
        sum
    }

    fn begun_with(&self, page: usize) -> ContentHash {
        let (first, pages) = &self.begun;
        let begun = page.checked_sub(*first).and_then(|page| pages.get(page));
        begun.copied().unwrap_or_default()
    }

    /// # Panics
    /// When there is no such page.
    pub(crate) fn page(&self, page: usize) -> &[u8] {
        const BYTES: usize = PAGE_BYTES as usize;
        assert!(page < self.touched.len(), "page {page} lies beyond memory");
        // SAFETY: the page lies in the region, which is as long as `touched` says, and nobody writes it through `&self`.
        unsafe { std::slice::from_raw_parts(self.region.start().add(page * BYTES), BYTES) }
    }

    #[inline]
    pub(crate) fn touch(&mut self, address: u64, length: u64) {
        let (first, beyond) = (address / PAGE_BYTES, (address + length).div_ceil(PAGE_BYTES));
        match &mut self.touched[first as usize..beyond as usize] {
            [page] => *page = 1,
            pages => pages.fill(1),
        }
    }

    pub(crate) fn end_of(&self, address: u64, length: u64, access: Access) -> Result<u64, GuestFault> {
        match address.checked_add(length) {
            Some(end) if end <= self.end() => Ok(end),
            _ => Err(GuestFault {
                address: address.max(self.end()),
                access,
            }),
        }
    }

    #[inline]
    fn check(&self, address: u64, length: u64, access: Access) -> Result<*const u8, GuestFault> {
        let end = self.end_of(address, length, access)?;
        let needed = if access == Access::Write {
            Protection::WRITE
        } else {
            Protection::READ
        };
        let mut page = address / PAGE_BYTES;
        while page * PAGE_BYTES < end {
            if !Protection(self.protection[page as usize]).allows(needed) {
                return Err(GuestFault {
                    address: address.max(page * PAGE_BYTES),
                    access,
                });
            }
            page += 1;
        }
        // SAFETY: `address` is at most the region's length.
        Ok(unsafe { self.region.start().add(address as usize) })
    }
}

/// The pages that may have been written are saved, and the others stay shared with the initial contents. Protection
/// is that of the machine to which the memory belongs, if no [program sets it](Mapping::pass_protection).
impl State for GuestMemory {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.written.pass(by)?;
        let touched = self
            .touched
            .iter()
            .enumerate()
            .filter(|(_, touched)| **touched != 0);
        let mut pages: Vec<usize> = touched.map(|(page, _)| page).collect();
        pages.pass(by)?;
        let mut content = [0; PAGE_BYTES as usize];
        for page in pages {
            if page >= self.touched.len() {
                return Err(StateError::Damaged);
            }
            content.copy_from_slice(self.page(page));
            by.bytes(&mut content)?;
            if by.restores() {
                let address = page as u64 * PAGE_BYTES;
                self.load(address, &content).map_err(|_| StateError::Damaged)?;
            }
        }
        if by.restores() {
            self.code_changed();
        }
        Ok(())
    }
}

/// Copies `length` bytes; the size of a beat without a call.
///
/// # Safety
/// Both ranges are valid and do not overlap.
#[inline]
unsafe fn copy(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: the caller's promise; arrays of bytes have no alignment.
    unsafe {
        match length {
            32 => std::ptr::copy_nonoverlapping(from.cast::<[u8; 32]>(), to.cast(), 1),
            16 => std::ptr::copy_nonoverlapping(from.cast::<[u8; 16]>(), to.cast(), 1),
            _ => std::ptr::copy_nonoverlapping(from, to, length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn memory_with_room_ends_later_when_it_is_extended() {
        let mut memory = GuestMemory::with_room(2 * PAGE_BYTES, 64 << 30).unwrap();
        assert!(memory.protect(2 * PAGE_BYTES, 1, Protection::READ_WRITE).is_err());
        assert_eq!(memory.mapping().extend(65 << 30), None);
        assert_eq!(memory.mapping().extend(64 << 30), Some(2 * PAGE_BYTES));
        let last = memory.end() - PAGE_BYTES;
        assert!(memory.write(last, &[1]).is_err());
        memory.protect(last, PAGE_BYTES, Protection::READ_WRITE).unwrap();
        memory.write(last, &[1]).unwrap();
        memory.mapping().discard(2 * PAGE_BYTES, 64 << 30).unwrap();
        assert_eq!(memory.pages().count(), 0);
        assert_eq!(memory.mapping().extend(PAGE_BYTES), None);
    }

    #[test]
    fn a_duplicate_holds_the_same_and_changes_by_itself() {
        let mut one = GuestMemory::with_room(4 * PAGE_BYTES, PAGE_BYTES).unwrap();
        one.protect(0, 2 * PAGE_BYTES, Protection::READ_WRITE).unwrap();
        one.write(PAGE_BYTES - 1, b"ab").unwrap();
        one.load(2 * PAGE_BYTES, b"left out").unwrap();
        let without = 2 * PAGE_BYTES..3 * PAGE_BYTES;
        let mut other = one.mapping().duplicate(std::slice::from_ref(&without)).unwrap();
        let mut back = [0; 2];
        one.write(PAGE_BYTES, b"c").unwrap();
        other.read(PAGE_BYTES - 1, &mut back).unwrap();
        assert_eq!(&back, b"ab");
        assert!(other.write(2 * PAGE_BYTES, b"d").is_err());
        let pages: Vec<u64> = other.pages().map(|(address, _)| address).collect();
        assert_eq!(pages, [0, PAGE_BYTES]);
        assert_eq!(other.mapping().extend(PAGE_BYTES), Some(4 * PAGE_BYTES));
        assert_eq!(other.mapping().extend(PAGE_BYTES), None);
        assert_ne!(one.stamps(), other.stamps());
    }

    #[test]
    fn pages_are_protected_apart() {
        let mut memory = GuestMemory::new(4 * PAGE_BYTES).unwrap();
        memory
            .protect(PAGE_BYTES, PAGE_BYTES, Protection::READ_WRITE)
            .unwrap();
        memory.write(PAGE_BYTES + 8, b"here").unwrap();
        let mut back = [0; 4];
        memory.read(PAGE_BYTES + 8, &mut back).unwrap();
        assert_eq!(&back, b"here");
        let fault = memory.write(2 * PAGE_BYTES - 2, b"over").unwrap_err();
        assert_eq!(
            fault,
            GuestFault {
                address: 2 * PAGE_BYTES,
                access: Access::Write
            }
        );
        memory.read(2 * PAGE_BYTES - 2, &mut back).unwrap_err();
    }

    #[test]
    fn nothing_lies_beyond_memory() {
        let mut memory = GuestMemory::new(PAGE_BYTES).unwrap();
        memory.allow_all();
        assert!(memory.write(PAGE_BYTES, b"a").is_err());
        assert!(memory.read(u64::MAX, &mut [0; 2]).is_err());
        assert!(memory.read(PAGE_BYTES, &mut []).is_ok());
    }

    #[test]
    fn contents_are_what_is_there_and_not_how_it_came() {
        let memory = || GuestMemory::new(4 * PAGE_BYTES).unwrap();
        let (mut one, mut other) = (memory(), memory());
        one.allow_all();
        assert_eq!(one.contents(), other.contents());
        one.write(PAGE_BYTES - 1, &[1, 2]).unwrap();
        assert_ne!(one.contents(), other.contents());
        other.load(PAGE_BYTES, &[2]).unwrap();
        other.load(PAGE_BYTES - 1, &[1]).unwrap();
        other.load(3 * PAGE_BYTES, &[3]).unwrap();
        assert_ne!(one.contents(), other.contents());
        other.mapping().discard(3 * PAGE_BYTES, 1).unwrap();
        assert_eq!(one.contents(), other.contents());
        let pages: Vec<u64> = one.pages().map(|(address, _)| address).collect();
        assert_eq!(pages, [0, PAGE_BYTES]);
    }

    #[test]
    fn what_is_written_past_memory_counts_once_it_is_announced() {
        let (mut one, mut other) = (
            GuestMemory::new(PAGE_BYTES).unwrap(),
            GuestMemory::new(PAGE_BYTES).unwrap(),
        );
        one.touch(7, 1);
        // SAFETY: the byte lies in memory.
        unsafe { *one.host().base().add(7) = 9 };
        other.load(7, &[9]).unwrap();
        assert_eq!(one.contents(), other.contents());
    }

    #[test]
    fn shared_pages_are_those_of_the_file() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(2 * PAGE_BYTES).unwrap();
        let mut memory = GuestMemory::new(4 * PAGE_BYTES).unwrap();
        memory.allow_all();
        for place in [0, 2 * PAGE_BYTES] {
            memory
                .mapping()
                .share(place, PAGE_BYTES, (&file, PAGE_BYTES), true)
                .unwrap();
        }
        memory.write(5, b"both").unwrap();
        let mut back = [0; 4];
        memory.read(2 * PAGE_BYTES + 5, &mut back).unwrap();
        assert_eq!(&back, b"both");
        file.read_exact_at(&mut back, PAGE_BYTES + 5).unwrap();
        assert_eq!(&back, b"both");
        memory.mapping().unshare(0, PAGE_BYTES).unwrap();
        memory.read(5, &mut back).unwrap();
        assert_eq!(back, [0; 4]);
    }

    #[test]
    fn discarded_bytes_are_zero() {
        let mut memory = GuestMemory::new(4 * PAGE_BYTES).unwrap();
        memory.allow_all();
        memory.write(0, &[7; 3 * PAGE_BYTES as usize]).unwrap();
        memory.mapping().discard(100, 2 * PAGE_BYTES).unwrap();
        let mut edge = [1; 2];
        memory.read(99, &mut edge).unwrap();
        assert_eq!(edge, [7, 0]);
        memory.read(2 * PAGE_BYTES + 99, &mut edge).unwrap();
        assert_eq!(edge, [0, 7]);
    }
}
