use crate::{ParameterError, Random};
use rackwright_time::network::Cycle;
use rackwright_time::Clock;
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
    /// At random at one of two rates, each for exponentially distributed times: a Markov-modulated
    /// Poisson process of two states. It begins in the quiet one.
    Bursty {
        /// Requests per second while it is quiet.
        quiet_rate: f64,
        /// Requests per second in a burst.
        burst_rate: f64,
        /// Average duration of quiet periods, in microseconds.
        quiet_us: f64,
        /// Average duration of bursts, in microseconds.
        burst_us: f64,
    },
    /// At given times after the start, in microseconds, in order.
    Trace {
        /// The times.
        times_us: Vec<f64>,
    },
}

/// The times at which requests are due, one after another. Gaps are added up without rounding.
#[derive(Clone, Debug)]
pub struct Schedule {
    gaps: Gaps,
    /// When the next one is due, in cycles.
    next: f64,
}

#[derive(Clone, Debug)]
enum Gaps {
    Exponential(f64),
    Constant(f64),
    Modulated(Modulated),
    /// The times that remain, the next one last.
    Trace(Vec<f64>),
}

/// Two states, the present one first, and when it ends.
#[derive(Clone, Debug)]
struct Modulated {
    states: [State; 2],
    end: f64,
}

/// In cycles.
#[derive(Clone, Copy, Debug)]
struct State {
    mean_gap: f64,
    mean_length: f64,
}

impl Modulated {
    /// The next arrival after one at `now`. The process forgets: a gap that the end of a state cuts off is
    /// drawn again from there.
    fn after(&mut self, mut now: f64, random: &mut Random) -> f64 {
        loop {
            let next = now + self.states[0].mean_gap * random.exponential();
            if next <= self.end {
                return next;
            }
            now = self.end;
            self.states.swap(0, 1);
            self.end += self.states[0].mean_length * random.exponential();
        }
    }
}

impl Schedule {
    /// The times of arrivals from `start`, a cycle of the clock.
    ///
    /// # Errors
    /// [`ParameterError`] for rates and times that cannot be.
    pub fn new(
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
            Arrivals::Bursty {
                quiet_rate,
                burst_rate,
                quiet_us,
                burst_us,
            } => {
                let state = |rate: f64, us: f64| {
                    Ok(State {
                        // There may be no requests at all in quiet periods.
                        mean_gap: if rate == 0.0 { f64::INFINITY } else { gap(rate)? },
                        mean_length: length(us, clock)?,
                    })
                };
                gap(*burst_rate)?;
                let states = [state(*quiet_rate, *quiet_us)?, state(*burst_rate, *burst_us)?];
                let end = start + states[0].mean_length * random.exponential();
                Gaps::Modulated(Modulated { states, end })
            }
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
            Gaps::Exponential(_) | Gaps::Modulated(_) | Gaps::Trace(_) => schedule.advance(random),
        }
        Ok(schedule)
    }

    /// When the next request is due.
    #[inline]
    pub fn next(&self) -> Cycle {
        match self.next.is_finite() {
            true => Cycle::new((self.next + 0.5) as u64),
            false => Cycle::NEVER,
        }
    }

    /// Advances to the request after it.
    #[inline]
    pub fn advance(&mut self, random: &mut Random) {
        match &mut self.gaps {
            Gaps::Exponential(mean) => self.next += *mean * random.exponential(),
            Gaps::Constant(gap) => self.next += *gap,
            Gaps::Modulated(modulated) => self.next = modulated.after(self.next, random),
            Gaps::Trace(times) => self.next = times.pop().unwrap_or(f64::INFINITY),
        }
    }
}

/// A positive duration, in cycles.
fn length(us: f64, clock: Clock) -> Result<f64, ParameterError> {
    match us.is_finite() && us > 0.0 {
        true => Ok(us * clock.hertz() as f64 / 1e6),
        false => Err(ParameterError::Time(us)),
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

    #[test]
    fn bursts_have_the_mean_rate_of_their_states_and_vary_more_than_poisson() {
        let bursty = Arrivals::Bursty {
            quiet_rate: 0.0,
            burst_rate: 4e6,
            quiet_us: 30.0,
            burst_us: 10.0,
        };
        let times = times(&bursty, 200_000);
        let seconds = (times[199_999] - times[0]) as f64 / 1e9;
        assert!((200_000.0 / seconds / 1e6 - 1.0).abs() < 0.03, "{seconds}");
        // The variance of counts over their mean, 1 for Poisson, in windows of 100 us.
        let mut counts = vec![0.0; (seconds * 1e4) as usize];
        for time in &times {
            let window = (time - times[0]) as usize / 100_000;
            if let Some(count) = counts.get_mut(window) {
                *count += 1.0;
            }
        }
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / counts.len() as f64;
        assert!(variance / mean > 10.0, "{variance} over {mean}");
    }

    #[test]
    fn impossible_bursts_are_refused() {
        let clock = Clock::new(1_000_000_000).unwrap();
        for (burst_rate, quiet_us) in [(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0)] {
            let bursty = Arrivals::Bursty {
                quiet_rate: 1.0,
                burst_rate,
                quiet_us,
                burst_us: 1.0,
            };
            assert!(Schedule::new(&bursty, 0.0, clock, &mut Random::new(1, 1, "test")).is_err());
        }
    }
}
