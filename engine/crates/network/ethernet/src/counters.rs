use rackwright_state::state;

/// Counters of a port: frames sent, and frames dropped.
///
/// Every frame offered to a port was sent, dropped, or is still queued.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortCounters {
    /// Frames that arrived here from the link.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Frames that were to leave through here.
    pub offered: u64,
    /// Frames whose first flit has left.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Frames for which the buffer had no room, or which the policy dropped.
    pub dropped: u64,
    /// Frames with a congestion mark.
    pub marked: u64,
    /// The most bytes the buffer has held.
    pub peak_bytes: u64,
}

/// Frames that a switch did not forward although there was room, by reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Refusals {
    /// Shorter than an Ethernet header.
    pub runts: u64,
    /// Longer than the largest frame.
    pub giants: u64,
    /// For an address that is in no table, or only reachable through the port of arrival.
    pub unknown: u64,
    /// Lost by a fault: in transit, or because the switch was down.
    pub lost: u64,
}

impl Refusals {
    /// All of them.
    pub fn total(self) -> u64 {
        self.runts + self.giants + self.unknown + self.lost
    }
}

state!(PortCounters {
    received,
    received_bytes,
    offered,
    sent,
    sent_bytes,
    dropped,
    marked,
    peak_bytes
});
state!(Refusals {
    runts,
    giants,
    unknown,
    lost
});
