//! The dispatcher of `rackwright_dispatch` on real sockets: it stands in front of services on UDP, gives each
//! request to a replica of its own rack or to the dispatcher of another one, and brings the answer back.
//!
//! Threads share the addresses of services; the kernel spreads clients over them. They share one dispatcher
//! too, behind a lock that is taken once for all that a socket has received. Each thread has sockets of its
//! own to every replica and to other dispatchers, so that answers come back to the thread that asked.

mod balancer;
mod core;
mod counters;
mod flights;
mod framing;
mod hand;
mod lanes;
mod ledger;
mod settings;
mod shared;
mod status;
mod trace;
mod worker;

pub use balancer::Balancer;
pub use counters::DatagramCounts;
pub use framing::Framing;
pub use ledger::Replayed;
pub use settings::{BalancerError, PeerSettings, ReplicaSettings, ServiceSettings, Settings, StickyBy};
pub use status::Status;
pub use trace::{replay, Event, ReplayError};
