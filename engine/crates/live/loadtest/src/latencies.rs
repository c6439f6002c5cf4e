use crate::LatencyReport;
use hdrhistogram::Histogram;

/// Durations in nanoseconds, to three digits, and their exact mean.
pub(crate) struct Latencies {
    histogram: Histogram<u64>,
    sum: u128,
}

impl Latencies {
    pub(crate) fn new() -> Latencies {
        Latencies {
            histogram: Histogram::new(3).expect("three digits are possible"),
            sum: 0,
        }
    }

    #[inline]
    pub(crate) fn record(&mut self, ns: u64) {
        self.sum += u128::from(ns);
        // A histogram that resizes itself takes any value.
        self.histogram.record(ns).expect("every value fits");
    }

    pub(crate) fn report(&self) -> LatencyReport {
        let us = |ns: u64| ns as f64 / 1e3;
        let quantile = |quantile| us(self.histogram.value_at_quantile(quantile));
        LatencyReport {
            count: self.histogram.len(),
            mean_us: self.sum as f64 / 1e3 / self.histogram.len().max(1) as f64,
            p50_us: quantile(0.5),
            p90_us: quantile(0.9),
            p95_us: quantile(0.95),
            p99_us: quantile(0.99),
            p999_us: quantile(0.999),
            max_us: us(self.histogram.max()),
        }
    }

    /// The distribution: durations in microseconds and their counts.
    pub(crate) fn buckets(&self) -> Vec<(f64, u64)> {
        let recorded = self.histogram.iter_recorded();
        recorded
            .map(|step| (step.value_iterated_to() as f64 / 1e3, step.count_at_value()))
            .collect()
    }
}
