//! Time: always the simulated one.

use super::{number, Call};
use crate::gather;
use crate::process::Process;
use std::io;

/// Clocks that count from the epoch; the others count from the start of the run.
const WALL_CLOCKS: [i32; 3] = [libc::CLOCK_REALTIME, libc::CLOCK_REALTIME_COARSE, libc::CLOCK_TAI];

/// Words of the kernel's `struct rusage`: two times and fourteen counts.
const USAGE_WORDS: usize = 18;

impl Process {
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
            number::GETRUSAGE => {
                let (seconds, nanoseconds) = self.uptime(call.now);
                let mut usage = [0; USAGE_WORDS];
                usage[..2].copy_from_slice(&[seconds, nanoseconds / 1000]);
                gather::store_words(call.memory, second, &usage)?;
            }
            // Nothing else runs on the machine, so that sleeping would only be waiting.
            number::NANOSLEEP | number::CLOCK_NANOSLEEP => {}
            _ => return self.unknown(number),
        }
        Ok(0)
    }
}
