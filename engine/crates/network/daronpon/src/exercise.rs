use crate::{DaronponError, Datapath, Model, Unit};
use rackwright_dispatch::wire::{Header, Key, Kind, Origin};
use rackwright_dispatch::{
    Configuration, Counters, Entry, Load, LoadDelta, PeerId, PeerSpec, Policy, ReplicaId, ReplicaSpec,
    Report, ServiceId, ServiceSpec, Times,
};
use rackwright_ethernet::{Datagram, Ecn, Endpoint, Ipv4, Mac, Message, Place, Rack};
use rackwright_rtl::Design;
use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;

const KEY: [u8; 16] = *b"sixteen of bytes";
const SERVICES: u16 = 3;
const PEERS: u16 = 3;
/// A number that no service here has.
const UNKNOWN: u16 = 99;

/// Maximum number of frames in a burst of an exercise.
const BURST: usize = 12;

/// The results of an exercise.
#[derive(Clone, Copy, Debug)]
pub struct Exercise {
    /// Input frames, including ticks.
    pub frames: usize,
    /// Frames that left, the same from both.
    pub sent: usize,
    /// The decisions of both.
    pub counters: Counters,
    /// Frames that both have dropped before a decision.
    pub dropped: crate::Dropped,
}

/// Passes the same frames to the unit and the model, which follow from `seed` and from their outputs: requests, most of
/// their responses, reports, ticks, and frames that are damaged, forged, truncated or for others. Half of them arrive
/// separately, the others back to back in bursts of up to [`BURST`].
///
/// # Errors
/// [`DaronponError`] when there is no such unit, and a text that names the first frame after which they differ.
pub fn exercise(
    design: &Design,
    seed: u64,
    frames: usize,
) -> Result<Result<Exercise, String>, DaronponError> {
    let mut random = Random(Pcg64::new(seed.into(), 14));
    let flights = design
        .manifest
        .parameters
        .get("flights")
        .and_then(|value| value.as_u64());
    let rack = rack(&mut random, flights.unwrap_or(0) as usize);
    let mut model = Model::new(&rack, &KEY)?;
    let mut unit = Unit::new(design, &rack, &KEY)?;
    let mut traffic = Traffic::new(random, rack);
    let mut sent = 0;
    let mut index = 0;
    while index < frames {
        let size = match traffic.random.one_in(2) {
            true => 1,
            false => 1 + traffic.random.below(BURST.min(frames - index)),
        };
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        let burst: Vec<(u64, Vec<u8>)> = (0..size)
            .map(|_| {
                let frame = traffic.next(model.next_timer());
                let before = expected.len();
                model.frame(traffic.now, &frame, &mut expected);
                traffic.learn(expected[before..].to_vec());
                (traffic.now, frame)
            })
            .collect();
        unit.burst(&burst, &mut found)?;
        if let Some(difference) = differ(&model, &unit, &expected, &found) {
            let frames = burst
                .iter()
                .map(|(now, frame)| format!("{now} ns {}", hex(frame)));
            let frames = frames.collect::<Vec<_>>().join(", ");
            return Ok(Err(format!("frames {index} and after, {frames}: {difference}")));
        }
        sent += expected.len();
        index += size;
    }
    Ok(Ok(Exercise {
        frames,
        sent,
        counters: model.counters(),
        dropped: model.dropped(),
    }))
}

/// Cycles for each frame of 64 bytes of back-to-back frames: alternating requests, all of which are served, and their
/// responses.
///
/// # Errors
/// [`DaronponError`] when there is no such unit.
pub fn pace(design: &Design, frames: usize) -> Result<f64, DaronponError> {
    const REPLICAS: u16 = 4;
    let flights = design
        .manifest
        .parameters
        .get("flights")
        .and_then(|value| value.as_u64());
    let replicas = (0..REPLICAS).map(|id| ReplicaSpec {
        id: ReplicaId(id),
        cores: 4,
    });
    let service = ServiceSpec {
        id: ServiceId(1),
        replicas: replicas.collect(),
        sticky: false,
    };
    let configuration = Configuration {
        tracked: flights.unwrap_or(0) as usize,
        ..Configuration::new(PeerId(0), vec![service], Vec::new())
    };
    let rack = Rack {
        configuration,
        replicas: (0..REPLICAS)
            .map(|id| (ReplicaId(id), place(0x100 + u32::from(id))))
            .collect(),
        peers: Default::default(),
    };
    let mut unit = Unit::new(design, &rack, &KEY)?;
    let (client, replica) = (place(0x400), place(0x100));
    let frame = |index: usize| {
        let (kind, from, to) = match index % 2 {
            0 => (Kind::Request, client, replica),
            _ => (Kind::Response, replica, client),
        };
        let message = Message {
            kind,
            service: ServiceId(1),
            argument: 0,
            number: index as u64 / 2,
        };
        let datagram = Datagram {
            destination: to.mac,
            source: from.mac,
            from: from.endpoint,
            to: to.endpoint,
            payload: 22,
            ecn: Ecn::NotCapable,
            message,
        };
        datagram.to_bytes()
    };
    let all: Vec<Vec<u8>> = (0..frames).map(frame).collect();
    Ok(unit.back_to_back(&all)? as f64 / frames as f64)
}

fn differ(model: &Model, unit: &Unit, expected: &[Vec<u8>], found: &[Vec<u8>]) -> Option<String> {
    if expected != found {
        let texts = [expected, found].map(|frames| frames.iter().map(|frame| hex(frame)).collect::<Vec<_>>());
        return Some(format!("the model sends {:?}, the unit {:?}", texts[0], texts[1]));
    }
    let (theirs, own) = (model.counters(), unit.counters());
    if theirs != own {
        let mut names = theirs.named().zip(own.named()).filter(|(a, b)| a != b);
        return names
            .next()
            .map(|((name, a), (_, b))| format!("the model counts {a} {name}, the unit {b}"));
    }
    if model.dropped() != unit.dropped() {
        return Some(format!(
            "the model drops {:?}, the unit {:?}",
            model.dropped(),
            unit.dropped()
        ));
    }
    let (theirs, own) = (model.next_timer(), unit.next_timer());
    (theirs != own).then(|| format!("the model wants a tick at {theirs}, the unit at {own}"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

struct Random(Pcg64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit as u64) as usize
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}

fn place(number: u32) -> Place {
    Place {
        mac: Mac::assigned(number),
        endpoint: Endpoint {
            address: Ipv4::new(172, 16, (number >> 8) as u8, number as u8),
            port: 11211,
        },
    }
}

/// A rack with a policy and numbers of its own.
fn rack(random: &mut Random, tracked: usize) -> Rack {
    let policies = [
        Policy::DARONPON,
        Policy::DARONPON,
        Policy::Daronpon {
            gossip: true,
            piggyback: false,
        },
        Policy::ShortestQueue,
        Policy::RackLocal,
    ];
    let mut replicas = 0..;
    let mut service = |id: u16, random: &mut Random| ServiceSpec {
        id: ServiceId(id * 7 + 1),
        sticky: false,
        replicas: (0..random.below(5))
            .map(|_| ReplicaSpec {
                id: ReplicaId(replicas.next().expect("without end")),
                cores: 1 + random.below(5) as u16,
            })
            .collect(),
    };
    let services: Vec<ServiceSpec> = (0..SERVICES).map(|id| service(id, random)).collect();
    let shared = |random: &mut Random| {
        let mut all: Vec<ServiceId> = services.iter().map(|service| service.id).collect();
        all.retain(|_| !random.one_in(3));
        match all.is_empty() {
            true => vec![services[0].id],
            false => all,
        }
    };
    let own = random.below(5) as u16;
    let numbers = (0..=PEERS).filter(|id| *id != own).take(usize::from(PEERS));
    let peers: Vec<PeerSpec> = numbers
        .map(|id| PeerSpec {
            id: PeerId(id),
            services: shared(random),
        })
        .collect();
    let count = replicas.next().expect("without end");
    Rack {
        replicas: (0..count)
            .map(|id| (ReplicaId(id), place(0x100 + u32::from(id))))
            .collect(),
        peers: peers
            .iter()
            .map(|peer| (peer.id, place(0x200 + u32::from(peer.id.0))))
            .collect(),
        configuration: Configuration {
            policy: policies[random.below(policies.len())],
            gossip_floor: random.below(5) as u32,
            average_shift: random.below(10) as u32,
            max_redirects: random.below(3) as u8,
            load_delta: match random.one_in(2) {
                true => LoadDelta::Adaptive,
                false => LoadDelta::Fixed(random.below(3) as f64 / 2.0),
            },
            times: Times {
                expiry_ns: 40_000,
                truth_interval_ns: 9_000,
                peer_timeout_ns: 25_000,
                probe_interval_ns: 5_000,
            },
            incarnation: random.below(3) as u32,
            tracked,
            ..Configuration::new(PeerId(own), services.clone(), peers.clone())
        },
    }
}

/// Who sends what.
struct Traffic {
    random: Random,
    rack: Rack,
    key: Key,
    stranger: Key,
    now: u64,
    number: u64,
    sequence: u32,
    /// Requests that replicas have.
    asked: Vec<Vec<u8>>,
    /// A replica that does not respond for a while.
    dead: Option<Mac>,
    /// Earlier frames: they may be repeated.
    before: Vec<u8>,
}

impl Traffic {
    fn new(random: Random, rack: Rack) -> Traffic {
        Traffic {
            random,
            rack,
            key: Key::new(&KEY),
            stranger: Key::new(b"another's secret"),
            now: 0,
            number: 0,
            sequence: 0,
            asked: Vec::new(),
            dead: None,
            before: Vec::new(),
        }
    }

    /// The next frame; empty for a tick, which is sent when the model requests one.
    fn next(&mut self, timer: u64) -> Vec<u8> {
        let passes = self.random.below(200) as u64;
        if timer <= self.now + passes && !self.random.one_in(9) {
            self.now = self.now.max(timer);
            return Vec::new();
        }
        // Clocks may jump.
        self.now += if self.random.one_in(500) { 300_000 } else { passes };
        if self.random.one_in(300) {
            let dead = self.random.below(8) as u32;
            self.dead = Some(Mac::assigned(0x100 + dead));
        }
        let frame = match self.random.below(20) {
            0..=7 => self.request(),
            8..=13 => self.answer(),
            14..=15 => self.redirected(),
            16 => self.gossip(),
            17 => self.before.clone(),
            18 => self.noise(),
            _ => self.damaged(),
        };
        self.before.clone_from(&frame);
        frame
    }

    /// Processes outputs.
    fn learn(&mut self, sent: Vec<Vec<u8>>) {
        let asks = |frame: &Vec<u8>| frame.len() > 45 && matches!(frame[45], 0 | 4) && frame[4] == 1;
        self.asked.extend(sent.into_iter().filter(asks));
        if self.asked.len() > 200 {
            self.asked.drain(..100);
        }
    }

    fn service(&mut self) -> ServiceId {
        match self.random.one_in(20) {
            true => ServiceId(UNKNOWN),
            false => self.rack.configuration.services[self.random.below(usize::from(SERVICES))].id,
        }
    }

    /// A request by its header and addresses, to a node in this rack or, rarely, elsewhere.
    fn datagram(&mut self, kind: Kind, rest: usize) -> Datagram {
        let replicas = self.rack.replicas.len().max(1);
        let to = match self.random.one_in(15) {
            true => 0x300,
            false => 0x100 + self.random.below(replicas) as u32,
        };
        let from = place(0x400 + self.random.below(6) as u32);
        let to = place(to);
        self.number += 1;
        Datagram {
            destination: to.mac,
            source: from.mac,
            from: from.endpoint,
            to: to.endpoint,
            payload: (16 + rest) as u16,
            ecn: if self.random.one_in(3) {
                Ecn::Capable
            } else {
                Ecn::NotCapable
            },
            message: Message {
                kind,
                service: self.service(),
                argument: self.random.below(1000) as u16,
                number: match self.random.one_in(20) {
                    true => self.number / 2,
                    false => self.number << self.random.below(40),
                },
            },
        }
    }

    fn rest(&mut self) -> Vec<u8> {
        let longest = if self.random.one_in(30) { 1400 } else { 40 };
        let length = if self.random.one_in(2) {
            0
        } else {
            self.random.below(longest)
        };
        (0..length).map(|_| self.random.below(256) as u8).collect()
    }

    fn request(&mut self) -> Vec<u8> {
        let rest = self.rest();
        let datagram = self.datagram(Kind::Request, rest.len());
        let mut frame = datagram.with_payload(&[&datagram.message.to_bytes()[..], &rest].concat());
        if self.random.one_in(5) {
            // Padding, as of short frames on a wire.
            frame.resize(frame.len().max(60), 0);
        }
        if self.random.one_in(10) {
            frame[40..42].fill(0);
        }
        frame
    }

    /// The answer of a replica, or its sign of life.
    fn answer(&mut self) -> Vec<u8> {
        if self.asked.is_empty() {
            return Vec::new();
        }
        let asked = self.asked.swap_remove(self.random.below(self.asked.len()));
        let Ok(request) = Datagram::parse(&asked) else {
            return Vec::new();
        };
        if Some(request.destination) == self.dead && !self.random.one_in(40) {
            return Vec::new();
        }
        let kind = match request.message.kind {
            Kind::Probe => Kind::Alive,
            _ => Kind::Response,
        };
        let answer = Datagram {
            destination: request.source,
            source: request.destination,
            from: request.to,
            to: request.from,
            message: Message {
                kind,
                ..request.message
            },
            ..request
        };
        answer.to_bytes()
    }

    fn report(&mut self) -> Report {
        self.sequence += 1;
        let peers = &self.rack.configuration.peers;
        let peer = &peers[self.random.below(peers.len())];
        let (from, services) = (peer.id, peer.services.clone());
        let entry = |service: ServiceId, random: &mut Random| Entry {
            service,
            cores: if random.one_in(10) {
                random.below(4) as u16
            } else {
                3
            },
            load: Load(random.below(3000) as u32),
        };
        let mut entries: Vec<Entry> = services
            .into_iter()
            .map(|id| entry(id, &mut self.random))
            .collect();
        if self.random.one_in(20) {
            entries.resize_with(self.random.below(17), || {
                entry(ServiceId(UNKNOWN), &mut self.random)
            });
        }
        Report {
            from: if self.random.one_in(20) { PeerId(77) } else { from },
            incarnation: 0,
            sequence: match self.random.one_in(20) {
                true => self.sequence - 1,
                false => self.sequence,
            },
            entries: entries.into_iter().collect(),
        }
    }

    fn sealed_by(&mut self) -> Key {
        match self.random.one_in(10) {
            true => self.stranger.clone(),
            false => self.key.clone(),
        }
    }

    fn redirected(&mut self) -> Vec<u8> {
        let (report, key, rest) = (self.report(), self.sealed_by(), self.rest());
        let datagram = self.datagram(Kind::Redirected, 0);
        let header = Header { ..datagram.message };
        let origin = Origin {
            address: datagram.from.address.octets(),
            port: datagram.from.port + u16::from(self.random.one_in(30)),
            hops: 1 + self.random.below(2) as u8,
        };
        let mut message = Vec::new();
        key.write_redirected(header, origin, &report, &mut message);
        message.extend_from_slice(&rest);
        Datagram {
            payload: message.len() as u16,
            ..datagram
        }
        .with_payload(&message)
    }

    fn gossip(&mut self) -> Vec<u8> {
        let (report, key) = (self.report(), self.sealed_by());
        let datagram = self.datagram(Kind::Gossip, 0);
        let mut message = Vec::new();
        key.write_gossip(&report, &mut message);
        Datagram {
            payload: message.len() as u16,
            ..datagram
        }
        .with_payload(&message)
    }

    fn noise(&mut self) -> Vec<u8> {
        let longest = if self.random.one_in(50) { 9700 } else { 90 };
        let mut frame: Vec<u8> = (0..=self.random.below(longest))
            .map(|_| self.random.below(256) as u8)
            .collect();
        if self.random.one_in(20) {
            // A request for a node in this rack that is too long for any frame.
            let request = self.request();
            frame.splice(..0, request);
            frame.resize(9000 + self.random.below(800), 1);
        }
        frame
    }

    /// A valid frame that is truncated, has a wrong byte, or an additional one.
    fn damaged(&mut self) -> Vec<u8> {
        let mut frame = match self.random.below(4) {
            0 => self.request(),
            1 => self.answer(),
            2 => self.redirected(),
            _ => self.gossip(),
        };
        if frame.is_empty() {
            return frame;
        }
        match self.random.below(3) {
            0 => frame.truncate(1 + self.random.below(frame.len())),
            1 => {
                let at = self.random.below(frame.len().min(130));
                frame[at] ^= 1 << self.random.below(8);
            }
            _ => {
                let at = 12 + self.random.below(40).min(frame.len().saturating_sub(13));
                let at = at.min(frame.len() - 1);
                frame[at] = self.random.below(256) as u8;
            }
        }
        frame
    }
}
