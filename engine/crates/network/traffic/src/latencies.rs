use hdrhistogram::Histogram;
use rackwright_stats::Digest;
use rackwright_time::network::Cycles;
use serde::{Deserialize, Serialize};

/// Three digits: percentiles are exact to 0.1 %.
const DIGITS: u8 = 3;

/// Durations that were observed: their exact mean, and their distribution to three digits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Counts", into = "Counts")]
pub struct Latencies {
    histogram: Histogram<u32>,
    sum: u128,
}

/// Latencies for transfer to another process: the count of each duration, to three digits.
#[derive(Serialize, Deserialize)]
struct Counts {
    sum: u128,
    counts: Vec<(u64, u32)>,
}

impl From<Latencies> for Counts {
    fn from(latencies: Latencies) -> Counts {
        let recorded = latencies.histogram.iter_recorded();
        Counts {
            sum: latencies.sum,
            counts: recorded
                .map(|step| (step.value_iterated_to(), step.count_at_value()))
                .collect(),
        }
    }
}

impl From<Counts> for Latencies {
    fn from(counts: Counts) -> Latencies {
        let mut latencies = Latencies {
            sum: counts.sum,
            ..Latencies::default()
        };
        for (value, count) in counts.counts {
            (latencies.histogram.record_n(value, count)).expect("every value fits");
        }
        latencies
    }
}

impl Default for Latencies {
    fn default() -> Self {
        let histogram = Histogram::new(DIGITS).expect("three digits are possible");
        Latencies { histogram, sum: 0 }
    }
}

impl Latencies {
    /// Nothing was observed.
    pub fn new() -> Latencies {
        Latencies::default()
    }

    /// Adds an observation.
    #[inline]
    pub fn record(&mut self, span: Cycles) {
        self.sum += u128::from(span.0);
        // A histogram that resizes itself takes any value.
        self.histogram.record(span.0).expect("every value fits");
    }

    /// Adds all that another has observed.
    pub fn merge(&mut self, other: &Latencies) {
        self.sum += other.sum;
        self.histogram.add(&other.histogram).expect("every value fits");
    }

    /// Number of observations.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The mean in cycles; zero without observations.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count().max(1) as f64
    }

    /// The percentile of the observations, in cycles.
    pub fn percentile(&self, percent: f64) -> u64 {
        self.histogram.value_at_quantile(percent / 100.0)
    }

    /// The longest, in cycles, to three digits.
    pub fn longest(&self) -> u64 {
        self.histogram.max()
    }

    /// The distribution: values in cycles and their counts, without zero counts.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.histogram
            .iter_recorded()
            .map(|step| (step.value_iterated_to(), step.count_at_value().into()))
    }

    /// Adds the observations to a digest.
    pub fn digest(&self, digest: &mut Digest) {
        digest.number(self.sum as u64);
        for (value, count) in self.buckets() {
            digest.number(value);
            digest.number(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_are_summed_up() {
        let mut latencies = Latencies::new();
        (1..=1000).for_each(|cycles| latencies.record(Cycles::new(cycles)));
        let mut all = latencies.clone();
        all.merge(&latencies);
        assert_eq!(all.count(), 2000);
        assert_eq!(all.mean(), 500.5);
        assert_eq!(all.percentile(50.0), 500);
        assert_eq!(all.percentile(99.0), 990);
        assert_eq!(all.longest(), 1000);
    }
}
