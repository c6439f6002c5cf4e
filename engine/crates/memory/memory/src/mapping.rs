use crate::contents::Contents;
use crate::fault::{Access, GuestFault};
use crate::guest::{fresh_stamp, GuestMemory, Protection, PAGE_BYTES};
use rackwright_state::{Pass, State, StateError};
use std::fs::File;
use std::io;
use std::ops::Range;

/// The host's pages behind a guest's memory: how many there are, and what they show.
pub struct Mapping<'a> {
    pub(crate) memory: &'a mut GuestMemory,
}

impl Mapping<'_> {
    /// Another memory of `bytes`, with no page accessible yet, in as much address space as this one has.
    ///
    /// # Errors
    /// When the host cannot reserve that much address space.
    pub fn another(&self, bytes: u64) -> io::Result<GuestMemory> {
        let room = (self.memory.region.reserved() as u64).saturating_sub(bytes.next_multiple_of(PAGE_BYTES));
        GuestMemory::with_room(bytes, room)
    }

    /// A copy with the same contents and protection; data [shared](Mapping::share) with files, in the ranges
    /// `without`, are zeros in it.
    ///
    /// # Errors
    /// When the host cannot reserve that much address space.
    pub fn duplicate(&self, without: &[Range<u64>]) -> io::Result<GuestMemory> {
        let mut copy = self.another(self.memory.end())?;
        copy.protection.copy_from_slice(&self.memory.protection);
        let is_left_out = |address| without.iter().any(|range| range.contains(&address));
        for page in (0..self.memory.touched.len()).filter(|page| self.memory.touched[*page] != 0) {
            let address = page as u64 * PAGE_BYTES;
            if !is_left_out(address) {
                copy.load(address, self.memory.page(page))
                    .map_err(io::Error::other)?;
            }
        }
        Ok(copy)
    }

    /// Extends memory by `bytes`, whole pages that are zero and not accessible yet; returns their address. `None` when
    /// there is no room for them.
    pub fn extend(&mut self, bytes: u64) -> Option<u64> {
        let start = self.memory.end();
        if !self.memory.region.extend(usize::try_from(bytes).ok()?) {
            return None;
        }
        let pages = (self.memory.end() / PAGE_BYTES) as usize;
        self.memory.protection.resize(pages, Protection::NONE.0);
        self.memory.touched.resize(pages, 0);
        self.memory.stamps.data = fresh_stamp();
        Some(start)
    }

    /// Has memory read as `contents` from `address` on, a page's first byte. Later writes affect this memory alone, and
    /// the host stores unwritten pages only once.
    ///
    /// # Errors
    /// When the contents leave memory, or the host refuses.
    pub fn begin_with(&mut self, address: u64, contents: &Contents) -> io::Result<()> {
        let end = self
            .memory
            .end_of(address, contents.bytes(), Access::Write)
            .map_err(io::Error::other)?;
        self.memory
            .region
            .map(address as usize..end as usize, contents.file())?;
        self.memory.begun = ((address / PAGE_BYTES) as usize, contents.pages());
        Ok(())
    }

    /// Maps whole pages from `address` on to those of `file` from `offset` on: writes to them go to the file, which has
    /// to be open for writing if it is `writable`, and writes to the file are visible in them. The file must not become
    /// shorter than its shared part.
    ///
    /// # Errors
    /// When the range leaves memory, or the host refuses.
    pub fn share(&mut self, address: u64, length: u64, file: (&File, u64), writable: bool) -> io::Result<()> {
        let end = self
            .memory
            .end_of(address, length, Access::Write)
            .map_err(io::Error::other)?;
        self.memory.touch(address, length);
        self.memory
            .region
            .share(address as usize..end as usize, file, writable)
    }

    /// Ends the sharing of whole pages: they become zero again.
    ///
    /// # Errors
    /// When the range leaves memory, or the host refuses.
    pub fn unshare(&mut self, address: u64, length: u64) -> io::Result<()> {
        let end = self
            .memory
            .end_of(address, length, Access::Write)
            .map_err(io::Error::other)?;
        self.memory.region.unshare(address as usize..end as usize)
    }

    /// Returns a range to the host: its bytes become zero again.
    ///
    /// # Errors
    /// [`GuestFault`] when the range leaves memory.
    pub fn discard(&mut self, address: u64, length: u64) -> Result<(), GuestFault> {
        let end = self.memory.end_of(address, length, Access::Write)?;
        if !self.memory.begun.1.is_empty() {
            // It may not have been zero from the start.
            self.memory.touch(address, length);
        }
        self.memory.region.zero(address as usize..end as usize);
        Ok(())
    }

    /// Passes its size and the protection of its pages, which are state where a program sets them.
    ///
    /// # Errors
    /// [`StateError::Damaged`] if there is no room for as many pages.
    pub fn pass_protection(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let equal = self.memory.protection.chunk_by(|one, other| one == other);
        let mut runs: Vec<(usize, u8)> = equal.map(|run| (run.len(), run[0])).collect();
        runs.pass(by)?;
        if !by.restores() {
            return Ok(());
        }
        let pages: usize = runs.iter().map(|(pages, _)| pages).sum();
        let more = pages
            .checked_sub(self.memory.protection.len())
            .ok_or(StateError::Damaged)?;
        if more > 0 {
            let extended = self.extend(more as u64 * PAGE_BYTES);
            extended.ok_or(StateError::Damaged)?;
        }
        let mut rest = &mut self.memory.protection[..];
        for (pages, bits) in runs {
            let (run, others) = rest.split_at_mut(pages);
            // Pages that nobody has written stay those of the host.
            if run.iter().any(|page| *page != bits) {
                run.fill(bits);
            }
            rest = others;
        }
        self.memory.stamps.data = fresh_stamp();
        self.memory.stamps.code = fresh_stamp();
        Ok(())
    }
}
