use rackwright_time::fabric::Cycles;
use serde::{Deserialize, Serialize};

/// Packets of one class that left a port.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct ClassCounters {
    /// Packets.
    pub packets: u64,
    /// Bytes of their payloads.
    pub payload_bytes: u64,
    /// Time for which a packet was ready, the wire was free, and there were no credits.
    #[serde(with = "crate::saved::span")]
    pub credit_stall: Cycles,
}

/// Packets that left a port.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct PortCounters {
    /// By class.
    pub classes: [ClassCounters; 3],
    /// Bytes on the wire: packets with their framing, acknowledgements, updates of credits.
    pub wire_bytes: u64,
    /// Acknowledgements.
    pub acknowledgements: u64,
    /// Updates of credits.
    pub updates: u64,
}
