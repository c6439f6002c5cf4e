//! Calls that wait until they can complete: they are retried, on behalf of their threads, whenever an event occurs that
//! they may have waited for.

use super::information::Information;
use super::signals::SignalSet;
use super::thread::{Ended, Reason, State, Wait};
use super::{Next, ThreadId, Threads};
use crate::calls::{encode, number, Call};
use crate::gather;
use rackwright_cpu::Registers;
use rackwright_memory::GuestMemory;
use rackwright_state::state;
use rackwright_time::Cycle;
use std::io;

/// A call that waits.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Pending {
    number: u64,
    arguments: [u64; 6],
    /// Bytes that it has moved so far.
    pub(super) done: u64,
    /// Its order among all waits: the first to wait is tried first.
    order: u64,
    /// Its result at the time-out.
    pub(super) at_end: u64,
    /// Whether it is restarted after a handler that requests it.
    pub(super) restarts: bool,
    /// The signals that it waits for, if it is for signals.
    pub(super) signals: Option<SignalSet>,
}

state!(Pending {
    number,
    arguments,
    done,
    order,
    at_end,
    restarts,
    signals
});

impl Pending {
    /// The result of a call with this last attempt.
    fn value(&self, result: io::Result<u64>) -> u64 {
        if self.done > 0 {
            // Bytes already moved count.
            return self.done + result.unwrap_or(0);
        }
        encode(result)
    }
}

/// The wait of a call.
pub(super) struct Patience {
    pub(super) until: Cycle,
    pub(super) at_end: u64,
    pub(super) restarts: bool,
    pub(super) signals: Option<SignalSet>,
    /// The signal mask meanwhile, if it differs.
    pub(super) mask: Option<SignalSet>,
}

impl Patience {
    /// For ever.
    pub(super) fn endless(restarts: bool) -> Patience {
        Patience::until(Cycle::NEVER, 0, restarts)
    }

    /// Until a time, when it returns `at_end`.
    pub(super) fn until(until: Cycle, at_end: u64, restarts: bool) -> Patience {
        Patience {
            until,
            at_end,
            restarts,
            signals: None,
            mask: None,
        }
    }
}

/// Whether the result of a call is that it cannot complete yet.
pub(super) fn would_wait(result: &io::Result<u64>) -> bool {
    matches!(result, Err(error) if error.raw_os_error() == Some(libc::EAGAIN))
}

impl Threads {
    /// Whether the call, which has moved `done` bytes, waits for the rest.
    pub(super) fn patience(
        &self,
        result: &io::Result<u64>,
        number: u64,
        call: &Call<'_>,
    ) -> io::Result<Option<Patience>> {
        match result {
            Err(_) if would_wait(result) => self.waits_for(number, call),
            // Zero bytes mark the end of the received data.
            Ok(moved) if *moved > 0 && self.process.awaits_rest(number, call) => {
                let whole = self.process.transfer_length(number, call)?;
                if call.done + moved < whole {
                    return self.waits_for(number, call);
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// The wait of a call that cannot complete now; `None` if it returns instead.
    fn waits_for(&self, number: u64, call: &Call<'_>) -> io::Result<Option<Patience>> {
        match number {
            number::RT_SIGTIMEDWAIT | number::RT_SIGSUSPEND => self.signal_patience(number, call),
            number::WAIT4 | number::WAITID => Ok(Some(Patience::endless(true))),
            number::PPOLL | number::PSELECT6 | number::EPOLL_PWAIT | number::EPOLL_PWAIT2 => {
                self.poll_patience(number, call).map(Some)
            }
            _ => Ok(self.process.waits(number, call)?.map(|span| match span {
                None => Patience::endless(true),
                Some(span) => {
                    let until = Cycle::new(call.now.0.saturating_add(span.0));
                    Patience::until(
                        until,
                        encode(Err(io::Error::from_raw_os_error(libc::EAGAIN))),
                        true,
                    )
                }
            })),
        }
    }

    /// Has the thread on `hart` wait in a call that has moved `moved` bytes.
    pub(super) fn wait_in_call(
        &mut self,
        hart: usize,
        registers: &Registers,
        number: u64,
        call: &mut Call<'_>,
        (moved, patience): (u64, Patience),
    ) -> Next {
        let order = self.waits;
        self.waits += 1;
        let pending = Pending {
            number,
            arguments: call.arguments,
            done: moved,
            order,
            at_end: patience.at_end,
            restarts: patience.restarts,
            signals: patience.signals,
        };
        if let Some(mask) = patience.mask {
            let id = self.on(hart);
            self.thread(id).hold_back(mask);
        }
        let wait = Wait {
            reason: Reason::Call(pending),
            until: patience.until,
        };
        let next = self.sleep(hart, registers, wait, call);
        // Its partial effect may be what others wait for.
        self.retry(call.now, call.memory);
        next
    }

    /// Has the thread on `hart` wait, unless there is a signal for it.
    pub(super) fn sleep(
        &mut self,
        hart: usize,
        registers: &Registers,
        wait: Wait,
        call: &mut Call<'_>,
    ) -> Next {
        let id = self.on(hart);
        let next = self.block(hart, registers, wait);
        self.refresh_next_wake(call.now);
        self.interrupt_wait(id, call.now, call.memory);
        next
    }

    /// The result of a call that cannot complete, and does not wait.
    pub(super) fn result_at_end(
        &mut self,
        caller: ThreadId,
        number: u64,
        call: &mut Call<'_>,
        patience: &Patience,
    ) -> u64 {
        // `epoll` lists check the time first.
        let sees_signals = matches!(number, number::PPOLL | number::PSELECT6);
        if sees_signals && self.is_interrupted(caller, patience.mask) {
            return encode(Err(io::Error::from_raw_os_error(libc::EINTR)));
        }
        call.expired = true;
        let result = self.waiting_call(caller, number, call);
        if would_wait(&result) {
            return patience.at_end;
        }
        encode(result)
    }

    /// Whether there is a signal for a thread to handle while its mask is `mask`, if that differs. It then holds that
    /// back until it has taken it.
    fn is_interrupted(&mut self, id: ThreadId, mask: Option<SignalSet>) -> bool {
        let before = self.threads[&id].masked;
        let thread = self.thread(id);
        thread.masked = mask.unwrap_or(before);
        let interrupted = self.interruption(id).is_some();
        self.thread(id).masked = before;
        if let Some(mask) = mask.filter(|_| interrupted) {
            self.thread(id).hold_back(mask);
        }
        interrupted
    }

    /// Retries waiting calls, in the order in which they were made, as long as this changes anything.
    pub(crate) fn retry(&mut self, now: Cycle, memory: &mut GuestMemory) {
        while self.process.activity.has_changed() {
            let waits = |(id, thread): (&ThreadId, &super::Thread)| {
                let pending = thread.pending_call()?;
                Some((pending.order, *id))
            };
            let mut waiting: Vec<(u64, ThreadId)> = self.threads.iter().filter_map(waits).collect();
            waiting.sort_unstable();
            for (_, id) in waiting {
                self.retry_call(id, now, memory);
            }
        }
    }

    fn retry_call(&mut self, id: ThreadId, now: Cycle, memory: &mut GuestMemory) {
        // It may have ended since.
        let Some(pending) = self.threads[&id].pending_call() else {
            return;
        };
        let mut call = Call {
            arguments: pending.arguments,
            memory,
            now,
            done: pending.done,
            expired: false,
        };
        let result = self.waiting_call(id, pending.number, &mut call);
        match self.patience(&result, pending.number, &call) {
            Ok(Some(_)) => {
                let moved = *result.as_ref().unwrap_or(&0);
                if let State::Waits(Wait {
                    reason: Reason::Call(pending),
                    ..
                }) = &mut self.thread(id).state
                {
                    pending.done += moved;
                }
            }
            _ => {
                let breaks = self.breaks_pipe(pending.number, &result, &call);
                self.end_wait(id, Ended::Woken(pending.value(result)), now);
                // The signal is sent afterwards, so that it does not interrupt the call that caused it.
                if breaks {
                    self.break_pipe(id, &mut call);
                }
            }
        }
    }

    /// Ends the wait of a call at its time-out.
    pub(super) fn expire_call(&mut self, id: ThreadId, now: Cycle, memory: &mut GuestMemory) {
        let Some(pending) = self.threads[&id].pending_call() else {
            return;
        };
        let mut call = Call {
            arguments: pending.arguments,
            memory,
            now,
            done: pending.done,
            expired: true,
        };
        let result = self.waiting_call(id, pending.number, &mut call);
        let value = if would_wait(&result) && pending.done == 0 {
            pending.at_end
        } else {
            pending.value(result)
        };
        self.end_wait(id, Ended::Woken(value), now);
    }

    /// Whether a call has written without a reader, which also raises a signal.
    pub(super) fn breaks_pipe(&self, number: u64, result: &io::Result<u64>, call: &Call<'_>) -> bool {
        let is_broken = matches!(result, Err(error) if error.raw_os_error() == Some(libc::EPIPE));
        is_broken && self.process.signals_broken_pipe(number, call)
    }

    /// Sends that signal.
    pub(super) fn break_pipe(&mut self, caller: ThreadId, call: &mut Call<'_>) {
        let information = Information::sent(libc::SIGPIPE as u64, self.process.id);
        self.send(Some(caller), caller, information, call.now, call.memory);
    }

    /// A call that may have to wait.
    pub(super) fn waiting_call(
        &mut self,
        caller: ThreadId,
        number: u64,
        call: &mut Call<'_>,
    ) -> io::Result<u64> {
        match number {
            number::RT_SIGTIMEDWAIT => self.take_awaited(caller, call),
            number::RT_SIGSUSPEND => Err(io::Error::from_raw_os_error(libc::EAGAIN)),
            _ => {
                self.process.signals.show(self.pending(caller));
                match self.process.awaited_signals(number, call) {
                    Some(wanted) => self.read_signals(caller, SignalSet(wanted), call),
                    None => self.process.call(number, call),
                }
            }
        }
    }

    /// Stores the remaining time of a sleeping thread when a signal arrived.
    pub(super) fn store_remainder(&self, id: ThreadId, now: Cycle, memory: &mut GuestMemory) {
        let State::Waits(Wait {
            reason: Reason::Time { remainder },
            until,
        }) = self.threads[&id].state
        else {
            return;
        };
        if remainder == 0 {
            return;
        }
        let left = Cycle::new(until.0.saturating_sub(now.0));
        let (seconds, nanoseconds) = self.process.uptime(left);
        // A bad address is not reported; the call has been interrupted anyway.
        let _ = gather::store_words(memory, remainder, &[seconds, nanoseconds]);
    }
}
