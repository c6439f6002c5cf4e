//! One thread.

use super::queue::Queue;
use super::signals::{AlternateStack, SignalSet};
use super::waiting::Pending;
use rackwright_cpu::Registers;
use rackwright_state::{state, Pass, StateError};
use rackwright_time::Cycle;

// Integer registers by the calling convention.
pub(super) const RETURN_ADDRESS: usize = 1;
pub(super) const STACK_POINTER: usize = 2;
pub(super) const THREAD_POINTER: usize = 4;
pub(crate) const FIRST_ARGUMENT: usize = 10;
pub(crate) const CALL_NUMBER: usize = 17;

/// Bytes of `ecall`.
const CALL_BYTES: u64 = 4;

/// The reason for a thread's wait.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reason {
    /// Only a time. If a signal arrives before, the remaining time is stored at this address, if it is not zero.
    Time { remainder: u64 },
    /// A futex.
    Futex(Waiter),
    /// That a call can be done.
    Call(Pending),
    /// A child has to return the memory that it uses in the meantime.
    Child,
}

/// A wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) reason: Reason,
    /// Its time-out; [`Cycle::NEVER`] without a limit.
    pub(super) until: Cycle,
}

/// A wait for a futex.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Waiter {
    pub(super) address: u64,
    pub(super) bits: u32,
    /// Its order among all waits: the first to wait is woken first.
    pub(super) order: u64,
}

/// The state of a thread.
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
    /// It was woken, and its call returns this value.
    Woken(u64),
    /// Its time came.
    Time,
    /// A signal; the call is restarted afterwards if the handler requests it.
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
    /// The address at which zero is stored, and a waiter woken, when it ends; zero for none.
    pub(super) clear_at_exit: u64,
    pub(super) masked: SignalSet,
    pub(super) pending: Queue,
    /// The signal mask to restore after its current waiting call.
    pub(super) restored_mask: Option<SignalSet>,
    pub(super) alternate: AlternateStack,
}

state!(Waiter { address, bits, order });
state!(Wait { reason, until });
state!(Thread {
    registers,
    state,
    affinity,
    clear_at_exit,
    masked,
    pending,
    restored_mask,
    alternate
});

impl rackwright_state::State for Reason {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let kind = |reason: &Reason| match reason {
            Reason::Time { .. } => 0,
            Reason::Futex(_) => 1,
            Reason::Call(_) => 2,
            Reason::Child => 3,
        };
        by.as_number(self, kind, |kind| match kind {
            0 => Some(Reason::Time { remainder: 0 }),
            1 => Some(Reason::Futex(Waiter::default())),
            2 => Some(Reason::Call(Pending::default())),
            3 => Some(Reason::Child),
            _ => None,
        })?;
        match self {
            Reason::Time { remainder } => remainder.pass(by),
            Reason::Futex(waiter) => waiter.pass(by),
            Reason::Call(pending) => pending.pass(by),
            Reason::Child => Ok(()),
        }
    }
}

impl rackwright_state::State for State {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let kind = |state: &State| match state {
            State::Ready { .. } => 0,
            State::Runs => 1,
            State::Waits(_) => 2,
        };
        by.as_number(self, kind, |kind| match kind {
            0 => Some(State::Ready { since: Cycle::ZERO }),
            1 => Some(State::Runs),
            2 => Some(State::Waits(Wait {
                reason: Reason::Child,
                until: Cycle::NEVER,
            })),
            _ => None,
        })?;
        match self {
            State::Ready { since } => since.pass(by),
            State::Runs => Ok(()),
            State::Waits(wait) => wait.pass(by),
        }
    }
}

impl Thread {
    pub(super) fn new(registers: Registers, affinity: u64, now: Cycle) -> Thread {
        Thread {
            registers,
            state: State::Ready { since: now },
            affinity,
            clear_at_exit: 0,
            masked: SignalSet::default(),
            pending: Queue::default(),
            restored_mask: None,
            alternate: AlternateStack::default(),
        }
    }

    /// Sets the signal mask to `mask` until its current call has ended.
    pub(super) fn hold_back(&mut self, mask: SignalSet) {
        self.restored_mask = Some(self.masked);
        self.masked = mask;
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
            State::Waits(Wait {
                reason: Reason::Futex(waiter),
                ..
            }) => Some(waiter),
            _ => None,
        }
    }

    /// The call that it waits in until it can be done.
    pub(super) fn pending_call(&self) -> Option<Pending> {
        match self.state {
            State::Waits(Wait {
                reason: Reason::Call(pending),
                ..
            }) => Some(pending),
            _ => None,
        }
    }

    /// Whether it waits until a child returns its memory, which no signal interrupts.
    pub(super) fn lends_memory(&self) -> bool {
        let wait = match self.state {
            State::Waits(wait) => wait.reason,
            _ => return false,
        };
        matches!(wait, Reason::Child)
    }

    /// Whether it waits for this signal as such.
    pub(super) fn awaits_signal(&self, signal: u64) -> bool {
        let set = self.pending_call().and_then(|pending| pending.signals);
        set.is_some_and(|set| set.has(signal))
    }

    /// Sets its registers to the result of the call in which it waited.
    pub(super) fn end_wait(&mut self, ended: Ended) {
        let State::Waits(wait) = self.state else {
            unreachable!("only a thread that waits can cease to");
        };
        let value = match (ended, wait.reason) {
            (Ended::Woken(value), _) => value,
            (Ended::Time, Reason::Time { .. }) => 0,
            (Ended::Time, Reason::Futex(_)) => error(libc::ETIMEDOUT),
            (Ended::Time, Reason::Call(_)) => unreachable!("such a call is tried once more"),
            (Ended::Time, Reason::Child) => unreachable!("nobody says how long a child takes"),
            (Ended::Signal { .. }, Reason::Call(pending)) if pending.done > 0 => pending.done,
            (Ended::Signal { restarts: true }, reason) if restarts(&reason, wait.until) => {
                // The arguments are still there.
                self.registers.pc -= CALL_BYTES;
                return;
            }
            (Ended::Signal { .. }, _) => error(libc::EINTR),
        };
        self.registers.x[FIRST_ARGUMENT] = value;
    }
}

fn error(number: i32) -> u64 {
    i64::from(-number) as u64
}

/// Whether a call with this wait is restarted after a handler that requests it.
fn restarts(reason: &Reason, until: Cycle) -> bool {
    match reason {
        Reason::Time { .. } | Reason::Child => false,
        Reason::Futex(_) => until == Cycle::NEVER,
        Reason::Call(pending) => pending.restarts,
    }
}
