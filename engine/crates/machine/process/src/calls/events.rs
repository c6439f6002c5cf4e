//! Descriptors without a file of the host: pipes, counters, timers, `epoll` lists, files in memory.

use super::time::{interval_times, store_interval_times, WALL_CLOCKS};
use super::{number, refuse, Call};
use crate::alarm::Alarm;
use crate::channel::channel;
use crate::counter::Counter;
use crate::descriptor::Descriptor;
use crate::epoll::Epoll;
use crate::files::Shared;
use crate::gather;
use crate::process::{Process, EPOCH_NANOSECONDS};
use crate::signal_file::SignalFile;
use crate::timer::Timer;
use rackwright_memory::GuestMemory;
use std::io;
use std::path::Path;

/// Maximum depth of nested `epoll` lists, as in Linux.
const MOST_NESTED: usize = 5;
/// Bytes of a set of signals.
const SIGNAL_SET_BYTES: u64 = 8;
/// `TFD_TIMER_ABSTIME`.
const ABSOLUTE: u64 = 1;
/// `TFD_TIMER_CANCEL_ON_SET`: the clock is never set.
const CANCEL_ON_SET: u64 = 2;

impl Process {
    pub(super) fn event_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [first, second, ..] = call.arguments;
        match number {
            number::EVENTFD2 => {
                let flags = second as i32;
                if flags & !(libc::EFD_SEMAPHORE | libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) != 0 {
                    return refuse(libc::EINVAL);
                }
                let is_semaphore = flags & libc::EFD_SEMAPHORE != 0;
                let counter = Counter::new(first as u32, is_semaphore, self.activity.clone());
                self.add_event(Descriptor::Counter(counter), flags)
            }
            number::EPOLL_CREATE1 => self.add_event(Descriptor::Epoll(Epoll::default()), first as i32),
            number::EPOLL_CTL => self.control_epoll(call),
            number::PIPE2 => self.make_pipe(call),
            number::TIMERFD_CREATE => {
                let is_wall = WALL_CLOCKS.contains(&(first as i32));
                self.add_event(Descriptor::Timer(Timer::new(is_wall)), second as i32)
            }
            number::TIMERFD_SETTIME => self.set_timer(call),
            number::SIGNALFD4 => self.make_signal_file(call),
            number::TIMERFD_GETTIME => {
                let now = self.nanoseconds(call.now);
                self.with_timer(first, |timer| {
                    let left = timer.alarm(now).left(now);
                    store_interval_times(call.memory, second, left)
                })
            }
            number::MEMFD_CREATE => self.make_file(call),
            _ => self.poll_call(number, call),
        }
    }

    fn add_event(&mut self, descriptor: Descriptor, flags: i32) -> io::Result<u64> {
        let kept = libc::O_NONBLOCK | libc::O_CLOEXEC;
        self.files.add(descriptor, flags & kept | libc::O_RDWR)
    }

    fn make_pipe(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [numbers, flags, ..] = call.arguments;
        let flags = flags as i32;
        if flags & !(libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_DIRECT) != 0 {
            return refuse(libc::EINVAL);
        }
        let (source, sink) = channel(&self.activity);
        let reads = self.files.add(Descriptor::Source(source), flags)?;
        let writes = self.files.add(Descriptor::Sink(sink), flags | libc::O_WRONLY)?;
        store_pair(call.memory, numbers, [reads, writes])
    }

    /// `epoll_ctl(list, operation, descriptor, event)`.
    fn control_epoll(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [list, operation, number, event, ..] = call.arguments;
        let (list, target) = (self.files.get(list)?, self.files.get(number)?);
        let operation = operation as i32;
        let asked = if operation == libc::EPOLL_CTL_DEL {
            (0, 0)
        } else {
            let data = gather::word(call.memory, event.wrapping_add(8))?;
            (gather::half_word(call.memory, event)?, data)
        };
        if list.identity() == target.identity() {
            return refuse(libc::EINVAL);
        }
        if !target.borrow().can_wait() && target.borrow().host().is_ok() {
            return refuse(libc::EPERM);
        }
        if operation == libc::EPOLL_CTL_ADD {
            check_nesting(&target, list.identity(), MOST_NESTED)?;
        }
        self.activity.note();
        let result = match &mut *list.borrow() {
            Descriptor::Epoll(epoll) => epoll.control(operation, number, &target, asked),
            _ => refuse(libc::EINVAL),
        };
        result
    }

    /// `timerfd_settime(timer, flags, new, old)`.
    fn set_timer(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [number, flags, new, old, ..] = call.arguments;
        if flags & !(ABSOLUTE | CANCEL_ON_SET) != 0 {
            return refuse(libc::EINVAL);
        }
        let (value, interval) = interval_times(call.memory, new)?;
        let now = self.nanoseconds(call.now);
        self.activity.note();
        self.with_timer(number, |timer| {
            if old != 0 {
                store_interval_times(call.memory, old, timer.alarm(now).left(now))?;
            }
            let start = match (flags & ABSOLUTE != 0, timer.is_wall) {
                (false, _) => now.saturating_add(value),
                (true, false) => value,
                (true, true) => value.saturating_sub(EPOCH_NANOSECONDS),
            };
            timer.set(if value == 0 {
                Alarm::default()
            } else {
                Alarm::at(start, interval)
            });
            Ok(0)
        })
    }

    /// `signalfd4(descriptor, set, bytes, flags)`: a new one, or another set for one.
    fn make_signal_file(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [number, set, bytes, flags, ..] = call.arguments;
        let flags = flags as i32;
        if bytes != SIGNAL_SET_BYTES || flags & !(libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) != 0 {
            return refuse(libc::EINVAL);
        }
        let wanted = gather::word(call.memory, set)?;
        if number as i32 == -1 {
            let file = SignalFile::new(wanted, self.signals.clone());
            return self.add_event(Descriptor::Signals(file), flags);
        }
        self.activity.note();
        match &mut *self.files.get(number)?.borrow() {
            Descriptor::Signals(file) => file.wanted = wanted,
            _ => return refuse(libc::EINVAL),
        }
        Ok(number)
    }

    /// The signals that a call reads, a bit each, if it reads signals.
    pub(crate) fn awaited_signals(&self, number: u64, call: &Call<'_>) -> Option<u64> {
        if number != number::READ {
            return None;
        }
        match &*self.files.get(call.arguments[0]).ok()?.borrow() {
            Descriptor::Signals(file) => Some(file.wanted),
            _ => None,
        }
    }

    fn with_timer(
        &mut self,
        number: u64,
        act: impl FnOnce(&mut Timer) -> io::Result<u64>,
    ) -> io::Result<u64> {
        let shared = self.files.get(number)?;
        let result = match &mut *shared.borrow() {
            Descriptor::Timer(timer) => act(timer),
            _ => refuse(libc::EINVAL),
        };
        result
    }

    /// `memfd_create(name, flags)`.
    fn make_file(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [name, flags, ..] = call.arguments;
        let name = gather::path(call.memory, name)?;
        let known = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        if flags as u32 & !known != 0 {
            return refuse(libc::EINVAL);
        }
        let on_exec = if flags as u32 & libc::MFD_CLOEXEC != 0 {
            libc::O_CLOEXEC
        } else {
            0
        };
        let path = Path::new("/memfd:").join(name);
        self.files
            .open_in_memory(&path, flags as u32, libc::O_RDWR | on_exec)
    }
}

/// Stores the numbers of two descriptors.
pub(super) fn store_pair(memory: &mut GuestMemory, address: u64, numbers: [u64; 2]) -> io::Result<u64> {
    let [first, second] = numbers;
    gather::store_words(memory, address, &[first | second << 32])?;
    Ok(0)
}

/// Refuses a target that waits for `list`, directly or by lists in it, or by more than `left` of them.
fn check_nesting(target: &Shared, list: usize, left: usize) -> io::Result<()> {
    if target.identity() == list {
        return refuse(libc::ELOOP);
    }
    let inner = match &*target.borrow() {
        Descriptor::Epoll(epoll) => epoll.targets(),
        _ => return Ok(()),
    };
    if left == 0 {
        return refuse(libc::ELOOP);
    }
    inner
        .iter()
        .try_for_each(|target| check_nesting(target, list, left - 1))
}
