use super::configuration::Configuration;
use super::registers::{RegisterRequest, Registers};
use super::{word_of, Given, BEAT, NEVER};
use crate::aer::Fault;
use crate::class::Class;
use crate::host::bytes_asked;
use crate::packet::{Header, Kind, Status};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A request of the fabric with its data; from when on it is in the queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) header: Header,
    pub(super) data: Vec<u8>,
    pub(super) ready: u64,
}

impl Request {
    /// Up to eight bytes of its data.
    fn word(&self) -> u64 {
        self.data.chunks(8).next().map_or(0, word_of)
    }
}

/// A pending completion.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Answer {
    ready: u64,
    header: Header,
    data: u64,
}

/// The result of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Served {
    /// It was one of configuration.
    Configuration,
    /// It was refused: the error in it, and its header.
    Refused(Fault, Header),
    /// It is an access to a register: [`Target::answered`] must be called.
    Register(RegisterRequest),
    /// The same at this offset of the table of messages, whether it means eight bytes, and the written value.
    Table(u64, bool, Option<u64>),
}

/// Serves configuration and registers, one request after the other.
#[derive(Serialize, Deserialize)]
pub(super) struct Target {
    registers: Registers,
    requests: VecDeque<Request>,
    /// From when on the next request is taken.
    free: u64,
    /// The access to a register that has not been answered, and the bits of the register before its words.
    asked: Option<(Header, u64)>,
    answer: Option<Answer>,
}

impl Target {
    /// One without requests, of a function with these registers.
    pub(super) fn new(registers: Registers) -> Target {
        Target {
            registers,
            requests: VecDeque::new(),
            free: 0,
            asked: None,
            answer: None,
        }
    }

    pub(super) fn arrive(&mut self, request: Request) {
        self.requests.push_back(request);
    }

    /// When it serves the next request.
    pub(super) fn due(&self) -> u64 {
        match (&self.asked, &self.answer, self.requests.front()) {
            // It is taken from the queue in one cycle and served in the next.
            (None, None, Some(request)) => request.ready.max(self.free) + 1,
            _ => NEVER,
        }
    }

    /// The next request.
    pub(super) fn front(&self) -> Option<&Request> {
        self.requests.front()
    }

    /// Takes the request that is due, for another one to serve; each of its beats takes a cycle.
    pub(super) fn take(&mut self, now: u64) -> Option<Request> {
        let request = self.requests.pop_front()?;
        self.free = now + (request.data.len() as u64).div_ceil(BEAT);
        Some(request)
    }

    /// Serves the request that is due.
    pub(super) fn step(
        &mut self,
        now: u64,
        configuration: &mut Configuration,
        give: &mut impl FnMut(u64, Given<'_>),
    ) -> Served {
        let Some(request) = self.requests.pop_front() else {
            return Served::Configuration;
        };
        let (header, data) = (request.header, request.word());
        give(now + 1, Given::Freed(header.kind.class(), header.cost()));
        let word = header.request.address / 4;
        let (answer, served) = match header.kind {
            Kind::ConfigurationRead(false) => {
                let value = u64::from(configuration.read(word));
                let completion = completion(&header, configuration, 1);
                (Some((completion, value)), Served::Configuration)
            }
            Kind::ConfigurationWrite(false) => {
                let enables = header.request.enables & 0xf;
                configuration.write(word, enables, data as u32, header.request.target);
                let completion = completion(&header, configuration, 0);
                (Some((completion, 0)), Served::Configuration)
            }
            _ => {
                if let Some(served) = self.memory(&header, data, configuration) {
                    return served;
                }
                let refused = Header::completing(&header, configuration.id, Status::Unsupported);
                let waits = header.kind.class() == Class::NonPosted;
                let fault = match header.poisoned {
                    true => Fault::Poisoned,
                    false => Fault::UnsupportedRequest,
                };
                (waits.then_some((refused, 0)), Served::Refused(fault, header))
            }
        };
        self.free = now + 1;
        self.answer = answer.map(|(header, data)| Answer {
            ready: now + 1,
            header,
            data,
        });
        served
    }

    /// Begins an access to a register or to the table of messages; none if it is another one.
    fn memory(&mut self, header: &Header, data: u64, configuration: &Configuration) -> Option<Served> {
        let address = header.request.address;
        let accesses = matches!(header.kind, Kind::MemoryRead | Kind::MemoryWrite)
            && !header.poisoned
            && configuration.is_within(0, address);
        if !accesses {
            return None;
        }
        if let Some(offset) = configuration.in_table(address) {
            let is_wide = in_table(header)?;
            self.asked = Some((*header, Registers::OURS.shift(address)));
            let written = (header.kind == Kind::MemoryWrite).then_some(data);
            return Some(Served::Table(offset, is_wide, written));
        }
        let access = self.registers.access(header, data)?;
        self.asked = Some((*header, self.registers.shift(address)));
        Some(Served::Register(access))
    }

    /// The access to the register is complete, with this value; its completion is ready at `ready`.
    pub(super) fn answered(&mut self, ready: u64, value: u64, configuration: &Configuration) {
        let Some((header, shift)) = self.asked.take() else {
            return;
        };
        self.free = ready;
        if header.kind == Kind::MemoryRead {
            self.answer = Some(Answer {
                ready,
                header: completion(&header, configuration, header.words),
                data: value >> shift,
            });
        }
    }

    /// The time from which on a completion is ready to leave, and its data credits.
    pub(super) fn ready(&self) -> (u64, u64) {
        self.answer.map_or((NEVER, 0), |answer| {
            (answer.ready, u64::from(answer.header.words != 0))
        })
    }

    /// Bytes of the completion that is ready.
    pub(super) fn bytes(&self) -> u64 {
        self.answer.map_or(0, |answer| answer.header.bytes() as u64)
    }

    /// The completion leaves. Returns the cycle of its last beat.
    pub(super) fn leave(&mut self, now: u64, give: &mut impl FnMut(u64, Given<'_>)) -> u64 {
        let Some(Answer { header, data, .. }) = self.answer.take() else {
            return now;
        };
        let last = now + u64::from(header.words != 0);
        self.free = last + 1;
        let bytes = data.to_le_bytes();
        give(
            last + 1,
            Given::Packet(&header, &bytes[..4 * header.payload_words()]),
        );
        last
    }

    pub(super) fn is_idle(&self) -> bool {
        self.requests.is_empty() && self.asked.is_none() && self.answer.is_none()
    }
}

/// Whether a request of the table of messages means eight bytes, or a half of them; none for another part.
fn in_table(header: &Header) -> Option<bool> {
    let request = &header.request;
    match (header.words, request.enables, request.address & 4) {
        (2, 0xff, 0) => Some(true),
        (1, 0x0f, _) => Some(false),
        _ => None,
    }
}

fn completion(request: &Header, configuration: &Configuration, words: u16) -> Header {
    let mut header = Header::completing(request, configuration.id, Status::Successful);
    header.kind = Kind::Completion(words != 0);
    header.words = words;
    if let Kind::MemoryRead = request.kind {
        let asked = bytes_asked(request);
        header.completion.byte_count = (asked.end - asked.start) as u16;
        header.completion.lower_address = (asked.start & 0x7f) as u8;
    }
    header
}
