//! Waiting for a word of memory.

use super::thread::{Ended, Reason, State, Wait, Waiter};
use super::{ThreadId, Threads};
use crate::calls::{number, refuse, Call};
use crate::gather;
use crate::process::EPOCH_SECONDS;
use rackwright_time::Cycle;
use std::io;

/// The bits of the second argument that select the operation.
const OPERATION: i32 = 0x7f;

/// A thread's request to a futex.
pub(super) enum Asked {
    /// To wait.
    Wait(Wait),
    /// A completed operation, with its result.
    Done(u64),
}

impl Threads {
    /// `futex(address, operation, value, timeout or count, other address, bits)`.
    pub(super) fn futex(&mut self, call: &mut Call<'_>) -> io::Result<Asked> {
        let [address, operation, value, fourth, other, sixth] = call.arguments;
        if address % 4 != 0 {
            return refuse(libc::EINVAL);
        }
        let count = |value: u64| value as u32 as usize;
        let command = operation as i32 & OPERATION;
        let bits = match command {
            libc::FUTEX_WAIT_BITSET | libc::FUTEX_WAKE_BITSET => sixth as u32,
            _ => u32::MAX,
        };
        if bits == 0 {
            return refuse(libc::EINVAL);
        }
        match command {
            libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
                if half_word(call, address)? != value as u32 {
                    return refuse(libc::EAGAIN);
                }
                let until = self.timeout(call, operation as i32, fourth)?;
                let order = self.waits;
                self.waits += 1;
                let reason = Reason::Futex(Waiter { address, bits, order });
                Ok(Asked::Wait(Wait { reason, until }))
            }
            libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => Ok(Asked::Done(self.wake_waiters(
                address,
                count(value),
                bits,
                call.now,
            ))),
            libc::FUTEX_REQUEUE => Ok(Asked::Done(self.requeue(
                call,
                address,
                other,
                count(value),
                count(fourth),
            ))),
            libc::FUTEX_CMP_REQUEUE => {
                if half_word(call, address)? != sixth as u32 {
                    return refuse(libc::EAGAIN);
                }
                Ok(Asked::Done(self.requeue(
                    call,
                    address,
                    other,
                    count(value),
                    count(fourth),
                )))
            }
            _ => self.process.unknown(number::FUTEX).map(Asked::Done),
        }
    }

    /// The time-out of a wait: `FUTEX_WAIT` has a duration, the other a point in time.
    fn timeout(&self, call: &Call<'_>, operation: i32, address: u64) -> io::Result<Cycle> {
        if address == 0 {
            return Ok(Cycle::NEVER);
        }
        let (seconds, nanoseconds) = crate::calls::time_specification(call.memory, address)?;
        let cycle = |seconds| self.process.cycle_at(seconds, nanoseconds);
        Ok(if operation & OPERATION == libc::FUTEX_WAIT {
            Cycle::new(call.now.0.saturating_add(cycle(seconds).0))
        } else if operation & libc::FUTEX_CLOCK_REALTIME != 0 {
            cycle(seconds.saturating_sub(EPOCH_SECONDS))
        } else {
            cycle(seconds)
        })
    }

    /// Wakes up to `most` of the threads that wait at `address` for one of `bits`, first come, first served; returns
    /// their number.
    pub(super) fn wake_waiters(&mut self, address: u64, most: usize, bits: u32, now: Cycle) -> u64 {
        let waiters = self.waiters(address, bits);
        let woken = waiters.len().min(most);
        for id in &waiters[..woken] {
            self.end_wait(*id, Ended::Woken(0), now);
        }
        woken as u64
    }

    /// Wakes up to `wake` of the threads that wait at `address` and moves up to `most` of the others to `other`.
    fn requeue(&mut self, call: &Call<'_>, address: u64, other: u64, wake: usize, most: usize) -> u64 {
        let woken = self.wake_waiters(address, wake, u32::MAX, call.now);
        let rest = self.waiters(address, u32::MAX);
        let moved = rest.len().min(most);
        for id in &rest[..moved] {
            if let State::Waits(Wait {
                reason: Reason::Futex(waiter),
                ..
            }) = &mut self.thread(*id).state
            {
                waiter.address = other;
            }
        }
        woken + moved as u64
    }

    /// The threads that wait at `address` for one of `bits`, in the order of their arrival.
    fn waiters(&self, address: u64, bits: u32) -> Vec<ThreadId> {
        let waits = |(id, thread): (&ThreadId, &super::Thread)| {
            let waiter = thread.waiter()?;
            (waiter.address == address && waiter.bits & bits != 0).then_some((waiter.order, *id))
        };
        let mut waiters: Vec<(u64, ThreadId)> = self.threads.iter().filter_map(waits).collect();
        waiters.sort_unstable();
        waiters.into_iter().map(|(_, id)| id).collect()
    }
}

fn half_word(call: &Call<'_>, address: u64) -> io::Result<u32> {
    let mut bytes = [0; 4];
    call.memory.read(address, &mut bytes).map_err(gather::fault)?;
    Ok(u32::from_le_bytes(bytes))
}
