use super::{stopped, word_of, Given, BEAT, FIRST_CYCLES};
use crate::class::Class;
use crate::codec::{header_of, words_of, Malformed};
use crate::credits::{packed, resumed, unpacked, Amount, Credits};
use crate::error::FabricError;
use crate::packet::Header;
use crate::pool::Packet;
use rackwright_rtl::{Design, Direction, Instance, StreamFlit};
use rackwright_time::unit::Cycle;

/// Bytes of a flit of the host that runs the RTL.
const FLIT: usize = 8;

/// A function in RTL.
pub(crate) struct Rtl {
    instance: Instance,
    streams: Streams,
    /// The bytes of the packet that is leaving.
    leaving: Vec<u8>,
    /// The credits that it has advertised so far.
    given: Credits,
    idle: bool,
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

impl Rtl {
    /// A function just after reset that has advertised its credits.
    ///
    /// # Errors
    /// [`FabricError`] when the design of the card is no function.
    pub(crate) fn new(card: &str, design: &Design) -> Result<Rtl, FabricError> {
        let mut rtl = Rtl {
            streams: Streams::of(design)?,
            instance: Instance::new(design, None)?,
            leaving: Vec::new(),
            given: Credits::default(),
            idle: false,
        };
        rtl.learn_credits(card)?;
        Ok(rtl)
    }

    fn learn_credits(&mut self, card: &str) -> Result<(), FabricError> {
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
            card: card.to_string(),
        })
    }

    pub(super) fn credits(&self) -> Credits {
        self.given
    }

    pub(super) fn cycle(&self) -> Cycle {
        self.instance.cycle()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.idle
    }

    pub(super) fn events(&self) -> Vec<(String, u64)> {
        let names = self.instance.design().manifest.events();
        let sum = |(index, name): (usize, &str)| (name.to_string(), self.instance.event(index));
        names.enumerate().map(sum).collect()
    }

    pub(super) fn grant(&mut self, cycle: Cycle, initial: bool, class: Class, limit: Amount) {
        let data = u64::from(u32::from_le_bytes(packed(initial, class, limit)));
        self.offer(cycle, self.streams.credits_in, data, 0xf, true);
    }

    /// A header arrives in a beat of its own, followed by its payload.
    pub(super) fn arrive(&mut self, cycle: Cycle, packet: &Packet) {
        let mut beat = [0; BEAT as usize];
        for (bytes, word) in beat.chunks_exact_mut(4).zip(words_of(&packet.header)) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        let port = self.streams.packets_in;
        let flits = packet.data.len().div_ceil(FLIT);
        for (index, bytes) in beat.chunks_exact(FLIT).enumerate() {
            let last = flits == 0 && index == 1;
            self.offer(cycle, port, word_of(bytes), u8::MAX, last);
        }
        for (index, bytes) in packet.data.chunks(FLIT).enumerate() {
            let keep = ((1_u32 << bytes.len()) - 1) as u8;
            self.offer(cycle, port, word_of(bytes), keep, index + 1 == flits);
        }
    }

    fn offer(&mut self, cycle: Cycle, port: u8, data: u64, keep: u8, last: bool) {
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

    pub(super) fn advance(
        &mut self,
        end: Cycle,
        card: &str,
        mut give: impl FnMut(Cycle, Given<'_>),
    ) -> Result<(), FabricError> {
        while self.instance.cycle() < end {
            let step = self.instance.step(end);
            self.idle = step.idle;
            if let Some(broken) = step.broken {
                return Err(stopped(card, broken));
            }
            for flit in step.flits {
                let cycle = Cycle::new(flit.cycle);
                if flit.port == self.streams.packets_out {
                    let count = flit.keep.trailing_ones() as usize;
                    self.leaving.extend(&flit.data.to_le_bytes()[..count]);
                    if flit.last != 0 {
                        match parse(&self.leaving) {
                            Ok((header, data)) => give(cycle, Given::Packet(&header, data)),
                            Err(_) => give(cycle, Given::Malformed),
                        }
                        self.leaving.clear();
                    }
                } else if flit.port == self.streams.credits_out {
                    if let Some((false, class, told)) = unpacked((flit.data as u32).to_le_bytes()) {
                        give(cycle, Given::Freed(class, freed(&mut self.given[class], told)));
                    }
                } else if flit.port == self.streams.stamps {
                    give(cycle, Given::Stamp(flit.data));
                }
            }
        }
        Ok(())
    }
}

/// The room that has become free since `given` was advertised; `told` are its last bits.
fn freed(given: &mut Amount, told: Amount) -> Amount {
    let before = *given;
    given.headers = resumed(before.headers, told.headers, 256);
    given.data = resumed(before.data, told.data, 4096);
    Amount {
        headers: given.headers - before.headers,
        data: given.data - before.data,
    }
}

/// The header in the first beat of a card's packet, and the payload after it.
fn parse(bytes: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    let short = Malformed::Length {
        given: bytes.len(),
        said: BEAT as usize,
    };
    let (beat, data) = bytes.split_at_checked(BEAT as usize).ok_or(short)?;
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
