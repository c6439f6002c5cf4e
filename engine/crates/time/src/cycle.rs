use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// An instant: the number of cycles of one clock since the start of the run.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Cycle(pub u64);

/// A span of cycles of one clock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Cycles(pub u64);

impl Cycle {
    /// The start of every run.
    pub const ZERO: Cycle = Cycle(0);
    /// Later than anything that happens.
    pub const NEVER: Cycle = Cycle(u64::MAX);

    /// The span from `earlier` to `self`; zero when `earlier` is in fact later.
    #[inline]
    pub fn since(self, earlier: Cycle) -> Cycles {
        Cycles(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Cycles> for Cycle {
    type Output = Cycle;
    #[inline]
    fn add(self, span: Cycles) -> Cycle {
        Cycle(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Cycles> for Cycle {
    #[inline]
    fn add_assign(&mut self, span: Cycles) {
        *self = *self + span;
    }
}

impl Sub<Cycle> for Cycle {
    type Output = Cycles;
    /// The span between two instants.
    ///
    /// # Panics
    /// When `earlier` is later than `self`: time never moves back.
    #[inline]
    fn sub(self, earlier: Cycle) -> Cycles {
        assert!(earlier <= self, "time moved back from {earlier} to {self}");
        Cycles(self.0 - earlier.0)
    }
}

impl Add for Cycles {
    type Output = Cycles;
    #[inline]
    fn add(self, other: Cycles) -> Cycles {
        Cycles(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cycle {}", self.0)
    }
}

impl fmt::Display for Cycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cycles", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_leads_from_one_instant_to_the_other() {
        assert_eq!(Cycle(7) - Cycle(3), Cycles(4));
        assert_eq!(Cycle(3) + Cycles(4), Cycle(7));
        assert_eq!(Cycle(3).since(Cycle(7)), Cycles(0));
    }

    #[test]
    #[should_panic(expected = "time moved back")]
    fn time_never_moves_back() {
        let _ = Cycle(1) - Cycle(2);
    }

    #[test]
    fn never_stays_never() {
        assert_eq!(Cycle::NEVER + Cycles(1), Cycle::NEVER);
    }
}
