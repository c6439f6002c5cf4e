use serde::Serialize;

/// The results of a load.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Requests sent.
    pub sent: u64,
    /// Requests answered in time.
    pub answered: u64,
    /// Requests without a response in time, including those that the kernel did not accept.
    pub lost: u64,
    /// Responses to requests that were abandoned or answered before.
    pub late: u64,
    /// Datagrams that are no answer at all.
    pub malformed: u64,
    /// Number of refusals by targets, where no program listens.
    pub refused: u64,
    /// From when the first request was due to the last answer.
    pub seconds: f64,
    /// Requests that were due in a second, on the average.
    pub offered_per_second: f64,
    /// Requests answered in a second of `seconds`.
    pub answered_per_second: f64,
    /// From when a request was due to its answer.
    pub latency: LatencyReport,
    /// From the actual time of sending to the response: the latency with coordinated omission.
    pub latency_from_send: LatencyReport,
    /// Delay of sending: long if the client was the bottleneck.
    pub send_delay: LatencyReport,
    /// The distribution of `latency`: microseconds and counts.
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
