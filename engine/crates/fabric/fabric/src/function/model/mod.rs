//! The unit `traffic` as a model: what the RTL does, cycle by cycle, as far as packets show it.
//!
//! Times within the boxes are those of `hardware/src/main/scala/rackwright/pcie`, and a test compares the packets of both.
//! What no fabric of ours does to a card is left out: completions that do not come, or that nobody waits for.

mod generator;
mod queues;
mod reader;
mod registers;
mod splitter;
mod writer;

use super::configuration::{Configuration, Identity};
use super::target::{Request, Served, Target};
use super::transmitter::{Offers, Transmitter};
use super::{word_of, Given, BEAT, FIRST_CYCLES, NEVER};
use crate::class::Class;
use crate::credits::{Amount, Credits};
use crate::packet::{Kind, Status};
use crate::pool::Packet;
use generator::Generator;
use rackwright_time::unit::Cycle;
use reader::Reader;
use registers::Registers;
use serde::Deserialize;
use std::collections::VecDeque;
use writer::Writer;

/// As the RTL has it.
const IDENTITY: Identity = Identity {
    numbers: 0x0001_5257,
    windows: &[12, 20],
};

/// A model, and what the RTL in its place is built with.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelDescription {
    /// Its clock.
    pub hertz: u64,
    /// Reads outstanding.
    pub tags: u16,
    /// The longest read request, in bytes.
    pub read_bytes: u64,
    /// Requests of others that it holds, of each class.
    pub packets: u64,
}

/// The model of a function that makes DMA.
pub(crate) struct Model {
    cycle: u64,
    packets: u64,
    arrivals: VecDeque<Arrival>,
    configuration: Configuration,
    registers: Registers,
    target: Target,
    generator: Generator,
    reader: Reader,
    writer: Writer,
    transmitter: Transmitter,
}

/// A packet that has come in, in the cycle of its last beat.
struct Arrival {
    cycle: u64,
    what: Arrived,
}

enum Arrived {
    /// A part of a completion: its tag, its beats with the sum of their words, and whether it is good.
    Completion(u16, u64, u64, bool),
    /// Beats that another card writes, and the sum of their words.
    Written(u64, u64),
    Request(Request),
}

impl Model {
    pub(crate) fn new(description: &ModelDescription) -> Model {
        Model {
            cycle: FIRST_CYCLES.0,
            packets: description.packets,
            arrivals: VecDeque::new(),
            configuration: Configuration::new(IDENTITY),
            registers: Registers::default(),
            target: Target::default(),
            generator: Generator::default(),
            reader: Reader::new(description.tags, description.read_bytes),
            writer: Writer::default(),
            transmitter: Transmitter::default(),
        }
    }

    pub(super) fn credits(&self) -> Credits {
        super::credits(self.packets)
    }

    pub(super) fn cycle(&self) -> Cycle {
        Cycle::new(self.cycle)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.arrivals.is_empty()
            && self.target.is_idle()
            && !self.generator.is_running()
            && self.reader.is_idle()
            && self.writer.is_idle()
    }

    pub(super) fn events(&self) -> Vec<(String, u64)> {
        [
            ("issued", self.generator.issued),
            ("done", self.generator.done),
            ("unsupported_requests", self.registers.errors),
        ]
        .map(|(name, count)| (name.to_string(), count))
        .to_vec()
    }

    pub(super) fn grant(&mut self, cycle: Cycle, initial: bool, class: Class, limit: Amount) {
        self.transmitter.grant(cycle.0, initial, class, limit);
    }

    pub(super) fn arrive(&mut self, cycle: Cycle, packet: &Packet) {
        let header = packet.header;
        let beats = (packet.data.len() as u64).div_ceil(BEAT);
        let words = packet.data.chunks(8).map(word_of);
        let what = match header.kind {
            Kind::Completion(_) => {
                let good = header.completion.status == Status::Successful && beats != 0 && !header.poisoned;
                let sum = words.fold(0, u64::wrapping_add);
                Arrived::Completion(header.tag, beats, sum, good)
            }
            Kind::MemoryWrite if self.configuration.is_within(1, header.request.address) => {
                Arrived::Written(beats, words.fold(0, u64::wrapping_add))
            }
            _ => Arrived::Request(Request {
                header,
                data: { words }.next().unwrap_or(0),
                ready: cycle.0 + beats + 1,
            }),
        };
        let cycle = cycle.0 + beats;
        self.arrivals.push_back(Arrival { cycle, what });
    }

    pub(super) fn advance(&mut self, end: Cycle, mut give: impl FnMut(Cycle, Given<'_>)) {
        loop {
            let now = self.due();
            if now >= end.0 {
                break;
            }
            self.step(now, &mut |cycle, given| give(Cycle::new(cycle), given));
        }
        self.cycle = self.cycle.max(end.0);
    }

    /// The next cycle in which anything happens.
    fn due(&self) -> u64 {
        let arrival = self.arrivals.front().map_or(NEVER, |arrival| arrival.cycle);
        let own = [
            self.target.due(),
            self.generator.due(self.reader.free_at(), self.writer.free_at()),
            self.reader.due(),
            self.writer.due(),
            self.transmitter.due(&self.offers()),
        ];
        own.into_iter().fold(arrival, u64::min)
    }

    /// Does what happens in one cycle: what a box changes is seen by the others in the next.
    fn step(&mut self, now: u64, give: &mut impl FnMut(u64, Given<'_>)) {
        self.registers.busy = self.generator.is_running();
        while self.arrivals.front().is_some_and(|arrival| arrival.cycle == now) {
            let arrival = self.arrivals.pop_front().expect("the front was seen");
            self.take(now, arrival.what, give);
        }
        if self.target.due() == now {
            self.serve(now, give);
            if let Some(begins) = self.registers.begins.take() {
                self.generator.begin(now + 1, begins, &self.registers.settings);
                self.registers.begin();
            }
            if std::mem::take(&mut self.registers.stops) {
                self.generator.stop();
            }
        }
        if self.generator.due(self.reader.free_at(), self.writer.free_at()) == now {
            if let Some(request) = self.generator.issue(now, &self.registers.settings) {
                if self.generator.writes {
                    self.writer.take(now, request);
                } else {
                    self.reader.take(now, request);
                }
            }
        }
        if self.reader.due() == now {
            self.reader
                .step(now, &self.configuration, &self.registers.settings);
            while let Some(faulty) = self.reader.done_at(now) {
                self.generator.finish(now, give);
                self.registers.done(faulty);
                self.generator.failed |= faulty;
            }
        }
        if self.writer.due() == now {
            self.writer.step(now, &self.configuration);
            while self.writer.done_at(now) {
                self.generator.finish(now, give);
                self.registers.done(false);
            }
        }
        let offers = self.offers();
        if self.transmitter.due(&offers) == now {
            let last = match self.transmitter.choose(now, &offers) {
                Some(Class::Posted) => {
                    self.writer
                        .leave(now, self.configuration.id, &self.registers.settings, give)
                }
                Some(Class::NonPosted) => self.reader.leave(now, self.configuration.id, give),
                Some(Class::Completion) => self.target.leave(now, give),
                None => return,
            };
            self.transmitter.sent(last);
        }
    }

    fn serve(&mut self, now: u64, give: &mut impl FnMut(u64, Given<'_>)) {
        match self.target.step(now, &mut self.configuration, give) {
            Served::Configuration => {}
            Served::Refused => self.registers.errors += 1,
            Served::Register(offset, written) => {
                let value = self.registers.read(offset);
                if let Some(data) = written {
                    self.registers.write(offset, data);
                }
                self.target.answered(now + 2, value, &self.configuration);
            }
        }
    }

    /// Packets that are there to leave, by class.
    fn offers(&self) -> Offers {
        [self.writer.ready(), self.reader.ready(), self.target.ready()]
    }

    fn take(&mut self, now: u64, what: Arrived, give: &mut impl FnMut(u64, Given<'_>)) {
        match what {
            Arrived::Completion(tag, beats, sum, good) => {
                if !self.reader.arrive(now, tag, beats, good) {
                    self.registers.errors += 1;
                } else if good {
                    self.registers.add(sum);
                }
            }
            Arrived::Written(beats, sum) => {
                self.registers.peer(beats, sum);
                let room = Amount {
                    headers: 1,
                    data: beats,
                };
                give(now + 3, Given::Freed(Class::Posted, room));
            }
            Arrived::Request(request) => self.target.arrive(request),
        }
    }
}
