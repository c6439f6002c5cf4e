//! `flock`, and the locks of `fcntl`.

use super::path::store;
use super::{number, refuse, Call};
use crate::files::{Files, Shared};
use crate::gather;
use crate::locks::{FileId, Lock, Owner};
use crate::process::Process;
use rackwright_memory::GuestMemory;
use std::io::{self, Seek};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;

/// Bytes of `struct flock`.
const FLOCK_BYTES: usize = 32;
/// The end of a lock up to the end of a file, wherever it is: offsets are positive numbers of 64 bits with a sign.
const END: u64 = 1 << 63;

impl Process {
    /// `flock(descriptor, operation)`.
    pub(super) fn lock_whole(&mut self, descriptor: u64, operation: u64) -> io::Result<u64> {
        let shared = self.files.get(descriptor)?;
        let operation = operation as i32 & !libc::LOCK_NB;
        if ![libc::LOCK_SH, libc::LOCK_EX, libc::LOCK_UN].contains(&operation) {
            return refuse(libc::EINVAL);
        }
        // Others have no name by which another process could open them.
        let Some(file) = file(&shared) else {
            return Ok(0);
        };
        let asked = Lock {
            file,
            owner: Owner::of(&shared),
            is_of_flock: true,
            is_exclusive: operation == libc::LOCK_EX,
            bytes: 0..END,
        };
        // A lock that changes its kind is given back first.
        if self.locks.release(&asked) {
            self.activity.note();
        }
        if operation != libc::LOCK_UN {
            self.locks.acquire(asked)?;
        }
        Ok(0)
    }

    /// The commands of `fcntl` about locks.
    pub(super) fn lock_part(
        &mut self,
        shared: &Shared,
        command: i32,
        memory: &mut GuestMemory,
        address: u64,
    ) -> io::Result<u64> {
        let is_of_open = [libc::F_OFD_GETLK, libc::F_OFD_SETLK, libc::F_OFD_SETLKW].contains(&command);
        let given = gather::bytes(memory, address, FLOCK_BYTES as u64)?;
        let kind = i32::from(i16::from_le_bytes([given[0], given[1]]));
        if is_of_open && given[24..28] != [0; 4] {
            return refuse(libc::EINVAL);
        }
        let bytes = bytes(shared, &given)?;
        let is_query = [libc::F_GETLK, libc::F_OFD_GETLK].contains(&command);
        check_access(shared, kind, is_query)?;
        let owner = if is_of_open {
            Owner::of(shared)
        } else {
            Owner::Process(self.id)
        };
        let asked = file(shared).map(|file| Lock {
            file,
            owner,
            is_of_flock: false,
            is_exclusive: kind == libc::F_WRLCK,
            bytes,
        });
        if is_query {
            let held = asked.and_then(|asked| self.locks.conflict(&asked));
            return store(memory, address, &answer(given, held));
        }
        let Some(asked) = asked else {
            return Ok(0);
        };
        if kind == libc::F_UNLCK {
            self.locks.release(&asked);
        } else {
            self.locks.acquire(asked)?;
        }
        self.activity.note();
        Ok(0)
    }

    /// Whether a call waits for a lock.
    pub(super) fn waits_for_lock(number: u64, call: &Call<'_>) -> bool {
        let second = call.arguments[1] as i32;
        match number {
            number::FLOCK => second & libc::LOCK_NB == 0,
            number::FCNTL => [libc::F_SETLKW, libc::F_OFD_SETLKW].contains(&second),
            _ => false,
        }
    }

    /// Closes descriptors by `act`, and gives back the locks that end by it.
    pub(crate) fn closing<T>(&mut self, act: impl FnOnce(&mut Files) -> T) -> T {
        if self.locks.is_empty() {
            return act(&mut self.files);
        }
        let before = self.files.numbered();
        let result = act(&mut self.files);
        let after = self.files.numbered();
        for (place, shared) in before.iter().enumerate() {
            let Some(shared) = shared else { continue };
            let is_open = after
                .get(place)
                .and_then(Option::as_ref)
                .is_some_and(|now| now.identity() == shared.identity());
            if let Some(file) = file(shared).filter(|_| !is_open) {
                self.locks.close(file, self.id);
            }
        }
        self.activity.note();
        result
    }
}

/// The file behind a descriptor, if it is one of the host.
fn file(shared: &Shared) -> Option<FileId> {
    let metadata = shared.borrow().host().ok()?.file.metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// The bytes of a `struct flock`.
fn bytes(shared: &Shared, given: &[u8]) -> io::Result<Range<u64>> {
    let number = |from: usize| i64::from_le_bytes(std::array::from_fn(|index| given[from + index]));
    let (start, length) = (number(8), number(16));
    let base = match i32::from(i16::from_le_bytes([given[2], given[3]])) {
        libc::SEEK_SET => 0,
        libc::SEEK_CUR => (&*shared.borrow().host()?.file).stream_position()? as i64,
        libc::SEEK_END => shared.borrow().host()?.file.metadata()?.len() as i64,
        _ => return refuse(libc::EINVAL),
    };
    let overflow = || io::Error::from_raw_os_error(libc::EOVERFLOW);
    let start = base.checked_add(start).ok_or_else(overflow)?;
    let end = start.checked_add(length).ok_or_else(overflow)?;
    match (start.min(end), start.max(end)) {
        (from, _) if from < 0 => refuse(libc::EINVAL),
        (from, to) if from == to => Ok(from as u64..END),
        (from, to) => Ok(from as u64..to as u64),
    }
}

/// Refuses a lock that a descriptor, as it was opened, cannot have.
fn check_access(shared: &Shared, kind: i32, is_query: bool) -> io::Result<()> {
    let access = shared.flags() & libc::O_ACCMODE;
    match kind {
        libc::F_RDLCK if is_query || access != libc::O_WRONLY => Ok(()),
        libc::F_WRLCK if is_query || access != libc::O_RDONLY => Ok(()),
        libc::F_UNLCK if !is_query => Ok(()),
        libc::F_RDLCK | libc::F_WRLCK => refuse(libc::EBADF),
        _ => refuse(libc::EINVAL),
    }
}

/// What a query stores: the lock that is held, or that there is none.
fn answer(mut given: Vec<u8>, held: Option<Lock>) -> Vec<u8> {
    let Some(held) = held else {
        given[..2].copy_from_slice(&(libc::F_UNLCK as i16).to_le_bytes());
        return given;
    };
    let kind = if held.is_exclusive {
        libc::F_WRLCK
    } else {
        libc::F_RDLCK
    };
    let length = match held.bytes.end {
        END => 0,
        end => end - held.bytes.start,
    };
    let process = held.owner.process().map_or(-1, |id| id as i32);
    given[..2].copy_from_slice(&(kind as i16).to_le_bytes());
    given[2..4].copy_from_slice(&(libc::SEEK_SET as i16).to_le_bytes());
    given[8..16].copy_from_slice(&held.bytes.start.to_le_bytes());
    given[16..24].copy_from_slice(&length.to_le_bytes());
    given[24..28].copy_from_slice(&process.to_le_bytes());
    given
}
