use crate::Protocol;
use rackwright_traffic::{Arrivals, Distribution, ParameterError};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// The longest datagram of UDP over IPv4.
const LONGEST_DATAGRAM: usize = 65_507;

/// A load and its targets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// To whom requests go; each to one of these at random.
    pub targets: Vec<SocketAddr>,
    /// How requests look.
    pub protocol: Protocol,
    /// When they are due.
    pub arrivals: Arrivals,
    /// Processing time of each request, for protocols that include it.
    pub work: Distribution,
    /// Bytes of a request, for protocols that leave it open.
    pub request_bytes: usize,
    /// Sockets for each target: as many clients, from the view of the target.
    pub connections: usize,
    /// Number of requests.
    pub requests: u64,
    /// Number of initial requests that are excluded from the latencies.
    pub warmup: u64,
    /// Time in microseconds after which a request counts as lost.
    pub timeout_us: f64,
    /// Of the random numbers: the same requests are due at the same times in every run with one seed.
    pub seed: u64,
}

impl Plan {
    /// Whether it can be done.
    ///
    /// # Errors
    /// [`LoadError`] with the invalid setting.
    pub fn check(&self) -> Result<(), LoadError> {
        if self.targets.is_empty() {
            return Err(LoadError::NoTarget);
        }
        if self.connections == 0 || self.requests == 0 {
            return Err(LoadError::Nothing);
        }
        if self.request_bytes > LONGEST_DATAGRAM {
            return Err(LoadError::RequestBytes(self.request_bytes));
        }
        if !(self.timeout_us.is_finite() && self.timeout_us > 0.0) {
            return Err(LoadError::Timeout(self.timeout_us));
        }
        Ok(())
    }
}

/// Why there is no load.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Nobody to ask.
    #[error("a load needs at least one target")]
    NoTarget,
    /// Nothing to send.
    #[error("a load needs at least one connection and one request")]
    Nothing,
    /// Not a datagram.
    #[error("a request has at most {LONGEST_DATAGRAM} bytes, not {0}")]
    RequestBytes(usize),
    /// Not a duration.
    #[error("{0} us is not a time after which a request counts as lost")]
    Timeout(f64),
    /// Arrivals or durations that cannot be.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A socket that cannot be created.
    #[error("{address}: {error}")]
    Socket {
        /// Whose.
        address: SocketAddr,
        /// The error of the kernel.
        error: std::io::Error,
    },
    /// The kernel refuses another operation.
    #[error(transparent)]
    Kernel(#[from] std::io::Error),
}
