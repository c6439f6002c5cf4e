//! `timerfd`: a timer that can be read and waited for.

use crate::activity::{event, Readiness};
use crate::alarm::Alarm;
use crate::calls::refuse;
use rackwright_state::state;
use std::io;

/// Bytes of a count.
const BYTES: usize = 8;

#[derive(Debug)]
pub(crate) struct Timer {
    /// Whether its points in time are those of the wall clock.
    pub(crate) is_wall: bool,
    alarm: Alarm,
    expired: u64,
    arrivals: u64,
}

state!(Timer {
    is_wall,
    alarm,
    expired,
    arrivals
});

impl Timer {
    pub(crate) fn new(is_wall: bool) -> Timer {
        Timer {
            is_wall,
            alarm: Alarm::default(),
            expired: 0,
            arrivals: 0,
        }
    }

    pub(crate) fn set(&mut self, alarm: Alarm) {
        self.alarm = alarm;
        self.expired = 0;
    }

    pub(crate) fn alarm(&mut self, now: u64) -> Alarm {
        self.advance(now);
        self.alarm
    }

    fn advance(&mut self, now: u64) {
        let times = self.alarm.advance(now);
        if times > 0 {
            self.expired += times;
            self.arrivals += 1;
        }
    }

    pub(crate) fn read(&mut self, into: &mut [u8], now: u64) -> io::Result<usize> {
        let Some(into) = into.first_chunk_mut::<BYTES>() else {
            return refuse(libc::EINVAL);
        };
        self.advance(now);
        if self.expired == 0 {
            return refuse(libc::EAGAIN);
        }
        *into = std::mem::take(&mut self.expired).to_le_bytes();
        Ok(BYTES)
    }

    pub(crate) fn readiness(&mut self, now: u64) -> Readiness {
        self.advance(now);
        Readiness {
            events: if self.expired > 0 { event::IN } else { 0 },
            arrivals: self.arrivals,
            departures: 0,
        }
    }
}
