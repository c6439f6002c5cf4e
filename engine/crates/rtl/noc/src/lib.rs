//! The mesh between tiles: a model that is exact to the cycle, the unit in RTL
//! (`hardware/src/main/scala/rackwright/noc`), and the same traffic for both.
//!
//! [`Model`] knows what the RTL does in each cycle and nothing of its pins; [`measure()`] gives either of them random
//! packets and says how long these take. [`MeshMemory`] has either be what lies between units or harts and memory.

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
