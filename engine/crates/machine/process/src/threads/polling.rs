//! Time-outs of waits for descriptors.

use super::signals::{SignalSet, SET_BYTES};
use super::waiting::Patience;
use super::Threads;
use crate::calls::{number, refuse, time_specification, Call};
use crate::gather;
use rackwright_memory::GuestMemory;
use rackwright_time::Cycle;
use std::io;

impl Threads {
    /// Of the calls that wait for descriptors.
    pub(super) fn poll_patience(&self, number: u64, call: &Call<'_>) -> io::Result<Patience> {
        let [_, _, third, fourth, fifth, sixth] = call.arguments;
        let memory = &*call.memory;
        let (until, mask) = match number {
            number::PPOLL => (self.ends(call, third)?, mask(memory, fourth, fifth)?),
            number::PSELECT6 => {
                // The mask and its size are elsewhere: registers do not suffice.
                let mask = match sixth {
                    0 => None,
                    place => mask(
                        memory,
                        gather::word(memory, place)?,
                        gather::word(memory, place + 8)?,
                    )?,
                };
                (self.ends(call, fifth)?, mask)
            }
            number::EPOLL_PWAIT2 => (self.ends(call, fourth)?, mask(memory, fifth, sixth)?),
            _ => {
                let milliseconds = fourth as i32;
                let until = u64::try_from(milliseconds).map_or(Cycle::NEVER, |milliseconds| {
                    self.after(call, milliseconds / 1000, milliseconds % 1000 * 1_000_000)
                });
                (until, mask(memory, fifth, sixth)?)
            }
        };
        Ok(Patience {
            mask,
            ..Patience::until(until, 0, false)
        })
    }

    /// When a span of time ends whose `struct timespec` is at `address`; never without one.
    fn ends(&self, call: &Call<'_>, address: u64) -> io::Result<Cycle> {
        if address == 0 {
            return Ok(Cycle::NEVER);
        }
        let (seconds, nanoseconds) = time_specification(call.memory, address)?;
        Ok(self.after(call, seconds, nanoseconds))
    }

    fn after(&self, call: &Call<'_>, seconds: u64, nanoseconds: u64) -> Cycle {
        let span = self.process.cycle_at(seconds, nanoseconds);
        Cycle::new(call.now.0.saturating_add(span.0))
    }
}

fn mask(memory: &GuestMemory, address: u64, bytes: u64) -> io::Result<Option<SignalSet>> {
    if address == 0 {
        return Ok(None);
    }
    if bytes != SET_BYTES {
        return refuse(libc::EINVAL);
    }
    Ok(Some(
        SignalSet(gather::word(memory, address)?).without_unmaskable(),
    ))
}
