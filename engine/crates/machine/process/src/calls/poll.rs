//! Which of several descriptors are ready.

use super::{number, refuse, Call};
use crate::activity::event;
use crate::descriptor::Descriptor;
use crate::gather;
use crate::process::Process;
use std::io;

/// Bytes of `struct pollfd`, and of the kernel's `struct epoll_event` on RISC-V.
const POLL_BYTES: u64 = 8;
const EPOLL_BYTES: u64 = 16;

// The events in the three sets of `pselect6`.
const READABLE: u32 = event::IN | event::HANG_UP | event::ERROR;
const WRITABLE: u32 = event::OUT | event::ERROR;
const EXCEPTIONAL: u32 = libc::POLLPRI as u32;

impl Process {
    /// Returns the ready descriptors. `EAGAIN` while there are none, unless the call has timed out.
    pub(super) fn poll_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        match number {
            number::PPOLL => self.poll(call),
            number::PSELECT6 => self.select(call),
            number::EPOLL_PWAIT | number::EPOLL_PWAIT2 => self.wait_for_list(call),
            _ => self.unknown(number),
        }
    }

    /// `ppoll(descriptors, count, timeout, mask, bytes)`.
    fn poll(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [descriptors, count, ..] = call.arguments;
        if count > self.files.limits.open() as u64 {
            return refuse(libc::EINVAL);
        }
        let mut ready = 0;
        let mut results = Vec::new();
        for index in 0..count {
            let word = gather::word(call.memory, descriptors + index * POLL_BYTES)?;
            let (number, asked) = (word as u32 as i32, (word >> 32) as u16);
            let events = if number < 0 {
                0
            } else {
                self.events(number as u64, call)
                    .map_or(libc::POLLNVAL as u32, |events| {
                        events & (u32::from(asked) | event::ALWAYS)
                    })
            };
            ready += u64::from(events != 0);
            results.push(word & 0xffff_ffff_ffff | u64::from(events as u16) << 48);
        }
        if ready == 0 && !call.expired {
            return refuse(libc::EAGAIN);
        }
        gather::store_words(call.memory, descriptors, &results)?;
        Ok(ready)
    }

    /// `pselect6(count, readable, writable, exceptional, timeout, mask)`.
    fn select(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [count, sets @ ..] = call.arguments;
        if count > i32::MAX as u64 {
            return refuse(libc::EINVAL);
        }
        let count = count.min(self.files.limits.open() as u64);
        let words = count.div_ceil(u64::from(u64::BITS));
        let kinds = [READABLE, WRITABLE, EXCEPTIONAL];
        let (mut ready, mut results) = (0, Vec::new());
        for (set, kind) in sets.into_iter().zip(kinds).filter(|(set, _)| *set != 0) {
            let mut found = vec![0; words as usize];
            for (index, found) in found.iter_mut().enumerate() {
                let asked = gather::word(call.memory, set + index as u64 * 8)?;
                for bit in (0..u64::BITS).filter(|bit| asked >> bit & 1 != 0) {
                    let number = index as u64 * u64::from(u64::BITS) + u64::from(bit);
                    if number < count && self.events(number, call)? & kind != 0 {
                        *found |= 1 << bit;
                        ready += 1;
                    }
                }
            }
            results.push((set, found));
        }
        if ready == 0 && !call.expired {
            return refuse(libc::EAGAIN);
        }
        for (set, found) in results {
            gather::store_words(call.memory, set, &found)?;
        }
        Ok(ready)
    }

    /// `epoll_pwait(list, events, most, timeout, mask, bytes)`.
    fn wait_for_list(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [list, events, most, ..] = call.arguments;
        if !(1..=i32::MAX).contains(&(most as i32)) {
            return refuse(libc::EINVAL);
        }
        let shared = self.files.get(list)?;
        let now = self.nanoseconds(call.now);
        let taken = match &mut *shared.borrow() {
            Descriptor::Epoll(epoll) => epoll.take(most as usize, now),
            _ => return refuse(libc::EINVAL),
        };
        if taken.is_empty() && !call.expired {
            return refuse(libc::EAGAIN);
        }
        for (index, (bits, data)) in taken.iter().enumerate() {
            let address = events + index as u64 * EPOLL_BYTES;
            gather::store_words(call.memory, address, &[u64::from(*bits), *data])?;
        }
        Ok(taken.len() as u64)
    }

    fn events(&self, number: u64, call: &Call<'_>) -> io::Result<u32> {
        let shared = self.files.get(number)?;
        let now = self.nanoseconds(call.now);
        let events = shared.borrow().readiness(now).events;
        Ok(events)
    }
}
