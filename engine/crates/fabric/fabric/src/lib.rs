//! PCI Express inside a server: packets to the byte, links with their credits and acknowledgements, switches, the root
//! complex in front of the host's memory, and cards whose functions are RTL.
//!
//! One model holds a server's fabric, with one queue of events: hops last 10 to 100 ns, too short for windows of their own.
//! References to the specification are to PCI Express Base 5.0.

mod access_control;
mod aer;
mod attached;
mod bench;
mod beside;
mod bridge;
mod call;
mod capture;
mod card;
mod checkpoint;
mod class;
mod clocks;
mod codec;
mod counters;
mod crc;
mod credits;
mod driver;
mod enumeration;
mod error;
mod events;
mod fabric;
mod function;
mod host;
mod interrupts;
mod latencies;
mod links;
mod msi;
mod multicast;
mod packet;
mod parts;
mod pool;
mod port;
#[cfg(test)]
mod properties;
mod rate;
mod receiver;
#[cfg(test)]
mod reference;
mod rejected;
mod reports;
mod routes;
mod saved;
#[cfg(test)]
mod services;
mod stamps;
mod system;
mod transmitter;
mod written;

pub use attached::Attached;
pub use bench::{Bench, Row, Test};
pub use beside::Beside;
pub use bridge::{BridgeKind, FoundBridge};
pub use call::{Call, Called};
pub use capture::Captured;
pub use class::Class;
pub use codec::{decode, encode, Malformed};
pub use counters::{ClassCounters, PortCounters};
pub use credits::{Amount, Credits};
pub use enumeration::{Found, Window};
pub use error::FabricError;
pub use fabric::Fabric;
pub use latencies::Latencies;
pub use packet::{Completion, Header, Id, Kind, Request, Status};
pub use parts::{Part, Parts};
pub use rate::{Generation, Rate};
pub use system::{CardDescription, LinkDescription, RootDescription, SwitchDescription, SystemDescription};
