//! The emulated system calls, by the numbers of 64-bit RISC-V Linux.

mod children;
mod events;
mod file;
mod lock;
mod machine;
mod memory;
mod message;
mod path;
mod poll;
mod probe;
mod program;
mod remap;
mod segment;
mod shared;
mod socket;
mod time;
mod transfer;

use crate::process::Process;
use crate::threads::{CALL_NUMBER, FIRST_ARGUMENT};
use rackwright_cpu::Registers;
use rackwright_memory::GuestMemory;
use rackwright_time::Cycle;
pub(crate) use shared::SharedPlace;
use std::io;
pub(crate) use time::{interval_times, store_interval_times, time_specification, wall_offset};

/// The inputs of a call.
pub(crate) struct Call<'a> {
    pub(crate) arguments: [u64; 6],
    pub(crate) memory: &'a mut GuestMemory,
    pub(crate) now: Cycle,
    /// Bytes that it has moved before it had to wait.
    pub(crate) done: u64,
    /// Whether it returns now, even if it is still waiting.
    pub(crate) expired: bool,
}

impl<'a> Call<'a> {
    /// The call of a thread that is after an environment call.
    pub(crate) fn of(registers: &Registers, memory: &'a mut GuestMemory, now: Cycle) -> Call<'a> {
        Call {
            arguments: std::array::from_fn(|index| registers.x[FIRST_ARGUMENT + index]),
            memory,
            now,
            done: 0,
            expired: false,
        }
    }

    /// The number of that call.
    pub(crate) fn number(registers: &Registers) -> u64 {
        registers.x[CALL_NUMBER]
    }

    /// The result of a call.
    pub(crate) fn value(registers: &Registers) -> u64 {
        registers.x[FIRST_ARGUMENT]
    }

    /// Has a call return `value`.
    pub(crate) fn give(registers: &mut Registers, value: u64) {
        registers.x[FIRST_ARGUMENT] = value;
    }
}

/// Names as in the kernel's table for 64-bit RISC-V.
pub(crate) mod number {
    pub(crate) const GETCWD: u64 = 17;
    pub(crate) const EVENTFD2: u64 = 19;
    pub(crate) const EPOLL_CREATE1: u64 = 20;
    pub(crate) const EPOLL_CTL: u64 = 21;
    pub(crate) const EPOLL_PWAIT: u64 = 22;
    pub(crate) const DUP: u64 = 23;
    pub(crate) const DUP3: u64 = 24;
    pub(crate) const FCNTL: u64 = 25;
    pub(crate) const IOCTL: u64 = 29;
    pub(crate) const FLOCK: u64 = 32;
    pub(crate) const MKDIRAT: u64 = 34;
    pub(crate) const UNLINKAT: u64 = 35;
    pub(crate) const SYMLINKAT: u64 = 36;
    pub(crate) const LINKAT: u64 = 37;
    pub(crate) const RENAMEAT: u64 = 38;
    pub(crate) const STATFS: u64 = 43;
    pub(crate) const FSTATFS: u64 = 44;
    pub(crate) const TRUNCATE: u64 = 45;
    pub(crate) const FTRUNCATE: u64 = 46;
    pub(crate) const FALLOCATE: u64 = 47;
    pub(crate) const FACCESSAT: u64 = 48;
    pub(crate) const CHDIR: u64 = 49;
    pub(crate) const FCHDIR: u64 = 50;
    pub(crate) const FCHMOD: u64 = 52;
    pub(crate) const FCHMODAT: u64 = 53;
    pub(crate) const FCHOWNAT: u64 = 54;
    pub(crate) const FCHOWN: u64 = 55;
    pub(crate) const OPENAT: u64 = 56;
    pub(crate) const CLOSE: u64 = 57;
    pub(crate) const PIPE2: u64 = 59;
    pub(crate) const GETDENTS64: u64 = 61;
    pub(crate) const LSEEK: u64 = 62;
    pub(crate) const READ: u64 = 63;
    pub(crate) const WRITE: u64 = 64;
    pub(crate) const READV: u64 = 65;
    pub(crate) const WRITEV: u64 = 66;
    pub(crate) const PREAD64: u64 = 67;
    pub(crate) const PWRITE64: u64 = 68;
    pub(crate) const PREADV: u64 = 69;
    pub(crate) const PWRITEV: u64 = 70;
    pub(crate) const SENDFILE: u64 = 71;
    pub(crate) const PSELECT6: u64 = 72;
    pub(crate) const PPOLL: u64 = 73;
    pub(crate) const SIGNALFD4: u64 = 74;
    pub(crate) const SPLICE: u64 = 76;
    pub(crate) const READLINKAT: u64 = 78;
    pub(crate) const NEWFSTATAT: u64 = 79;
    pub(crate) const FSTAT: u64 = 80;
    pub(crate) const SYNC: u64 = 81;
    pub(crate) const FSYNC: u64 = 82;
    pub(crate) const FDATASYNC: u64 = 83;
    pub(crate) const SYNC_FILE_RANGE: u64 = 84;
    pub(crate) const TIMERFD_CREATE: u64 = 85;
    pub(crate) const TIMERFD_SETTIME: u64 = 86;
    pub(crate) const TIMERFD_GETTIME: u64 = 87;
    pub(crate) const UTIMENSAT: u64 = 88;
    pub(crate) const PERSONALITY: u64 = 92;
    pub(crate) const EXIT: u64 = 93;
    pub(crate) const EXIT_GROUP: u64 = 94;
    pub(crate) const WAITID: u64 = 95;
    pub(crate) const SET_TID_ADDRESS: u64 = 96;
    pub(crate) const FUTEX: u64 = 98;
    pub(crate) const SET_ROBUST_LIST: u64 = 99;
    pub(crate) const NANOSLEEP: u64 = 101;
    pub(crate) const GETITIMER: u64 = 102;
    pub(crate) const SETITIMER: u64 = 103;
    pub(crate) const TIMER_CREATE: u64 = 107;
    pub(crate) const TIMER_GETTIME: u64 = 108;
    pub(crate) const TIMER_GETOVERRUN: u64 = 109;
    pub(crate) const TIMER_SETTIME: u64 = 110;
    pub(crate) const TIMER_DELETE: u64 = 111;
    pub(crate) const CLOCK_GETTIME: u64 = 113;
    pub(crate) const CLOCK_GETRES: u64 = 114;
    pub(crate) const CLOCK_NANOSLEEP: u64 = 115;
    pub(crate) const SCHED_SETSCHEDULER: u64 = 119;
    pub(crate) const SCHED_GETSCHEDULER: u64 = 120;
    pub(crate) const SCHED_GETPARAM: u64 = 121;
    pub(crate) const SCHED_SETAFFINITY: u64 = 122;
    pub(crate) const SCHED_GETAFFINITY: u64 = 123;
    pub(crate) const SCHED_YIELD: u64 = 124;
    pub(crate) const SCHED_GET_PRIORITY_MAX: u64 = 125;
    pub(crate) const SCHED_GET_PRIORITY_MIN: u64 = 126;
    pub(crate) const KILL: u64 = 129;
    pub(crate) const TKILL: u64 = 130;
    pub(crate) const TGKILL: u64 = 131;
    pub(crate) const SIGALTSTACK: u64 = 132;
    pub(crate) const RT_SIGSUSPEND: u64 = 133;
    pub(crate) const RT_SIGACTION: u64 = 134;
    pub(crate) const RT_SIGPROCMASK: u64 = 135;
    pub(crate) const RT_SIGPENDING: u64 = 136;
    pub(crate) const RT_SIGTIMEDWAIT: u64 = 137;
    pub(crate) const RT_SIGQUEUEINFO: u64 = 138;
    pub(crate) const RT_SIGRETURN: u64 = 139;
    pub(crate) const SETPRIORITY: u64 = 140;
    pub(crate) const GETPRIORITY: u64 = 141;
    pub(crate) const GETRESUID: u64 = 148;
    pub(crate) const GETRESGID: u64 = 150;
    pub(crate) const TIMES: u64 = 153;
    pub(crate) const SETPGID: u64 = 154;
    pub(crate) const GETPGID: u64 = 155;
    pub(crate) const GETSID: u64 = 156;
    pub(crate) const SETSID: u64 = 157;
    pub(crate) const GETGROUPS: u64 = 158;
    pub(crate) const UNAME: u64 = 160;
    pub(crate) const GETRLIMIT: u64 = 163;
    pub(crate) const SETRLIMIT: u64 = 164;
    pub(crate) const GETRUSAGE: u64 = 165;
    pub(crate) const UMASK: u64 = 166;
    pub(crate) const PRCTL: u64 = 167;
    pub(crate) const GETCPU: u64 = 168;
    pub(crate) const GETTIMEOFDAY: u64 = 169;
    pub(crate) const GETPID: u64 = 172;
    pub(crate) const GETPPID: u64 = 173;
    pub(crate) const GETUID: u64 = 174;
    pub(crate) const GETEGID: u64 = 177;
    pub(crate) const GETTID: u64 = 178;
    pub(crate) const SYSINFO: u64 = 179;
    pub(crate) const SHMGET: u64 = 194;
    pub(crate) const SHMCTL: u64 = 195;
    pub(crate) const SHMAT: u64 = 196;
    pub(crate) const SHMDT: u64 = 197;
    pub(crate) const SOCKET: u64 = 198;
    pub(crate) const SOCKETPAIR: u64 = 199;
    pub(crate) const BIND: u64 = 200;
    pub(crate) const LISTEN: u64 = 201;
    pub(crate) const ACCEPT: u64 = 202;
    pub(crate) const CONNECT: u64 = 203;
    pub(crate) const GETSOCKNAME: u64 = 204;
    pub(crate) const GETPEERNAME: u64 = 205;
    pub(crate) const SENDTO: u64 = 206;
    pub(crate) const RECVFROM: u64 = 207;
    pub(crate) const SETSOCKOPT: u64 = 208;
    pub(crate) const GETSOCKOPT: u64 = 209;
    pub(crate) const SHUTDOWN: u64 = 210;
    pub(crate) const SENDMSG: u64 = 211;
    pub(crate) const RECVMSG: u64 = 212;
    pub(crate) const READAHEAD: u64 = 213;
    pub(crate) const BRK: u64 = 214;
    pub(crate) const MUNMAP: u64 = 215;
    pub(crate) const MREMAP: u64 = 216;
    pub(crate) const CLONE: u64 = 220;
    pub(crate) const EXECVE: u64 = 221;
    pub(crate) const MMAP: u64 = 222;
    pub(crate) const FADVISE64: u64 = 223;
    pub(crate) const MPROTECT: u64 = 226;
    pub(crate) const MSYNC: u64 = 227;
    pub(crate) const MLOCK: u64 = 228;
    pub(crate) const MUNLOCK: u64 = 229;
    pub(crate) const MLOCKALL: u64 = 230;
    pub(crate) const MUNLOCKALL: u64 = 231;
    pub(crate) const MINCORE: u64 = 232;
    pub(crate) const MADVISE: u64 = 233;
    pub(crate) const RT_TGSIGQUEUEINFO: u64 = 240;
    pub(crate) const ACCEPT4: u64 = 242;
    pub(crate) const RECVMMSG: u64 = 243;
    pub(crate) const RISCV_HWPROBE: u64 = 258;
    pub(crate) const RISCV_FLUSH_ICACHE: u64 = 259;
    pub(crate) const WAIT4: u64 = 260;
    pub(crate) const PRLIMIT64: u64 = 261;
    pub(crate) const SYNCFS: u64 = 267;
    pub(crate) const SENDMMSG: u64 = 269;
    pub(crate) const RENAMEAT2: u64 = 276;
    pub(crate) const GETRANDOM: u64 = 278;
    pub(crate) const MEMFD_CREATE: u64 = 279;
    pub(crate) const EXECVEAT: u64 = 281;
    pub(crate) const MEMBARRIER: u64 = 283;
    pub(crate) const MLOCK2: u64 = 284;
    pub(crate) const COPY_FILE_RANGE: u64 = 285;
    pub(crate) const PREADV2: u64 = 286;
    pub(crate) const PWRITEV2: u64 = 287;
    pub(crate) const STATX: u64 = 291;
    pub(crate) const RSEQ: u64 = 293;
    pub(crate) const CLONE3: u64 = 435;
    pub(crate) const CLOSE_RANGE: u64 = 436;
    pub(crate) const FACCESSAT2: u64 = 439;
    pub(crate) const EPOLL_PWAIT2: u64 = 441;
}

impl Process {
    /// Executes system call `number`, unless it concerns threads.
    pub(crate) fn call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        match number {
            number::EVENTFD2..=number::EPOLL_PWAIT
            | number::EPOLL_PWAIT2
            | number::PIPE2
            | number::PSELECT6
            | number::PPOLL
            | number::SIGNALFD4
            | number::TIMERFD_CREATE..=number::TIMERFD_GETTIME
            | number::MEMFD_CREATE => self.event_call(number, call),
            number::MKDIRAT..=number::STATFS
            | number::TRUNCATE
            | number::FACCESSAT..=number::FCHDIR
            | number::FCHMODAT..=number::FCHOWNAT
            | number::OPENAT
            | number::READLINKAT..=number::NEWFSTATAT
            | number::UTIMENSAT
            | number::GETCWD
            | number::RENAMEAT2
            | number::STATX
            | number::FACCESSAT2 => self.path_call(number, call),
            number::DUP..=number::FLOCK
            | number::FSTATFS..=number::SYNC_FILE_RANGE
            | number::FADVISE64
            | number::READAHEAD
            | number::SYNCFS
            | number::COPY_FILE_RANGE..=number::PWRITEV2
            | number::CLOSE_RANGE => self.file_call(number, call),
            number::SHMGET..=number::SHMDT => self.segment_call(number, call),
            number::SOCKET..=number::RECVMSG | number::ACCEPT4 | number::RECVMMSG | number::SENDMMSG => {
                self.socket_call(number, call)
            }
            number::BRK..=number::MREMAP
            | number::MMAP
            | number::MPROTECT..=number::MADVISE
            | number::MLOCK2 => self.memory_call(number, call),
            number::WAIT4 | number::WAITID | number::GETPPID | number::SETPGID..=number::SETSID => {
                self.family_call(number, call)
            }
            number::CLOCK_GETTIME
            | number::CLOCK_GETRES
            | number::GETTIMEOFDAY
            | number::GETRUSAGE
            | number::TIMES => self.time_call(number, call),
            _ => self.machine_call(number, call),
        }
    }

    /// The answer to a call that is not emulated.
    pub(crate) fn unknown(&mut self, number: u64) -> io::Result<u64> {
        self.unknown.record(number);
        refuse(libc::ENOSYS)
    }
}

/// Errors are returned as small negative numbers.
pub(crate) fn encode(result: io::Result<u64>) -> u64 {
    match result {
        Ok(value) => value,
        Err(error) => i64::from(-number_of(&error)) as u64,
    }
}

/// The number of an error; some errors about arguments come from the library and have none.
fn number_of(error: &io::Error) -> i32 {
    let plain = if error.kind() == io::ErrorKind::InvalidInput {
        libc::EINVAL
    } else {
        libc::EIO
    };
    error.raw_os_error().unwrap_or(plain)
}

/// An error by its number.
pub(crate) fn refuse<T>(errno: i32) -> io::Result<T> {
    Err(io::Error::from_raw_os_error(errno))
}
