use crate::class::Class;
use crate::credits::Amount;
use crate::pool::PacketId;
use rackwright_time::fabric::Cycle;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Names an end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PortId(pub(crate) u16);

impl PortId {
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A packet of the data link layer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LinkPacket {
    /// All packets before the one of this number, counted from 0, have arrived.
    Acknowledge(u64),
    /// So many credits have been given since the start.
    Update(Class, Amount),
}

/// What happens at an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A packet has come in through a port, as far as what is behind the port needs it.
    Arrive(PortId, PacketId),
    /// The wire that leaves a port is free again.
    Wire(PortId),
    /// Something that waits at a port may leave.
    Ready(PortId),
    /// A packet of the data link layer has come in.
    Link(PortId, LinkPacket),
    /// An acknowledgement has waited for as long as it may.
    Acknowledge(PortId),
    /// An update of credits has.
    Update(PortId, Class),
    /// A packet has left the buffer behind a port.
    Release(PortId, Class, Amount),
}

struct Entry {
    at: Cycle,
    order: u64,
    event: Event,
}

impl Entry {
    fn key(&self) -> (Cycle, u64) {
        (self.at, self.order)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    /// The first is the greatest, since the heap gives the greatest.
    fn cmp(&self, other: &Entry) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// What is to happen, by instant; at one instant, in the order in which it was scheduled.
#[derive(Default)]
pub(crate) struct Events {
    heap: BinaryHeap<Entry>,
    scheduled: u64,
}

impl Events {
    pub(crate) fn at(&mut self, at: Cycle, event: Event) {
        let order = self.scheduled;
        self.scheduled += 1;
        self.heap.push(Entry { at, order, event });
    }

    /// When the next one is.
    pub(crate) fn next(&self) -> Option<Cycle> {
        self.heap.peek().map(|entry| entry.at)
    }

    /// The next one before `until`.
    pub(crate) fn take(&mut self, until: Cycle) -> Option<(Cycle, Event)> {
        if self.next()? >= until {
            return None;
        }
        self.heap.pop().map(|entry| (entry.at, entry.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_at_once_happens_in_the_order_of_scheduling() {
        let mut events = Events::default();
        for (at, port) in [(5, 0), (3, 1), (5, 2), (3, 3), (4, 4)] {
            events.at(Cycle::new(at), Event::Wire(PortId(port)));
        }
        let mut order = Vec::new();
        while let Some((at, Event::Wire(port))) = events.take(Cycle::new(5)) {
            order.push((at.0, port.0));
        }
        assert_eq!(order, [(3, 1), (3, 3), (4, 4)]);
        assert_eq!(events.next(), Some(Cycle::new(5)));
    }
}
