use crate::class::Class;
use crate::credits::{Amount, MOST};
use crate::pool::PacketId;
use rackwright_time::fabric::Cycle;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

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
    /// A port may send the next packet: its wire is free, and a packet that waits is ready.
    Wake(PortId),
    /// A packet has left completely through the first port, so that its room behind the second, through which it had
    /// arrived, is free: a header of this class, and so much data.
    Left(PortId, PortId, Class, u16),
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

#[derive(Clone, Copy)]
struct Entry {
    at: Cycle,
    /// Its number in the order of scheduling.
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

/// Buckets of the wheel.
const BUCKETS: usize = 1024;
/// The binary logarithm of the time of a bucket, two nanoseconds: mostly, it has few events, if any.
const BUCKET_LOG2: u32 = 21;
/// Ends a list of entries.
const NOTHING: u32 = u32::MAX;

fn bucket(at: Cycle) -> u64 {
    at.0 >> BUCKET_LOG2
}

/// An entry in a list, or a free place for one.
#[derive(Clone, Copy)]
struct Listed {
    entry: Entry,
    next: u32,
}

/// The next [`BUCKETS`] buckets of time: the events of each in a list, in no order.
struct Wheel {
    /// The first entry of each list.
    first: [u32; BUCKETS],
    /// Which lists have entries, a bit each.
    filled: [u64; BUCKETS / 64],
    entries: Vec<Listed>,
    free: u32,
}

impl Default for Wheel {
    fn default() -> Wheel {
        Wheel {
            first: [NOTHING; BUCKETS],
            filled: [0; BUCKETS / 64],
            entries: Vec::new(),
            free: NOTHING,
        }
    }
}

impl Wheel {
    fn add(&mut self, bucket: u64, entry: Entry) {
        let list = bucket as usize % BUCKETS;
        let next = std::mem::replace(&mut self.first[list], self.free);
        let listed = Listed { entry, next };
        if self.free == NOTHING {
            self.first[list] = self.entries.len() as u32;
            self.entries.push(listed);
        } else {
            let place = &mut self.entries[self.free as usize];
            self.free = place.next;
            *place = listed;
        }
        self.filled[list / 64] |= 1 << (list % 64);
    }

    /// The first bucket behind `place` that has entries.
    fn next_behind(&self, place: u64) -> Option<u64> {
        let begin = (place + 1) as usize % BUCKETS;
        let words = self.filled.len();
        let (first, shift) = (begin / 64, begin % 64);
        // The first word again at the end, for its bits before the begin.
        for ahead in 0..=words {
            let word = (first + ahead) % words;
            let mask = match ahead {
                0 => u64::MAX << shift,
                _ if ahead == words => !(u64::MAX << shift),
                _ => u64::MAX,
            };
            let bits = self.filled[word] & mask;
            if bits != 0 {
                let list = 64 * word + bits.trailing_zeros() as usize;
                let distance = (list + BUCKETS - begin) % BUCKETS;
                return Some(place + 1 + distance as u64);
            }
        }
        None
    }

    fn list(&self, bucket: u64) -> impl Iterator<Item = &Entry> {
        let mut next = self.first[bucket as usize % BUCKETS];
        std::iter::from_fn(move || {
            let listed = self.entries.get(next as usize)?;
            next = listed.next;
            Some(&listed.entry)
        })
    }

    /// Moves the entries of a bucket to the end of `to`.
    fn take(&mut self, bucket: u64, to: &mut Vec<Entry>) {
        let list = bucket as usize % BUCKETS;
        let mut next = std::mem::replace(&mut self.first[list], NOTHING);
        while next != NOTHING {
            let listed = &mut self.entries[next as usize];
            to.push(listed.entry);
            let following = std::mem::replace(&mut listed.next, self.free);
            self.free = next;
            next = following;
        }
        self.filled[list / 64] &= !(1 << (list % 64));
    }
}

/// Future events, by instant; at one instant, in the order in which they were scheduled.
///
/// Most are in a wheel, which sorts only events that are near each other, and only when their time comes.
#[derive(Default)]
pub(crate) struct Events {
    /// The bucket whose events are being taken: those of it and of earlier ones are in `current`, the last first.
    place: u64,
    current: Vec<Entry>,
    wheel: Wheel,
    /// Events farther ahead than the wheel when they were scheduled.
    far: BinaryHeap<Entry>,
    scheduled: u64,
}

impl Events {
    pub(crate) fn at(&mut self, at: Cycle, event: Event) {
        let entry = Entry {
            at,
            order: self.scheduled,
            event,
        };
        self.scheduled += 1;
        let bucket = bucket(at);
        if bucket <= self.place {
            let behind = self.current.iter().rposition(|other| other.key() > entry.key());
            self.current.insert(behind.map_or(0, |index| index + 1), entry);
        } else if bucket - self.place < BUCKETS as u64 {
            self.wheel.add(bucket, entry);
        } else {
            self.far.push(entry);
        }
    }

    /// All of them, in the order in which they happen.
    pub(crate) fn all(&self) -> Vec<(Cycle, Event)> {
        let lists = (0..BUCKETS as u64).flat_map(|bucket| self.wheel.list(bucket));
        let mut all: Vec<Entry> = self
            .current
            .iter()
            .chain(&self.far)
            .chain(lists)
            .copied()
            .collect();
        all.sort_by_key(Entry::key);
        all.into_iter().map(|entry| (entry.at, entry.event)).collect()
    }

    /// When the next one is.
    pub(crate) fn next(&self) -> Option<Cycle> {
        if let Some(entry) = self.current.last() {
            return Some(entry.at);
        }
        let near = self.wheel.next_behind(self.place);
        let near = near.and_then(|bucket| self.wheel.list(bucket).map(|entry| entry.at).min());
        let far = self.far.peek().map(|entry| entry.at);
        near.into_iter().chain(far).min()
    }

    /// The next one before `until`.
    pub(crate) fn take(&mut self, until: Cycle) -> Option<(Cycle, Event)> {
        if self.current.is_empty() {
            self.go_on(until);
        }
        let entry = *self.current.last().filter(|entry| entry.at < until)?;
        self.current.pop();
        Some((entry.at, entry.event))
    }

    /// Goes on to the next bucket with events, if it begins before `until`.
    fn go_on(&mut self, until: Cycle) {
        let near = self.wheel.next_behind(self.place);
        let far = self.far.peek().map(|entry| bucket(entry.at));
        let Some(next) = near.into_iter().chain(far).min() else {
            return;
        };
        if next << BUCKET_LOG2 >= until.0 {
            return;
        }
        self.place = next;
        self.wheel.take(next, &mut self.current);
        while self.far.peek().is_some_and(|entry| bucket(entry.at) == next) {
            self.current.extend(self.far.pop());
        }
        self.current
            .sort_unstable_by_key(|entry| std::cmp::Reverse(entry.key()));
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
            events.at(Cycle::new(at), Event::Wake(PortId(port)));
        }
        let mut order = Vec::new();
        while let Some((at, Event::Wake(port))) = events.take(Cycle::new(5)) {
            order.push((at.0, port.0));
        }
        assert_eq!(order, [(3, 1), (3, 3), (4, 4)]);
        assert_eq!(events.next(), Some(Cycle::new(5)));
    }

    proptest! {
        #[test]
        fn buckets_change_no_order(all in prop::collection::vec((0..20_u64, 0..31_u32, 0..3_usize), 1..200)) {
            let mut events = Events::default();
            let (mut expected, mut now) = (Vec::new(), 0);
            for (number, (ahead, shift, taken)) in all.iter().enumerate() {
                let at = now + (ahead << shift);
                events.at(Cycle::new(at), Event::Arrive(PortId(0), PacketId::numbered(number as u32)));
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
