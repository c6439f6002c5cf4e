use crate::class::Class;
use crate::counters::PortCounters;
use crate::credits::{Amount, Credits};
use crate::events::PortId;
use crate::packet::Header;
use crate::pool::PacketId;
use rackwright_time::fabric::Cycle;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A packet that waits to leave.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub(crate) packet: PacketId,
    /// The earliest time at which it may leave: before, it is still in the switch, or its data are not ready.
    #[serde(with = "crate::saved::instant")]
    pub(crate) ready: Cycle,
    /// The port of its arrival, and its room there.
    pub(crate) from: Option<PortId>,
    pub(crate) cost: Amount,
    /// Bytes in the transaction layer.
    pub(crate) bytes: u32,
    /// A completion that may pass earlier posted packets.
    pub(crate) relaxed: bool,
    order: u64,
}

impl Waiting {
    pub(crate) fn new(packet: PacketId, header: &Header, ready: Cycle, from: Option<PortId>) -> Waiting {
        Waiting {
            packet,
            ready,
            from,
            cost: header.cost(),
            bytes: header.bytes() as u32,
            relaxed: header.is_relaxed(),
            order: 0,
        }
    }
}

/// Packets that arrived through the same port and leave through the same port: in order within a class, ordered between
/// classes by the ordering table (2.4.1).
#[derive(Default, Serialize, Deserialize)]
struct Source {
    classes: [VecDeque<Waiting>; 3],
    /// Of all classes.
    waiting: u32,
    added: u64,
}

impl Source {
    fn head(&self, class: Class) -> Option<&Waiting> {
        self.classes[class.index()].front()
    }

    /// The class whose oldest packet may leave, and is the oldest of those that may. `allowed` returns whether a packet
    /// could leave.
    fn choice(&self, mut allowed: impl FnMut(Class, &Waiting) -> bool) -> Option<Class> {
        let posted = self.head(Class::Posted).map_or(u64::MAX, |head| head.order);
        let (mut first, mut choice) = (u64::MAX, None);
        for class in Class::ALL {
            let Some(head) = self.head(class) else { continue };
            // No packet passes earlier posted ones, except relaxed completions; posted packets pass all others.
            let in_order =
                class == Class::Posted || head.order < posted || class == Class::Completion && head.relaxed;
            if in_order && allowed(class, head) && head.order < first {
                (first, choice) = (head.order, Some(class));
            }
        }
        choice
    }
}

/// A packet that has left and has not been acknowledged.
#[derive(Serialize, Deserialize)]
struct Sent {
    #[serde(with = "crate::saved::instant")]
    tail: Cycle,
    bytes: u32,
}

/// The next output of a port.
pub(crate) enum Next {
    /// This packet.
    Packet(Waiting, Class),
    /// None before this instant, at which a further packet is ready; never, if all wait for the other end.
    Nothing(Cycle),
}

/// Sequence numbers have 12 bits, and half of them may be unacknowledged (3.6.2.1).
const UNACKNOWLEDGED: usize = 2048;

/// Selects the next output of a port: in turn among the ports of arrival, with the credits of the other end, and as far
/// as unacknowledged packets leave room in the replay buffer.
#[derive(Serialize, Deserialize)]
pub(crate) struct Transmitter {
    sources: Vec<Source>,
    /// Packets that wait.
    waiting: usize,
    /// The source whose turn is next.
    turn: usize,
    granted: Credits,
    consumed: Credits,
    infinite: [(bool, bool); 3],
    /// When the wire is free again.
    #[serde(with = "crate::saved::instant")]
    pub(crate) wire: Cycle,
    unacknowledged: VecDeque<Sent>,
    acknowledged: u64,
    kept: u64,
    room: u64,
    /// The time since which each class has waited only for credits.
    #[serde(with = "crate::saved::instants")]
    stalled: [Option<Cycle>; 3],
    /// Whether a packet was ready, when the next one was last chosen, that lacked credits or room in the replay buffer.
    pub(crate) lacks: bool,
    pub(crate) counters: PortCounters,
}

impl Transmitter {
    /// One without sources, and with `room` bytes for packets that have not been acknowledged.
    pub(crate) fn new(room: u64) -> Transmitter {
        Transmitter {
            sources: Vec::new(),
            waiting: 0,
            turn: 0,
            granted: Credits::default(),
            consumed: Credits::default(),
            infinite: [(false, false); 3],
            wire: Cycle::ZERO,
            unacknowledged: VecDeque::new(),
            acknowledged: 0,
            kept: 0,
            room,
            stalled: [None; 3],
            lacks: false,
            counters: PortCounters::default(),
        }
    }

    /// Adds `count` ports of arrival.
    pub(crate) fn add_sources(&mut self, count: usize) {
        self.sources
            .resize_with(self.sources.len() + count, Source::default);
    }

    /// The other end initially has this room; 0 stands for no limit.
    pub(crate) fn begin(&mut self, credits: Credits) {
        self.granted = credits;
        for class in Class::ALL {
            let of = credits[class];
            self.infinite[class.index()] = (of.headers == 0, of.data == 0);
        }
    }

    /// The credits granted so far, and those consumed.
    #[cfg(test)]
    pub(crate) fn credits(&self) -> (Credits, Credits) {
        (self.granted, self.consumed)
    }

    /// The limit of a class is known to be so high.
    pub(crate) fn grant(&mut self, class: Class, limit: Amount) {
        self.granted[class] = limit;
    }

    pub(crate) fn add(&mut self, source: usize, class: Class, mut waiting: Waiting) {
        let source = &mut self.sources[source];
        waiting.order = source.added;
        source.added += 1;
        source.waiting += 1;
        source.classes[class.index()].push_back(waiting);
        self.waiting += 1;
    }

    /// Whether packets wait here.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting != 0
    }

    /// Whether none does, and all are acknowledged once it is known that those before `acknowledged` are.
    pub(crate) fn is_empty(&self, acknowledged: Option<u64>) -> bool {
        let sent = self.acknowledged + self.unacknowledged.len() as u64;
        self.waiting == 0 && acknowledged.unwrap_or(self.acknowledged) == sent
    }

    fn has_credits(&self, class: Class, cost: Amount) -> bool {
        let (granted, consumed) = (self.granted[class], self.consumed[class]);
        let (headers, data) = self.infinite[class.index()];
        (headers || consumed.headers + cost.headers <= granted.headers)
            && (data || consumed.data + cost.data <= granted.data)
    }

    /// Takes the next output in the cycle `now`, in which the wire is free.
    pub(crate) fn next(&mut self, now: Cycle) -> Next {
        if self.waiting == 0 {
            return Next::Nothing(Cycle::NEVER);
        }
        let room = self.room.saturating_sub(self.kept);
        let full = self.unacknowledged.len() >= UNACKNOWLEDGED;
        let count = self.sources.len();
        let mut starved = [false; 3];
        let (mut found, mut lacks, mut until) = (None, false, Cycle::NEVER);
        let turns = (self.turn..count).chain(0..self.turn);
        for index in turns {
            if self.sources[index].waiting == 0 {
                continue;
            }
            let class = self.sources[index].choice(|class, head| {
                if head.ready > now {
                    until = until.min(head.ready);
                    return false;
                }
                if full || u64::from(head.bytes) > room {
                    lacks = true;
                    return false;
                }
                let allowed = self.has_credits(class, head.cost);
                starved[class.index()] |= !allowed;
                allowed
            });
            if let Some(class) = class {
                found = Some((index, class));
                break;
            }
        }
        self.lacks = lacks || starved != [false; 3];
        self.account(now, found.map(|(_, class)| class), starved);
        let Some((index, class)) = found else {
            return Next::Nothing(until);
        };
        self.turn = if index + 1 == count { 0 } else { index + 1 };
        match self.sources[index].classes[class.index()].pop_front() {
            Some(waiting) => {
                self.sources[index].waiting -= 1;
                self.consumed[class] += waiting.cost;
                self.waiting -= 1;
                Next::Packet(waiting, class)
            }
            None => Next::Nothing(Cycle::NEVER),
        }
    }

    /// Records how long classes have had no credits.
    fn account(&mut self, now: Cycle, found: Option<Class>, starved: [bool; 3]) {
        if starved == [false; 3] && self.stalled == [None; 3] {
            return;
        }
        for class in Class::ALL {
            let index = class.index();
            let stalled = &mut self.stalled[index];
            if found == Some(class) || !starved[index] {
                if let Some(since) = stalled.take() {
                    let span = &mut self.counters.classes[index].credit_stall;
                    *span = *span + now.since(since);
                }
            } else {
                stalled.get_or_insert(now);
            }
        }
    }

    /// A packet of `bytes` bytes has left, and arrives completely at the other end at `tail`. Returns its sequence
    /// number.
    pub(crate) fn sent(&mut self, bytes: u32, tail: Cycle) -> u64 {
        let sequence = self.acknowledged + self.unacknowledged.len() as u64;
        self.unacknowledged.push_back(Sent { tail, bytes });
        self.kept += u64::from(bytes);
        sequence
    }

    /// Number of packets that have arrived at the other end until `now`.
    pub(crate) fn arrived(&self, now: Cycle) -> u64 {
        let arrived = self.unacknowledged.partition_point(|sent| sent.tail <= now);
        self.acknowledged + arrived as u64
    }

    /// When the first packet arrives that has not yet at `now`.
    pub(crate) fn next_arrival(&self, now: Cycle) -> Option<Cycle> {
        let arrived = self.unacknowledged.partition_point(|sent| sent.tail <= now);
        self.unacknowledged.get(arrived).map(|sent| sent.tail)
    }

    /// All packets before the one of this number have arrived.
    pub(crate) fn acknowledge(&mut self, before: u64) {
        while self.acknowledged < before {
            let Some(sent) = self.unacknowledged.pop_front() else {
                return;
            };
            self.kept -= u64::from(sent.bytes);
            self.acknowledged += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Id, Kind};
    use crate::pool::Pool;
    use proptest::prelude::*;

    fn transmitter(sources: usize, credits: Credits) -> Transmitter {
        let mut transmitter = Transmitter::new(1 << 20);
        transmitter.add_sources(sources);
        transmitter.begin(credits);
        transmitter
    }

    fn limited(headers: u64, data: u64) -> Credits {
        Credits::new([Amount { headers, data }; 3])
    }

    fn put(transmitter: &mut Transmitter, pool: &mut Pool, source: usize, kind: Kind, tag: u16) {
        let mut header = Header::new(kind, Id::default(), tag);
        header.words = 16;
        let id = pool.take(header);
        let waiting = Waiting::new(id, &header, Cycle::ZERO, None);
        transmitter.add(source, kind.class(), waiting);
    }

    fn tags(transmitter: &mut Transmitter, pool: &mut Pool) -> Vec<u16> {
        let mut tags = Vec::new();
        while let Next::Packet(waiting, _) = transmitter.next(Cycle::ZERO) {
            tags.push(pool.get(waiting.packet).header.tag);
        }
        tags
    }

    #[test]
    fn posted_packets_pass_others_without_credits_and_nothing_passes_them() {
        let mut pool = Pool::default();
        let mut out = transmitter(1, limited(1, 100));
        put(&mut out, &mut pool, 0, Kind::MemoryRead, 1);
        put(&mut out, &mut pool, 0, Kind::MemoryRead, 2);
        put(&mut out, &mut pool, 0, Kind::MemoryWrite, 3);
        put(&mut out, &mut pool, 0, Kind::Completion(true), 4);
        put(&mut out, &mut pool, 0, Kind::MemoryWrite, 5);
        // The second read has no credits, the second write neither.
        assert_eq!(tags(&mut out, &mut pool), [1, 3, 4]);
        out.grant(
            Class::NonPosted,
            Amount {
                headers: 2,
                data: 100,
            },
        );
        assert_eq!(tags(&mut out, &mut pool), [2]);
        put(&mut out, &mut pool, 0, Kind::MemoryRead, 6);
        out.grant(
            Class::NonPosted,
            Amount {
                headers: 3,
                data: 100,
            },
        );
        assert!(
            tags(&mut out, &mut pool).is_empty(),
            "a read does not pass a write"
        );
        out.grant(
            Class::Posted,
            Amount {
                headers: 2,
                data: 100,
            },
        );
        assert_eq!(tags(&mut out, &mut pool), [5, 6]);
    }

    /// A waiting packet: its class, whether it is relaxed, and its port of arrival.
    fn packets() -> impl Strategy<Value = (Kind, bool, usize)> {
        let kinds = vec![Kind::MemoryRead, Kind::MemoryWrite, Kind::Completion(true)];
        (prop::sample::select(kinds), any::<bool>(), 0..3_usize)
    }

    proptest! {
        #[test]
        fn packets_leave_by_the_ordering_table(
            all in prop::collection::vec((packets(), 0..3_usize, 0..3_usize), 1..60)
        ) {
            let mut pool = Pool::default();
            let mut out = transmitter(3, limited(1, 4));
            let (mut limits, mut left) = (limited(1, 4), Vec::new());
            for (tag, ((kind, relaxed, source), class, credits)) in all.iter().enumerate() {
                let mut header = Header::new(*kind, Id::default(), tag as u16);
                header.words = 16;
                header.attributes = if *relaxed { 2 } else { 0 };
                let id = pool.take(header);
                out.add(*source, kind.class(), Waiting::new(id, &header, Cycle::ZERO, None));
                let class = Class::ALL[*class];
                limits[class] += Amount { headers: *credits as u64, data: 4 * *credits as u64 };
                out.grant(class, limits[class]);
                left.extend(tags(&mut out, &mut pool));
            }
            for class in Class::ALL {
                out.grant(class, Amount { headers: 1000, data: 4000 });
            }
            left.extend(tags(&mut out, &mut pool));
            prop_assert_eq!(left.len(), all.len(), "a packet never leaves");
            let place = |tag: usize| left.iter().position(|each| usize::from(*each) == tag);
            for (later, ((kind, relaxed, source), ..)) in all.iter().enumerate() {
                for (earlier, ((first, _, way), ..)) in all.iter().enumerate().take(later) {
                    let same = kind.class() == first.class();
                    let passes = kind.class() == Class::Completion && *relaxed;
                    let after_posted = first.class() == Class::Posted && !passes;
                    if source == way && (same || after_posted) {
                        prop_assert!(place(earlier) < place(later), "{} passes {}", later, earlier);
                    }
                }
            }
        }
    }

    #[test]
    fn senders_take_turns() {
        let mut pool = Pool::default();
        let mut out = transmitter(3, limited(0, 0));
        for tag in 0..4 {
            put(&mut out, &mut pool, 0, Kind::MemoryWrite, tag);
            put(&mut out, &mut pool, 2, Kind::MemoryWrite, 10 + tag);
        }
        assert_eq!(tags(&mut out, &mut pool), [0, 10, 1, 11, 2, 12, 3, 13]);
    }

    #[test]
    fn what_is_not_acknowledged_is_kept() {
        let mut pool = Pool::default();
        let mut out = Transmitter::new(100);
        out.add_sources(1);
        out.begin(limited(0, 0));
        for tag in 0..2 {
            put(&mut out, &mut pool, 0, Kind::MemoryWrite, tag);
        }
        assert!(matches!(out.next(Cycle::ZERO), Next::Packet(..)));
        assert_eq!(out.sent(76, Cycle::new(10)), 0);
        assert!(matches!(out.next(Cycle::ZERO), Next::Nothing(_)));
        assert_eq!((out.arrived(Cycle::new(9)), out.arrived(Cycle::new(10))), (0, 1));
        out.acknowledge(1);
        assert!(matches!(out.next(Cycle::ZERO), Next::Packet(..)));
    }
}
