use crate::class::Class;
use crate::clocks::Edges;
use crate::codec::{header_of, words_of, Malformed};
use crate::credits::{packed, resumed, unpacked, Amount, Credits};
use crate::error::FabricError;
use crate::packet::{Header, Kind};
use crate::parts::{Part, Parts};
use crate::pool::Packet;
use crate::stamps::Stamps;
use crate::written::Written;
use rackwright_rtl::{Broken, Design, Direction, Instance, StreamFlit};
use rackwright_time::{fabric, unit, Clock};
use std::collections::VecDeque;

/// Bytes of a beat of packets, of which a header takes a whole one, and of a flit of the host that runs the RTL.
const BEAT: usize = 16;
const FLIT: usize = 8;
/// How long after its reset a card may take to advertise its credits.
const FIRST_CYCLES: unit::Cycle = unit::Cycle::new(64);

/// The first byte of completions, and its bit for data.
const COMPLETION: u8 = 0x0a;
const DATA: u8 = 0x40;

/// Something that a card gives out, and when.
pub(crate) enum Output {
    /// A packet, whose header and payload are in the card until the next one.
    ///
    /// A completion goes on with where its request has spent its time.
    Packet(fabric::Cycle, Parts),
    /// So much room is free again.
    Freed(fabric::Cycle, Class, Amount),
}

/// A card: a function in RTL on a clock of its own.
pub(crate) struct Card {
    pub(crate) name: String,
    instance: Instance,
    edges: Edges,
    streams: Streams,
    /// The bytes of the packet that is leaving.
    leaving: Vec<u8>,
    /// Where the requests of others have spent their time that it has not completed, in order.
    asked: VecDeque<Parts>,
    /// What it has advertised so far.
    given: Credits,
    pub(crate) idle: bool,
    pub(crate) stamps: Stamps,
    /// Where the requests that have been answered have spent their time, without the card; and how many they are.
    pub(crate) spent: Parts,
    pub(crate) answered: u64,
    /// What others have written into its windows.
    pub(crate) written: Written,
    /// Packets that it has made wrong.
    pub(crate) malformed: u64,
}

/// Numbers of the stream ports.
struct Streams {
    packets_in: u8,
    packets_out: u8,
    credits_in: u8,
    credits_out: u8,
    stamps: u8,
}

impl Streams {
    fn of(design: &Design) -> Result<Streams, FabricError> {
        let find = |stream: &'static str, direction: Direction| {
            let mut ports = design.manifest.stream_ports();
            let place = ports.position(|port| port == (stream, direction));
            place
                .map(|place| place as u8)
                .ok_or_else(|| FabricError::NoFunction {
                    unit: design.manifest.unit.clone(),
                    stream,
                })
        };
        Ok(Streams {
            packets_in: find("packets_in", Direction::In)?,
            packets_out: find("packets_out", Direction::Out)?,
            credits_in: find("credits_in", Direction::In)?,
            credits_out: find("credits_out", Direction::Out)?,
            stamps: find("stamps", Direction::Out)?,
        })
    }
}

impl Card {
    /// One that has just left reset, and has said how much room it has.
    ///
    /// # Errors
    /// [`FabricError`] when the design is no function.
    pub(crate) fn new(name: &str, design: &Design) -> Result<Card, FabricError> {
        let hertz = design.manifest.clock.hertz;
        let clock = Clock::new(hertz).map_err(|error| FabricError::Description(error.to_string()))?;
        let mut card = Card {
            name: name.to_string(),
            streams: Streams::of(design)?,
            instance: Instance::new(design, None)?,
            edges: Edges::of(clock),
            leaving: Vec::new(),
            asked: VecDeque::new(),
            given: Credits::default(),
            idle: false,
            stamps: Stamps::default(),
            spent: Parts::default(),
            answered: 0,
            written: Written::default(),
            malformed: 0,
        };
        card.learn_credits()?;
        Ok(card)
    }

    fn learn_credits(&mut self) -> Result<(), FabricError> {
        let mut told = [false; 3];
        let (port, given) = (self.streams.credits_out, &mut self.given);
        for flit in self.instance.step(FIRST_CYCLES).flits {
            let bytes = (flit.data as u32).to_le_bytes();
            if let (true, Some((true, class, limit))) = (flit.port == port, unpacked(bytes)) {
                given[class] = limit;
                told[class.index()] = true;
            }
        }
        if told == [true; 3] {
            return Ok(());
        }
        Err(FabricError::NoCredits {
            card: self.name.clone(),
        })
    }

    /// The room that it advertises.
    pub(crate) fn credits(&self) -> Credits {
        self.given
    }

    /// How long its cycles last.
    pub(crate) fn edges(&self) -> Edges {
        self.edges
    }

    /// When the first cycle begins that it has not simulated.
    pub(crate) fn reached(&self) -> fabric::Cycle {
        self.edges.instant(self.instance.cycle())
    }

    /// What its events have added up to.
    pub(crate) fn events(&self) -> Vec<(String, u64)> {
        let names = self.instance.design().manifest.events();
        let sum = |(index, name): (usize, &str)| (name.to_string(), self.instance.event(index));
        names.enumerate().map(sum).collect()
    }

    /// Has the limit of a class be known to it from `at` on.
    pub(crate) fn grant(&mut self, at: fabric::Cycle, initial: bool, class: Class, limit: Amount) {
        let data = u64::from(u32::from_le_bytes(packed(initial, class, limit)));
        self.offer(at, self.streams.credits_in, data, 0xf, true);
    }

    /// Has a packet come in at `at`: its header in a beat of its own, then its payload.
    pub(crate) fn arrive(&mut self, at: fabric::Cycle, packet: &Packet) {
        let mut beat = [0; BEAT];
        for (bytes, word) in beat.chunks_exact_mut(4).zip(words_of(&packet.header)) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        let port = self.streams.packets_in;
        let flits = packet.data.len().div_ceil(FLIT);
        for (index, bytes) in beat.chunks_exact(FLIT).enumerate() {
            let last = flits == 0 && index == 1;
            self.offer(at, port, word_of(bytes), u8::MAX, last);
        }
        for (index, bytes) in packet.data.chunks(FLIT).enumerate() {
            let keep = ((1_u32 << bytes.len()) - 1) as u8;
            self.offer(at, port, word_of(bytes), keep, index + 1 == flits);
        }
        if packet.header.kind == Kind::MemoryWrite {
            self.written.add(at, packet.data.len());
        }
        if packet.header.kind.class() == Class::NonPosted {
            self.asked.push_back(packet.parts);
        }
        let completion = packet.header.completion;
        if packet.header.kind.class() == Class::Completion
            && usize::from(completion.byte_count) <= 4 * packet.header.payload_words()
        {
            self.spent.add_all(&packet.parts);
            self.answered += 1;
        }
    }

    fn offer(&mut self, at: fabric::Cycle, port: u8, data: u64, keep: u8, last: bool) {
        let cycle: unit::Cycle = self.edges.seen(at);
        assert!(
            cycle >= self.instance.cycle(),
            "a card has run past what reaches it"
        );
        self.instance.flit(StreamFlit {
            cycle: cycle.0,
            data,
            port,
            keep,
            last: u8::from(last),
        });
        self.idle = false;
    }

    /// Advances to the first cycle that begins at `until` or later. `give` gets what it gives out, with the bytes of packets,
    /// their header in a beat.
    ///
    /// # Errors
    /// [`FabricError::Stopped`] when an assertion of it fails.
    pub(crate) fn advance(
        &mut self,
        until: fabric::Cycle,
        mut give: impl FnMut(Output, &[u8]),
    ) -> Result<(), FabricError> {
        let end: unit::Cycle = self.edges.seen(until);
        while self.instance.cycle() < end {
            let step = self.instance.step(end);
            self.idle = step.idle;
            if let Some(broken) = step.broken {
                return Err(stopped(&self.name, broken));
            }
            for flit in step.flits {
                // What a cycle gives out is there when it ends.
                let at = self.edges.instant(unit::Cycle::new(flit.cycle + 1));
                if flit.port == self.streams.packets_out {
                    let count = flit.keep.trailing_ones() as usize;
                    self.leaving.extend(&flit.data.to_le_bytes()[..count]);
                    if flit.last != 0 {
                        let completes = self.leaving[0] & !DATA == COMPLETION;
                        let asked = completes.then(|| self.asked.pop_front()).flatten();
                        give(Output::Packet(at, asked.unwrap_or_default()), &self.leaving);
                        self.leaving.clear();
                    }
                } else if flit.port == self.streams.credits_out {
                    if let Some((false, class, told)) = unpacked((flit.data as u32).to_le_bytes()) {
                        let freed = freed(&mut self.given[class], told);
                        give(Output::Freed(at, class, freed), &[]);
                    }
                } else if flit.port == self.streams.stamps {
                    self.stamps.add(flit.data);
                }
            }
        }
        Ok(())
    }
}

/// What has become free since `given` was advertised, of which `told` are the last bits.
fn freed(given: &mut Amount, told: Amount) -> Amount {
    let before = *given;
    given.headers = resumed(before.headers, told.headers, 256);
    given.data = resumed(before.data, told.data, 4096);
    Amount {
        headers: given.headers - before.headers,
        data: given.data - before.data,
    }
}

fn stopped(card: &str, broken: Broken) -> FabricError {
    let (cycle, reason) = match broken {
        Broken::Stopped(cycle, reason) => (cycle, reason),
        Broken::Idle(cycle) => (cycle, "it was not idle".to_string()),
    };
    FabricError::Stopped {
        card: card.to_string(),
        cycle,
        reason,
    }
}

fn word_of(bytes: &[u8]) -> u64 {
    let mut word = [0; FLIT];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// The header in the first beat of what a card sends, and its payload behind it.
pub(crate) fn parse(bytes: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    let short = Malformed::Length {
        given: bytes.len(),
        said: BEAT,
    };
    let (beat, data) = bytes.split_at_checked(BEAT).ok_or(short)?;
    let word = |index: usize| {
        let bytes = &beat[4 * index..4 * index + 4];
        u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    };
    let (header, _) = header_of([word(0), word(1), word(2), word(3)])?;
    if data.len() != 4 * header.payload_words() {
        return Err(Malformed::Length {
            given: data.len(),
            said: 4 * header.payload_words(),
        });
    }
    Ok((header, data))
}

/// The part of a card in a mean latency, the rest being elsewhere.
pub(crate) fn with_card(mut parts: Parts, all: fabric::Cycles) -> Parts {
    let elsewhere = parts.total();
    parts.add(Part::Card, fabric::Cycles::new(all.0.saturating_sub(elsewhere.0)));
    parts
}
