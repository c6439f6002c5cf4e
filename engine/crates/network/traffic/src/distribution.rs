use crate::{ParameterError, Random};
use rackwright_time::network::Cycles;
use rackwright_time::Clock;
use serde::{Deserialize, Serialize};

/// The distribution of a duration. All times are in microseconds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Distribution {
    /// Always the same.
    Constant {
        /// The duration.
        us: f64,
    },
    /// Exponential, on top of a minimum.
    Exponential {
        /// The mean, the minimum included.
        mean_us: f64,
        /// The minimum.
        #[serde(default)]
        minimum_us: f64,
    },
    /// One of two durations.
    Bimodal {
        /// The usual one.
        short_us: f64,
        /// The rare one.
        long_us: f64,
        /// Probability of the long one, 0 to 1.
        long_fraction: f64,
    },
    /// Log-normal: its logarithm is normal.
    LogNormal {
        /// The mean of the durations themselves.
        mean_us: f64,
        /// The standard deviation of their logarithm.
        sigma: f64,
    },
    /// One of given durations.
    Empirical {
        /// The durations.
        values_us: Vec<f64>,
        /// Relative frequencies; empty if all are equal.
        #[serde(default)]
        weights: Vec<f64>,
    },
}

impl Distribution {
    /// The mean, in microseconds.
    pub fn mean_us(&self) -> f64 {
        match self {
            Distribution::Constant { us } => *us,
            Distribution::Exponential { mean_us, .. } | Distribution::LogNormal { mean_us, .. } => *mean_us,
            Distribution::Bimodal {
                short_us,
                long_us,
                long_fraction,
            } => short_us * (1.0 - long_fraction) + long_us * long_fraction,
            Distribution::Empirical { values_us, weights } if weights.is_empty() => {
                values_us.iter().sum::<f64>() / values_us.len() as f64
            }
            Distribution::Empirical { values_us, weights } => {
                let sum: f64 = values_us
                    .iter()
                    .zip(weights)
                    .map(|(value, weight)| value * weight)
                    .sum();
                sum / weights.iter().sum::<f64>()
            }
        }
    }

    /// The mean of a valid distribution, in whole cycles of a clock.
    ///
    /// # Errors
    /// [`ParameterError`] for one that is not.
    pub fn cycles(&self, clock: Clock) -> Result<Cycles, ParameterError> {
        self.sampler(clock)?;
        Ok(Cycles::new(
            (self.mean_us() * clock.hertz() as f64 / 1e6 + 0.5) as u64,
        ))
    }

    /// Checks it and counts it in cycles of a clock.
    ///
    /// # Errors
    /// [`ParameterError`] for negative or infinite times, and probabilities that are none.
    pub fn sampler(&self, clock: Clock) -> Result<Sampler, ParameterError> {
        let cycles = |us: f64| match us.is_finite() && us >= 0.0 {
            true => Ok(us * clock.hertz() as f64 / 1e6),
            false => Err(ParameterError::Time(us)),
        };
        Ok(Sampler(match self {
            Distribution::Constant { us } => Shape::Constant(cycles(*us)?),
            Distribution::Exponential { mean_us, minimum_us } => Shape::Exponential {
                minimum: cycles(*minimum_us)?,
                above: cycles(*mean_us - *minimum_us).map_err(|_| ParameterError::Time(*mean_us))?,
            },
            Distribution::Bimodal {
                short_us,
                long_us,
                long_fraction,
            } => {
                if !(0.0..=1.0).contains(long_fraction) {
                    return Err(ParameterError::Fraction(*long_fraction));
                }
                Shape::Bimodal {
                    short: cycles(*short_us)?,
                    long: cycles(*long_us)?,
                    long_fraction: *long_fraction,
                }
            }
            Distribution::LogNormal { mean_us, sigma } => Shape::LogNormal {
                median: cycles(*mean_us)? / libm::exp(deviation(*sigma)?.powi(2) / 2.0),
                sigma: *sigma,
            },
            Distribution::Empirical { values_us, weights } => {
                let values = values_us
                    .iter()
                    .map(|us| cycles(*us))
                    .collect::<Result<Vec<f64>, _>>()?;
                Shape::Empirical {
                    limits: limits(values.len(), weights)?,
                    values,
                }
            }
        }))
    }
}

/// The standard deviation of a logarithm. Above 10, means are beyond all values that are ever drawn.
fn deviation(sigma: f64) -> Result<f64, ParameterError> {
    match (0.0..=10.0).contains(&sigma) {
        true => Ok(sigma),
        false => Err(ParameterError::Deviation(sigma)),
    }
}

/// The probability of one of the first values, for each.
fn limits(values: usize, weights: &[f64]) -> Result<Vec<f64>, ParameterError> {
    let wrong = ParameterError::Weights {
        values,
        weights: weights.len(),
    };
    let weights = match weights {
        [] => vec![1.0; values],
        weights => weights.to_vec(),
    };
    let total: f64 = weights.iter().sum();
    let right = weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0) && total > 0.0;
    if !right || weights.len() != values {
        return Err(wrong);
    }
    let mut passed = 0.0;
    Ok(weights
        .iter()
        .map(|weight| {
            passed += weight / total;
            passed
        })
        .collect())
}

/// A distribution in cycles, to draw from.
#[derive(Clone, Debug)]
pub struct Sampler(Shape);

#[derive(Clone, Debug)]
enum Shape {
    Constant(f64),
    Exponential {
        minimum: f64,
        above: f64,
    },
    Bimodal {
        short: f64,
        long: f64,
        long_fraction: f64,
    },
    LogNormal {
        median: f64,
        sigma: f64,
    },
    Empirical {
        values: Vec<f64>,
        limits: Vec<f64>,
    },
}

impl Sampler {
    /// A random duration, rounded to whole cycles.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> Cycles {
        let cycles = match &self.0 {
            Shape::Constant(cycles) => *cycles,
            Shape::Exponential { minimum, above } => minimum + above * random.exponential(),
            Shape::Bimodal {
                short,
                long,
                long_fraction,
            } => match random.unit() <= *long_fraction {
                true => *long,
                false => *short,
            },
            Shape::LogNormal { median, sigma } => median * libm::exp(sigma * random.normal()),
            Shape::Empirical { values, limits } => {
                let at = random.unit();
                values[limits.partition_point(|limit| *limit < at).min(values.len() - 1)]
            }
        };
        Cycles::new((cycles + 0.5) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(distribution: &Distribution) -> f64 {
        let sampler = distribution.sampler(Clock::new(1_000_000_000).unwrap()).unwrap();
        let mut random = Random::new(3, 0, "test");
        (0..100_000)
            .map(|_| sampler.draw(&mut random).0 as f64 / 1e3)
            .sum::<f64>()
            / 1e5
    }

    #[test]
    fn means_are_as_described() {
        let all = [
            Distribution::Constant { us: 7.0 },
            Distribution::Exponential {
                mean_us: 20.0,
                minimum_us: 5.0,
            },
            Distribution::Bimodal {
                short_us: 1.0,
                long_us: 100.0,
                long_fraction: 0.1,
            },
            Distribution::LogNormal {
                mean_us: 20.0,
                sigma: 0.8,
            },
            Distribution::Empirical {
                values_us: vec![1.0, 2.0, 9.0],
                weights: vec![],
            },
            Distribution::Empirical {
                values_us: vec![1.0, 2.0, 9.0],
                weights: vec![1.0, 0.0, 3.0],
            },
        ];
        for distribution in all {
            let (drawn, told) = (mean(&distribution), distribution.mean_us());
            assert!(
                (drawn / told - 1.0).abs() < 0.02,
                "{distribution:?}: {drawn}, not {told}"
            );
        }
    }

    #[test]
    fn impossible_distributions_are_refused() {
        let clock = Clock::new(1_000_000_000).unwrap();
        let all = [
            Distribution::Constant { us: -1.0 },
            Distribution::Constant { us: f64::NAN },
            Distribution::Exponential {
                mean_us: 1.0,
                minimum_us: 2.0,
            },
            Distribution::Bimodal {
                short_us: 1.0,
                long_us: 2.0,
                long_fraction: 1.5,
            },
            Distribution::LogNormal {
                mean_us: 1.0,
                sigma: -1.0,
            },
            Distribution::Empirical {
                values_us: vec![],
                weights: vec![],
            },
            Distribution::Empirical {
                values_us: vec![1.0],
                weights: vec![1.0, 2.0],
            },
            Distribution::Empirical {
                values_us: vec![1.0],
                weights: vec![0.0],
            },
        ];
        for distribution in all {
            assert!(distribution.sampler(clock).is_err(), "{distribution:?}");
        }
    }
}
