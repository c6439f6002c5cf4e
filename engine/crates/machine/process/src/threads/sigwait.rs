//! Waiting for signals.

use super::information::FILE_BYTES;
use super::signals::{SignalSet, LAST, SET_BYTES};
use super::waiting::Patience;
use super::{ThreadId, Threads};
use crate::calls::{encode, number, refuse, time_specification, Call};
use crate::gather;
use rackwright_time::Cycle;
use std::io;

/// Words of `siginfo_t`.
const INFORMATION_WORDS: usize = 16;

impl Threads {
    /// `rt_sigpending(set, bytes)`.
    pub(super) fn pending_signals(&mut self, caller: ThreadId, call: &mut Call<'_>) -> io::Result<u64> {
        let [set, bytes, ..] = call.arguments;
        if bytes > SET_BYTES {
            return refuse(libc::EINVAL);
        }
        let pending = self.pending(caller) & self.threads[&caller].masked.0;
        gather::store_words(call.memory, set, &[pending])?;
        Ok(0)
    }

    /// The signals for a thread and for its process, a bit each.
    pub(super) fn pending(&self, id: ThreadId) -> u64 {
        self.threads[&id].pending.set().0 | self.actions.pending.set().0
    }

    /// `read(signalfd, buffer, bytes)`, once: as many signals of `wanted` as there are and fit.
    pub(super) fn read_signals(
        &mut self,
        caller: ThreadId,
        wanted: SignalSet,
        call: &mut Call<'_>,
    ) -> io::Result<u64> {
        let [_, buffer, bytes, ..] = call.arguments;
        let room = bytes / FILE_BYTES as u64;
        if room == 0 {
            return refuse(libc::EINVAL);
        }
        let mut read = 0;
        while read < room {
            let Some(taken) = self.dequeue(caller, wanted) else {
                break;
            };
            let place = buffer.wrapping_add(read * FILE_BYTES as u64);
            (call.memory.write(place, &taken.file_bytes())).map_err(gather::fault)?;
            read += 1;
        }
        if read == 0 {
            return refuse(libc::EAGAIN);
        }
        Ok(read * FILE_BYTES as u64)
    }

    /// `rt_sigtimedwait(set, information, timeout, bytes)`, once: a signal of the set, or that there is none yet.
    pub(super) fn take_awaited(&mut self, caller: ThreadId, call: &mut Call<'_>) -> io::Result<u64> {
        let [_, information, ..] = call.arguments;
        let set = awaited(call)?;
        let Some(taken) = self.dequeue(caller, set) else {
            return refuse(libc::EAGAIN);
        };
        if information != 0 {
            let mut words = [0; INFORMATION_WORDS];
            words[..4].copy_from_slice(&taken.words());
            gather::store_words(call.memory, information, &words)?;
        }
        Ok(taken.signal)
    }

    /// The time-outs of calls that wait for signals.
    pub(super) fn signal_patience(&self, number: u64, call: &Call<'_>) -> io::Result<Option<Patience>> {
        let [first, second, timeout, ..] = call.arguments;
        if number == number::RT_SIGSUSPEND {
            if second != SET_BYTES {
                return refuse(libc::EINVAL);
            }
            let mask = SignalSet(gather::word(call.memory, first)?).without_unmaskable();
            return Ok(Some(Patience {
                mask: Some(mask),
                ..Patience::endless(false)
            }));
        }
        let mut until = Cycle::NEVER;
        if timeout != 0 {
            let (seconds, nanoseconds) = time_specification(call.memory, timeout)?;
            let span = self.process.cycle_at(seconds, nanoseconds);
            if span == Cycle::ZERO {
                return Ok(None);
            }
            until = Cycle::new(call.now.0.saturating_add(span.0));
        }
        let at_end = encode(refuse(libc::EAGAIN));
        Ok(Some(Patience {
            signals: Some(awaited(call)?),
            ..Patience::until(until, at_end, false)
        }))
    }
}

/// The set of signals that a call waits for.
fn awaited(call: &Call<'_>) -> io::Result<SignalSet> {
    const { assert!(LAST == SET_BYTES * 8) };
    let [set, _, _, bytes, ..] = call.arguments;
    if bytes != SET_BYTES {
        return refuse(libc::EINVAL);
    }
    Ok(SignalSet(gather::word(call.memory, set)?).without_unmaskable())
}
