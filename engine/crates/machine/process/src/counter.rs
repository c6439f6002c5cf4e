//! `eventfd`: a counter that can be waited for.

use crate::activity::{event, Activity, Readiness};
use crate::calls::refuse;
use rackwright_state::state;
use std::io;

/// The highest value.
const MOST: u64 = u64::MAX - 1;
/// Bytes of a value.
const BYTES: usize = 8;

#[derive(Debug)]
pub(crate) struct Counter {
    value: u64,
    /// Whether each read takes one.
    is_semaphore: bool,
    activity: Activity,
    arrivals: u64,
    departures: u64,
}

state!(Counter {
    value,
    is_semaphore,
    arrivals,
    departures
});

impl Counter {
    pub(crate) fn new(value: u32, is_semaphore: bool, activity: Activity) -> Counter {
        Counter {
            value: value.into(),
            is_semaphore,
            activity,
            arrivals: 0,
            departures: 0,
        }
    }

    pub(crate) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(into) = into.first_chunk_mut::<BYTES>() else {
            return refuse(libc::EINVAL);
        };
        if self.value == 0 {
            return refuse(libc::EAGAIN);
        }
        let taken = if self.is_semaphore { 1 } else { self.value };
        self.value -= taken;
        self.departures += 1;
        self.activity.note();
        *into = taken.to_le_bytes();
        Ok(BYTES)
    }

    pub(crate) fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let Some(from) = from.first_chunk::<BYTES>() else {
            return refuse(libc::EINVAL);
        };
        let added = u64::from_le_bytes(*from);
        if added == u64::MAX {
            return refuse(libc::EINVAL);
        }
        if added > MOST - self.value {
            return refuse(libc::EAGAIN);
        }
        self.value += added;
        self.arrivals += 1;
        self.activity.note();
        Ok(BYTES)
    }

    pub(crate) fn readiness(&self) -> Readiness {
        let mut events = 0;
        if self.value > 0 {
            events |= event::IN;
        }
        if self.value < MOST {
            events |= event::OUT;
        }
        Readiness {
            events,
            arrivals: self.arrivals,
            departures: self.departures,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_the_sum_or_ones() {
        let mut bytes = [0; 8];
        let mut sum = Counter::new(3, false, Activity::default());
        sum.write(&4_u64.to_le_bytes()).unwrap();
        sum.read(&mut bytes).unwrap();
        assert_eq!(u64::from_le_bytes(bytes), 7);
        assert_eq!(
            sum.read(&mut bytes).unwrap_err().raw_os_error(),
            Some(libc::EAGAIN)
        );
        let mut ones = Counter::new(2, true, Activity::default());
        ones.read(&mut bytes).unwrap();
        assert_eq!(u64::from_le_bytes(bytes), 1);
        assert_eq!(ones.readiness().events & event::IN, event::IN);
        assert_eq!(
            ones.write(&[0; 7]).unwrap_err().raw_os_error(),
            Some(libc::EINVAL)
        );
    }
}
