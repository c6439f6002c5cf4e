//! Datagrams that wait to be received.

use super::address::Address;
use crate::activity::{event, Activity, Readiness};
use crate::calls::refuse;
use std::collections::VecDeque;
use std::io;

/// Bytes that wait at most between internet sockets, and datagrams between local ones, as in Linux by default.
const MOST_BYTES: usize = 212_992;
const MOST_LOCAL: usize = 10;

/// A datagram, and its sender.
#[derive(Clone, Debug)]
pub(super) struct Datagram {
    pub(super) bytes: Vec<u8>,
    pub(super) from: Address,
}

#[derive(Debug)]
pub(crate) struct Inbox {
    waiting: VecDeque<Datagram>,
    is_local: bool,
    /// The only one whose datagrams are taken.
    pub(super) only_from: Option<Address>,
    /// Whether datagrams are refused: there is no receiver any more.
    pub(super) is_shut: bool,
    arrivals: u64,
    departures: u64,
    activity: Activity,
}

impl Inbox {
    pub(super) fn new(is_local: bool, activity: Activity) -> Inbox {
        Inbox {
            waiting: VecDeque::new(),
            is_local,
            only_from: None,
            is_shut: false,
            arrivals: 0,
            departures: 0,
            activity,
        }
    }

    /// Takes a datagram. Between local sockets `EAGAIN` when there are too many; others are lost then, as on a network.
    pub(super) fn add(&mut self, datagram: Datagram) -> io::Result<()> {
        let is_expected = self.only_from.as_ref().is_none_or(|from| *from == datagram.from);
        if self.is_shut && self.is_local {
            return refuse(libc::EPIPE);
        }
        if !is_expected {
            return refuse(if self.is_local {
                libc::EPERM
            } else {
                libc::ECONNREFUSED
            });
        }
        if self.is_local && !self.has_room() {
            return refuse(libc::EAGAIN);
        }
        let waiting: usize = self.waiting.iter().map(|datagram| datagram.bytes.len()).sum();
        if waiting + datagram.bytes.len() <= MOST_BYTES {
            self.waiting.push_back(datagram);
            self.arrivals += 1;
            self.activity.note();
        }
        Ok(())
    }

    /// The oldest datagram, which remains if requested. `EAGAIN` when there is none.
    pub(super) fn take(&mut self, stays: bool) -> io::Result<Datagram> {
        let first = if stays {
            self.waiting.front().cloned()
        } else {
            self.waiting.pop_front()
        };
        let Some(datagram) = first else {
            return refuse(libc::EAGAIN);
        };
        if !stays {
            self.departures += 1;
            self.activity.note();
        }
        Ok(datagram)
    }

    /// Bytes of the datagram that is received next.
    pub(super) fn available(&self) -> usize {
        self.waiting.front().map_or(0, |datagram| datagram.bytes.len())
    }

    fn has_room(&self) -> bool {
        !self.is_local || self.waiting.len() < MOST_LOCAL
    }

    /// For receivers; senders use [room](Inbox::room).
    pub(super) fn readiness(&self) -> Readiness {
        Readiness {
            events: if self.waiting.is_empty() { 0 } else { event::IN },
            arrivals: self.arrivals,
            departures: 0,
        }
    }

    /// Whether there is room for another datagram, and how often room became free.
    pub(super) fn room(&self) -> Readiness {
        Readiness {
            events: if self.has_room() { event::OUT } else { 0 },
            arrivals: 0,
            departures: self.departures,
        }
    }
}
