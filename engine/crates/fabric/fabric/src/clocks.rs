use rackwright_time::fabric::{Cycle, Cycles};
use rackwright_time::{unit, Clock, Domain};

/// Cycles of the fabric in a second.
const PER_SECOND: u128 = 1_024_000_000_000_000;
const PER_NANOSECOND: f64 = 1_024_000.0;

/// A span of `span` nanoseconds.
pub(crate) fn nanoseconds(span: f64) -> Cycles {
    Cycles::new((span * PER_NANOSECOND).round() as u64)
}

/// The length of a span in nanoseconds.
pub(crate) fn in_nanoseconds(span: Cycles) -> f64 {
    span.0 as f64 / PER_NANOSECOND
}

/// Between the time of the fabric and that of a clock whose first edge is at its start.
#[derive(Clone, Copy)]
pub(crate) struct Edges {
    hertz: u128,
    /// The length of a cycle, if it is a whole number.
    period: Option<u64>,
}

impl Edges {
    pub(crate) fn of(clock: Clock) -> Edges {
        let hertz = u128::from(clock.hertz());
        let whole = PER_SECOND % hertz == 0;
        Edges {
            hertz,
            period: whole.then_some((PER_SECOND / hertz) as u64),
        }
    }

    /// When a cycle of the clock begins.
    pub(crate) fn instant<C: Domain>(self, cycle: rackwright_time::Cycle<C>) -> Cycle {
        if let Some(period) = self.period {
            return Cycle::new(cycle.0 * period);
        }
        Cycle::new((u128::from(cycle.0) * PER_SECOND / self.hertz) as u64)
    }

    /// The clock's first cycle that begins at `at` or later.
    pub(crate) fn seen<C: Domain>(self, at: Cycle) -> rackwright_time::Cycle<C> {
        if let Some(period) = self.period {
            return rackwright_time::Cycle::new(at.0.div_ceil(period));
        }
        rackwright_time::Cycle::new((u128::from(at.0) * self.hertz).div_ceil(PER_SECOND) as u64)
    }

    /// The duration of `cycles` cycles of the clock.
    pub(crate) fn span(self, cycles: u64) -> Cycles {
        self.instant(unit::Cycle::new(cycles)).since(Cycle::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_is_seen_in_its_own_cycle() {
        // The period of the second is a whole number.
        for hertz in [1_900_000_000, 2_000_000_000] {
            let edges = Edges::of(Clock::new(hertz).unwrap());
            for number in [0, 1, 2, 1_900_000_000, 7_654_321_987] {
                let cycle = unit::Cycle::new(number);
                let seen: unit::Cycle = edges.seen(edges.instant(cycle));
                assert_eq!(seen, cycle);
                let later: unit::Cycle = edges.seen(edges.instant(cycle) + Cycles::new(2));
                assert_eq!(later, unit::Cycle::new(number + 1));
            }
        }
    }
}
