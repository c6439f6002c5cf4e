use serde::Serialize;

/// What became of a load.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Requests sent.
    pub sent: u64,
    /// Requests answered in time.
    pub answered: u64,
    /// Requests not answered in time, those that the kernel did not take included.
    pub lost: u64,
    /// Answers to requests that were given up or answered before.
    pub late: u64,
    /// Datagrams that are no answer at all.
    pub malformed: u64,
    /// How often a target said that nobody listens there.
    pub refused: u64,
    /// From when the first request was due to the last answer.
    pub seconds: f64,
    /// Requests that were due in a second, on the average.
    pub offered_per_second: f64,
    /// Requests answered in a second of `seconds`.
    pub answered_per_second: f64,
    /// From when a request was due to its answer.
    pub latency: LatencyReport,
    /// From when a request was really sent to its answer: what coordinated omission would show.
    pub latency_from_send: LatencyReport,
    /// How much later than due requests were sent: long when the client was the bottleneck.
    pub send_delay: LatencyReport,
    /// The distribution of `latency`: microseconds, and how often.
    pub buckets: Vec<(f64, u64)>,
}

/// Durations that were observed, in microseconds, to three digits.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct LatencyReport {
    pub count: u64,
    pub mean_us: f64,
    pub p50_us: f64,
    pub p90_us: f64,
    pub p95_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub max_us: f64,
}
