//! The unit `traffic` as a model: the behaviour of the RTL, cycle by cycle, as far as it is visible in packets.
//!
//! Times within the boxes are those of `hardware/src/main/scala/rackwright/pcie`, and a test compares the packets of
//! both. What does not occur in our fabrics is omitted: completions that do not come.

mod generator;
mod messages;
mod queues;
mod reader;
mod registers;
mod splitter;
mod writer;

use super::configuration::{Configuration, Identity};
use super::error_messages::ErrorMessages;
use super::registers::Registers as FunctionRegisters;
use super::target::{Request, Served, Target};
use super::transmitter::{Offers, Ready, Transmitter};
use super::{word_of, Given, BEAT, FIRST_CYCLES, NEVER};
use crate::aer::Fault;
use crate::class::Class;
use crate::credits::{Amount, Credits};
use crate::packet::{Header, Kind};
use crate::pool::Packet;
use generator::Generator;
use messages::{Messages, Vector};
use rackwright_device::{decode, encode, RestoreError};
use rackwright_time::unit::Cycle;
use reader::Reader;
use registers::Registers;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use writer::Writer;

/// The same as in the RTL.
const IDENTITY: Identity = Identity {
    numbers: 0x0001_5257,
    windows: [12, 20],
    vectors: messages::VECTORS as u32,
    interrupts: false,
};

/// A model, and the parameters of the RTL that it replaces.
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
#[derive(Serialize, Deserialize)]
pub(crate) struct Model {
    cycle: u64,
    /// Before this cycle, it has no events, unless something arrives.
    next: u64,
    packets: u64,
    /// Time at which the packets received so far are complete: a beat in each cycle.
    in_by: u64,
    arrivals: VecDeque<Arrival>,
    configuration: Configuration,
    registers: Registers,
    target: Target,
    generator: Generator,
    reader: Reader,
    writer: Writer,
    messages: Messages,
    errors: ErrorMessages,
    transmitter: Transmitter,
}

/// A packet that has arrived, in the cycle in which the function uses it.
#[derive(Serialize, Deserialize)]
struct Arrival {
    cycle: u64,
    what: Arrived,
}

/// The time of each box's next event, and the packets ready to leave at that time.
struct Due {
    arrival: u64,
    target: u64,
    generator: u64,
    reader: u64,
    writer: u64,
    messages: u64,
    transmitter: u64,
    offers: Offers,
}

impl Due {
    fn first(&self) -> u64 {
        let boxes = [
            self.target,
            self.generator,
            self.reader,
            self.writer,
            self.messages,
            self.transmitter,
        ];
        boxes.into_iter().fold(self.arrival, u64::min)
    }
}

/// Kinds of posted packets that the function sends: about errors, interrupts, and DMA.
enum Posted {
    Error,
    Message,
    Write,
}

#[derive(Serialize, Deserialize)]
enum Arrived {
    /// A completion, from its first beat of data on: its beats, and the sum of their words.
    Completion(Header, u64, u64),
    /// Beats that another card writes, and the sum of their words.
    Written(u64, u64),
    Request(Request),
}

impl Model {
    pub(crate) fn new(description: &ModelDescription) -> Model {
        Model {
            cycle: FIRST_CYCLES.0,
            next: 0,
            packets: description.packets,
            in_by: 0,
            arrivals: VecDeque::new(),
            configuration: Configuration::new(IDENTITY),
            registers: Registers::default(),
            target: Target::new(FunctionRegisters::OURS),
            generator: Generator::default(),
            reader: Reader::new(description.tags, description.read_bytes),
            writer: Writer::default(),
            messages: Messages::new(),
            errors: ErrorMessages::default(),
            transmitter: Transmitter::default(),
        }
    }

    /// Its state, for [`Model::restore`].
    pub(super) fn save(&self) -> Vec<u8> {
        encode(self)
    }

    /// Restores the state of another model.
    ///
    /// # Errors
    /// [`RestoreError`] when it is none.
    pub(super) fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let saved: Model = decode(state, "card")?;
        let configuration = saved.configuration.with_identity(IDENTITY);
        *self = Model {
            configuration,
            ..saved
        };
        Ok(())
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
            && self.messages.is_idle(&self.configuration)
            && self.errors.is_idle()
    }

    pub(super) fn events(&self) -> Vec<(String, u64)> {
        [
            ("issued", self.generator.issued),
            ("done", self.generator.done),
            ("unexpected_completions", self.registers.unexpected),
            ("unsupported_requests", self.registers.unsupported),
        ]
        .map(|(name, count)| (name.to_string(), count))
        .to_vec()
    }

    pub(super) fn grant(&mut self, cycle: Cycle, initial: bool, class: Class, limit: Amount) {
        self.next = 0;
        self.transmitter.grant(cycle.0, initial, class, limit);
    }

    pub(super) fn arrive(&mut self, cycle: Cycle, packet: &Packet) {
        self.next = 0;
        let header = packet.header;
        let beats = (packet.data.len() as u64).div_ceil(BEAT);
        let first = cycle.0.max(self.in_by);
        self.in_by = first + 1 + beats;
        let mut cycle = first + beats;
        let what = match header.kind {
            Kind::Completion(_) => {
                cycle = first + beats.min(1);
                Arrived::Completion(header, beats, sum_of(&packet.data))
            }
            Kind::MemoryWrite if self.configuration.is_within(1, header.request.address) => {
                Arrived::Written(beats, sum_of(&packet.data))
            }
            _ => Arrived::Request(Request {
                header,
                data: packet.data.clone(),
                ready: first + beats + 1,
            }),
        };
        self.arrivals.push_back(Arrival { cycle, what });
    }

    pub(super) fn advance(&mut self, end: Cycle, mut give: impl FnMut(Cycle, Given<'_>)) {
        while self.next < end.0 {
            let due = self.due();
            let now = due.first();
            if now >= end.0 {
                self.next = now;
                break;
            }
            self.step(now, &due, &mut |cycle, given| give(Cycle::new(cycle), given));
        }
        self.cycle = self.cycle.max(end.0);
    }

    /// The next cycles with events.
    fn due(&self) -> Due {
        let offers = self.offers();
        Due {
            arrival: self.arrivals.front().map_or(NEVER, |arrival| arrival.cycle),
            target: self.target.due(),
            generator: self.generator.due(self.reader.free_at(), self.writer.free_at()),
            reader: self.reader.due(),
            writer: self.writer.due(),
            messages: self.messages.due(&self.configuration),
            transmitter: self.transmitter.due(&offers),
            offers,
        }
    }

    /// Handles the events of one cycle: other boxes see the changes of a box in the next cycle.
    fn step(&mut self, now: u64, due: &Due, give: &mut impl FnMut(u64, Given<'_>)) {
        if due.messages == now {
            self.messages.step(now, &self.configuration);
        }
        self.registers.busy = self.generator.is_running();
        while self.arrivals.front().is_some_and(|arrival| arrival.cycle == now) {
            let arrival = self.arrivals.pop_front().expect("the front was seen");
            self.take(now, arrival.what, give);
        }
        if due.target == now {
            self.serve(now, give);
            if let Some(begins) = self.registers.begins.take() {
                self.generator.begin(now + 1, begins, &self.registers.settings);
                self.registers.begin();
            }
            if std::mem::take(&mut self.registers.stops) {
                self.generator.stop(now);
            }
        }
        // A run that has just been stopped makes no more.
        let (reader, writer) = (self.reader.free_at(), self.writer.free_at());
        if due.generator == now && self.generator.due(reader, writer) == now {
            if let Some(request) = self.generator.issue(now, &self.registers.settings) {
                if self.generator.writes {
                    self.writer.take(now, request);
                } else {
                    self.reader.take(now, request);
                }
            }
        }
        if due.reader == now {
            self.reader
                .step(now, &self.configuration, &self.registers.settings);
            self.registers.add(self.reader.take_sum());
            while let Some(faulty) = self.reader.done_at(now) {
                self.generator.failed |= faulty != 0;
                self.generator.finish(now, give);
                self.registers.done(faulty);
            }
        }
        if due.writer == now {
            self.writer.step(now, &self.configuration);
            while self.writer.done_at(now) {
                self.generator.finish(now, give);
                self.registers.done(0);
            }
        }
        if let Some(cycle) = self.generator.ends.take() {
            self.messages.raise(cycle, Vector::Ended);
        }
        if due.transmitter == now {
            self.send(now, &due.offers, give);
        }
    }

    fn send(&mut self, now: u64, offers: &Offers, give: &mut impl FnMut(u64, Given<'_>)) {
        self.transmitter.learn(now);
        let (kind, posted) = self.posted();
        let [_, reads, completions] = *offers;
        let (id, settings) = (self.configuration.id, &self.registers.settings);
        let last = match self.transmitter.choose(now, &[posted, reads, completions]) {
            Some(Class::Posted) => match kind {
                Posted::Error => self.errors.leave(now, id, give).0,
                Posted::Message => self.messages.leave(now, id, give),
                Posted::Write => self.writer.leave(now, id, settings, give),
            },
            Some(Class::NonPosted) => self.reader.leave(now, id, give),
            Some(Class::Completion) => self.target.leave(now, give),
            None => return,
        };
        self.transmitter.sent(last);
    }

    fn serve(&mut self, now: u64, give: &mut impl FnMut(u64, Given<'_>)) {
        match self.target.step(now, &mut self.configuration, give) {
            Served::Configuration => self.messages.changed(now, &self.configuration),
            Served::Refused(fault, header) => {
                self.registers.unsupported += 1;
                self.tell(now + 2, fault, &header);
            }
            Served::Table(offset, wide, written) => {
                let value = self.messages.read(offset);
                if let Some(data) = written {
                    self.messages.write(now, offset, wide, data);
                }
                self.target.answered(now + 1, value, &self.configuration);
            }
            Served::Register(access) => {
                let value = self.registers.read(access.offset);
                if let Some(data) = access.written {
                    self.registers.write(access.offset, data);
                }
                self.target.answered(now + 2, value, &self.configuration);
            }
        }
    }

    /// An error has been found in a completion. One that is poisoned is counted by the faults of its read.
    fn note(&mut self, now: u64, fault: Fault, header: &Header) {
        self.registers.unexpected += u64::from(fault == Fault::UnexpectedCompletion);
        self.tell(now + 3, fault, header);
    }

    /// Records an error; if software wants that, the root complex is told of it from a cycle on.
    fn tell(&mut self, ready: u64, fault: Fault, header: &Header) {
        if let Some(severity) = self.configuration.detect(fault, header) {
            self.errors.tell(ready, severity);
        }
    }

    /// Packets ready to leave, by class.
    fn offers(&self) -> Offers {
        [self.posted().1, self.reader.ready(), self.target.ready()]
    }

    /// The next posted packet: where several are ready, errors go first, then interrupts, but neither interrupts a write.
    fn posted(&self) -> (Posted, Ready) {
        let (error, message) = (self.errors.ready(), self.messages.ready());
        let (kind, message) = if error.0 <= message.0.max(self.transmitter.free_at()) {
            (Posted::Error, error)
        } else {
            (Posted::Message, message)
        };
        let write = self.writer.ready();
        let leaves = write.0.max(self.transmitter.free_at());
        let is_before = leaves < message.0 && self.transmitter.affords(Class::Posted, write.1);
        if message.0 == NEVER || write.0 != NEVER && is_before {
            (Posted::Write, write)
        } else {
            (kind, message)
        }
    }

    fn take(&mut self, now: u64, what: Arrived, give: &mut impl FnMut(u64, Given<'_>)) {
        match what {
            Arrived::Completion(header, beats, sum) => {
                let id = self.configuration.id;
                if let Some(fault) = self.reader.arrive(now, id, &header, (beats, sum)) {
                    self.note(now, fault, &header);
                }
            }
            Arrived::Written(beats, sum) => {
                self.registers.peer(beats, sum);
                self.messages.raise(now + 1, Vector::Written);
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

/// The sum of words of eight bytes.
fn sum_of(data: &[u8]) -> u64 {
    let words = data.chunks_exact(8);
    let rest = word_of(words.remainder());
    words.map(word_of).fold(rest, u64::wrapping_add)
}
