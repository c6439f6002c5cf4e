//! The dispatcher of `rackwright_dispatch` on real sockets: it is in front of services on UDP, sends each request to a
//! replica of its own rack or to the dispatcher of another one, and returns the response.
//!
//! Threads share the addresses of services; the kernel spreads clients over them. They also share one dispatcher,
//! behind a lock that is taken once for all datagrams that a socket has received. Each thread has its own sockets to
//! every replica and to other dispatchers, so that responses return to the thread that sent the request.
//!
//! If AF_XDP is requested and allowed, a thread also has the frames of a queue of an interface: it receives and sends
//! datagrams there instead of through its sockets, which remain for all others.

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
    BalancerError, LaneSettings, Limits, PeerSettings, ReplicaSettings, ServiceSettings, Settings, StickyBy,
    TimeSettings, XdpSettings,
};
pub use status::{Status, XdpStatus};
pub use trace::{replay, Event, ReplayError};
