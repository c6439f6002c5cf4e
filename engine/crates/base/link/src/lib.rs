//! Links between models: what crosses them, and how it waits at the far end.
//!
//! The unit of traffic is a *burst*: a run of flits that ends with one marked last, carried as one
//! record with the cycle in which that last flit crosses. A model that stores whole frames needs no
//! more, so that nothing in the network costs anything per cycle or per flit, yet every time is exact
//! to the cycle. A link of latency L lets both of its ends advance L cycles before they need anything
//! from each other.

mod arrivals;
mod item;
mod latency;
mod portable;
mod trail;

/// An instant of the links that items of type `T` cross.
pub type Cycle<T> = rackwright_time::Cycle<<T as Item>::Clock>;

/// A span of time of such links.
pub type Cycles<T> = rackwright_time::Cycles<<T as Item>::Clock>;

pub use arrivals::{Arrival, Arrivals, Inbox, Order};
pub use item::Item;
pub use latency::{Latency, LinkError};
pub use portable::Portable;
pub use trail::Trail;
