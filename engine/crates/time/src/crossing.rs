use crate::{Clock, Cycle, Cycles};
use num_integer::gcd;

/// The way of a signal from one clock to another whose first edges coincide.
///
/// A signal of a cycle is seen by the other clock in its first cycle that begins at the same time or later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// Cycles of the other clock in `cycles` of this one; the two have no common divisor.
    others: u64,
    cycles: u64,
}

impl Crossing {
    /// Between parts on one clock.
    pub const NONE: Crossing = Crossing { others: 1, cycles: 1 };

    /// From the clock `from` to the clock `to`.
    pub fn new(from: Clock, to: Clock) -> Crossing {
        let shared = gcd(from.hertz(), to.hertz());
        Crossing {
            others: to.hertz() / shared,
            cycles: from.hertz() / shared,
        }
    }

    /// The other clock's cycle in which a signal of `cycle` is seen.
    #[inline]
    pub fn seen(self, cycle: Cycle) -> Cycle {
        if self == Crossing::NONE || cycle == Cycle::NEVER {
            return cycle;
        }
        match cycle.0.checked_mul(self.others) {
            Some(scaled) => Cycle(scaled.div_ceil(self.cycles)),
            None => Cycle(self.scaled(cycle.0, u128::from(self.cycles) - 1)),
        }
    }

    /// As many whole cycles of the other clock as fit in `span`.
    #[inline]
    pub fn fitting(self, span: Cycles) -> Cycles {
        Cycles(self.scaled(span.0, 0))
    }

    /// After how many cycles of this clock edges coincide again.
    pub fn period(self) -> Cycles {
        Cycles(self.cycles)
    }

    fn scaled(self, count: u64, add: u128) -> u64 {
        let scaled = (u128::from(count) * u128::from(self.others) + add) / u128::from(self.cycles);
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_seen_at_the_next_edge_of_the_other_clock() {
        let [link, hart] = [3_200_000_000, 2_000_000_000].map(|hertz| Clock::new(hertz).unwrap());
        let down = Crossing::new(link, hart);
        assert_eq!([0, 1, 8, 9].map(|cycle| down.seen(Cycle(cycle)).0), [0, 1, 5, 6]);
        let up = Crossing::new(hart, link);
        assert_eq!([0, 1, 5, 6].map(|cycle| up.seen(Cycle(cycle)).0), [0, 2, 8, 10]);
        assert_eq!(up.fitting(Cycles(14)), Cycles(22));
        assert_eq!([down.period(), up.period()], [Cycles(8), Cycles(5)]);
    }

    #[test]
    fn there_and_back_never_leads_to_the_past() {
        let [one, other] = [3_200_000_000, 1_900_000_000].map(|hertz| Clock::new(hertz).unwrap());
        let (there, back) = (Crossing::new(one, other), Crossing::new(other, one));
        assert!((0..1000).all(|cycle| back.seen(there.seen(Cycle(cycle))) >= Cycle(cycle)));
    }

    #[test]
    fn one_clock_changes_nothing_and_never_stays_never() {
        let clock = Clock::new(5).unwrap();
        assert_eq!(Crossing::new(clock, clock), Crossing::NONE);
        let slower = Crossing::new(clock, Clock::new(3).unwrap());
        assert_eq!(slower.seen(Cycle::NEVER), Cycle::NEVER);
    }
}
