//! The segments of shared memory that System V's calls name by numbers, which all processes of a run share.

use crate::calls::refuse;
use crate::limits::{memory_file, open_on_host};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The longest segment, as a kernel without limits of its own would refuse it too: half of all addresses by Sv39.
const LONGEST: u64 = 1 << 37;

/// A segment; each attachment of a process holds it.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) id: u64,
    pub(crate) key: i32,
    pub(crate) bytes: u64,
    pub(crate) permissions: u32,
    pub(crate) file: Arc<File>,
    is_removed: AtomicBool,
}

/// All segments, by their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    by_id: BTreeMap<u64, Arc<Segment>>,
    next: u64,
}

impl Segment {
    /// Number of attachments, if the caller holds none of its own beside those.
    pub(crate) fn attachments(self: &Arc<Segment>) -> u64 {
        Arc::strong_count(self) as u64 - 1
    }

    pub(crate) fn is_removed(&self) -> bool {
        self.is_removed.load(Ordering::Relaxed)
    }
}

impl Segments {
    /// All that are left: those that were removed end with their last attachment.
    fn known(&self) -> MutexGuard<'_, Known> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .by_id
            .retain(|_, segment| !segment.is_removed() || segment.attachments() > 0);
        known
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.known().by_id.is_empty()
    }

    /// `shmget`: the number of the segment with this key, or of a new one.
    pub(crate) fn get(&self, key: i32, bytes: u64, flags: i32) -> io::Result<u64> {
        let mut known = self.known();
        let has_key =
            |segment: &&Arc<Segment>| key != libc::IPC_PRIVATE && segment.key == key && !segment.is_removed();
        if let Some(segment) = known.by_id.values().find(has_key) {
            return match flags & (libc::IPC_CREAT | libc::IPC_EXCL) == libc::IPC_CREAT | libc::IPC_EXCL {
                true => refuse(libc::EEXIST),
                false if bytes > segment.bytes => refuse(libc::EINVAL),
                false => Ok(segment.id),
            };
        }
        if key != libc::IPC_PRIVATE && flags & libc::IPC_CREAT == 0 {
            return refuse(libc::ENOENT);
        }
        if bytes == 0 || bytes > LONGEST {
            return refuse(libc::EINVAL);
        }
        let file = open_on_host(|| memory_file(libc::MFD_CLOEXEC))?;
        file.set_len(bytes)?;
        let id = known.next;
        known.next += 1;
        let segment = Segment {
            id,
            key,
            bytes,
            permissions: flags as u32 & 0o777,
            file: Arc::new(file),
            is_removed: AtomicBool::new(false),
        };
        known.by_id.insert(id, Arc::new(segment));
        Ok(id)
    }

    /// Does something with the segment of this number.
    pub(crate) fn with<T>(&self, id: u64, act: impl FnOnce(&Arc<Segment>) -> io::Result<T>) -> io::Result<T> {
        match self.known().by_id.get(&id) {
            Some(segment) => act(segment),
            None => refuse(libc::EINVAL),
        }
    }

    /// Removes a segment: it ends with its last attachment.
    pub(crate) fn remove(&self, id: u64) -> io::Result<u64> {
        self.with(id, |segment| {
            segment.is_removed.store(true, Ordering::Relaxed);
            Ok(0)
        })
    }
}
