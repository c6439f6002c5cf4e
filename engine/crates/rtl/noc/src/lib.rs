//! Networks on a chip: the mesh between tiles, as a model that is exact to the cycle and as the unit in RTL
//! (`hardware/src/main/scala/rackwright/noc`), and the crossbar in RTL (`…/crossbar`).
//!
//! [`Model`] has the behaviour of the mesh in RTL in each cycle, but no pins; [`measure()`] sends random packets through
//! any network and returns their latencies. [`NetworkMemory`] uses any of them as the interconnect between units or
//! harts and memory.
//!
//! [`ChipMesh`] is the mesh between the tiles of a server: it knows the time of a message when the message is sent, and
//! records it; [`replay()`] sends the messages of a run through one of the networks above, and compares.

mod arbiter;
mod measure;
mod memory;
mod model;
mod network;
mod queue;
mod replay;
mod rtl;
mod shape;
mod timed;

pub use measure::{measure, Load, Measured};
pub use memory::{Bank, NetworkMemory};
pub use model::Model;
pub use network::{Arrival, Network, NocError, Packet};
pub use replay::{replay, Replayed};
pub use rtl::Rtl;
pub use shape::Shape;
pub use timed::{ChipMesh, Recording, Sent};
