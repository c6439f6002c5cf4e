//! One end of a connection.

use super::address::Address;
use super::Domain;
use crate::activity::{event, Activity, Readiness};
use crate::calls::refuse;
use crate::channel::{channel, Sink, Source};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The state of one end that is visible to the other one.
#[derive(Clone, Copy, Default, Debug)]
struct End {
    is_closed: bool,
    /// It was closed with unread bytes, or before it was accepted.
    was_reset: bool,
}

#[derive(Debug)]
pub(super) struct Stream {
    /// None once it has been shut between local sockets.
    source: Option<Source>,
    /// None once it has been shut.
    sink: Option<Sink>,
    is_local: bool,
    /// Whether reads report the end as soon as there are no bytes.
    reads_no_more: bool,
    /// Whether bytes were sent without a receiver, which is reported only later.
    has_sent_in_vain: bool,
    ends: Arc<Mutex<[End; 2]>>,
    own: usize,
    pub(super) address: Address,
    pub(super) peer: Address,
}

/// Both ends of a new connection between these addresses.
pub(super) fn connect(activity: &Activity, is_local: bool, addresses: [Address; 2]) -> (Stream, Stream) {
    let ((source, far_sink), (far_source, sink)) = (channel(activity), channel(activity));
    let ends = Arc::new(Mutex::new([End::default(); 2]));
    let [address, peer] = addresses;
    let end = |own, (source, sink), (address, peer)| Stream {
        source: Some(source),
        sink: Some(sink),
        is_local,
        reads_no_more: false,
        has_sent_in_vain: false,
        ends: ends.clone(),
        own,
        address,
        peer,
    };
    (
        end(0, (source, sink), (address.clone(), peer.clone())),
        end(1, (far_source, far_sink), (peer, address)),
    )
}

impl Stream {
    fn ends(&self) -> MutexGuard<'_, [End; 2]> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn far_end(&self) -> End {
        self.ends()[1 - self.own]
    }

    /// The bytes that have arrived, as far as they fit; none at the end. `EAGAIN` while there are none.
    pub(super) fn read(&mut self, into: &mut [u8], stays: bool) -> io::Result<usize> {
        if self.available() == 0 && !into.is_empty() {
            if self.take_reset() {
                return refuse(libc::ECONNRESET);
            }
            if self.reads_no_more {
                return Ok(0);
            }
        }
        let Some(source) = &self.source else {
            return Ok(0);
        };
        if stays {
            source.peek(into)
        } else {
            source.read(into)
        }
    }

    /// As much as there is room for. `EAGAIN` while there is none, `EPIPE` if there is no reader any more.
    pub(super) fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        if self.sink.is_some() && self.take_reset() {
            return refuse(libc::ECONNRESET);
        }
        let Some(sink) = &self.sink else {
            return refuse(libc::EPIPE);
        };
        let result = sink.write(from);
        let is_broken = matches!(&result, Err(error) if error.raw_os_error() == Some(libc::EPIPE));
        if is_broken && !self.is_local && !std::mem::replace(&mut self.has_sent_in_vain, true) {
            // The error response arrives later.
            return Ok(from.len());
        }
        result
    }

    /// Whether the other end was reset, which is reported once.
    fn take_reset(&mut self) -> bool {
        let far = 1 - self.own;
        let was_reset = std::mem::take(&mut self.ends()[far].was_reset);
        self.has_sent_in_vain |= was_reset;
        was_reset
    }

    /// The same connection as sockets of a domain see it.
    pub(super) fn seen_by(mut self, domain: Domain) -> Stream {
        for address in [&mut self.address, &mut self.peer] {
            *address = address.clone().seen_by(domain);
        }
        self
    }

    /// The error that the next call would report; it is reported only once.
    pub(super) fn take_error(&mut self) -> Option<i32> {
        self.take_reset().then_some(libc::ECONNRESET)
    }

    pub(super) fn available(&self) -> usize {
        self.source.as_ref().map_or(0, Source::available)
    }

    /// `shutdown` of reading, writing, or both.
    pub(super) fn shut(&mut self, reading: bool, writing: bool) {
        if reading {
            self.reads_no_more = true;
            if self.is_local {
                self.source = None;
            }
        }
        if writing {
            self.sink = None;
        }
    }

    /// Ends it before it has been accepted.
    pub(super) fn reset(&mut self) {
        let own = self.own;
        self.ends()[own].was_reset = true;
    }

    pub(super) fn readiness(&self) -> Readiness {
        let source = self.source.as_ref().map(Source::readiness).unwrap_or_default();
        let sink = self.sink.as_ref().map(Sink::readiness).unwrap_or_default();
        let far = self.far_end();
        let has_ended = self.reads_no_more || source.events & event::HANG_UP != 0;
        let cannot_send = self.sink.is_none() || self.is_local && far.is_closed || far.was_reset;
        let mut events = source.events & event::IN | sink.events & event::OUT;
        if has_ended {
            events |= event::IN | event::FAR_HANG_UP;
        }
        if cannot_send || sink.events & event::ERROR != 0 {
            events |= event::OUT;
        }
        if has_ended && cannot_send {
            events |= event::HANG_UP;
        }
        if far.was_reset {
            events |= event::ERROR;
        }
        Readiness {
            events,
            arrivals: source.arrivals,
            departures: sink.departures,
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let (own, has_unread) = (self.own, self.available() > 0);
        let end = &mut self.ends()[own];
        end.is_closed = true;
        end.was_reset |= has_unread;
    }
}
