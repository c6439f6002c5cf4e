use crate::aer::Fault;
use crate::function::configuration::Configuration;
use crate::function::device_control::TAGS;
use crate::function::{Given, BEAT, NEVER};
use crate::packet::{Header, Id, Kind, Status};
use rackwright_rtl::{MemoryRequest, MemoryResponse, BEAT_BYTES};
use rackwright_time::unit::Cycle;
use std::collections::VecDeque;

/// From the last beat that brings data to the cycle in which the unit sees it.
const RECEIVED: u64 = 2;

/// Time-out of completions in cycles, as in `traffic` (7.5.3.16).
const PATIENCE: u64 = 1 << 17;

/// A beat that a port waits for.
#[derive(Clone, Copy)]
struct Beat {
    /// The earliest time of its request.
    ready: u64,
    address: u64,
    tag: u16,
}

struct Port {
    bytes: usize,
    waiting: VecDeque<Beat>,
}

/// The read of a tag: consecutive beats of a port. Without any it is free.
#[derive(Default)]
struct Slot {
    port: u8,
    address: u64,
    beats: Vec<u16>,
    /// When its request left.
    left: u64,
    received: usize,
    data: Vec<u8>,
}

/// Generates read requests for the unit's ports. Consecutive beats of a port that wait together are combined, up to the
/// maximum read request size.
pub(super) struct Reads {
    ports: Vec<Port>,
    /// The port whose turn is next.
    turn: usize,
    slots: Vec<Slot>,
    /// Free tags, and from when on they are.
    free: VecDeque<(u64, u16)>,
    /// Requests that have left, the oldest first, and their times: the first one is outstanding. Tags that are not used
    /// again.
    awaited: VecDeque<(u64, u16)>,
    retired: usize,
    /// The next request, and the time from which on it is ready; the time from which on there is room for another.
    offer: Option<(u64, u16)>,
    room: u64,
    /// Requests that have left.
    pub(super) packets: u64,
}

impl Reads {
    /// For ports with beats of these sizes.
    pub(super) fn new(widths: &[usize]) -> Reads {
        let port = |bytes: &usize| Port {
            bytes: *bytes,
            waiting: VecDeque::new(),
        };
        Reads {
            ports: widths.iter().map(port).collect(),
            turn: 0,
            slots: (0..TAGS).map(|_| Slot::default()).collect(),
            free: (0..TAGS).map(|tag| (0, tag)).collect(),
            awaited: VecDeque::new(),
            retired: 0,
            offer: None,
            room: 0,
            packets: 0,
        }
    }

    /// The unit requests a beat.
    pub(super) fn ask(&mut self, request: &MemoryRequest) {
        self.ports[usize::from(request.port)].waiting.push_back(Beat {
            ready: request.cycle.0 + 1,
            address: request.address,
            tag: request.tag,
        });
    }

    /// The slot of the next free tag, and the time from which on it is free.
    fn next_tag(&self, configuration: &Configuration) -> Option<(usize, u64)> {
        let most = configuration.allowed().tags();
        let mut free = self.free.iter().enumerate();
        let found = free.find(|(_, (_, tag))| *tag < most);
        found.map(|(place, (from, _))| (place, *from))
    }

    /// Time at which the next request is generated.
    pub(super) fn due(&self, configuration: &Configuration) -> u64 {
        if self.offer.is_some() {
            return NEVER;
        }
        let fronts = self.ports.iter().filter_map(|port| port.waiting.front());
        let first = fronts.map(|beat| beat.ready).min();
        match (first, self.next_tag(configuration)) {
            (Some(ready), Some((_, from))) => ready.max(from).max(self.room),
            _ => NEVER,
        }
    }

    /// Generates a request for waiting beats.
    pub(super) fn make(&mut self, now: u64, configuration: &Configuration) {
        let Some((place, _)) = self.next_tag(configuration) else {
            return;
        };
        let ready = |port: &Port| port.waiting.front().is_some_and(|beat| beat.ready <= now);
        let turns = (0..self.ports.len()).map(|ahead| (self.turn + ahead) % self.ports.len());
        let Some(number) = { turns }.find(|number| ready(&self.ports[*number])) else {
            return;
        };
        let Some((_, tag)) = self.free.remove(place) else {
            return;
        };
        self.turn = (number + 1) % self.ports.len();
        let limit = configuration.allowed().read_request();
        let Port { bytes, waiting } = &mut self.ports[number];
        let slot = &mut self.slots[usize::from(tag)];
        (slot.port, slot.address, slot.received) = (number as u8, waiting[0].address, 0);
        let end = (slot.address / limit + 1) * limit;
        let mut next = slot.address;
        while let Some(beat) = waiting.front() {
            if beat.ready > now || beat.address != next || next >= end {
                break;
            }
            slot.beats.push(beat.tag);
            next += *bytes as u64;
            waiting.pop_front();
        }
        self.offer = Some((now + 1, tag));
    }

    /// The time from which on a request is ready to leave; it needs no data credits.
    pub(super) fn ready(&self) -> (u64, u64) {
        self.offer.map_or((NEVER, 0), |(ready, _)| (ready, 0))
    }

    /// The request leaves. Returns the cycle of its only beat, and its bytes.
    pub(super) fn leave(&mut self, now: u64, id: Id, give: &mut impl FnMut(u64, Given<'_>)) -> (u64, u64) {
        let Some((_, tag)) = self.offer.take() else {
            return (now, 0);
        };
        let slot = &mut self.slots[usize::from(tag)];
        slot.left = now;
        self.awaited.push_back((now, tag));
        let words = slot.beats.len() * self.ports[usize::from(slot.port)].bytes / 4;
        let header = Header::memory(Kind::MemoryRead, id, tag, slot.address, words as u16);
        self.room = now + 1;
        self.packets += 1;
        give(now + 1, Given::Packet(&header, &[]));
        (now, header.bytes() as u64)
    }

    /// A completion arrives, its header in the cycle `now`; `respond` receives the beats that are then complete.
    /// Returns the error in it, if it is none that a request waits for.
    pub(super) fn arrive(
        &mut self,
        now: u64,
        header: &Header,
        data: &[u8],
        mut respond: impl FnMut(&MemoryResponse),
    ) -> Option<Fault> {
        let offered = self.offer.is_some_and(|(_, tag)| tag == header.tag);
        let Some(slot) = self.slots.get_mut(usize::from(header.tag)) else {
            return Some(Fault::UnexpectedCompletion);
        };
        if slot.beats.is_empty() || offered {
            return Some(Fault::UnexpectedCompletion);
        }
        let bytes = self.ports[usize::from(slot.port)].bytes;
        let left = slot.beats.len() * bytes - slot.received;
        let completion = &header.completion;
        let good = completion.status == Status::Successful
            && !data.is_empty()
            && !header.poisoned
            && usize::from(completion.byte_count) == left
            && u64::from(completion.lower_address) == (slot.address + slot.received as u64) & 0x7f
            && data.len() <= left;
        let first = slot.received / bytes;
        if good {
            slot.data.extend(data);
            slot.received += data.len();
        } else {
            slot.received += left;
        }
        for (index, tag) in slot
            .beats
            .iter()
            .enumerate()
            .take(slot.received / bytes)
            .skip(first)
        {
            let (begin, end) = (index * bytes, (index + 1) * bytes);
            let mut response = MemoryResponse {
                due: Cycle::new(now + RECEIVED),
                tag: *tag,
                port: slot.port,
                fault: !good,
                data: [0; BEAT_BYTES],
            };
            if good {
                let before = slot.received - data.len();
                response.data[..bytes].copy_from_slice(&slot.data[begin..end]);
                response.due = Cycle::new(now + (end - before).div_ceil(BEAT as usize) as u64 + RECEIVED);
            }
            respond(&response);
        }
        if slot.received == slot.beats.len() * bytes {
            slot.beats.clear();
            slot.data.clear();
            let last = now + data.len().div_ceil(BEAT as usize) as u64;
            self.free.push_back((last + 1, header.tag));
            self.forget_answered();
        }
        match completion.status {
            _ if header.poisoned => Some(Fault::Poisoned),
            Status::Successful if !good => Some(Fault::UnexpectedCompletion),
            _ => None,
        }
    }

    /// Removes completed requests from the front, so that the oldest one is outstanding.
    fn forget_answered(&mut self) {
        while let Some((left, tag)) = self.awaited.front() {
            let slot = &self.slots[usize::from(*tag)];
            if !slot.beats.is_empty() && slot.left == *left {
                return;
            }
            self.awaited.pop_front();
        }
    }

    /// When the oldest request has waited for too long.
    pub(super) fn times_out(&self) -> u64 {
        self.awaited.front().map_or(NEVER, |(left, _)| left + PATIENCE)
    }

    /// Ends the oldest request in the cycle `now`: its remaining beats are faults. Its tag is not used again, so that a
    /// late completion is an unexpected one.
    pub(super) fn time_out(&mut self, now: u64, mut respond: impl FnMut(&MemoryResponse)) {
        let Some((_, tag)) = self.awaited.pop_front() else {
            return;
        };
        let slot = &mut self.slots[usize::from(tag)];
        let first = slot.received / self.ports[usize::from(slot.port)].bytes;
        for tag in slot.beats.drain(..).skip(first) {
            respond(&MemoryResponse {
                due: Cycle::new(now),
                tag,
                port: slot.port,
                fault: true,
                data: [0; BEAT_BYTES],
            });
        }
        slot.data.clear();
        self.retired += 1;
        self.forget_answered();
    }

    /// Whether no requests wait or are outstanding.
    pub(super) fn is_idle(&self) -> bool {
        self.free.len() + self.retired == usize::from(TAGS)
            && self.ports.iter().all(|port| port.waiting.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::configuration::Identity;
    use rackwright_rtl::RequestKind;

    fn beat(cycle: u64, address: u64, tag: u16) -> MemoryRequest {
        MemoryRequest {
            cycle: Cycle::new(cycle),
            address,
            mask: 0,
            tag,
            port: 0,
            kind: RequestKind::Read,
            data: [0; BEAT_BYTES],
        }
    }

    fn configuration() -> Configuration {
        Configuration::new(Identity {
            numbers: 0,
            windows: [0; 2],
            vectors: 0,
            interrupts: false,
        })
    }

    /// The address and the words of the next request.
    fn leave(reads: &mut Reads, now: u64) -> (u64, u16) {
        let mut left = (0, 0);
        reads.leave(now, Id(0x100), &mut |_, given| {
            if let Given::Packet(header, _) = given {
                left = (header.request.address, header.words);
            }
        });
        left
    }

    #[test]
    fn what_waits_together_is_asked_for_together() {
        let mut reads = Reads::new(&[32]);
        // Reads of at most 512 bytes: the third beat begins such a block, the fifth is elsewhere, the sixth arrives
        // later.
        for (index, address) in [0x11c0, 0x11e0, 0x1200, 0x1220, 0x4000].into_iter().enumerate() {
            reads.ask(&beat(5, address, index as u16));
        }
        reads.ask(&beat(90, 0x4020, 9));
        let mut asked = Vec::new();
        for _ in 0..3 {
            let now = reads.due(&configuration());
            reads.make(now, &configuration());
            assert_eq!(reads.ready(), (now + 1, 0));
            asked.push((now, leave(&mut reads, now + 1)));
        }
        assert_eq!(asked, [(6, (0x11c0, 16)), (8, (0x1200, 16)), (10, (0x4000, 8))]);
        assert_eq!(reads.due(&configuration()), 91);
        assert!(!reads.is_idle());
    }

    #[test]
    fn each_beat_is_answered_when_it_is_whole() {
        let mut reads = Reads::new(&[32]);
        for index in 0..4 {
            reads.ask(&beat(0, 0x1000 + 32 * u64::from(index), 7 - index));
        }
        reads.make(1, &configuration());
        leave(&mut reads, 2);
        let mut header = Header::new(Kind::Completion(true), Id(0x100), 0);
        let mut answers = Vec::new();
        for (now, count, left) in [(100, 64, 128), (200, 64, 64)] {
            header.completion.byte_count = left;
            header.completion.lower_address = (128 - left) as u8;
            let data: Vec<u8> = vec![left as u8; count];
            let fault = reads.arrive(now, &header, &data, |response| {
                answers.push((response.due.0, response.tag, response.data[31], response.fault));
            });
            assert_eq!(fault, None);
        }
        assert_eq!(
            answers,
            [
                (104, 7, 128, false),
                (106, 6, 128, false),
                (204, 5, 64, false),
                (206, 4, 64, false)
            ]
        );
        assert!(reads.is_idle());
        assert_eq!(
            reads.arrive(300, &header, &[0; 64], |_| panic!("nobody waits")),
            Some(Fault::UnexpectedCompletion)
        );
    }

    #[test]
    fn what_does_not_come_is_a_fault_in_the_end() {
        let mut reads = Reads::new(&[32]);
        for (cycle, tag) in [(0, 4), (0, 5), (50, 6)] {
            reads.ask(&beat(cycle, 0x1000 + 0x20 * u64::from(tag), tag));
        }
        for now in [1, 51] {
            reads.make(now, &configuration());
            leave(&mut reads, now + 1);
        }
        assert_eq!(reads.times_out(), 2 + PATIENCE);
        let mut header = Header::new(Kind::Completion(true), Id(0x100), 0);
        header.completion.byte_count = 64;
        assert_eq!(
            reads.arrive(100, &header, &[7; 32], |response| assert_eq!(response.tag, 4)),
            None
        );
        let mut faults = Vec::new();
        reads.time_out(2 + PATIENCE, |response| {
            faults.push((response.tag, response.fault))
        });
        assert_eq!((faults, reads.times_out()), (vec![(5, true)], 52 + PATIENCE));
        header.completion.byte_count = 32;
        assert_eq!(
            reads.arrive(200_000, &header, &[7; 32], |_| panic!("it has been given up")),
            Some(Fault::UnexpectedCompletion)
        );
        (header.tag, header.completion.lower_address) = (1, 0x40);
        assert_eq!(
            reads.arrive(200_000, &header, &[7; 32], |response| assert_eq!(response.tag, 6)),
            None
        );
        assert_eq!(reads.times_out(), NEVER);
        assert!(reads.is_idle());
    }

    #[test]
    fn what_cannot_be_read_is_a_fault_of_each_beat() {
        let mut reads = Reads::new(&[16]);
        reads.ask(&beat(0, 0x1000, 1));
        reads.ask(&beat(0, 0x1010, 2));
        reads.make(1, &configuration());
        leave(&mut reads, 2);
        let request = Header::memory(Kind::MemoryRead, Id(0x100), 0, 0x1000, 8);
        let refused = Header::completing(&request, Id(0), Status::Unsupported);
        let mut faults = Vec::new();
        reads.arrive(50, &refused, &[], |response| {
            faults.push((response.tag, response.fault))
        });
        assert_eq!(faults, [(1, true), (2, true)]);
        assert!(reads.is_idle());
    }

    #[test]
    fn a_completion_that_differs_from_its_request_ends_it_without_data() {
        let changes: [fn(&mut Header, &mut Vec<u8>); 5] = [
            |header, _| header.completion.lower_address = 0x40,
            |header, _| header.completion.byte_count = 96,
            |header, _| header.completion.byte_count = 32,
            |_, data| data.extend([7; 32]),
            |_, data| data.clear(),
        ];
        let mut reads = Reads::new(&[32]);
        for (number, change) in changes.into_iter().enumerate() {
            for tag in [1, 2] {
                reads.ask(&beat(0, 0x1000 + 32 * u64::from(tag), tag));
            }
            reads.make(1, &configuration());
            leave(&mut reads, 2);
            let mut header = Header::new(Kind::Completion(true), Id(0x100), number as u16);
            (header.completion.byte_count, header.completion.lower_address) = (64, 0x20);
            let mut data = vec![7; 64];
            change(&mut header, &mut data);
            let mut faults = Vec::new();
            let error = reads.arrive(50, &header, &data, |response| {
                faults.push((response.tag, response.fault, response.data[0]))
            });
            assert_eq!(error, Some(Fault::UnexpectedCompletion), "{number}");
            assert_eq!(faults, [(1, true, 0), (2, true, 0)], "{number}");
        }
        assert!(reads.is_idle());
    }
}
