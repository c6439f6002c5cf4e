use crate::{Cluster, ClusterError, LatencyReport};
use rackwright_traffic::Host;
use serde::Serialize;

/// The results of a client. Times are in cycles.
#[derive(Clone, Debug, Serialize)]
pub struct ClientReport {
    /// Requests sent.
    pub sent: u64,
    /// Requests answered in time.
    pub answered: u64,
    /// Requests given up.
    pub lost: u64,
    /// Responses to requests that had been abandoned or answered before.
    pub late: u64,
    /// When the first request was sent.
    pub first_sent: u64,
    /// When the latest request was sent.
    pub last_sent: u64,
    /// Time of the latest response in time.
    pub last_answer: u64,
    /// Times from request to answer.
    pub latency: LatencyReport,
    /// Their distribution, to three digits: times and counts.
    pub buckets: Vec<(u64, u64)>,
}

impl Cluster {
    /// The results of a client so far.
    ///
    /// # Errors
    /// [`ClusterError::NoClient`] if no client has this name.
    pub fn client(&self, name: &str) -> Result<ClientReport, ClusterError> {
        let host = self.node(name).and_then(|node| self.host(node));
        let client = host.and_then(Host::client);
        let client = client.ok_or_else(|| ClusterError::NoClient(name.to_string()))?;
        let (counters, span) = (client.counters(), client.span());
        Ok(ClientReport {
            sent: counters.requests,
            answered: counters.answered,
            lost: counters.lost,
            late: counters.late,
            first_sent: span.first_sent.0,
            last_sent: span.last_sent.0,
            last_answer: span.last_answer.0,
            latency: LatencyReport::new(client.latencies()),
            buckets: client.latencies().buckets().collect(),
        })
    }
}
