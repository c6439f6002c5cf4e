//! The dispatcher of `rackwright_dispatch` on real sockets: it stands in front of services on UDP, gives each
//! request to a replica of its own rack or to the dispatcher of another one, and brings the answer back.
//!
//! Threads share the addresses of services; the kernel spreads clients over them. They share one dispatcher
//! too, behind a lock that is taken once for all that a socket has received. Each thread has sockets of its
//! own to every replica and to other dispatchers, so that answers come back to the thread that asked.
//!
//! Where AF_XDP is asked for and allowed, a thread has the frames of a queue of an interface too: it takes and
//! sends datagrams there that would else go through its sockets, which stay for all others.

#![expect(
    clippy::disallowed_methods,
    reason = "it serves in real time, and its clients must not guess what it hashes with"
)]

mod balancer;
mod core;
mod counters;
mod flights;
mod frames;
mod framing;
mod hand;
mod lanes;
mod ledger;
mod settings;
mod shared;
mod status;
mod trace;
mod trials;
mod worker;

pub use balancer::Balancer;
pub use counters::DatagramCounts;
pub use framing::Framing;
pub use ledger::Replayed;
pub use settings::{
    BalancerError, PeerSettings, ReplicaSettings, ServiceSettings, Settings, StickyBy, XdpSettings,
};
pub use status::{Status, XdpStatus};
pub use trace::{replay, Event, ReplayError};
