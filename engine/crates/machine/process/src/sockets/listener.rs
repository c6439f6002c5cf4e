//! Connections that wait to be accepted.

use super::stream::Stream;
use crate::activity::{event, Activity, Readiness};
use crate::calls::refuse;
use std::collections::VecDeque;
use std::io;

#[derive(Debug)]
pub(crate) struct Backlog {
    waiting: VecDeque<Stream>,
    most: usize,
    arrivals: u64,
    activity: Activity,
}

impl Backlog {
    pub(super) fn new(most: usize, activity: Activity) -> Backlog {
        Backlog {
            waiting: VecDeque::new(),
            most,
            arrivals: 0,
            activity,
        }
    }

    pub(super) fn set_most(&mut self, most: usize) {
        self.most = most;
    }

    /// Whether it is full: as in Linux, its capacity is one more than requested.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() > self.most
    }

    pub(super) fn add(&mut self, stream: Stream) {
        self.waiting.push_back(stream);
        self.arrivals += 1;
        self.activity.note();
    }

    /// The connection that waits longest. `EAGAIN` when there is none.
    pub(super) fn accept(&mut self) -> io::Result<Stream> {
        let Some(stream) = self.waiting.pop_front() else {
            return refuse(libc::EAGAIN);
        };
        self.activity.note();
        Ok(stream)
    }

    pub(super) fn readiness(&self) -> Readiness {
        Readiness {
            events: if self.waiting.is_empty() { 0 } else { event::IN },
            arrivals: self.arrivals,
            departures: 0,
        }
    }
}

impl Drop for Backlog {
    fn drop(&mut self) {
        self.waiting.iter_mut().for_each(Stream::reset);
    }
}
