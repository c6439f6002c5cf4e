//! The graph of models and how it advances.
//!
//! Models meet only through links, and each advances by whole windows no longer than the shortest
//! latency of its links: conservative, without rollback. What a model sees depends on (cycle, port)
//! alone, so neither the order in which the scheduler visits models, nor the thread that does, nor the
//! length of a window can show in the result. A model that has nothing to do is not visited at all.

mod agenda;
mod barrier;
mod exchange;
mod graph;
mod model;
mod node;
mod part;
mod run;
mod tap;

pub use graph::{Graph, GraphError, ModelId, PortId};
pub use model::{Incoming, Model, Outbox};
pub use rackwright_link::{Arrival, Item};
pub use run::RunOutcome;
pub use tap::{Direction, Tapped};
