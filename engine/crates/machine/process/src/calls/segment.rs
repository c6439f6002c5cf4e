//! Shared memory of System V: segments that processes attach and detach.

use super::{number, refuse, Call};
use crate::areas::Backing;
use crate::gather;
use crate::process::Process;
use crate::segments::Segment;
use rackwright_memory::{Protection, PAGE_BYTES};
use std::io;
use std::sync::Arc;

/// `mode` of a segment that ends with its last attachment.
const REMOVED: u32 = 0o1000;
/// Words of `struct shmid64_ds`.
const STATUS_WORDS: usize = 14;

impl Process {
    pub(super) fn segment_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [first, second, third, ..] = call.arguments;
        match number {
            number::SHMGET => self.shared.segments.get(first as i32, second, third as i32),
            number::SHMAT => self.attach(call),
            number::SHMDT => self.detach(call),
            _ => self.control_segment(call),
        }
    }

    /// `shmat(segment, address, flags)`.
    fn attach(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [id, address, flags, ..] = call.arguments;
        let flags = flags as i32;
        let segment = self.shared.segments.with(id, |segment| Ok(segment.clone()))?;
        let protection = match flags & libc::SHM_RDONLY {
            0 => Protection::READ.with(Protection::WRITE),
            _ => Protection::READ,
        };
        let place = if address == 0 {
            self.layout.map(segment.bytes, protection, call.memory)
        } else {
            let offset = address % PAGE_BYTES;
            let address = address - offset;
            let is_taken = self.layout.overlaps(address, segment.bytes);
            if offset != 0 && flags & libc::SHM_RND == 0 || is_taken && flags & libc::SHM_REMAP == 0 {
                return refuse(libc::EINVAL);
            }
            self.layout
                .map_at(address, segment.bytes, protection, call.memory)
        };
        let Some(place) = place else {
            return refuse(libc::ENOMEM);
        };
        let backing = Backing {
            file: segment.file.clone(),
            offset: 0,
            present: 0,
            writable: flags & libc::SHM_RDONLY == 0,
            protection,
        };
        let shared = self.share(call.memory, place, segment.bytes, backing);
        if shared.is_err() {
            let unmapped = self.layout.unmap(place, segment.bytes, call.memory);
            unmapped.map_err(gather::fault)?;
        }
        shared?;
        self.shared.attached.insert(place, segment);
        Ok(place)
    }

    /// `shmdt(address)`.
    fn detach(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [address, ..] = call.arguments;
        let Some(segment) = self.shared.attached.remove(&address) else {
            return refuse(libc::EINVAL);
        };
        let unmapped = self.layout.unmap(address, segment.bytes, call.memory);
        unmapped.map_err(gather::fault)?;
        Ok(0)
    }

    /// `shmctl(segment, command, status)`.
    fn control_segment(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [id, command, status, ..] = call.arguments;
        match command as i32 {
            libc::IPC_RMID => self.shared.segments.remove(id),
            libc::IPC_STAT => {
                let words = self.shared.segments.with(id, |segment| Ok(words(segment)))?;
                gather::store_words(call.memory, status, &words)?;
                Ok(0)
            }
            _ => self.unknown(number::SHMCTL),
        }
    }
}

/// The status of a segment: key and permissions, its size, and its attachments; owners and times are zero.
fn words(segment: &Arc<Segment>) -> [u64; STATUS_WORDS] {
    let removed = if segment.is_removed() { REMOVED } else { 0 };
    let mut words = [0; STATUS_WORDS];
    words[0] = u64::from(segment.key as u32);
    words[2] = u64::from(segment.permissions | removed) << 32;
    words[6] = segment.bytes;
    words[11] = segment.attachments();
    words
}
