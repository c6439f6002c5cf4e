//! Timers that send signals. All clocks show simulated time: a program has its harts to itself, so that the time that it
//! uses is the time that passes.

use super::information::Information;
use super::signals::LAST;
use super::{ThreadId, Threads};
use crate::alarm::Alarm;
use crate::calls::{interval_times, number, refuse, store_interval_times, wall_offset, Call};
use crate::gather;
use rackwright_memory::GuestMemory;
use rackwright_state::{state, Pass, State, StateError};
use rackwright_time::Cycle;
use std::collections::BTreeMap;
use std::io;

/// The signals of the three interval timers: of time, of the program's processor time, and of that including the
/// kernel's.
const INTERVAL_SIGNALS: [i32; 3] = [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF];
/// The highest number of a clock.
const LAST_CLOCK: i32 = libc::CLOCK_TAI;
/// The flag of `timer_settime` for a point in time.
const ABSOLUTE: u64 = 1;
/// The most timers of a program.
const MOST: usize = 1024;
const MICROSECOND: u64 = 1000;

/// A timer of `timer_create`.
#[derive(Clone, Default, Debug)]
struct Timer {
    clock: i32,
    alarm: Alarm,
    /// The signal, its value, and the receiving thread; none for a timer that only counts.
    notice: Option<(u64, u64, Option<ThreadId>)>,
    /// Number of expirations while its last signal was pending.
    overrun: u64,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Timers {
    intervals: [Alarm; 3],
    each: BTreeMap<u64, Timer>,
    next_id: u64,
}

state!(Timer {
    clock,
    alarm,
    notice,
    overrun
});

impl State for Timers {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.intervals.pass(by)?;
        by.map(&mut self.each, Timer::default)?;
        self.next_id.pass(by)
    }
}

impl Timers {
    /// Those of another program: only the interval timers continue.
    pub(super) fn begin_anew(&mut self) {
        self.each.clear();
    }

    /// When the first of them expires, in nanoseconds.
    pub(super) fn next(&self) -> Option<u64> {
        let alarms = self
            .intervals
            .iter()
            .chain(self.each.values().map(|timer| &timer.alarm));
        alarms.filter_map(Alarm::next).min()
    }
}

impl Threads {
    pub(super) fn timer_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [first, second, third, fourth, ..] = call.arguments;
        let now = self.process.nanoseconds(call.now);
        let result = match number {
            number::GETITIMER => {
                let left = self.interval(first)?.left(now);
                store_values(call.memory, second, left)
            }
            number::SETITIMER => self.set_interval(call, now),
            number::TIMER_CREATE => self.make_timer(call),
            number::TIMER_GETTIME => {
                let left = self.timer(first)?.alarm.left(now);
                store_interval_times(call.memory, second, left)
            }
            number::TIMER_SETTIME => {
                let (value, interval) = interval_times(call.memory, third)?;
                let timer = self.timer(first)?;
                let left = timer.alarm.left(now);
                let start = if second & ABSOLUTE != 0 {
                    value.saturating_sub(wall_offset(timer.clock))
                } else {
                    now.saturating_add(value)
                };
                timer.alarm = alarm(value, start, interval);
                timer.overrun = 0;
                if fourth != 0 {
                    store_interval_times(call.memory, fourth, left)?;
                }
                Ok(0)
            }
            number::TIMER_GETOVERRUN => Ok(self.timer(first)?.overrun),
            _ => {
                self.timer(first)?;
                self.timers.each.remove(&first);
                self.actions.pending.forget(|one| one.is_of_timer(first));
                Ok(0)
            }
        };
        self.refresh_next_wake(call.now);
        result
    }

    fn interval(&mut self, which: u64) -> io::Result<&mut Alarm> {
        let intervals = &mut self.timers.intervals;
        let found = usize::try_from(which)
            .ok()
            .and_then(|which| intervals.get_mut(which));
        found.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))
    }

    fn timer(&mut self, id: u64) -> io::Result<&mut Timer> {
        let found = self.timers.each.get_mut(&id);
        found.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))
    }

    /// `setitimer(which, new, old)`.
    fn set_interval(&mut self, call: &mut Call<'_>, now: u64) -> io::Result<u64> {
        let [which, new, old, ..] = call.arguments;
        let (value, interval) = if new == 0 {
            (0, 0)
        } else {
            values(call.memory, new)?
        };
        let timer = self.interval(which)?;
        let left = timer.left(now);
        *timer = alarm(value, now.saturating_add(value), interval);
        if old != 0 {
            store_values(call.memory, old, left)?;
        }
        Ok(0)
    }

    /// `timer_create(clock, event, id)`.
    fn make_timer(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [clock, event, place, ..] = call.arguments;
        let clock = clock as i32;
        if clock > LAST_CLOCK {
            return refuse(libc::EINVAL);
        }
        if self.timers.each.len() >= MOST {
            return refuse(libc::EAGAIN);
        }
        let id = self.timers.next_id;
        let notice = if event == 0 {
            Some((libc::SIGALRM as u64, id, None))
        } else {
            self.notice(call, event)?
        };
        call.memory
            .write(place, &(id as u32).to_le_bytes())
            .map_err(gather::fault)?;
        self.timers.next_id += 1;
        let timer = Timer {
            clock,
            alarm: Alarm::default(),
            notice,
            overrun: 0,
        };
        self.timers.each.insert(id, timer);
        Ok(0)
    }

    /// The notification requested by a `struct sigevent`.
    fn notice(&self, call: &Call<'_>, event: u64) -> io::Result<Option<(u64, u64, Option<ThreadId>)>> {
        let word = |index: u64| gather::word(call.memory, event.wrapping_add(index * 8));
        let (value, kind) = (word(0)?, word(1)?);
        let signal = kind & 0xffff_ffff;
        let thread = match (kind >> 32) as i32 {
            libc::SIGEV_NONE => return Ok(None),
            libc::SIGEV_SIGNAL => None,
            libc::SIGEV_THREAD_ID => Some(word(2)? & 0xffff_ffff),
            _ => return refuse(libc::EINVAL),
        };
        let is_known = thread.is_none_or(|thread| self.threads.contains_key(&thread));
        if !(1..=LAST).contains(&signal) || !is_known {
            return refuse(libc::EINVAL);
        }
        Ok(Some((signal, value, thread)))
    }

    /// Sends the signals of all timers that have expired.
    pub(super) fn expire_timers(&mut self, now: Cycle, memory: &mut GuestMemory) {
        let time = self.process.nanoseconds(now);
        for (which, signal) in INTERVAL_SIGNALS.into_iter().enumerate() {
            if self.timers.intervals[which].advance(time) > 0 {
                let information = Information::of_kernel(signal as u64);
                self.send_to_process(None, information, now, memory);
            }
        }
        let expired = self.timers.each.iter_mut().filter_map(|(id, timer)| {
            let times = timer.alarm.advance(time);
            (times > 0).then_some((*id, times))
        });
        for (id, times) in expired.collect::<Vec<_>>() {
            self.expire(id, times, now, memory);
        }
    }

    fn expire(&mut self, id: u64, times: u64, now: Cycle, memory: &mut GuestMemory) {
        let is_pending = self.actions.pending.any(|one| one.is_of_timer(id))
            || self
                .threads
                .values()
                .any(|thread| thread.pending.any(|one| one.is_of_timer(id)));
        let Some(timer) = self.timers.each.get_mut(&id) else {
            return;
        };
        let Some((signal, value, thread)) = timer.notice else {
            return;
        };
        if is_pending {
            timer.overrun += times;
            let overrun = timer.overrun;
            let threads = self.threads.values_mut().map(|thread| &mut thread.pending);
            for queue in threads.chain([&mut self.actions.pending]) {
                queue.replace(|one| one.is_of_timer(id), |one| one.with_overrun(overrun));
            }
            return;
        }
        timer.overrun = times - 1;
        let information = Information::of_timer(signal, id, timer.overrun, value);
        match thread {
            Some(thread) if self.threads.contains_key(&thread) => {
                self.send(None, thread, information, now, memory);
            }
            // The thread that it was for has ended.
            Some(_) => {}
            None => self.send_to_process(None, information, now, memory),
        }
    }
}

/// An alarm at `start`, unless its value is zero.
fn alarm(value: u64, start: u64, interval: u64) -> Alarm {
    if value == 0 {
        Alarm::default()
    } else {
        Alarm::at(start, interval)
    }
}

/// Value and interval of the `struct itimerval` at `address`, in nanoseconds.
fn values(memory: &GuestMemory, address: u64) -> io::Result<(u64, u64)> {
    let time = |index: u64| {
        let seconds = gather::word(memory, address.wrapping_add(index * 16))?;
        let microseconds = gather::word(memory, address.wrapping_add(index * 16 + 8))?;
        if microseconds >= 1_000_000 || seconds > i64::MAX as u64 {
            return refuse(libc::EINVAL);
        }
        Ok(seconds
            .saturating_mul(1_000_000_000)
            .saturating_add(microseconds * MICROSECOND))
    };
    Ok((time(1)?, time(0)?))
}

fn store_values(memory: &mut GuestMemory, address: u64, (value, interval): (u64, u64)) -> io::Result<u64> {
    let words = [interval, value].map(|time| [time / 1_000_000_000, time % 1_000_000_000 / MICROSECOND]);
    gather::store_words(memory, address, words.as_flattened())?;
    Ok(0)
}
