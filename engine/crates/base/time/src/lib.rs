//! Time as types, so that a cycle of one clock cannot be added to another's by accident.
//!
//! A [`Cycle`] is an instant and [`Cycles`] a span, both counted by the clock of a [`Domain`]; a [`Crossing`] leads from one
//! domain to another, and a [`Clock`] turns cycles into [`Picosecond`]s, which every clock agrees on.
//!
//! ```compile_fail,E0308
//! use rackwright_time::{network, Cycle};
//! let now: Cycle = Cycle::ZERO;
//! let _ = now + network::Cycles::new(1);
//! ```

mod clock;
mod crossing;
mod cycle;
mod domain;

pub use clock::{Clock, ClockError, Picosecond};
pub use crossing::Crossing;
pub use cycle::{Cycle, Cycles};
pub use domain::{Domain, Fabric, Hart, Network, Unit};

/// Time of harts and of the parts that share a server with them.
pub mod hart {
    /// An instant.
    pub type Cycle = crate::Cycle<crate::Hart>;
    /// A span.
    pub type Cycles = crate::Cycles<crate::Hart>;
}

/// Time of links and of the models that they connect.
pub mod network {
    /// An instant.
    pub type Cycle = crate::Cycle<crate::Network>;
    /// A span.
    pub type Cycles = crate::Cycles<crate::Network>;
}

/// Time of a unit in RTL.
pub mod unit {
    /// An instant.
    pub type Cycle = crate::Cycle<crate::Unit>;
    /// A span.
    pub type Cycles = crate::Cycles<crate::Unit>;
}

/// Time of a PCIe fabric, in which the bytes of each of its links take whole cycles: a picosecond has 1024 cycles.
pub mod fabric {
    /// An instant.
    pub type Cycle = crate::Cycle<crate::Fabric>;
    /// A span.
    pub type Cycles = crate::Cycles<crate::Fabric>;
}
