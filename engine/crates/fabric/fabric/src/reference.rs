//! Random accesses of harts, of a unit and of two peers, against a memory that does each in the order of its arrival.

use crate::bench::window;
use crate::clocks::nanoseconds;
use crate::codec::decode;
use crate::driver::{Access, Space};
use crate::events::PortId;
use crate::fabric::{Fabric, ROOT};
use crate::host::completions;
use crate::packet::{Header, Id, Kind, Status};
use crate::port::FRAMING;
use crate::rate::Rate;
use crate::transmitter::Waiting;
use rackwright_memory::HierarchyParameters;
use rackwright_registers::traffic;
use rackwright_time::fabric::Cycle;
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};

/// The memory that all of them access.
const ARENA: u64 = 1 << 20;
const ARENA_BYTES: u64 = 1 << 14;
const MEMORY: u64 = 1 << 22;
const ROOT_NS: f64 = 60.0;
const LINK_NS: f64 = 25.0;
/// Captured instants are known to a picosecond, of 1024 cycles.
const PRECISION: u64 = 4096;
/// Cards: one whose packets are drawn, one whose registers are memory, and one that makes DMA.
const DRAWN: usize = 0;
const PEER: usize = 1;
const UNIT: usize = 2;

fn fabric() -> Fabric {
    let credits = json!({"posted": [8, 128], "non_posted": [8, 8], "completion": [0, 0]});
    let model = json!({"hertz": 1_900_000_000_u64, "tags": 32, "read_bytes": 512, "packets": 8});
    let link = |above: &str, below: &str, lanes: u32| json!({"above": above, "below": below, "generation": 3, "lanes": lanes, "delay_ns": LINK_NS, "replay_bytes": 8192});
    let card = |name: &str| json!({"name": name, "model": model});
    let system = json!({
        "root": {"name": "root", "latency_ns": ROOT_NS, "peer_to_peer": true, "completion_bytes": 128, "credits": credits},
        "switches": [{"name": "switch", "latency_ns": 110.0, "credits": credits}],
        "cards": [card("drawn"), card("peer"), card("unit")],
        "links": [link("root", "switch", 8), link("switch", "drawn", 8), link("switch", "peer", 4),
            link("switch", "unit", 16)],
        "payload_bytes": 256,
        "read_request_bytes": 512,
    });
    let system = serde_json::from_value(system).unwrap();
    Fabric::new(system, &[], MEMORY, &HierarchyParameters::server()).unwrap()
}

/// Numbers that look random (Marsaglia 2003, xorshift).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }
}

/// The memory, and the registers of the peer, with what reads of them must bring.
struct Reference {
    memory: Vec<u8>,
    registers: BTreeMap<u64, u64>,
    /// What completions still have to bring, by who has asked, and the tag.
    awaited: BTreeMap<(u16, u16), VecDeque<Vec<u8>>>,
    checked: u64,
}

/// Writes the bytes of a request that it enables.
fn write(place: &mut [u8], header: &Header, data: &[u8]) {
    let last = data.len() / 4 - 1;
    for (byte, value) in data.iter().enumerate() {
        let enables = match byte / 4 {
            0 => header.request.enables & 0xf,
            word if word == last => header.request.enables >> 4,
            _ => 0xf,
        };
        if enables >> (byte % 4) & 1 != 0 {
            place[byte] = *value;
        }
    }
}

impl Reference {
    fn store(&mut self, address: u64, value: u64) {
        let at = (address - ARENA) as usize;
        self.memory[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// A request has arrived at the root complex.
    fn at_root(&mut self, header: &Header, data: &[u8]) {
        let at = (header.request.address - ARENA) as usize;
        if header.kind == Kind::MemoryWrite {
            write(&mut self.memory[at..at + data.len()], header, data);
            return;
        }
        let parts = completions(header, ROOT, 128).map(|(_, range)| {
            self.memory[(range.start - ARENA) as usize..(range.end - ARENA) as usize].to_vec()
        });
        let before = self
            .awaited
            .insert((header.requester.0, header.tag), parts.collect());
        assert!(
            before.is_none_or(|before| before.is_empty()),
            "a tag is used twice"
        );
    }

    /// A request has left for the registers of the peer.
    fn at_peer(&mut self, header: &Header, data: &[u8]) {
        let register = self.registers.get_mut(&header.request.address).unwrap();
        if header.kind == Kind::MemoryWrite {
            *register = u64::from_le_bytes(data.try_into().unwrap());
            return;
        }
        let value = register.to_le_bytes().to_vec();
        self.awaited
            .insert((header.requester.0, header.tag), VecDeque::from([value]));
    }

    /// A completion has left towards who has asked.
    fn completed(&mut self, header: &Header, data: &[u8]) {
        assert_eq!(header.completion.status, Status::Successful);
        let awaited = self.awaited.get_mut(&(header.requester.0, header.tag)).unwrap();
        let expected = awaited.pop_front().expect("a completion is too many");
        assert_eq!(data, expected, "{} tag {}", header.requester, header.tag);
        self.checked += 1;
    }
}

/// A test under way: the fabric, and where its parts are.
struct Play {
    fabric: Fabric,
    draws: Draws,
    reference: Reference,
    unit_registers: u64,
    /// From the switch to the root complex, from that to the switch, and from the switch to the peer and back.
    up: PortId,
    down: PortId,
    to_peer: PortId,
    from_peer: PortId,
    drawn: (PortId, Id),
    tag: u16,
    /// Requests on their way to the root complex, and when they arrive; and the last arrival before these.
    coming: VecDeque<(Cycle, Header, Vec<u8>)>,
    last: Cycle,
}

impl Play {
    fn begin(seed: u64) -> Play {
        let mut fabric = fabric();
        let mut found = fabric.enumerate().unwrap();
        found.sort_by_key(|found| found.card);
        let registers = [traffic::BASE, traffic::MASK, traffic::SEED];
        let peer = window(&found[PEER], 0, "peer").unwrap();
        let down = fabric.ports.of_root[0];
        let to_peer = fabric.ports.of_switches[0][PEER + 1];
        fabric.capture();
        Play {
            unit_registers: window(&found[UNIT], 0, "unit").unwrap(),
            up: fabric.ports.all[down.index()].other,
            from_peer: fabric.ports.all[to_peer.index()].other,
            drawn: (fabric.ports.of_cards[DRAWN], found[DRAWN].id),
            down,
            to_peer,
            draws: Draws(seed),
            reference: Reference {
                memory: vec![0; ARENA_BYTES as usize],
                registers: registers
                    .map(|register| (register.within(peer), 0))
                    .into_iter()
                    .collect(),
                awaited: BTreeMap::new(),
                checked: 0,
            },
            tag: 0,
            coming: VecDeque::new(),
            last: Cycle::ZERO,
            fabric,
        }
    }

    /// A packet of the card whose packets are drawn leaves as soon as it can.
    fn offer(&mut self, header: Header, data: &[u8]) {
        let (port, fabric) = (self.drawn.0, &mut self.fabric);
        let id = fabric.pool.take(header);
        fabric.pool.get(id).data.extend(data);
        let waiting = Waiting::new(id, &header, fabric.now, None);
        fabric.offer(port, 0, waiting, header.kind.class());
    }

    fn draw_bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..count.div_ceil(8))
            .flat_map(|_| self.draws.next().to_le_bytes())
            .collect();
        bytes.truncate(count);
        bytes
    }

    fn draw_register(&mut self) -> u64 {
        let which = self.draws.below(self.reference.registers.len() as u64) as usize;
        *self.reference.registers.keys().nth(which).unwrap()
    }

    /// A read or a write of memory or of the peer by the drawn card.
    fn access(&mut self) {
        let writes = self.draws.below(2) == 0;
        let kind = if writes {
            Kind::MemoryWrite
        } else {
            Kind::MemoryRead
        };
        self.tag = (self.tag + 1) % 256;
        let header = if self.draws.below(4) == 0 {
            let address = self.draw_register();
            Header::memory(kind, self.drawn.1, self.tag, address, 2)
        } else {
            let words = 1 + self.draws.below(if writes { 64 } else { 128 });
            let room = ARENA_BYTES / 4 - words;
            let address = ARENA + 4 * self.draws.below(room + 1);
            let words = words.min((4096 - address % 4096) / 4);
            let mut header = Header::memory(kind, self.drawn.1, self.tag, address, words as u16);
            let ends: [u8; 8] = [0xf, 0xe, 0xc, 0x8, 0x7, 0x3, 0x1, 0xf];
            let (first, last) = (self.draws.below(4) as usize, 4 + self.draws.below(4) as usize);
            header.request.enables = if words == 1 {
                ends[first]
            } else {
                ends[first] | ends[last] << 4
            };
            header
        };
        let data = self.draw_bytes(4 * header.payload_words());
        self.offer(header, &data);
    }

    /// The unit reads or writes a part of memory, if its last run has ended.
    fn run_unit(&mut self) {
        let registers = self.unit_registers;
        let busy = self.fabric.read_register(traffic::START.within(registers));
        if busy.unwrap().data != 0 {
            return;
        }
        let size = 16 << self.draws.below(6);
        let settings = [
            (traffic::BASE, ARENA),
            (traffic::SIZE, size),
            (traffic::STRIDE, size),
            (traffic::MASK, ARENA_BYTES - 1),
            (traffic::COUNT, 1 + self.draws.below(40)),
            (traffic::OUTSTANDING, 1 + self.draws.below(16)),
            (traffic::SEED, self.draws.next()),
            (traffic::START, self.draws.below(2)),
        ];
        for (register, value) in settings {
            self.fabric
                .write_register(register.within(registers), value)
                .unwrap();
        }
    }

    /// A hart stores to memory at once, or accesses a register of the peer through the fabric.
    fn run_hart(&mut self) {
        let value = self.draws.next();
        match self.draws.below(3) {
            0 => self.store(value),
            write => {
                let access = Access {
                    space: Space::Window,
                    address: self.draw_register(),
                    bytes: 8,
                };
                self.fabric.access(access, (write == 1).then_some(value)).unwrap();
            }
        }
    }

    /// A hart stores to memory, unless a request arrives so soon before or after that the order is not known.
    fn store(&mut self, value: u64) {
        self.check();
        let now = self.fabric.now;
        self.arrive(now);
        let next = self.coming.front().map_or(Cycle::NEVER, |(at, ..)| *at);
        if [self.last, next]
            .iter()
            .any(|at| at.0.abs_diff(now.0) <= PRECISION)
        {
            return;
        }
        let address = ARENA + 8 * self.draws.below(ARENA_BYTES / 8);
        let memory = &mut self.fabric.host.memory;
        memory.write(address, &value.to_le_bytes()).unwrap();
        self.reference.store(address, value);
    }

    /// Requests arrive at the root complex until `until`.
    fn arrive(&mut self, until: Cycle) {
        while self.coming.front().is_some_and(|(at, ..)| *at <= until) {
            let (at, header, data) = self.coming.pop_front().unwrap();
            self.reference.at_root(&header, &data);
            self.last = at;
        }
    }

    /// Passes what has crossed the links to the reference.
    fn check(&mut self) {
        let rate = Rate::new(3, 8).unwrap();
        for packet in self.fabric.take_captured() {
            let header = decode(&packet.bytes).unwrap();
            let data = &packet.bytes[4 * header.header_words()..];
            let (port, at) = (PortId(packet.port), Cycle::new(packet.picosecond * 1024));
            let completes = header.kind == Kind::Completion(true);
            if port == self.up && header.kind.is_memory() {
                let bytes = packet.bytes.len() as u64 + FRAMING;
                let arrives = at + rate.bytes(bytes) + nanoseconds(LINK_NS + ROOT_NS);
                self.coming.push_back((arrives, header, data.to_vec()));
            } else if port == self.to_peer && header.kind.is_memory() {
                self.reference.at_peer(&header, data);
            } else if completes && (port == self.down || port == self.from_peer) {
                self.arrive(at);
                self.reference.completed(&header, data);
            }
        }
    }
}

/// Makes so many accesses of each kind, and compares what they bring and leave.
fn play(seed: u64, rounds: u32) -> u64 {
    let mut play = Play::begin(seed);
    for round in 0..rounds {
        for _ in 0..1 + play.draws.below(8) {
            play.access();
        }
        match play.draws.below(8) {
            0 => play.run_unit(),
            1..4 => play.run_hart(),
            _ => {}
        }
        let until = play.fabric.now + nanoseconds(play.draws.below(400) as f64);
        play.fabric.run_until(until).unwrap();
        // So seldom that packets meet, and so often that no tag is used twice.
        if round % 16 == 15 {
            let fabric = &mut play.fabric;
            assert!(fabric.run(fabric.deadline(), Fabric::is_quiet).unwrap());
            play.check();
            play.arrive(Cycle::NEVER);
            assert!(play.reference.awaited.values().all(VecDeque::is_empty));
        }
    }
    let mut memory = vec![0; ARENA_BYTES as usize];
    play.fabric.host.memory.read(ARENA, &mut memory).unwrap();
    assert!(memory == play.reference.memory, "memory differs");
    // The drawn card makes requests of which its own model knows nothing.
    let expected = [
        "unit.issued",
        "unit.done",
        "drawn.unsupported_requests",
        "drawn.unexpected_completions",
    ];
    for (name, count) in play.fabric.counters().iter() {
        assert!(count == 0 || expected.contains(&name), "{name} {count}");
    }
    play.reference.checked
}

#[test]
fn random_accesses_agree_with_a_reference_memory() {
    assert!(play(0x9e37_79b9_7f4a_7c15, 4096) > 8000);
}

#[test]
#[ignore = "a million accesses, which take a minute"]
fn a_million_random_accesses_agree_with_a_reference_memory() {
    let checked: u64 = (1..=8).map(|seed| play(seed, 48 * 1024)).sum();
    assert!(checked > 500_000, "{checked}");
}
