//! The mesh between tiles: a model that is exact to the cycle, the unit in RTL
//! (`hardware/src/main/scala/rackwright/noc`), and the same traffic for both.
//!
//! [`Model`] has the behaviour of the RTL in each cycle, but no pins; [`measure()`] sends random packets through either
//! of them and returns their latencies. [`MeshMemory`] uses either as the interconnect between units or harts and
//! memory.

mod arbiter;
mod measure;
mod memory;
mod model;
mod network;
mod queue;
mod rtl;
mod shape;

pub use measure::{measure, Load, Measured};
pub use memory::{Bank, MeshMemory};
pub use model::Model;
pub use network::{Arrival, Network, NocError, Packet};
pub use rtl::Rtl;
pub use shape::Shape;
