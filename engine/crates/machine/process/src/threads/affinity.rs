//! Which harts a thread may run on.

use super::{ThreadId, Threads};
use crate::calls::{refuse, Call};
use crate::gather;
use std::io;

/// A bit for each of `harts` harts.
pub(super) fn all(harts: usize) -> u64 {
    u64::MAX >> (u64::BITS as usize - harts)
}

/// Bytes of the set of harts that calls exchange: one word.
const BYTES: u64 = 8;

impl Threads {
    /// `sched_getaffinity(thread, bytes, set)`.
    pub(super) fn affinity(&mut self, caller: ThreadId, call: &mut Call<'_>) -> io::Result<u64> {
        let [thread, bytes, set, ..] = call.arguments;
        if bytes < BYTES {
            return refuse(libc::EINVAL);
        }
        let id = self.named(thread, caller)?;
        gather::store_words(call.memory, set, &[self.thread(id).affinity])?;
        Ok(BYTES)
    }

    /// `sched_setaffinity(thread, bytes, set)`; holds from the next time on that the thread takes a hart.
    pub(super) fn set_affinity(&mut self, caller: ThreadId, call: &mut Call<'_>) -> io::Result<u64> {
        let [thread, bytes, set, ..] = call.arguments;
        let id = self.named(thread, caller)?;
        let mut word = [0; BYTES as usize];
        let length = bytes.min(BYTES) as usize;
        call.memory
            .read(set, &mut word[..length])
            .map_err(gather::fault)?;
        let wanted = u64::from_le_bytes(word) & all(self.seats.len());
        if wanted == 0 {
            return refuse(libc::EINVAL);
        }
        self.thread(id).affinity = wanted;
        Ok(0)
    }

    /// The thread with the number in a call; zero stands for the caller.
    fn named(&self, thread: u64, caller: ThreadId) -> io::Result<ThreadId> {
        match thread {
            0 => Ok(caller),
            id if self.threads.contains_key(&id) => Ok(id),
            _ => refuse(libc::ESRCH),
        }
    }
}
