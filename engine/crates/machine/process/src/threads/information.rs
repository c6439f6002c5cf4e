//! The information of a signal.

use crate::family::{Outcome, ProcessId};
use rackwright_state::state;

// `si_code`, the source of a signal.
/// A process, by `kill`.
const USER: i32 = 0;
/// A thread, by `tkill` or `tgkill`.
const THREAD: i32 = -6;
/// A timer of `timer_create`.
const TIMER: i32 = -2;
/// The kernel.
const KERNEL: i32 = 0x80;

/// Bytes of `struct signalfd_siginfo`.
pub(super) const FILE_BYTES: usize = 128;

/// The information of a signal for a handler: `siginfo_t`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Information {
    pub(super) signal: u64,
    code: i32,
    /// Details that depend on the code: sender, address, value.
    details: [u64; 2],
}

state!(Information {
    signal,
    code,
    details
});

impl Information {
    /// Sent by `kill`.
    pub(super) fn sent(signal: u64, from: ProcessId) -> Information {
        Information::new(signal, USER, [from, 0])
    }

    /// Sent by `tkill` or `tgkill`.
    pub(super) fn sent_to_thread(signal: u64, from: ProcessId) -> Information {
        Information::new(signal, THREAD, [from, 0])
    }

    /// The end of a child.
    pub(crate) fn of_child(child: ProcessId, outcome: Outcome) -> Information {
        let (code, status) = match outcome {
            Outcome::Exited(status) => (libc::CLD_EXITED, status),
            Outcome::Killed(signal) => (libc::CLD_KILLED, signal),
        };
        Information::new(libc::SIGCHLD as u64, code, [child, u64::from(status as u32)])
    }

    /// For the interval timers, which have no further details.
    pub(super) fn of_kernel(signal: u64) -> Information {
        Information::new(signal, KERNEL, [0, 0])
    }

    /// For timer `id`, which has also expired `overrun` times since its last signal; `value` was set by the program.
    pub(super) fn of_timer(signal: u64, id: u64, overrun: u64, value: u64) -> Information {
        Information::new(signal, TIMER, [id | overrun << 32, value])
    }

    /// An exception: its code, and the address that it is about.
    pub(super) fn fault(signal: u64, code: i32, address: u64) -> Information {
        Information::new(signal, code, [address, 0])
    }

    /// The information of a signal sent by a program, as the first words of `siginfo_t`.
    pub(super) fn given(signal: u64, words: [u64; 4]) -> Information {
        Information::new(signal, words[1] as i32, [words[2], words[3]])
    }

    fn new(signal: u64, code: i32, details: [u64; 2]) -> Information {
        Information {
            signal,
            code,
            details,
        }
    }

    /// Whether a program may send it: programs may not send signals of the kernel.
    pub(super) fn is_of_program(&self) -> bool {
        self.code < 0 && self.code != THREAD
    }

    /// The same signal of a timer after so many further expirations.
    pub(super) fn with_overrun(self, overrun: u64) -> Information {
        let [id, value] = self.details;
        Information {
            details: [id & 0xffff_ffff | overrun << 32, value],
            ..self
        }
    }

    /// Whether it comes from timer `id`.
    pub(super) fn is_of_timer(&self, id: u64) -> bool {
        self.code == TIMER && self.details[0] & 0xffff_ffff == id
    }

    /// The same as `struct signalfd_siginfo`, which has a place for each detail.
    pub(super) fn file_bytes(&self) -> [u8; FILE_BYTES] {
        let [first, second] = self.details;
        let mut words = [0_u32; FILE_BYTES / 4];
        (words[0], words[2]) = (self.signal as u32, self.code as u32);
        match self.code {
            TIMER => (words[6], words[8]) = (first as u32, (first >> 32) as u32),
            _ => (words[3], words[4]) = (first as u32, (first >> 32) as u32),
        }
        if self.signal == libc::SIGCHLD as u64 && self.code > 0 {
            words[10] = second as u32;
        } else {
            (words[11], words[12], words[13]) = (second as u32, second as u32, (second >> 32) as u32);
        }
        let mut bytes = [0; FILE_BYTES];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The first words of `siginfo_t`: number and error, code, and the details.
    pub(crate) fn words(&self) -> [u64; 4] {
        let [first, second] = self.details;
        [self.signal, u64::from(self.code as u32), first, second]
    }
}
