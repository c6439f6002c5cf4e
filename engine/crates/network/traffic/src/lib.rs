//! Servers without a processor: clients and services described by distributions, for experiments at the
//! scale of a datacenter.
//!
//! A [`Host`] has one port, and may be a client, a service, or both. Its requests and responses are datagrams that
//! cross the same links and switches as all others.

mod arrivals;
mod client;
mod distribution;
mod host;
mod latencies;
mod parameters;
mod pending;
mod random;
mod selector;
mod service;

pub use arrivals::{Arrivals, Schedule};
pub use client::{Client, ClientCounters, ClientSpan, Peer};
pub use distribution::{Distribution, Sampler};
pub use host::{Host, HostCounters, Identity};
pub use latencies::Latencies;
pub use parameters::{ClientParameters, Load, ParameterError, Selection, ServiceParameters};
pub use random::Random;
pub use service::{Service, ServiceCounters};
