//! Heap and mappings.

use super::{number, refuse, Call};
use crate::gather;
use crate::process::Process;
use rackwright_memory::{GuestMemory, Protection, PAGE_BYTES};
use std::io;

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
                    .map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
                Ok(0)
            }
            number::MREMAP => self.remap(call),
            number::MPROTECT => {
                if address % PAGE_BYTES != 0 {
                    return refuse(libc::EINVAL);
                }
                let protection = protection(third);
                call.memory
                    .protect(address, length, protection)
                    .or(refuse(libc::ENOMEM))?;
                Ok(0)
            }
            number::MADVISE => advise(call),
            _ => self.unknown(number),
        }
    }

    fn map(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [address, length, access, flags, descriptor, offset] = call.arguments;
        if length == 0 || offset % PAGE_BYTES != 0 {
            return refuse(libc::EINVAL);
        }
        let flags = flags as i32;
        let place = if flags & libc::MAP_FIXED != 0 {
            self.layout
                .map_at(address, length, protection(access), call.memory)
        } else {
            self.layout.map(length, protection(access), call.memory)
        };
        let Some(place) = place else {
            return refuse(libc::ENOMEM);
        };
        if flags & libc::MAP_ANONYMOUS == 0 {
            self.fill_from_file(call.memory, place, length, descriptor, offset)?;
        }
        Ok(place)
    }

    /// A mapped file is read at once: programs here map files to read them.
    fn fill_from_file(
        &mut self,
        memory: &mut GuestMemory,
        place: u64,
        length: u64,
        descriptor: u64,
        offset: u64,
    ) -> io::Result<()> {
        let descriptor = self.files.get(descriptor)?;
        let mut done = 0;
        while done < length {
            let mut buffer = gather::buffer(length - done);
            let count = descriptor.borrow().read_at(&mut buffer, offset + done)?;
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

    fn remap(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [address, old_length, new_length, flags, ..] = call.arguments;
        check_range(address, old_length)?;
        let pages = |length: u64| length.div_ceil(PAGE_BYTES);
        if pages(new_length) <= pages(old_length) {
            let kept = pages(new_length) * PAGE_BYTES;
            let given_back = pages(old_length) * PAGE_BYTES - kept;
            self.layout
                .unmap(address + kept, given_back, call.memory)
                .map_err(gather::fault)?;
            return Ok(address);
        }
        if flags as i32 & libc::MREMAP_MAYMOVE == 0 {
            return refuse(libc::ENOMEM);
        }
        let access = call.memory.protection(address);
        let Some(place) = self.layout.map(new_length, access, call.memory) else {
            return refuse(libc::ENOMEM);
        };
        copy(call.memory, address, place, old_length)?;
        self.layout
            .unmap(address, old_length, call.memory)
            .map_err(gather::fault)?;
        Ok(place)
    }
}

fn check_range(address: u64, length: u64) -> io::Result<()> {
    if address % PAGE_BYTES != 0 || length == 0 || address.checked_add(length).is_none() {
        return refuse(libc::EINVAL);
    }
    Ok(())
}

/// Only advice that changes what is read has an effect.
fn advise(call: &mut Call<'_>) -> io::Result<u64> {
    let [address, length, advice, ..] = call.arguments;
    if advice as i32 == libc::MADV_DONTNEED {
        call.memory.discard(address, length).map_err(gather::fault)?;
    }
    Ok(0)
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
