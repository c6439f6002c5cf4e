//! A dispatcher of requests among replicas in several racks, without input, output or clock: its inputs are events with
//! their times, its outputs are actions.
//!
//! It is Daronpon (Wang 2025, chapter 2): each top-of-rack switch counts the requests that its replicas process,
//! informs the others when that count crosses a power of two, attaches it to the requests that it redirects, and sends
//! each request to the least loaded rack that it knows. Policies that it is compared with decide in the same place. The
//! simulated switch, the hardware and the real dispatcher share this crate and the bytes of [`wire`].

mod action;
mod configuration;
mod counters;
mod decide;
mod dispatcher;
mod held;
mod identity;
mod known;
mod load;
mod membership;
mod monitor;
mod outstanding;
mod peer;
mod policy;
mod random;
mod replica;
mod report;
mod rules;
mod service;
mod tell;
mod time;
pub mod wire;

pub use action::{Action, DropReason};
pub use configuration::{Configuration, ConfigurationError, PeerSpec, ReplicaSpec, ServiceSpec, Times};
pub use counters::{AnswerCounters, Counters, DropCounters, GossipCounters, RequestCounters};
pub use dispatcher::{Dispatcher, Request};
pub use identity::{PeerId, ReplicaId, RequestKey, ServiceId, Ticket};
pub use known::KnownReplica;
pub use load::{Load, LoadDelta};
pub use policy::Policy;
pub use report::{Entry, Report, MAX_SERVICES};
