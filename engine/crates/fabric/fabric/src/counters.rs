use rackwright_time::fabric::Cycles;

/// What left a port, of one class.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ClassCounters {
    /// Packets.
    pub packets: u64,
    /// Bytes of their payloads.
    pub payload_bytes: u64,
    /// How long one was ready, the wire was free, and there were no credits.
    pub credit_stall: Cycles,
}

/// What left a port.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
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
