use crate::domain::{Domain, Hart};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Sub};

/// An instant: the number of cycles of a clock, that of the domain `C`, since the start of the run.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cycle<C: Domain = Hart>(pub u64, PhantomData<C>);

/// A span of cycles of such a clock.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cycles<C: Domain = Hart>(pub u64, PhantomData<C>);

impl<C: Domain> Cycle<C> {
    /// The start of every run.
    pub const ZERO: Cycle<C> = Cycle::new(0);
    /// Later than any event.
    pub const NEVER: Cycle<C> = Cycle::new(u64::MAX);

    /// The cycle with this number.
    #[inline]
    pub const fn new(number: u64) -> Cycle<C> {
        Cycle(number, PhantomData)
    }

    /// The span from `earlier` to `self`; zero when `earlier` is in fact later.
    #[inline]
    pub fn since(self, earlier: Cycle<C>) -> Cycles<C> {
        Cycles::new(self.0.saturating_sub(earlier.0))
    }
}

impl<C: Domain> Cycles<C> {
    /// So many cycles.
    #[inline]
    pub const fn new(count: u64) -> Cycles<C> {
        Cycles(count, PhantomData)
    }
}

impl<C: Domain> Add<Cycles<C>> for Cycle<C> {
    type Output = Cycle<C>;
    #[inline]
    fn add(self, span: Cycles<C>) -> Cycle<C> {
        Cycle::new(self.0.saturating_add(span.0))
    }
}

impl<C: Domain> AddAssign<Cycles<C>> for Cycle<C> {
    #[inline]
    fn add_assign(&mut self, span: Cycles<C>) {
        *self = *self + span;
    }
}

impl<C: Domain> Sub for Cycle<C> {
    type Output = Cycles<C>;
    /// The span between two instants.
    ///
    /// # Panics
    /// When `earlier` is later than `self`: time never moves back.
    #[inline]
    fn sub(self, earlier: Cycle<C>) -> Cycles<C> {
        assert!(earlier <= self, "time moved back from {earlier} to {self}");
        Cycles::new(self.0 - earlier.0)
    }
}

impl<C: Domain> Add for Cycles<C> {
    type Output = Cycles<C>;
    #[inline]
    fn add(self, other: Cycles<C>) -> Cycles<C> {
        Cycles::new(self.0.saturating_add(other.0))
    }
}

impl<C: Domain> fmt::Debug for Cycle<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cycle").field(&self.0).finish()
    }
}

impl<C: Domain> fmt::Debug for Cycles<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cycles").field(&self.0).finish()
    }
}

impl<C: Domain> fmt::Display for Cycle<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cycle {}", self.0)
    }
}

impl<C: Domain> fmt::Display for Cycles<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cycles", self.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::network::{Cycle, Cycles};

    #[test]
    fn a_span_leads_from_one_instant_to_the_other() {
        assert_eq!(Cycle::new(7) - Cycle::new(3), Cycles::new(4));
        assert_eq!(Cycle::new(3) + Cycles::new(4), Cycle::new(7));
        assert_eq!(Cycle::new(3).since(Cycle::new(7)), Cycles::new(0));
    }

    #[test]
    #[should_panic(expected = "time moved back")]
    fn time_never_moves_back() {
        let _ = Cycle::new(1) - Cycle::new(2);
    }

    #[test]
    fn never_stays_never() {
        assert_eq!(Cycle::NEVER + Cycles::new(1), Cycle::NEVER);
    }
}
