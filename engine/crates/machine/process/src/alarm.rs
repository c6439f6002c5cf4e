//! Expiration, once or periodically: the common part of all timers. Times are nanoseconds from the start of the run.

use rackwright_state::state;

/// A time of expiration, and an optional period.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Alarm {
    next: Option<u64>,
    interval: u64,
}

state!(Alarm { next, interval });

impl Alarm {
    /// At `next`, and each `interval` after; an interval of zero is none.
    pub(crate) fn at(next: u64, interval: u64) -> Alarm {
        Alarm {
            next: Some(next),
            interval,
        }
    }

    /// When it expires next.
    pub(crate) fn next(&self) -> Option<u64> {
        self.next
    }

    /// The time that is left, and the interval; zeros when it will not expire.
    pub(crate) fn left(&self, now: u64) -> (u64, u64) {
        match self.next {
            // An alarm that is about to expire has not expired yet: zero would mean that it never does.
            Some(next) => (next.saturating_sub(now).max(1), self.interval),
            None => (0, 0),
        }
    }

    /// Advances time; returns the number of expirations.
    pub(crate) fn advance(&mut self, now: u64) -> u64 {
        let Some(next) = self.next.filter(|next| *next <= now) else {
            return 0;
        };
        if self.interval == 0 {
            self.next = None;
            return 1;
        }
        let times = 1 + (now - next) / self.interval;
        self.next = Some(next.saturating_add(times.saturating_mul(self.interval)));
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_expires_once_or_again() {
        let mut once = Alarm::at(10, 0);
        assert_eq!((once.advance(9), once.advance(10), once.advance(99)), (0, 1, 0));
        let mut again = Alarm::at(10, 5);
        assert_eq!((again.advance(21), again.next()), (3, Some(25)));
        assert_eq!(again.left(24), (1, 5));
    }
}
