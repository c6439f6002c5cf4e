use crate::{Bank, Shape};
use rackwright_rtl::RtlError;
use rackwright_time::unit::Cycle;

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The time from which on its first flit is available.
    pub created: u64,
    /// Number of the tile that sends it.
    pub source: usize,
    /// Number of its destination tile.
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
    /// The tile of its arrival.
    pub tile: usize,
    /// The [`Packet::number`].
    pub number: u32,
}

/// A mesh: its model, or the RTL.
pub trait Network {
    /// What it is.
    fn shape(&self) -> Shape;

    /// Queues a packet at its tile, after earlier ones.
    fn offer(&mut self, packet: Packet);

    /// Advances to cycle `until` (exclusive); appends arrivals, in the order of cycles, then of tiles.
    ///
    /// # Errors
    /// [`NocError::Stopped`] when an assertion of the RTL fails.
    fn advance(&mut self, until: u64, arrivals: &mut Vec<Arrival>) -> Result<(), NocError>;
}

/// Why a mesh cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum NocError {
    /// No such mesh can be built.
    #[error("there is no mesh of {} x {} tiles with {} flits in a queue", .0.width, .0.height, .0.depth)]
    Shape(Shape),
    /// The unit cannot be created.
    #[error(transparent)]
    Rtl(#[from] RtlError),
    /// Another unit, or one with other ports.
    #[error("the unit `{0}` is no mesh with one network and flits of 8 bytes")]
    OtherUnit(String),
    /// A rate is the part of cycles in which a tile begins a packet.
    #[error("a tile begins a packet in 0 to 1 of its cycles, not in {0}")]
    Rate(f64),
    /// Memory has a tile, and takes time.
    #[error(
        "a mesh of {} x {} tiles has no memory at tile {} that takes {} cycles, and {} to a port",
        .shape.width, .shape.height, .bank.tile, .bank.latency, .bank.delivery
    )]
    NoBank {
        /// The memory.
        bank: Bank,
        /// The mesh.
        shape: Shape,
    },
    /// One of its assertions failed, or it ended the simulation in another way.
    #[error("the mesh in RTL stopped at {cycle}: {reason}")]
    Stopped {
        /// When.
        cycle: Cycle,
        /// What it said.
        reason: String,
    },
}
