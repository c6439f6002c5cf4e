//! Locks of files, which keep the processes of a program, and its open descriptors, from each other. Those of other
//! programs of the host are not seen: a run must not depend on them.

use crate::family::ProcessId;
use crate::files::{Shared, WeakShared};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file of the host, by its device and number.
pub(crate) type FileId = (u64, u64);

/// The owner of a lock.
#[derive(Clone, Debug)]
pub(crate) enum Owner {
    /// A process, until it closes the file.
    Process(ProcessId),
    /// An open descriptor with all its duplicates.
    Open(WeakShared),
}

impl Owner {
    pub(crate) fn of(shared: &Shared) -> Owner {
        Owner::Open(shared.downgrade())
    }

    fn is(&self, other: &Owner) -> bool {
        match (self, other) {
            (Owner::Process(one), Owner::Process(other)) => one == other,
            (Owner::Open(one), Owner::Open(other)) => one.identity() == other.identity(),
            _ => false,
        }
    }

    fn is_alive(&self) -> bool {
        match self {
            Owner::Process(_) => true,
            Owner::Open(open) => open.is_alive(),
        }
    }

    /// The process, as reported to others: an open descriptor has none.
    pub(crate) fn process(&self) -> Option<ProcessId> {
        match self {
            Owner::Process(id) => Some(*id),
            Owner::Open(_) => None,
        }
    }
}

/// A lock, or the request for one.
#[derive(Clone, Debug)]
pub(crate) struct Lock {
    pub(crate) file: FileId,
    pub(crate) owner: Owner,
    /// Whether it is one of `flock`, which knows nothing of those of `fcntl`.
    pub(crate) is_of_flock: bool,
    pub(crate) is_exclusive: bool,
    pub(crate) bytes: Range<u64>,
}

impl Lock {
    /// Whether both concern the same bytes of a file, by the same call.
    fn meets(&self, other: &Lock) -> bool {
        let same_file = (self.file, self.is_of_flock) == (other.file, other.is_of_flock);
        same_file && self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end
    }

    fn conflicts(&self, other: &Lock) -> bool {
        self.meets(other) && (self.is_exclusive || other.is_exclusive) && !self.owner.is(&other.owner)
    }

    /// The parts of it outside of `bytes`.
    fn without(&self, bytes: &Range<u64>) -> Vec<Lock> {
        let before = self.bytes.start..self.bytes.end.min(bytes.start);
        let after = self.bytes.start.max(bytes.end)..self.bytes.end;
        let rest = [before, after].map(|bytes| Lock {
            bytes,
            ..self.clone()
        });
        rest.into_iter().filter(|lock| !lock.bytes.is_empty()).collect()
    }
}

/// All locks that are held, of all processes of a program.
#[derive(Clone, Default, Debug)]
pub(crate) struct Locks(Arc<Mutex<Vec<Lock>>>);

impl Locks {
    /// Those of owners that still exist.
    fn held(&self) -> MutexGuard<'_, Vec<Lock>> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|lock| lock.owner.is_alive());
        held
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// The first lock that keeps `asked` from being granted.
    pub(crate) fn conflict(&self, asked: &Lock) -> Option<Lock> {
        self.held().iter().find(|held| held.conflicts(asked)).cloned()
    }

    /// Grants a lock, in the place of those that its owner holds of the same bytes; `EAGAIN` while others keep it off.
    pub(crate) fn acquire(&self, asked: Lock) -> io::Result<()> {
        if self.conflict(&asked).is_some() {
            return Err(io::Error::from_raw_os_error(libc::EAGAIN));
        }
        self.release(&asked);
        self.held().push(asked);
        Ok(())
    }

    /// Removes what the owner of `asked` holds of its bytes; returns whether there was any.
    pub(crate) fn release(&self, asked: &Lock) -> bool {
        let is_own = |lock: &Lock| lock.meets(asked) && lock.owner.is(&asked.owner);
        let mut held = self.held();
        if !held.iter().any(is_own) {
            return false;
        }
        let rest = held.iter().flat_map(|lock| {
            if is_own(lock) {
                lock.without(&asked.bytes)
            } else {
                vec![lock.clone()]
            }
        });
        *held = rest.collect();
        true
    }

    /// Removes those of a process that has closed a descriptor of `file`, even if it has others.
    pub(crate) fn close(&self, file: FileId, process: ProcessId) {
        self.held()
            .retain(|lock| lock.file != file || lock.owner.process() != Some(process));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(process: ProcessId, is_exclusive: bool, bytes: Range<u64>) -> Lock {
        Lock {
            file: (1, 2),
            owner: Owner::Process(process),
            is_of_flock: false,
            is_exclusive,
            bytes,
        }
    }

    #[test]
    fn a_part_of_a_lock_is_given_back() {
        let locks = Locks::default();
        locks.acquire(lock(1, true, 0..100)).unwrap();
        locks.release(&lock(1, true, 40..60));
        locks.acquire(lock(2, true, 40..60)).unwrap();
        for bytes in [39..40, 60..61, 0..100] {
            assert!(locks.acquire(lock(2, false, bytes)).is_err());
        }
        let other = Lock {
            is_of_flock: true,
            ..lock(2, true, 0..100)
        };
        locks.acquire(other).unwrap();
        locks.close((1, 2), 1);
        locks.acquire(lock(2, true, 0..100)).unwrap();
        assert_eq!(locks.conflict(&lock(3, false, 7..8)).unwrap().bytes, 0..100);
    }

    #[test]
    fn readers_share_and_become_writers_alone() {
        let locks = Locks::default();
        locks.acquire(lock(1, false, 0..10)).unwrap();
        locks.acquire(lock(2, false, 5..20)).unwrap();
        assert!(locks.acquire(lock(1, true, 0..10)).is_err());
        locks.acquire(lock(1, true, 0..5)).unwrap();
        locks.close((1, 2), 2);
        locks.acquire(lock(1, true, 0..10)).unwrap();
    }
}
