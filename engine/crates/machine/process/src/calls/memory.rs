//! Heap and mappings.

use super::{number, refuse, shared, Call};
use crate::descriptor::Descriptor;
use crate::files::Shared;
use crate::gather;
use crate::process::Process;
use rackwright_memory::{GuestMemory, Protection, PAGE_BYTES};
use std::io;
use std::ops::Range;

/// A program's addresses are below this one, by Sv39.
const ADDRESSES: u64 = 1 << 38;

impl Process {
    pub(super) fn memory_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [address, length, third, ..] = call.arguments;
        match number {
            number::BRK => Ok(self.layout.set_heap_end(address, call.memory)),
            number::MMAP => self.map(call),
            number::MUNMAP => {
                check_range(address, length)?;
                self.layout
                    .unmap(address, length, call.memory)
                    .map_err(gather::fault)?;
                Ok(0)
            }
            number::MREMAP => self.remap(call),
            number::MPROTECT => {
                if address % PAGE_BYTES != 0 {
                    return refuse(libc::EINVAL);
                }
                let protection = protection(third);
                if !self.layout.covers(address, length) {
                    return refuse(libc::ENOMEM);
                }
                let end = address + length.next_multiple_of(PAGE_BYTES);
                self.protect(call.memory, address..end, protection)
            }
            number::MADVISE => self.advise(call),
            number::MSYNC => self.synchronise(address, length),
            number::MINCORE => self.residence(call),
            number::MLOCK | number::MUNLOCK | number::MLOCK2 => {
                if !self.layout.covers(address, length) {
                    return refuse(libc::ENOMEM);
                }
                Ok(0)
            }
            // All memory of a program is always resident.
            number::MLOCKALL | number::MUNLOCKALL => Ok(0),
            _ => self.unknown(number),
        }
    }

    fn map(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [address, length, access, flags, descriptor, offset] = call.arguments;
        if length == 0 || offset % PAGE_BYTES != 0 {
            return refuse(libc::EINVAL);
        }
        let flags = flags as i32;
        let is_fixed = flags & (libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE) != 0;
        if flags & libc::MAP_TYPE == 0 || is_fixed && address % PAGE_BYTES != 0 {
            return refuse(libc::EINVAL);
        }
        if flags & libc::MAP_HUGETLB != 0 {
            // As a kernel without huge pages.
            return refuse(libc::EINVAL);
        }
        let shared =
            flags & libc::MAP_TYPE == libc::MAP_SHARED || flags & libc::MAP_TYPE == libc::MAP_SHARED_VALIDATE;
        let file = if flags & libc::MAP_ANONYMOUS == 0 {
            Some(self.files.get(descriptor)?)
        } else {
            None
        };
        file.as_ref().map_or(Ok(()), check_mappable)?;
        let backing = match &file {
            Some(file) if shared => shared::backing(file, protection(access), offset)?,
            // Address space that is only reserved has no contents.
            None if shared && protection(access) != Protection::NONE => {
                Some(shared::anonymous(length, protection(access))?)
            }
            _ => None,
        };
        let place = if is_fixed {
            let replaces = flags & libc::MAP_FIXED_NOREPLACE == 0;
            if !replaces && self.layout.overlaps(address, length) {
                return refuse(libc::EEXIST);
            }
            self.layout
                .map_at(address, length, protection(access), call.memory)
        } else if protection(access) == Protection::NONE && file.is_none() {
            self.layout.reserve(length, call.memory)
        } else {
            self.layout.map(length, protection(access), call.memory)
        };
        let Some(place) = place else {
            return refuse(libc::ENOMEM);
        };
        let filled = match (backing, file) {
            (Some(backing), _) => self.share(call.memory, place, length, backing),
            (None, Some(file)) => fill_from_file(call.memory, place, length, &file, offset),
            (None, None) => Ok(()),
        };
        if filled.is_err() {
            // Pages that the host refuses do not exist.
            self.layout
                .unmap(place, length, call.memory)
                .map_err(gather::fault)?;
        }
        filled.map(|()| place)
    }

    /// `mincore(address, length, vector)`: all pages are resident.
    fn residence(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [address, length, vector, ..] = call.arguments;
        if address % PAGE_BYTES != 0 {
            return refuse(libc::EINVAL);
        }
        if !self.layout.covers(address, length) {
            return refuse(libc::ENOMEM);
        }
        let pages = vec![1; length.div_ceil(PAGE_BYTES) as usize];
        call.memory.write(vector, &pages).map_err(gather::fault)?;
        Ok(0)
    }

    /// `madvise(address, length, advice)`: of the advice that programs may rely on, only `MADV_DONTNEED` is known;
    /// the rest is refused as by kernels that do not know it, since a program would otherwise count on it.
    fn advise(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [address, length, advice, ..] = call.arguments;
        if !is_known(advice as i32) {
            return refuse(libc::EINVAL);
        }
        let range = advised(address, length)?;
        if advice as i32 == libc::MADV_DONTNEED {
            self.discard(&range, call.memory)?;
        }
        if self.layout.areas.cover(&range) {
            Ok(0)
        } else {
            refuse(libc::ENOMEM)
        }
    }

    /// Makes the private pages of a range zero.
    fn discard(&mut self, range: &Range<u64>, memory: &mut GuestMemory) -> io::Result<()> {
        for (area, kind) in self.layout.areas.overlapping(range) {
            if kind.is_some() {
                // Pages shared with a file are unchanged.
                continue;
            }
            let start = area.start.max(range.start);
            let length = area.end.min(range.end) - start;
            memory.mapping().discard(start, length).map_err(gather::fault)?;
        }
        memory.code_changed();
        Ok(())
    }
}

/// Advice that has no effect which a program can see, and `MADV_DONTNEED`.
fn is_known(advice: i32) -> bool {
    matches!(
        advice,
        libc::MADV_NORMAL
            | libc::MADV_RANDOM
            | libc::MADV_SEQUENTIAL
            | libc::MADV_WILLNEED
            | libc::MADV_DONTNEED
            | libc::MADV_FREE
            | libc::MADV_DOFORK
            | libc::MADV_MERGEABLE
            | libc::MADV_UNMERGEABLE
            | libc::MADV_HUGEPAGE
            | libc::MADV_NOHUGEPAGE
            | libc::MADV_DONTDUMP
            | libc::MADV_DODUMP
            | libc::MADV_KEEPONFORK
            | libc::MADV_COLD
            | libc::MADV_PAGEOUT
    )
}

/// The whole pages that `madvise` is about.
fn advised(address: u64, length: u64) -> io::Result<Range<u64>> {
    let end = length
        .checked_next_multiple_of(PAGE_BYTES)
        .and_then(|length| address.checked_add(length));
    match end {
        Some(end) if address % PAGE_BYTES == 0 => Ok(address..end),
        _ => refuse(libc::EINVAL),
    }
}

/// Refuses ranges that do not consist of whole pages of a program.
pub(super) fn check_range(address: u64, length: u64) -> io::Result<()> {
    let end = address.checked_add(length).filter(|end| *end <= ADDRESSES);
    if address % PAGE_BYTES != 0 || length == 0 || end.is_none() {
        return refuse(libc::EINVAL);
    }
    Ok(())
}

/// Refuses to map files without bytes at offsets.
fn check_mappable(file: &Shared) -> io::Result<()> {
    match &*file.borrow() {
        Descriptor::Host(host) if host.folder.is_none() => Ok(()),
        Descriptor::Text(_) => Ok(()),
        _ => refuse(libc::ENODEV),
    }
}

/// A file that is mapped privately is read at once: programs map files so to read them.
fn fill_from_file(
    memory: &mut GuestMemory,
    place: u64,
    length: u64,
    file: &Shared,
    offset: u64,
) -> io::Result<()> {
    let mut done = 0;
    while done < length {
        let mut buffer = gather::buffer(length - done);
        let count = file.borrow().read_at(&mut buffer, offset + done)?;
        if count == 0 {
            break;
        }
        memory
            .load(place + done, &buffer[..count])
            .map_err(gather::fault)?;
        done += count as u64;
    }
    Ok(())
}

fn protection(access: u64) -> Protection {
    [
        (libc::PROT_READ, Protection::READ),
        (libc::PROT_WRITE, Protection::READ_WRITE),
        (libc::PROT_EXEC, Protection::EXECUTE.with(Protection::READ)),
    ]
    .into_iter()
    .filter(|(bit, _)| access as i32 & bit != 0)
    .fold(Protection::NONE, |all, (_, one)| all.with(one))
}
