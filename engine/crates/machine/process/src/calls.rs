//! The emulated system calls, by the numbers of 64-bit RISC-V Linux.

mod file;
mod machine;
mod memory;
mod time;

use crate::process::Process;
use rackwright_memory::GuestMemory;
use rackwright_time::Cycle;
use std::io;
pub(crate) use time::time_specification;

/// What a call is given.
pub(crate) struct Call<'a> {
    pub(crate) arguments: [u64; 6],
    pub(crate) memory: &'a mut GuestMemory,
    pub(crate) now: Cycle,
}

/// Names as in the kernel's table for 64-bit RISC-V.
pub(crate) mod number {
    pub(crate) const GETCWD: u64 = 17;
    pub(crate) const DUP: u64 = 23;
    pub(crate) const DUP3: u64 = 24;
    pub(crate) const FCNTL: u64 = 25;
    pub(crate) const IOCTL: u64 = 29;
    pub(crate) const MKDIRAT: u64 = 34;
    pub(crate) const UNLINKAT: u64 = 35;
    pub(crate) const FTRUNCATE: u64 = 46;
    pub(crate) const FACCESSAT: u64 = 48;
    pub(crate) const OPENAT: u64 = 56;
    pub(crate) const CLOSE: u64 = 57;
    pub(crate) const LSEEK: u64 = 62;
    pub(crate) const READ: u64 = 63;
    pub(crate) const WRITE: u64 = 64;
    pub(crate) const READV: u64 = 65;
    pub(crate) const WRITEV: u64 = 66;
    pub(crate) const PREAD64: u64 = 67;
    pub(crate) const PWRITE64: u64 = 68;
    pub(crate) const READLINKAT: u64 = 78;
    pub(crate) const NEWFSTATAT: u64 = 79;
    pub(crate) const FSTAT: u64 = 80;
    pub(crate) const EXIT: u64 = 93;
    pub(crate) const EXIT_GROUP: u64 = 94;
    pub(crate) const SET_TID_ADDRESS: u64 = 96;
    pub(crate) const FUTEX: u64 = 98;
    pub(crate) const SET_ROBUST_LIST: u64 = 99;
    pub(crate) const NANOSLEEP: u64 = 101;
    pub(crate) const CLOCK_GETTIME: u64 = 113;
    pub(crate) const CLOCK_GETRES: u64 = 114;
    pub(crate) const CLOCK_NANOSLEEP: u64 = 115;
    pub(crate) const SCHED_SETAFFINITY: u64 = 122;
    pub(crate) const SCHED_GETAFFINITY: u64 = 123;
    pub(crate) const SCHED_YIELD: u64 = 124;
    pub(crate) const KILL: u64 = 129;
    pub(crate) const TKILL: u64 = 130;
    pub(crate) const TGKILL: u64 = 131;
    pub(crate) const SIGALTSTACK: u64 = 132;
    pub(crate) const RT_SIGACTION: u64 = 134;
    pub(crate) const RT_SIGPROCMASK: u64 = 135;
    pub(crate) const RT_SIGRETURN: u64 = 139;
    pub(crate) const UNAME: u64 = 160;
    pub(crate) const GETRUSAGE: u64 = 165;
    pub(crate) const GETCPU: u64 = 168;
    pub(crate) const GETTIMEOFDAY: u64 = 169;
    pub(crate) const GETPID: u64 = 172;
    pub(crate) const GETPPID: u64 = 173;
    pub(crate) const GETUID: u64 = 174;
    pub(crate) const GETEGID: u64 = 177;
    pub(crate) const GETTID: u64 = 178;
    pub(crate) const SYSINFO: u64 = 179;
    pub(crate) const BRK: u64 = 214;
    pub(crate) const MUNMAP: u64 = 215;
    pub(crate) const MREMAP: u64 = 216;
    pub(crate) const CLONE: u64 = 220;
    pub(crate) const MMAP: u64 = 222;
    pub(crate) const MPROTECT: u64 = 226;
    pub(crate) const MADVISE: u64 = 233;
    pub(crate) const PRLIMIT64: u64 = 261;
    pub(crate) const GETRANDOM: u64 = 278;
    pub(crate) const RSEQ: u64 = 293;
    pub(crate) const STATX: u64 = 291;
    pub(crate) const FACCESSAT2: u64 = 439;
}

impl Process {
    /// Does what system call `number` asks for, if it is not about threads.
    pub(crate) fn call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        match number {
            number::GETCWD..=number::UNLINKAT
            | number::FTRUNCATE..=number::FSTAT
            | number::STATX
            | number::FACCESSAT2 => self.file_call(number, call),
            number::BRK..=number::MREMAP | number::MMAP..=number::MADVISE => self.memory_call(number, call),
            number::CLOCK_GETTIME | number::CLOCK_GETRES | number::GETTIMEOFDAY | number::GETRUSAGE => {
                self.time_call(number, call)
            }
            _ => self.machine_call(number, call),
        }
    }

    /// The answer to a call that is not emulated.
    pub(crate) fn unknown(&mut self, number: u64) -> io::Result<u64> {
        self.unknown.record(number);
        Err(io::Error::from_raw_os_error(libc::ENOSYS))
    }
}

/// Errors are returned as small negative numbers.
pub(crate) fn encode(result: io::Result<u64>) -> u64 {
    match result {
        Ok(value) => value,
        Err(error) => i64::from(-error.raw_os_error().unwrap_or(libc::EIO)) as u64,
    }
}

/// An error by its number.
pub(crate) fn refuse<T>(errno: i32) -> io::Result<T> {
    Err(io::Error::from_raw_os_error(errno))
}
