//! Links between models: the items that cross them, and how items wait at the receiver.
//!
//! The unit of traffic is a *burst*: a run of flits that ends with one marked last, carried as one record with the
//! cycle in which that last flit crosses. A model that stores whole frames needs no more: nothing in the network costs
//! anything per cycle or per flit, yet all times are exact to the cycle. A link of latency L allows both of its ends to
//! advance L cycles before they need data from each other.

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
