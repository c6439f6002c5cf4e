use crate::{Cycle, Cycles, Domain};
use std::fmt;

/// An instant in picoseconds, the unit in which different clocks are compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Picosecond(pub u64);

/// A clock with a fixed frequency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    hertz: u64,
}

/// A frequency that no clock can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockError {
    hertz: u64,
}

const PICOSECONDS_PER_SECOND: u128 = 1_000_000_000_000;

impl Clock {
    /// A clock of `hertz` cycles per second, from 1 Hz to 1 THz.
    ///
    /// # Errors
    /// [`ClockError`] outside that range.
    pub fn new(hertz: u64) -> Result<Clock, ClockError> {
        if hertz == 0 || u128::from(hertz) > PICOSECONDS_PER_SECOND {
            return Err(ClockError { hertz });
        }
        Ok(Clock { hertz })
    }

    /// Cycles per second.
    pub fn hertz(self) -> u64 {
        self.hertz
    }

    /// When the edge that begins `cycle` happens, rounded down.
    pub fn instant<C: Domain>(self, cycle: Cycle<C>) -> Picosecond {
        let scaled = u128::from(cycle.0) * PICOSECONDS_PER_SECOND / u128::from(self.hertz);
        Picosecond(u64::try_from(scaled).unwrap_or(u64::MAX))
    }

    /// The first cycle that begins at `instant` or later.
    pub fn cycle_at<C: Domain>(self, instant: Picosecond) -> Cycle<C> {
        let scaled = u128::from(instant.0) * u128::from(self.hertz);
        Cycle::new(u64::try_from(scaled.div_ceil(PICOSECONDS_PER_SECOND)).unwrap_or(u64::MAX))
    }

    /// The smallest number of cycles that last at least `span`.
    pub fn cycles_of<C: Domain>(self, span: Picosecond) -> Cycles<C> {
        Cycles::new(self.cycle_at::<C>(span).0)
    }

    /// The same for nanoseconds.
    pub fn cycles_of_nanoseconds<C: Domain>(self, nanoseconds: u64) -> Cycles<C> {
        self.cycles_of(Picosecond(nanoseconds.saturating_mul(1000)))
    }

    /// The duration of `span`, in seconds.
    pub fn seconds<C: Domain>(self, span: Cycles<C>) -> f64 {
        span.0 as f64 / self.hertz as f64
    }
}

impl fmt::Display for ClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a clock runs at 1 Hz to 1 THz, not at {} Hz", self.hertz)
    }
}

impl std::error::Error for ClockError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Cycle, Cycles};

    #[test]
    fn two_gigahertz_is_five_hundred_picoseconds() {
        let clock = Clock::new(2_000_000_000).unwrap();
        assert_eq!(clock.instant(Cycle::new(3)), Picosecond(1500));
        assert_eq!(clock.cycle_at(Picosecond(1500)), Cycle::new(3));
        assert_eq!(clock.cycle_at(Picosecond(1501)), Cycle::new(4));
        assert_eq!(clock.cycles_of_nanoseconds(25), Cycles::new(50));
    }

    #[test]
    fn impossible_frequencies_are_refused() {
        assert!(Clock::new(0).is_err());
        assert!(Clock::new(2_000_000_000_000).is_err());
    }
}
