//! Mappings that are shared with files. Their host memory is that of the file itself, so that writes are in the file
//! immediately, and two mappings of a file share contents.

use super::refuse;
use crate::areas::Backing;
use crate::descriptor::Descriptor;
use crate::files::Shared;
use crate::limits::{memory_file, open_on_host};
use crate::process::Process;
use rackwright_memory::{GuestMemory, Protection, PAGE_BYTES};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// Device, number and offset of a page that may be mapped at several addresses.
pub(crate) type SharedPlace = (u64, u64, u64);

/// The backing of a shared mapping of `file` from `offset` on; none if the descriptor is not a file of bytes.
pub(super) fn backing(file: &Shared, protection: Protection, offset: u64) -> io::Result<Option<Backing>> {
    let descriptor = file.borrow();
    let Descriptor::Host(host) = &*descriptor else {
        return Ok(None);
    };
    if !host.file.metadata()?.is_file() {
        return Ok(None);
    }
    let access = file.flags() & libc::O_ACCMODE;
    if access == libc::O_WRONLY || protection.allows(Protection::WRITE) && access != libc::O_RDWR {
        return refuse(libc::EACCES);
    }
    let is_sealed = is_sealed(&host.file);
    if protection.allows(Protection::WRITE) && is_sealed {
        return refuse(libc::EPERM);
    }
    let writable = access == libc::O_RDWR && !is_sealed;
    Ok(Some(Backing {
        file: host.file.clone(),
        offset,
        present: 0,
        writable,
        protection,
    }))
}

/// The backing of a shared mapping without a file: a file in memory, so that children share it.
pub(super) fn anonymous(length: u64, protection: Protection) -> io::Result<Backing> {
    let file = open_on_host(|| memory_file(libc::MFD_CLOEXEC))?;
    file.set_len(length.next_multiple_of(PAGE_BYTES))?;
    Ok(Backing {
        file: Arc::new(file),
        offset: 0,
        present: 0,
        writable: true,
        protection,
    })
}

/// Whether a file is a memory file that may not be written any more.
fn is_sealed(file: &File) -> bool {
    // SAFETY: the descriptor is open, and no memory is involved. Files without seals answer with an error.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    seals >= 0 && seals & (libc::F_SEAL_WRITE | libc::F_SEAL_FUTURE_WRITE) != 0
}

impl Process {
    /// Restores the sharing with files in a copy of another process's memory.
    pub(crate) fn share_again(&mut self, memory: &mut GuestMemory) -> io::Result<()> {
        for (_, backing) in self.layout.areas.shared() {
            backing.present = 0;
        }
        self.refit_shared(memory)
    }

    /// The file, by the numbers that the host has for it, and the place in it that a shared mapping has at `address`.
    pub(crate) fn shared_place(&self, address: u64) -> Option<SharedPlace> {
        let (area, backing) = self.layout.area_at(address)?;
        let backing = backing?;
        let metadata = backing.file.metadata().ok()?;
        Some((
            metadata.dev(),
            metadata.ino(),
            backing.offset + (address - area.start),
        ))
    }

    /// Has the mapping of `length` bytes at `place` be shared with a file.
    pub(super) fn share(
        &mut self,
        memory: &mut GuestMemory,
        place: u64,
        length: u64,
        backing: Backing,
    ) -> io::Result<()> {
        let range = place..place + length.div_ceil(PAGE_BYTES) * PAGE_BYTES;
        self.layout.areas.remove(&range);
        let backing = Backing {
            present: 0,
            ..backing
        };
        memory
            .protect(place, range.end - place, Protection::NONE)
            .or(refuse(libc::ENOMEM))?;
        self.layout.areas.add(range, Some(backing));
        self.refit_shared(memory)
    }

    /// To be called when files may have become longer or shorter: pages beyond the end of a file do not exist.
    pub(crate) fn refit_shared(&mut self, memory: &mut GuestMemory) -> io::Result<()> {
        for (range, backing) in self.layout.areas.shared() {
            refit(&range, backing, memory)?;
        }
        Ok(())
    }

    /// `mprotect` of a range that is mapped. A mapping shared with a file keeps the protection for pages that exist
    /// when the file grows.
    pub(super) fn protect(
        &mut self,
        memory: &mut GuestMemory,
        range: Range<u64>,
        protection: Protection,
    ) -> io::Result<u64> {
        let areas = self.layout.areas.overlapping(&range);
        let mut shared = areas.iter().filter_map(|(_, kind)| kind.as_ref());
        if protection.allows(Protection::WRITE) && shared.any(|backing| !backing.writable) {
            return refuse(libc::EACCES);
        }
        memory
            .protect(range.start, range.end - range.start, protection)
            .or(refuse(libc::ENOMEM))?;
        for (part, backing) in self.layout.areas.protect(&range, protection) {
            let beyond = (part.start + backing.present).min(part.end);
            memory
                .protect(beyond, part.end - beyond, Protection::NONE)
                .or(refuse(libc::ENOMEM))?;
        }
        Ok(0)
    }

    /// `msync`: writes are in the files already.
    pub(super) fn synchronise(&self, address: u64, length: u64) -> io::Result<u64> {
        if address % PAGE_BYTES != 0 {
            return refuse(libc::EINVAL);
        }
        if !self.layout.covers(address, length) {
            return refuse(libc::ENOMEM);
        }
        Ok(0)
    }

    /// Whether `access` is allowed to the mapping of a file at `address`, but that is beyond the end of the file.
    pub(crate) fn is_beyond_file(&self, address: u64, access: Protection) -> bool {
        let Some((area, Some(backing))) = self.layout.area_at(address) else {
            return false;
        };
        address - area.start >= backing.present && backing.protection.allows(access)
    }
}

fn refit(range: &Range<u64>, backing: &mut Backing, memory: &mut GuestMemory) -> io::Result<()> {
    let bytes = backing.file.metadata()?.len().saturating_sub(backing.offset);
    let present = bytes.div_ceil(PAGE_BYTES) * PAGE_BYTES;
    let present = present.min(range.end - range.start);
    let before = backing.present.min(range.end - range.start);
    let (from, to) = (
        range.start + before.min(present),
        range.start + before.max(present),
    );
    let (change, length) = (from - range.start, to - from);
    if present > before {
        let file = (&*backing.file, backing.offset + change);
        memory.mapping().share(from, length, file, backing.writable)?;
        memory
            .protect(from, length, backing.protection)
            .or(refuse(libc::ENOMEM))?;
    } else if present < before {
        memory.mapping().unshare(from, length)?;
        memory
            .protect(from, length, Protection::NONE)
            .or(refuse(libc::ENOMEM))?;
    }
    backing.present = present;
    Ok(())
}
