//! One thread.

use super::signals::{AlternateStack, SignalSet};
use rackwright_cpu::Registers;
use rackwright_time::Cycle;

// Integer registers by the calling convention.
pub(super) const RETURN_ADDRESS: usize = 1;
pub(super) const STACK_POINTER: usize = 2;
pub(super) const THREAD_POINTER: usize = 4;
pub(super) const FIRST_ARGUMENT: usize = 10;
pub(super) const CALL_NUMBER: usize = 17;

/// Bytes of `ecall`.
const CALL_BYTES: u64 = 4;

/// What a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// The futex, if it is one.
    pub(super) futex: Option<Waiter>,
    /// When it goes on in any case; [`Cycle::NEVER`] without a limit.
    pub(super) until: Cycle,
}

/// A wait for a futex.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) address: u64,
    pub(super) bits: u32,
    /// Its place among all waits: who came first is woken first.
    pub(super) order: u64,
}

/// Where a thread is.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// It waits for a hart.
    Ready { since: Cycle },
    /// On a hart, which has its registers.
    Runs,
    /// It sleeps.
    Waits(Wait),
}

/// Why a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ended {
    /// Somebody woke it.
    Woken,
    /// Its time came.
    Time,
    /// A signal; the call is made again afterwards if the handler says so.
    Signal { restarts: bool },
}

/// A thread of a program.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    /// Valid while no hart has them.
    pub(super) registers: Registers,
    pub(super) state: State,
    /// The harts that may run it: a bit for each.
    pub(super) affinity: u64,
    /// Where zero is stored, and a waiter woken, when it ends; zero for none.
    pub(super) clear_at_exit: u64,
    pub(super) masked: SignalSet,
    pub(super) pending: SignalSet,
    pub(super) alternate: AlternateStack,
}

impl Thread {
    pub(super) fn new(registers: Registers, affinity: u64, now: Cycle) -> Thread {
        Thread {
            registers,
            state: State::Ready { since: now },
            affinity,
            clear_at_exit: 0,
            masked: SignalSet::default(),
            pending: SignalSet::default(),
            alternate: AlternateStack::default(),
        }
    }

    /// The time that it waits for, if it waits.
    pub(super) fn waits_until(&self) -> Option<Cycle> {
        match self.state {
            State::Waits(wait) => Some(wait.until).filter(|until| *until != Cycle::NEVER),
            _ => None,
        }
    }

    /// The futex that it waits for.
    pub(super) fn waiter(&self) -> Option<Waiter> {
        match self.state {
            State::Waits(wait) => wait.futex,
            _ => None,
        }
    }

    /// Leaves in its registers what the call that it waited in returns.
    pub(super) fn end_wait(&mut self, ended: Ended) {
        let State::Waits(wait) = self.state else {
            unreachable!("only a thread that waits can cease to");
        };
        let value = match ended {
            Ended::Woken => 0,
            Ended::Time if wait.futex.is_none() => 0,
            Ended::Time => -libc::ETIMEDOUT,
            Ended::Signal { restarts: true } if wait.futex.is_some() && wait.until == Cycle::NEVER => {
                // The arguments are still there.
                self.registers.pc -= CALL_BYTES;
                return;
            }
            Ended::Signal { .. } => -libc::EINTR,
        };
        self.registers.x[FIRST_ARGUMENT] = i64::from(value) as u64;
    }
}
