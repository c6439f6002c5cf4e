//! Bytes in transit from one end to another: pipes, and each direction of a connection.

use crate::activity::{event, Activity, Readiness};
use crate::calls::refuse;
use rackwright_state::{state, Pass, State, StateError};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes that a pipe holds, and a direction of a connection, as in Linux by default.
pub(crate) const CAPACITY: usize = 1 << 16;
/// A pipe accepts up to this number of bytes completely or not at all, and is writable while it has room for them.
const ATOMIC: usize = 4096;

#[derive(Debug)]
struct Channel {
    bytes: VecDeque<u8>,
    activity: Activity,
    has_source: bool,
    has_sink: bool,
    arrivals: u64,
    departures: u64,
}

state!(Channel {
    bytes,
    has_source,
    has_sink,
    arrivals,
    departures
});

impl Channel {
    fn room(&self) -> usize {
        CAPACITY - self.bytes.len()
    }
}

type Shared = Arc<Mutex<Channel>>;

fn lock(channel: &Shared) -> MutexGuard<'_, Channel> {
    channel.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The end that is read from.
#[derive(Debug)]
pub(crate) struct Source(Shared);

/// The end that is written to.
#[derive(Debug)]
pub(crate) struct Sink(Shared);

/// An empty channel.
pub(crate) fn channel(activity: &Activity) -> (Source, Sink) {
    let channel = Arc::new(Mutex::new(Channel {
        bytes: VecDeque::new(),
        activity: activity.clone(),
        has_source: true,
        has_sink: true,
        arrivals: 0,
        departures: 0,
    }));
    (Source(channel.clone()), Sink(channel))
}

/// The pipes that a pass has come across: their ends are descriptors of their own.
#[derive(Default)]
pub(crate) struct Pipes(Vec<Shared>);

impl Pipes {
    pub(crate) fn pass_source(&mut self, end: &mut Source, by: &mut Pass<'_>) -> Result<(), StateError> {
        if let Some(known) = self.pass(&end.0, by)? {
            *end = Source(known);
        }
        Ok(())
    }

    pub(crate) fn pass_sink(&mut self, end: &mut Sink, by: &mut Pass<'_>) -> Result<(), StateError> {
        if let Some(known) = self.pass(&end.0, by)? {
            *end = Sink(known);
        }
        Ok(())
    }

    /// Passes the channel of an end; returns the one that the end is to have in its place.
    fn pass(&mut self, own: &Shared, by: &mut Pass<'_>) -> Result<Option<Shared>, StateError> {
        let known = self.0.iter().position(|other| Arc::ptr_eq(other, own));
        let mut place = known.unwrap_or(self.0.len());
        place.pass(by)?;
        if let Some(known) = self.0.get(place) {
            // The end that is saved has it already, and must not be dropped.
            return Ok(by.restores().then(|| known.clone()));
        }
        lock(own).pass(by)?;
        self.0.push(own.clone());
        Ok(None)
    }
}

impl Source {
    /// The bytes that have arrived, as far as they fit; none at the end. `EAGAIN` while there are none.
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.peek(into)?;
        let mut channel = lock(&self.0);
        let had_room = channel.room() >= ATOMIC;
        channel.bytes.drain(..count);
        if !had_room && channel.room() >= ATOMIC {
            channel.departures += 1;
        }
        if count > 0 {
            channel.activity.note();
        }
        Ok(count)
    }

    /// The same, which leaves it there.
    pub(crate) fn peek(&self, into: &mut [u8]) -> io::Result<usize> {
        let channel = lock(&self.0);
        if channel.bytes.is_empty() && channel.has_sink && !into.is_empty() {
            return refuse(libc::EAGAIN);
        }
        let count = into.len().min(channel.bytes.len());
        for (target, byte) in into.iter_mut().zip(&channel.bytes) {
            *target = *byte;
        }
        Ok(count)
    }

    /// Number of bytes.
    pub(crate) fn available(&self) -> usize {
        lock(&self.0).bytes.len()
    }

    /// As the reading end of a pipe.
    pub(crate) fn readiness(&self) -> Readiness {
        let channel = lock(&self.0);
        let mut events = 0;
        if !channel.bytes.is_empty() {
            events |= event::IN;
        }
        if !channel.has_sink {
            events |= event::HANG_UP;
        }
        Readiness {
            events,
            arrivals: channel.arrivals,
            departures: 0,
        }
    }
}

impl Sink {
    /// As much as there is room for. `EAGAIN` while there is none, `EPIPE` if there is no reader any more.
    pub(crate) fn write(&self, from: &[u8]) -> io::Result<usize> {
        let mut channel = lock(&self.0);
        if !channel.has_source {
            return refuse(libc::EPIPE);
        }
        let room = channel.room();
        if !from.is_empty() && (room == 0 || from.len() <= ATOMIC && from.len() > room) {
            return refuse(libc::EAGAIN);
        }
        let count = from.len().min(room);
        channel.bytes.extend(&from[..count]);
        if count > 0 {
            channel.arrivals += 1;
            channel.activity.note();
        }
        Ok(count)
    }

    /// As the writing end of a pipe.
    pub(crate) fn readiness(&self) -> Readiness {
        let channel = lock(&self.0);
        let mut events = 0;
        if channel.room() >= ATOMIC {
            events |= event::OUT;
        }
        if !channel.has_source {
            events |= event::ERROR;
        }
        Readiness {
            events,
            arrivals: 0,
            departures: channel.departures,
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let mut channel = lock(&self.0);
        channel.has_source = false;
        channel.departures += 1;
        channel.activity.note();
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        let mut channel = lock(&self.0);
        channel.has_sink = false;
        channel.arrivals += 1;
        channel.activity.note();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errno<T: std::fmt::Debug>(result: io::Result<T>) -> i32 {
        result.unwrap_err().raw_os_error().unwrap()
    }

    #[test]
    fn bytes_come_in_order_and_then_the_end() {
        let activity = Activity::default();
        let (source, sink) = channel(&activity);
        let mut bytes = [0; 3];
        assert_eq!(errno(source.read(&mut bytes)), libc::EAGAIN);
        assert_eq!(sink.write(b"abcd").unwrap(), 4);
        assert!(activity.has_changed() && !activity.has_changed());
        assert_eq!((source.read(&mut bytes).unwrap(), &bytes), (3, b"abc"));
        drop(sink);
        assert_eq!((source.read(&mut bytes).unwrap(), bytes[0]), (1, b'd'));
        assert_eq!(source.read(&mut bytes).unwrap(), 0);
        assert_eq!(source.readiness().events, event::HANG_UP);
    }

    #[test]
    fn a_full_pipe_takes_small_writes_whole_or_not_at_all() {
        let (source, sink) = channel(&Activity::default());
        assert_eq!(sink.write(&[1; CAPACITY - 10]).unwrap(), CAPACITY - 10);
        assert_eq!(errno(sink.write(&[2; 11])), libc::EAGAIN);
        assert_eq!(sink.write(&[2; ATOMIC + 1]).unwrap(), 10);
        assert_eq!(sink.readiness().events, 0);
        drop(source);
        assert_eq!(errno(sink.write(&[3])), libc::EPIPE);
        assert_eq!(sink.readiness().events, event::ERROR);
    }
}
