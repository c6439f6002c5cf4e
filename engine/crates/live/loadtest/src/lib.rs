//! An open-loop client of services on UDP, and a service that takes as long as it is asked to.
//!
//! Requests are due when the schedule says so, whatever happens to earlier ones, and their latencies count
//! from then: a client that was late does not hide it (coordinated omission). Arrivals and durations are
//! those of the simulated clients, `rackwright_traffic`.

#![expect(clippy::disallowed_methods, reason = "it measures services in real time")]

mod client;
mod latencies;
mod pending;
mod plan;
mod protocol;
mod report;
mod service;

pub use client::{run, Progress};
pub use plan::{LoadError, Plan};
pub use protocol::Protocol;
pub use report::{LatencyReport, Report};
pub use service::{Service, ServicePlan};
