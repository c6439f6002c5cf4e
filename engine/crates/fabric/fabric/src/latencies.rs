/// Latencies of requests: the median, and high percentiles, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Latencies {
    /// Half take less.
    pub median: f64,
    /// Of a hundred, 95 do not take more.
    pub p95: f64,
    /// Of a hundred, 99.
    pub p99: f64,
}

impl Latencies {
    /// The distribution of these latencies, in any order.
    pub(crate) fn of(mut all: Vec<f64>) -> Latencies {
        all.sort_by(f64::total_cmp);
        let at = |percent: usize| {
            let rank = (all.len() * percent).div_ceil(100).max(1) - 1;
            all.get(rank).copied().unwrap_or(0.0)
        };
        Latencies {
            median: at(50),
            p95: at(95),
            p99: at(99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_exceed_the_high_ones() {
        let latencies = Latencies::of((1..=100).rev().map(f64::from).collect());
        assert_eq!(
            (latencies.median, latencies.p95, latencies.p99),
            (50.0, 95.0, 99.0)
        );
        assert_eq!(Latencies::of(Vec::new()), Latencies::default());
    }
}
