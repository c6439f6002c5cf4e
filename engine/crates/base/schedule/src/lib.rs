//! The graph of models and how it advances.
//!
//! Models meet only through links, and each advances by whole windows no longer than the shortest
//! latency of its links: conservative, without rollback. What a model sees depends on (cycle, port)
//! alone, so neither the order in which the scheduler visits models, nor the thread that does, nor the
//! length of a window can show in the result. A model that has nothing to do is not visited at all.

mod agenda;
mod cost;
mod envelope;
mod exchange;
mod graph;
mod meeting;
mod model;
mod node;
mod part;
mod patience;
mod rounds;
mod run;
mod share;
mod table;
mod tap;

pub use envelope::Envelope;
pub use graph::{Graph, GraphError, ModelId, PortId};
pub use meeting::{Apart, Meeting};
pub use model::{Incoming, Model, Outbox};
pub use rackwright_link::{Arrival, Item, Portable};
pub use run::RunOutcome;
pub use share::{equal_shares, Share};
pub use tap::{Direction, Tapped};
