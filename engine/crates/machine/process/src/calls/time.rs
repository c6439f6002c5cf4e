//! Time: always the simulated one.

use super::{number, refuse, Call};
use crate::gather;
use crate::process::{Process, EPOCH_NANOSECONDS, EPOCH_SECONDS};
use rackwright_memory::GuestMemory;
use rackwright_time::Cycle;
use std::io;

/// Clocks that count from the epoch; the others count from the start of the run.
pub(super) const WALL_CLOCKS: [i32; 3] = [libc::CLOCK_REALTIME, libc::CLOCK_REALTIME_COARSE, libc::CLOCK_TAI];

/// Words of the kernel's `struct rusage`: two times and fourteen counts.
const USAGE_WORDS: usize = 18;

/// Number of ticks of `times` per second.
const TICKS: u64 = 100;

/// The flag of `clock_nanosleep` for a point in time instead of a span.
const ABSOLUTE: u64 = 1;

impl Process {
    /// The end of a thread's sleep, and the address for the remaining time if a signal arrives.
    pub(crate) fn sleep(&self, number: u64, call: &Call<'_>) -> io::Result<(Cycle, u64)> {
        let [first, second, third, fourth, ..] = call.arguments;
        let (clock, flags, request, remainder) = match number {
            number::NANOSLEEP => (libc::CLOCK_MONOTONIC, 0, first, second),
            _ => (first as i32, second, third, fourth),
        };
        let (seconds, nanoseconds) = time_specification(call.memory, request)?;
        let wake = if flags & ABSOLUTE == 0 {
            Cycle::new(call.now.0.saturating_add(self.cycle_at(seconds, nanoseconds).0))
        } else if WALL_CLOCKS.contains(&clock) {
            self.cycle_at(seconds.saturating_sub(EPOCH_SECONDS), nanoseconds)
        } else {
            self.cycle_at(seconds, nanoseconds)
        };
        let remainder = if flags & ABSOLUTE == 0 { remainder } else { 0 };
        Ok((wake.max(call.now), remainder))
    }

    pub(super) fn time_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [first, second, ..] = call.arguments;
        match number {
            number::CLOCK_GETTIME => {
                let wall = WALL_CLOCKS.contains(&(first as i32));
                let (seconds, nanoseconds) = if wall {
                    self.wall_time(call.now)
                } else {
                    self.uptime(call.now)
                };
                gather::store_words(call.memory, second, &[seconds, nanoseconds])?;
            }
            number::CLOCK_GETRES => {
                if second != 0 {
                    gather::store_words(call.memory, second, &[0, 1])?;
                }
            }
            number::GETTIMEOFDAY => {
                let (seconds, nanoseconds) = self.wall_time(call.now);
                gather::store_words(call.memory, first, &[seconds, nanoseconds / 1000])?;
            }
            number::TIMES => {
                let (seconds, nanoseconds) = self.uptime(call.now);
                let ticks = seconds * TICKS + nanoseconds / (1_000_000_000 / TICKS);
                if first != 0 {
                    gather::store_words(call.memory, first, &[ticks, 0, 0, 0])?;
                }
                return Ok(ticks);
            }
            number::GETRUSAGE => {
                let (seconds, nanoseconds) = self.uptime(call.now);
                let mut usage = [0; USAGE_WORDS];
                usage[..2].copy_from_slice(&[seconds, nanoseconds / 1000]);
                gather::store_words(call.memory, second, &usage)?;
            }
            _ => return self.unknown(number),
        }
        Ok(0)
    }
}

/// Seconds and nanoseconds of the `struct timespec` at `address`.
pub(crate) fn time_specification(memory: &GuestMemory, address: u64) -> io::Result<(u64, u64)> {
    let seconds = gather::word(memory, address)?;
    let nanoseconds = gather::word(memory, address.wrapping_add(8))?;
    if nanoseconds >= 1_000_000_000 || seconds > i64::MAX as u64 {
        return refuse(libc::EINVAL);
    }
    Ok((seconds, nanoseconds))
}

/// Nanoseconds from the start of a run to a point in time of the clock, or of a span.
pub(crate) fn wall_offset(clock: i32) -> u64 {
    if WALL_CLOCKS.contains(&clock) {
        EPOCH_NANOSECONDS
    } else {
        0
    }
}

/// Nanoseconds of the `struct timespec` at `address`.
pub(crate) fn nanoseconds(memory: &GuestMemory, address: u64) -> io::Result<u64> {
    let (seconds, nanoseconds) = time_specification(memory, address)?;
    Ok(seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds))
}

/// Value and interval of the `struct itimerspec` at `address`, in nanoseconds.
pub(crate) fn interval_times(memory: &GuestMemory, address: u64) -> io::Result<(u64, u64)> {
    Ok((
        nanoseconds(memory, address.wrapping_add(16))?,
        nanoseconds(memory, address)?,
    ))
}

/// Stores value and interval as a `struct itimerspec`.
pub(crate) fn store_interval_times(
    memory: &mut GuestMemory,
    address: u64,
    (value, interval): (u64, u64),
) -> io::Result<u64> {
    let words = [interval, value].map(|time| [time / 1_000_000_000, time % 1_000_000_000]);
    gather::store_words(memory, address, words.as_flattened())?;
    Ok(0)
}
