//! An open-loop client of services on UDP, and a service that takes the requested time.
//!
//! Requests are due according to the schedule, independent of earlier ones, and their latencies count from then: delays
//! of the client are included (no coordinated omission). Arrivals and durations are those of the simulated clients,
//! `rackwright_traffic`.

#![expect(clippy::disallowed_methods, reason = "it measures services in real time")]

mod client;
mod latencies;
mod measured;
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
