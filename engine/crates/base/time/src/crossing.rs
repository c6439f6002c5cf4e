use crate::{Clock, Cycle, Cycles, Domain};
use num_integer::gcd;
use std::marker::PhantomData;

/// The path of a signal from the clock of domain `From` to that of `To`, whose first edges coincide.
///
/// A signal of a cycle is seen by the other clock in its first cycle that begins at the same time or later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crossing<From: Domain, To: Domain> {
    /// Cycles of the other clock in `cycles` of this one; the two have no common divisor.
    others: u64,
    cycles: u64,
    domains: PhantomData<(From, To)>,
}

impl<From: Domain, To: Domain> Crossing<From, To> {
    /// Between domains with the same clock.
    pub const NONE: Crossing<From, To> = Crossing {
        others: 1,
        cycles: 1,
        domains: PhantomData,
    };

    /// From the clock `from` to the clock `to`.
    pub fn new(from: Clock, to: Clock) -> Crossing<From, To> {
        let shared = gcd(from.hertz(), to.hertz());
        Crossing {
            others: to.hertz() / shared,
            cycles: from.hertz() / shared,
            domains: PhantomData,
        }
    }

    /// The other clock's cycle in which a signal of `cycle` is seen.
    #[inline]
    pub fn seen(self, cycle: Cycle<From>) -> Cycle<To> {
        if self == Crossing::NONE || cycle == Cycle::NEVER {
            return Cycle::new(cycle.0);
        }
        Cycle::new(match cycle.0.checked_mul(self.others) {
            Some(scaled) => scaled.div_ceil(self.cycles),
            None => self.scaled(cycle.0, u128::from(self.cycles) - 1),
        })
    }

    /// The number of whole cycles of the other clock that fit in `span`.
    #[inline]
    pub fn fitting(self, span: Cycles<From>) -> Cycles<To> {
        Cycles::new(self.scaled(span.0, 0))
    }

    /// The last cycle of the other clock that begins when `cycle` does or before.
    #[inline]
    pub fn before(self, cycle: Cycle<From>) -> Cycle<To> {
        Cycle::new(self.scaled(cycle.0, 0))
    }

    /// Number of cycles of this clock after which edges coincide again.
    pub fn period(self) -> Cycles<From> {
        Cycles::new(self.cycles)
    }

    fn scaled(self, count: u64, add: u128) -> u64 {
        let scaled = (u128::from(count) * u128::from(self.others) + add) / u128::from(self.cycles);
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hart, Network};

    #[test]
    fn a_signal_is_seen_at_the_next_edge_of_the_other_clock() {
        let [link, hart] = [3_200_000_000, 2_000_000_000].map(|hertz| Clock::new(hertz).unwrap());
        let down: Crossing<Network, Hart> = Crossing::new(link, hart);
        assert_eq!(
            [0, 1, 8, 9].map(|cycle| down.seen(Cycle::new(cycle)).0),
            [0, 1, 5, 6]
        );
        let up: Crossing<Hart, Network> = Crossing::new(hart, link);
        assert_eq!(
            [0, 1, 5, 6].map(|cycle| up.seen(Cycle::new(cycle)).0),
            [0, 2, 8, 10]
        );
        assert_eq!(up.fitting(Cycles::new(14)), Cycles::new(22));
        assert_eq!(
            [0, 1, 5, 6].map(|cycle| up.before(Cycle::new(cycle)).0),
            [0, 1, 8, 9]
        );
        assert_eq!((down.period(), up.period()), (Cycles::new(8), Cycles::new(5)));
    }

    #[test]
    fn there_and_back_never_leads_to_the_past() {
        let [one, other] = [3_200_000_000, 1_900_000_000].map(|hertz| Clock::new(hertz).unwrap());
        let there: Crossing<Network, Hart> = Crossing::new(one, other);
        let back: Crossing<Hart, Network> = Crossing::new(other, one);
        assert!((0..1000).all(|cycle| back.seen(there.seen(Cycle::new(cycle))) >= Cycle::new(cycle)));
    }

    #[test]
    fn one_clock_changes_nothing_and_never_stays_never() {
        let clock = Clock::new(5).unwrap();
        assert_eq!(Crossing::<Network, Hart>::new(clock, clock), Crossing::NONE);
        let slower: Crossing<Network, Hart> = Crossing::new(clock, Clock::new(3).unwrap());
        assert_eq!(slower.seen(Cycle::NEVER), Cycle::NEVER);
    }
}
