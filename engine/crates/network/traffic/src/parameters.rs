use crate::{Arrivals, Distribution};
use rackwright_ethernet::{LARGEST_PAYLOAD, MESSAGE_BYTES};
use serde::{Deserialize, Serialize};

/// When a client sends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    /// Independent of earlier requests.
    Open {
        /// When requests are due.
        arrivals: Arrivals,
    },
    /// A new request when an earlier one is answered, after a pause.
    Closed {
        /// Maximum number of outstanding requests.
        outstanding: u32,
        /// The pause.
        think: Distribution,
    },
}

/// A client's choice of servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Selection {
    /// Anybody.
    #[default]
    Random,
    /// One after another, starting with a random one.
    RoundRobin,
    /// Of two drawn at random the one whose load was lower when it last answered.
    PowerOfTwo,
}

/// A client.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientParameters {
    /// When it sends.
    pub load: Load,
    /// Bytes of payload of a request, 16 to 9558.
    pub request_bytes: u16,
    /// Bytes of payload that it requests for a response, 16 to 9558.
    pub answer_bytes: u16,
    /// When it begins, in microseconds of simulated time.
    #[serde(default)]
    pub start_us: f64,
    /// Time in microseconds after which a request counts as lost.
    pub timeout_us: f64,
    /// Number of requests after which it ends.
    #[serde(default)]
    pub requests: Option<u64>,
    /// Its choice of servers.
    #[serde(default)]
    pub selection: Selection,
}

/// A service.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceParameters {
    /// Number of requests processed concurrently.
    pub cores: u32,
    /// Processing time of a request on a core.
    pub time: Distribution,
    /// Maximum number of requests that wait for a core; further ones are dropped. No limit when absent.
    #[serde(default)]
    pub queue: Option<u32>,
}

/// An invalid parameter of a client or a service.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ParameterError {
    /// Not a duration.
    #[error("{0} is not a time in microseconds")]
    Time(f64),
    /// Not a rate.
    #[error("{0} is not a number of requests per second")]
    RequestRate(f64),
    /// Not the standard deviation of a logarithm.
    #[error("{0} is not a standard deviation of a logarithm between 0 and 10")]
    Deviation(f64),
    /// Not a probability.
    #[error("{0} is not a fraction between 0 and 1")]
    Fraction(f64),
    /// Weights that fit no values.
    #[error("{values} values with {weights} weights; one weight each, some above zero, or none at all")]
    Weights {
        /// How many values.
        values: usize,
        /// How many weights.
        weights: usize,
    },
    /// Times that go back.
    #[error("the times of a trace are in order; {0} us is not")]
    TraceOrder(f64),
    /// A payload that fits no frame.
    #[error("a payload has {MESSAGE_BYTES} to {LARGEST_PAYLOAD} bytes, not {0}")]
    Payload(u16),
    /// Nobody works.
    #[error("a service has at least one core")]
    NoCores,
    /// No request is ever sent.
    #[error("a closed-loop client has at least one request outstanding")]
    NothingOutstanding,
    /// Nobody to ask.
    #[error("a client sends to at least one service")]
    NoTarget,
}

pub(crate) fn check_payload(bytes: u16) -> Result<u16, ParameterError> {
    match (MESSAGE_BYTES..=LARGEST_PAYLOAD).contains(&usize::from(bytes)) {
        true => Ok(bytes),
        false => Err(ParameterError::Payload(bytes)),
    }
}
