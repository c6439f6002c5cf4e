//! Limits of resources, as reported to a program, independent of the host's.

use rackwright_state::{state, Pass, State, StateError};
use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;

/// The kinds of limits that Linux has.
const KINDS: usize = 16;
const UNLIMITED: u64 = u64::MAX;
const STACK_BYTES: u64 = 8 << 20;
/// Open descriptors, with a kernel's default.
const OPEN: Limit = Limit {
    soft: 1024,
    hard: 4096,
};

/// A limit, and its maximum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) soft: u64,
    pub(crate) hard: u64,
}

/// All limits of a program.
#[derive(Clone, Debug)]
pub(crate) struct Limits([Limit; KINDS]);

impl Default for Limits {
    fn default() -> Limits {
        let mut limits = [Limit {
            soft: UNLIMITED,
            hard: UNLIMITED,
        }; KINDS];
        limits[libc::RLIMIT_STACK as usize].soft = STACK_BYTES;
        limits[libc::RLIMIT_NOFILE as usize] = OPEN;
        Limits(limits)
    }
}

state!(Limit { soft, hard });

impl State for Limits {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.0.pass(by)
    }
}

impl Limits {
    /// One of them by its number in Linux.
    pub(crate) fn get(&mut self, resource: u64) -> io::Result<&mut Limit> {
        let limit = usize::try_from(resource)
            .ok()
            .and_then(|kind| self.0.get_mut(kind));
        limit.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))
    }

    /// The most descriptors that can be open.
    pub(crate) fn open(&self) -> usize {
        self.0[libc::RLIMIT_NOFILE as usize].soft as usize
    }
}

/// Opens a file of the host, subject to the hard limit of the host and not to the soft limit of the shell that started
/// the simulator. `ENFILE` if the host cannot have this many files open.
pub(crate) fn open_on_host(open: impl Fn() -> io::Result<File>) -> io::Result<File> {
    let is_limited = |error: &io::Error| error.raw_os_error() == Some(libc::EMFILE);
    match open() {
        Err(error) if is_limited(&error) => {
            raise_hosts_limit()?;
            open().map_err(|error| {
                if is_limited(&error) {
                    io::Error::from_raw_os_error(libc::ENFILE)
                } else {
                    error
                }
            })
        }
        other => other,
    }
}

/// A new file in memory, created with the host's `flags`.
pub(crate) fn memory_file(flags: u32) -> io::Result<File> {
    // SAFETY: the name is a string that lives for ever.
    let file = unsafe { libc::memfd_create(c"".as_ptr(), flags) };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just made, and nobody else has it.
    Ok(unsafe { File::from_raw_fd(file) })
}

fn raise_hosts_limit() -> io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure lives as long as both calls.
    let result = unsafe {
        let read = libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        limit.rlim_cur = limit.rlim_max;
        if read == 0 {
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit)
        } else {
            read
        }
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
