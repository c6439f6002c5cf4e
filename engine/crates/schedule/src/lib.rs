//! The graph of models and how it advances.
//!
//! Models meet only through links, and each advances by whole windows no longer than the shortest
//! latency of its links: conservative, without rollback. What a model sees depends on (cycle, port,
//! sequence) alone, so the order in which the scheduler visits models cannot show in the result.

mod graph;
mod model;
mod run;

pub use graph::{Graph, GraphError, ModelId, PortId};
pub use model::Model;
pub use run::RunOutcome;
