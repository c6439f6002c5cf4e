use crate::{Bank, Shape};
use rackwright_rtl::RtlError;
use rackwright_time::unit::Cycle;

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The time from which on its first flit is available.
    pub created: u64,
    /// Number of the endpoint that sends it.
    pub source: usize,
    /// Number of the endpoint that receives it.
    pub destination: usize,
    /// Its length, at least 1.
    pub flits: usize,
    /// Its identifier.
    pub number: u32,
}

/// A packet that has left a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When its last flit left.
    pub cycle: u64,
    /// The endpoint of its arrival.
    pub endpoint: usize,
    /// The [`Packet::number`].
    pub number: u32,
}

/// A network on a chip, a model or in RTL, and its endpoints: the tiles of a mesh, the ports of a crossbar.
pub trait Network {
    /// Number of its endpoints.
    fn endpoints(&self) -> usize;

    /// Queues a packet at its source, after earlier ones.
    fn offer(&mut self, packet: Packet);

    /// Advances to cycle `until` (exclusive); appends arrivals, in the order of cycles, then of endpoints.
    ///
    /// # Errors
    /// [`NocError::Stopped`] when an assertion of the RTL fails.
    fn advance(&mut self, until: u64, arrivals: &mut Vec<Arrival>) -> Result<(), NocError>;
}

/// Why there is no such network, or why it cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NocError {
    /// No such mesh can be built.
    #[error("there is no mesh of {} x {} tiles with {} flits in a queue", .0.width, .0.height, .0.depth)]
    Shape(Shape),
    /// The unit cannot be created.
    #[error(transparent)]
    Rtl(#[from] RtlError),
    /// Another unit, or one with other ports.
    #[error("the unit `{unit}` is no {wanted}")]
    OtherUnit {
        /// The unit.
        unit: String,
        /// What is required.
        wanted: &'static str,
    },
    /// A rate is the part of cycles in which a tile begins a packet.
    #[error("a tile begins a packet in 0 to 1 of its cycles, not in {0}")]
    Rate(f64),
    /// Memory has an endpoint, and takes time.
    #[error(
        "a network of {endpoints} endpoints has no memory at endpoint {} that takes {} cycles, and {} to a port",
        .bank.endpoint, .bank.latency, .bank.delivery
    )]
    NoBank {
        /// The memory.
        bank: Bank,
        /// Number of endpoints of the network.
        endpoints: usize,
    },
    /// It has not arrived after a long time.
    #[error("message {number} of the run has not arrived")]
    Lost {
        /// Its number.
        number: u32,
    },
    /// One of its assertions failed, or it ended the simulation in another way.
    #[error("the network in RTL stopped at {cycle}: {reason}")]
    Stopped {
        /// When.
        cycle: Cycle,
        /// What it said.
        reason: String,
    },
}
