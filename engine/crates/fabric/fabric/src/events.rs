use crate::class::Class;
use crate::credits::{Amount, MOST};
use crate::pool::PacketId;
use rackwright_time::fabric::Cycle;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

/// Names an end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct PortId(pub(crate) u16);

impl PortId {
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A packet of the data link layer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum LinkPacket {
    /// All packets before the one of this number, counted from 0, have arrived.
    Acknowledge(u64),
    /// Total credits granted since the start.
    Update(Class, Amount),
}

/// An event at an instant.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// A packet has arrived through a port, as far as the part behind the port needs it.
    Arrive(PortId, PacketId),
    /// The wire that leaves a port is free again, and something waits for it.
    Wire(PortId),
    /// A packet has left completely through the first port, so that its room behind the second, through which it had
    /// arrived, is free: a header of this class, and so much data.
    Left(PortId, PortId, Class, u16),
    /// A packet that waits at a port may leave.
    Ready(PortId),
    /// The next packet of the data link layer has arrived, for which others wait.
    Link(PortId),
    /// An acknowledgement has waited for the maximum time.
    Acknowledge(PortId),
    /// An update of credits has.
    Update(PortId, Class),
    /// Room behind a port has become free.
    Release(PortId, Class, Room),
}

/// An [`Amount`] limited to the values that may be advertised, so that events are small.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Room {
    headers: u8,
    data: u16,
}

impl From<Amount> for Room {
    fn from(amount: Amount) -> Room {
        debug_assert!(amount.headers <= MOST.headers && amount.data <= MOST.data);
        Room {
            headers: amount.headers as u8,
            data: amount.data as u16,
        }
    }
}

impl From<Room> for Amount {
    fn from(room: Room) -> Amount {
        Amount {
            headers: u64::from(room.headers),
            data: u64::from(room.data),
        }
    }
}

/// Lanes of each port.
const LANES: usize = 6;

impl Event {
    /// The lane of the port in which such events are mostly in the order of their instants: a wire produces them one by
    /// one.
    fn lane(&self) -> usize {
        let (port, lane) = match self {
            Event::Arrive(port, _) => (port, 0),
            Event::Link(port) => (port, 1),
            Event::Wire(port) | Event::Left(port, ..) => (port, 2),
            Event::Release(port, ..) => (port, 3),
            Event::Acknowledge(port) | Event::Update(port, _) => (port, 4),
            Event::Ready(port) => (port, 5),
        };
        LANES * port.index() + lane
    }
}

#[derive(Clone, Copy)]
struct Entry {
    at: Cycle,
    /// Twice the number in the order of scheduling, and 1 if it is in no lane.
    order: u64,
    event: Event,
}

impl Entry {
    /// One number, which is compared at once.
    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.at.0) << 64 | u128::from(self.order)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    #[inline]
    fn le(&self, other: &Entry) -> bool {
        other.key() <= self.key()
    }
}

impl Ord for Entry {
    /// The first is the greatest, since the heap returns the greatest.
    #[inline]
    fn cmp(&self, other: &Entry) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// Events in the order of their instants, the first of which is in the heap.
#[derive(Default)]
struct Lane {
    in_heap: bool,
    last: Cycle,
    behind: VecDeque<Entry>,
}

/// Future events, by instant; at one instant, in the order in which they were scheduled.
///
/// The heap stays small: of events in order, it contains only the first.
#[derive(Default)]
pub(crate) struct Events {
    heap: BinaryHeap<Entry>,
    lanes: Vec<Lane>,
    scheduled: u64,
}

impl Events {
    pub(crate) fn at(&mut self, at: Cycle, event: Event) {
        let number = event.lane();
        if number >= self.lanes.len() {
            self.lanes.resize_with(number + 1, Lane::default);
        }
        let lane = &mut self.lanes[number];
        let mut entry = Entry {
            at,
            order: self.scheduled,
            event,
        };
        self.scheduled += 2;
        if lane.in_heap && at < lane.last {
            entry.order += 1;
            self.heap.push(entry);
            return;
        }
        lane.last = at;
        if std::mem::replace(&mut lane.in_heap, true) {
            lane.behind.push_back(entry);
        } else {
            self.heap.push(entry);
        }
    }

    /// All of them, in the order in which they happen.
    pub(crate) fn all(&self) -> Vec<(Cycle, Event)> {
        let behind = self.lanes.iter().flat_map(|lane| &lane.behind);
        let mut all: Vec<Entry> = self.heap.iter().chain(behind).copied().collect();
        all.sort_by_key(Entry::key);
        all.into_iter().map(|entry| (entry.at, entry.event)).collect()
    }

    /// When the next one is.
    pub(crate) fn next(&self) -> Option<Cycle> {
        self.heap.peek().map(|entry| entry.at)
    }

    /// The next one before `until`.
    pub(crate) fn take(&mut self, until: Cycle) -> Option<(Cycle, Event)> {
        let mut first = self.heap.peek_mut()?;
        let entry = *first;
        if entry.at >= until {
            return None;
        }
        if entry.order & 1 == 0 {
            let lane = &mut self.lanes[entry.event.lane()];
            if let Some(next) = lane.behind.pop_front() {
                *first = next;
                return Some((entry.at, entry.event));
            }
            lane.in_heap = false;
        }
        PeekMut::pop(first);
        Some((entry.at, entry.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn lanes_change_no_order(all in prop::collection::vec((0..20_u64, 0..3_u16, 0..3_usize), 1..200)) {
            let mut events = Events::default();
            let (mut expected, mut now) = (Vec::new(), 0);
            for (number, (ahead, port, taken)) in all.iter().enumerate() {
                let at = now + ahead;
                events.at(Cycle::new(at), Event::Arrive(PortId(*port), PacketId::numbered(number as u32)));
                expected.push((at, number as u32));
                for _ in 0..*taken {
                    let Some((at, Event::Arrive(_, packet))) = events.take(Cycle::NEVER) else { break };
                    let first = expected.iter().min().copied().unwrap();
                    expected.retain(|each| *each != first);
                    now = at.0;
                    prop_assert_eq!((at.0, packet), (first.0, PacketId::numbered(first.1)));
                }
            }
        }
    }
}
