use crate::{ParameterError, Random};
use rackwright_time::{Clock, Cycle};
use serde::{Deserialize, Serialize};

/// When the requests of an open-loop client are due.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrivals {
    /// At random, with exponential gaps.
    Poisson {
        /// Requests per second.
        rate: f64,
    },
    /// Evenly.
    Periodic {
        /// Requests per second.
        rate: f64,
    },
    /// At given times after the start, in microseconds, in order.
    Trace {
        /// The times.
        times_us: Vec<f64>,
    },
}

/// The times at which requests are due, one after another. Gaps are added up without rounding.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    gaps: Gaps,
    /// When the next one is due, in cycles.
    next: f64,
}

#[derive(Clone, Debug)]
enum Gaps {
    Exponential(f64),
    Constant(f64),
    /// The times that remain, the next one last.
    Trace(Vec<f64>),
}

impl Schedule {
    pub(crate) fn new(
        arrivals: &Arrivals,
        start: f64,
        clock: Clock,
        random: &mut Random,
    ) -> Result<Schedule, ParameterError> {
        let gap = |rate: f64| match rate.is_finite() && rate > 0.0 {
            true => Ok(clock.hertz() as f64 / rate),
            false => Err(ParameterError::RequestRate(rate)),
        };
        let gaps = match arrivals {
            Arrivals::Poisson { rate } => Gaps::Exponential(gap(*rate)?),
            Arrivals::Periodic { rate } => Gaps::Constant(gap(*rate)?),
            Arrivals::Trace { times_us } => {
                check_order(times_us)?;
                let cycles = |us: &f64| start + us * clock.hertz() as f64 / 1e6;
                Gaps::Trace(times_us.iter().rev().map(cycles).collect())
            }
        };
        let mut schedule = Schedule { gaps, next: start };
        // Clients with even gaps begin at random within the first one, so that they are out of step.
        match &schedule.gaps {
            Gaps::Constant(gap) => schedule.next += gap * random.unit(),
            Gaps::Exponential(_) | Gaps::Trace(_) => schedule.advance(random),
        }
        Ok(schedule)
    }

    /// When the next request is due.
    #[inline]
    pub(crate) fn next(&self) -> Cycle {
        match self.next.is_finite() {
            true => Cycle((self.next + 0.5) as u64),
            false => Cycle::NEVER,
        }
    }

    #[inline]
    pub(crate) fn advance(&mut self, random: &mut Random) {
        match &mut self.gaps {
            Gaps::Exponential(mean) => self.next += *mean * random.exponential(),
            Gaps::Constant(gap) => self.next += *gap,
            Gaps::Trace(times) => self.next = times.pop().unwrap_or(f64::INFINITY),
        }
    }
}

fn check_order(times_us: &[f64]) -> Result<(), ParameterError> {
    let mut before = 0.0;
    for time in times_us {
        if !time.is_finite() || *time < before {
            return Err(ParameterError::TraceOrder(*time));
        }
        before = *time;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(arrivals: &Arrivals, count: usize) -> Vec<u64> {
        let mut random = Random::new(1, 1, "test");
        let clock = Clock::new(1_000_000_000).unwrap();
        let mut schedule = Schedule::new(arrivals, 1000.0, clock, &mut random).unwrap();
        (0..count)
            .map(|_| {
                let next = schedule.next().0;
                schedule.advance(&mut random);
                next
            })
            .collect()
    }

    #[test]
    fn a_trace_is_followed_and_ends() {
        let trace = Arrivals::Trace {
            times_us: vec![0.0, 1.5, 1.5, 20.0],
        };
        assert_eq!(times(&trace, 5), [1000, 2500, 2500, 21_000, u64::MAX]);
        let wrong = Arrivals::Trace {
            times_us: vec![2.0, 1.0],
        };
        let clock = Clock::new(1_000_000_000).unwrap();
        assert!(Schedule::new(&wrong, 0.0, clock, &mut Random::new(1, 1, "test")).is_err());
    }

    #[test]
    fn even_gaps_do_not_drift() {
        let even = times(&Arrivals::Periodic { rate: 3e6 }, 30_001);
        assert_eq!(even[30_000] - even[0], 10_000_000);
    }
}
