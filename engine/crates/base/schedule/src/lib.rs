//! The graph of models, and its advance.
//!
//! Models interact only through links, and each advances by complete windows that do not exceed the shortest latency of
//! its links: conservative, without rollback. The input of a model depends on (cycle, port) alone; the result therefore
//! depends neither on the order in which the scheduler visits models, nor on the thread of a visit, nor on the length
//! of a window. A model without events is not visited.

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
