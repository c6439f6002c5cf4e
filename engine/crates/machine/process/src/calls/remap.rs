//! `mremap`: mappings that grow, shrink and move.

use super::memory::check_range;
use super::{refuse, Call};
use crate::areas::{Backing, Kind};
use crate::gather;
use crate::process::Process;
use rackwright_memory::{GuestMemory, Protection, PAGE_BYTES};
use std::io;
use std::ops::Range;

const KNOWN_FLAGS: i32 = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED | libc::MREMAP_DONTUNMAP;

/// The change of a mapping.
struct Move {
    from: Range<u64>,
    length: u64,
    flags: i32,
}

impl Move {
    fn of(call: &Call<'_>) -> io::Result<Move> {
        let [address, old_length, new_length, flags, ..] = call.arguments;
        check_range(address, old_length)?;
        check_range(address, new_length)?;
        let whole = |length: u64| length.next_multiple_of(PAGE_BYTES);
        let wanted = Move {
            from: address..address + whole(old_length),
            length: whole(new_length),
            flags: flags as i32,
        };
        let needs_move = wanted.has(libc::MREMAP_FIXED) || wanted.has(libc::MREMAP_DONTUNMAP);
        let changes_length = wanted.from.end - wanted.from.start != wanted.length;
        if wanted.flags & !KNOWN_FLAGS != 0
            || needs_move && !wanted.has(libc::MREMAP_MAYMOVE)
            || changes_length && wanted.has(libc::MREMAP_DONTUNMAP)
        {
            return refuse(libc::EINVAL);
        }
        Ok(wanted)
    }

    fn has(&self, flag: i32) -> bool {
        self.flags & flag != 0
    }

    fn old_length(&self) -> u64 {
        self.from.end - self.from.start
    }
}

impl Process {
    /// `mremap(address, old_length, new_length, flags, new_address)`.
    pub(super) fn remap(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let mut wanted = Move::of(call)?;
        let target = call.arguments[4];
        if wanted.has(libc::MREMAP_FIXED) {
            check_range(target, wanted.length)?;
            if target < wanted.from.end && wanted.from.start < target + wanted.length {
                return refuse(libc::EINVAL);
            }
        }
        if !self
            .layout
            .covers(wanted.from.start, wanted.old_length().min(wanted.length))
        {
            return refuse(libc::EFAULT);
        }
        if wanted.length < wanted.old_length() {
            let end = wanted.from.start + wanted.length;
            self.layout
                .unmap(end, wanted.from.end - end, call.memory)
                .map_err(gather::fault)?;
            wanted.from.end = end;
        }
        let moves = wanted.has(libc::MREMAP_FIXED) || wanted.has(libc::MREMAP_DONTUNMAP);
        if !moves && wanted.length == wanted.old_length() {
            return Ok(wanted.from.start);
        }
        if !wanted.has(libc::MREMAP_MAYMOVE) {
            return self.extend(&wanted, call.memory);
        }
        let access = call.memory.protection(wanted.from.start);
        let place = if wanted.has(libc::MREMAP_FIXED) {
            self.layout.map_at(target, wanted.length, access, call.memory)
        } else {
            self.layout.map(wanted.length, access, call.memory)
        };
        let Some(place) = place else {
            return refuse(libc::ENOMEM);
        };
        self.carry(&wanted, place, call.memory)?;
        Ok(place)
    }

    /// Extends a mapping in place.
    fn extend(&mut self, wanted: &Move, memory: &mut GuestMemory) -> io::Result<u64> {
        let Range { start, end } = wanted.from;
        let access = memory.protection(start);
        let kind = self.kind_at(start)?;
        let longer = wanted.length - wanted.old_length();
        if !self.layout.has_room(end, longer) || self.layout.map_at(end, longer, access, memory).is_none() {
            return refuse(libc::ENOMEM);
        }
        if let Some(backing) = kind {
            self.share(memory, start, wanted.length, backing)?;
        }
        Ok(start)
    }

    /// Moves a mapping to `place`, where a range of this size is already mapped.
    fn carry(&mut self, wanted: &Move, place: u64, memory: &mut GuestMemory) -> io::Result<()> {
        let (from, length) = (wanted.from.start, wanted.old_length());
        let access = memory.protection(from);
        let stays = wanted.has(libc::MREMAP_DONTUNMAP);
        match self.kind_at(from)? {
            Some(backing) => self.share(memory, place, wanted.length, backing)?,
            None => {
                // The bytes move regardless of the program's permissions.
                memory
                    .protect(from, length, access.with(Protection::READ))
                    .map_err(gather::fault)?;
                copy(memory, from, place, length)?;
                if stays {
                    memory.mapping().discard(from, length).map_err(gather::fault)?;
                    memory.protect(from, length, access).map_err(gather::fault)?;
                }
            }
        }
        if stays {
            return Ok(());
        }
        self.layout.unmap(from, length, memory).map_err(gather::fault)
    }

    /// The kind of the mapping at `address`.
    fn kind_at(&self, address: u64) -> io::Result<Kind> {
        let Some((area, kind)) = self.layout.area_at(address) else {
            return refuse(libc::EFAULT);
        };
        Ok(kind.map(|backing| Backing {
            offset: backing.offset + (address - area.start),
            ..backing
        }))
    }
}

fn copy(memory: &mut GuestMemory, from: u64, to: u64, length: u64) -> io::Result<()> {
    let mut done = 0;
    while done < length {
        let bytes = gather::bytes(memory, from + done, length - done)?;
        memory.load(to + done, &bytes).map_err(gather::fault)?;
        done += bytes.len() as u64;
    }
    Ok(())
}
