use rackwright_time::Cycle;

/// Cycles that a [`Calendar`] remembers; a power of two.
const HORIZON: u64 = 8192;
const WORDS: usize = (HORIZON / 64) as usize;

/// A resource that serves one request per cycle, booked ahead.
///
/// Requests need not arrive in time order: a later request may still take an earlier free cycle, because a request that
/// misses must not block requests behind it that hit. Bookings older than the horizon (8,192 cycles before the latest
/// one) are forgotten, and a request from before it is served at its start.
#[derive(Clone)]
pub struct Calendar {
    booked: Box<[u64; WORDS]>,
    first: u64,
}

impl Calendar {
    /// A resource without bookings.
    pub fn new() -> Calendar {
        Calendar {
            booked: Box::new([0; WORDS]),
            first: 0,
        }
    }

    /// Books the first free cycle at or after `at`.
    #[inline]
    pub fn reserve(&mut self, at: Cycle) -> Cycle {
        let start = at.0.max(self.first);
        let word = &mut self.booked[Self::word(start)];
        let booked = u64::from((*word >> (start % 64)).trailing_ones());
        // Mostly, it is in the word of the first one.
        if start < self.first + HORIZON && start % 64 + booked < 64 {
            *word |= 1 << ((start + booked) % 64);
            return Cycle::new(start + booked);
        }
        self.search(at, 1)
    }

    /// Books `span` (1 to 64) consecutive cycles, the first of them at or after `at`, and returns it.
    #[inline]
    pub fn reserve_span(&mut self, at: Cycle, span: u64) -> Cycle {
        debug_assert!((1..=64).contains(&span));
        if span == 1 {
            self.reserve(at)
        } else {
            self.search(at, span)
        }
    }

    fn search(&mut self, at: Cycle, span: u64) -> Cycle {
        let mut start = at.0.max(self.first);
        let mut free = 0;
        let mut cycle = start;
        while free < span {
            self.advance_to(cycle);
            if self.is_booked(cycle) {
                cycle += 1 + self.booked_after(cycle);
                start = cycle;
                free = 0;
            } else {
                cycle += 1;
                free += 1;
            }
        }
        for booked in start..start + span {
            self.booked[Self::word(booked)] |= 1 << (booked % 64);
        }
        Cycle::new(start)
    }

    /// Number of booked cycles directly after `cycle`, within its word.
    #[inline]
    fn booked_after(&self, cycle: u64) -> u64 {
        let rest = self.booked[Self::word(cycle)] >> (cycle % 64) >> 1;
        u64::from(rest.trailing_ones())
    }

    #[inline]
    fn is_booked(&self, cycle: u64) -> bool {
        self.booked[Self::word(cycle)] >> (cycle % 64) & 1 != 0
    }

    #[inline]
    fn word(cycle: u64) -> usize {
        (cycle / 64 % WORDS as u64) as usize
    }

    /// Makes `cycle` part of the remembered span, which is aligned to words.
    #[inline]
    fn advance_to(&mut self, cycle: u64) {
        let end = self.first + HORIZON;
        if cycle < end {
            return;
        }
        let new_first = (cycle / 64 + 1) * 64 - HORIZON;
        if new_first - self.first >= HORIZON {
            self.booked.fill(0);
        } else {
            for word in (self.first / 64)..(new_first / 64) {
                self.booked[(word % WORDS as u64) as usize] = 0;
            }
        }
        self.first = new_first;
    }
}

impl Default for Calendar {
    fn default() -> Self {
        Self::new()
    }
}

rackwright_state::state!(Calendar { booked, first });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_request_per_cycle() {
        let mut calendar = Calendar::new();
        assert_eq!(calendar.reserve(Cycle::new(5)), Cycle::new(5));
        assert_eq!(calendar.reserve(Cycle::new(5)), Cycle::new(6));
        assert_eq!(calendar.reserve(Cycle::new(5)), Cycle::new(7));
        assert_eq!(calendar.reserve(Cycle::new(2)), Cycle::new(2));
    }

    #[test]
    fn a_span_needs_a_gap_long_enough() {
        let mut calendar = Calendar::new();
        calendar.reserve(Cycle::new(2));
        assert_eq!(calendar.reserve_span(Cycle::new(0), 3), Cycle::new(3));
        assert_eq!(calendar.reserve_span(Cycle::new(0), 2), Cycle::new(0));
    }

    #[test]
    fn a_late_booking_does_not_block_an_early_one() {
        let mut calendar = Calendar::new();
        assert_eq!(calendar.reserve(Cycle::new(400)), Cycle::new(400));
        assert_eq!(calendar.reserve(Cycle::new(10)), Cycle::new(10));
    }

    #[test]
    fn the_horizon_moves_on() {
        let mut calendar = Calendar::new();
        for round in 0..5 {
            let at = round * (HORIZON / 2 + 7);
            assert_eq!(calendar.reserve(Cycle::new(at)), Cycle::new(at));
            assert_eq!(calendar.reserve(Cycle::new(at)), Cycle::new(at + 1));
        }
        let far = Cycle::new(1 << 40);
        assert_eq!(calendar.reserve(far), far);
        assert_eq!(calendar.reserve(far), Cycle::new((1 << 40) + 1));
    }

    #[test]
    fn a_long_run_of_bookings_is_skipped() {
        let mut calendar = Calendar::new();
        for cycle in 0..200 {
            assert_eq!(calendar.reserve(Cycle::new(0)), Cycle::new(cycle));
        }
    }
}
