use crate::clocks::Edges;
use crate::port::FRAMING;
use crate::rate::Rate;
use rackwright_time::fabric::Cycle;
use rackwright_time::unit;

/// The wire of the card's link: a packet is handed over when the one before it begins to leave by it.
pub(super) struct Wire {
    edges: Edges,
    rate: Rate,
    free: Cycle,
}

impl Wire {
    pub(super) fn new(edges: Edges, rate: Rate) -> Wire {
        Wire {
            edges,
            rate,
            free: Cycle::ZERO,
        }
    }

    /// Accepts a packet of `bytes` bytes, the last of which leave the function in the cycle `last`; returns the last
    /// cycle in which no other one may be passed.
    pub(super) fn take(&mut self, last: u64, bytes: u64) -> u64 {
        let begins = self.free.max(self.edges.instant(unit::Cycle::new(last + 1)));
        self.free = begins + self.rate.bytes(bytes + FRAMING);
        let next: unit::Cycle = self.edges.seen(begins);
        next.0 - 1
    }
}
