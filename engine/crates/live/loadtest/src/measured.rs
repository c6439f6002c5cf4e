use crate::latencies::Latencies;
use crate::pending::Asked;
use crate::Report;

/// What a load has shown so far; all times are in nanoseconds since its start.
pub(crate) struct Measured {
    pub(crate) sent: u64,
    answered: u64,
    pub(crate) lost: u64,
    /// Responses to requests that had been given up.
    pub(crate) late: u64,
    pub(crate) malformed: u64,
    pub(crate) refused: u64,
    first_due: u64,
    last_due: u64,
    last_answer: u64,
    from_due: Latencies,
    from_send: Latencies,
    send_delay: Latencies,
}

impl Measured {
    pub(crate) fn new() -> Measured {
        Measured {
            sent: 0,
            answered: 0,
            lost: 0,
            late: 0,
            malformed: 0,
            refused: 0,
            first_due: 0,
            last_due: 0,
            last_answer: 0,
            from_due: Latencies::new(),
            from_send: Latencies::new(),
            send_delay: Latencies::new(),
        }
    }

    /// A request that was due at `due` is sent; at which time, if it counts.
    pub(crate) fn send(&mut self, due: u64, now: Option<u64>) {
        if self.sent == 0 {
            self.first_due = due;
        }
        self.last_due = due;
        self.sent += 1;
        if let Some(now) = now {
            self.send_delay.record(now - due);
        }
    }

    /// A response has arrived at `now`; for which request, if it counts.
    pub(crate) fn answer(&mut self, now: u64, asked: Option<Asked>) {
        self.answered += 1;
        self.last_answer = now;
        if let Some(asked) = asked {
            self.from_due.record(now.saturating_sub(asked.due));
            self.from_send.record(now.saturating_sub(asked.sent));
        }
    }

    pub(crate) fn report(&self) -> Report {
        let per_second = |count: u64, ns: u64| count as f64 * 1e9 / ns.max(1) as f64;
        let span = self.last_answer.saturating_sub(self.first_due);
        Report {
            sent: self.sent,
            answered: self.answered,
            lost: self.lost,
            late: self.late,
            malformed: self.malformed,
            refused: self.refused,
            seconds: span as f64 / 1e9,
            offered_per_second: per_second(self.sent.saturating_sub(1), self.last_due - self.first_due),
            answered_per_second: per_second(self.answered, span),
            latency: self.from_due.report(),
            latency_from_send: self.from_send.report(),
            send_delay: self.send_delay.report(),
            buckets: self.from_due.buckets(),
        }
    }
}
