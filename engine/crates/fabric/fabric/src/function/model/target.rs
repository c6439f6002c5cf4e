use super::configuration::Configuration;
use super::registers::Registers;
use super::NEVER;
use crate::class::Class;
use crate::function::Given;
use crate::packet::{Header, Kind, Status};
use std::collections::VecDeque;

/// A request of the fabric, with up to eight bytes of data; from when on it is in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) header: Header,
    pub(super) data: u64,
    pub(super) ready: u64,
}

/// What is to be answered.
#[derive(Clone, Copy)]
struct Answer {
    ready: u64,
    header: Header,
    data: u64,
}

/// Serves configuration and registers, one request after the other.
#[derive(Default)]
pub(super) struct Target {
    requests: VecDeque<Request>,
    /// From when on the next request is taken.
    free: u64,
    answer: Option<Answer>,
}

impl Target {
    pub(super) fn arrive(&mut self, request: Request) {
        self.requests.push_back(request);
    }

    /// When it serves the next request.
    pub(super) fn due(&self) -> u64 {
        match (&self.answer, self.requests.front()) {
            // It is taken from the queue in one cycle and served in the next.
            (None, Some(request)) => request.ready.max(self.free) + 1,
            _ => NEVER,
        }
    }

    pub(super) fn step(
        &mut self,
        now: u64,
        configuration: &mut Configuration,
        registers: &mut Registers,
        give: &mut impl FnMut(u64, Given<'_>),
    ) {
        let Some(Request { header, data, .. }) = self.requests.pop_front() else {
            return;
        };
        give(now + 1, Given::Freed(header.kind.class(), header.cost()));
        let id = configuration.id;
        let (answer, ready) = match header.kind {
            Kind::ConfigurationRead(false) => {
                let value = configuration.read(header.request.address / 4);
                (
                    completion(&header, configuration, 1).map(|done| (done, u64::from(value))),
                    now + 1,
                )
            }
            Kind::ConfigurationWrite(false) => {
                let (word, enables) = (header.request.address / 4, header.request.enables & 0xf);
                configuration.write(word, enables, data as u32, header.request.target);
                (
                    completion(&header, configuration, 0).map(|done| (done, 0)),
                    now + 1,
                )
            }
            Kind::MemoryRead | Kind::MemoryWrite if is_register(&header, configuration) => {
                let (offset, write) = (header.request.address & 0xff8, header.kind == Kind::MemoryWrite);
                if write {
                    registers.write(offset, data);
                    (None, now + 2)
                } else {
                    let value = registers.read(offset);
                    let shift = 8 * (header.request.address & 4);
                    (
                        completion(&header, configuration, header.words).map(|done| (done, value >> shift)),
                        now + 2,
                    )
                }
            }
            _ => {
                registers.errors += 1;
                let refused = Header::completing(&header, id, Status::Unsupported);
                (
                    (header.kind.class() == Class::NonPosted).then_some((refused, 0)),
                    now + 1,
                )
            }
        };
        self.free = ready;
        self.answer = answer.map(|(header, data)| Answer { ready, header, data });
    }

    /// From when on a completion is there to leave, and what its data costs.
    pub(super) fn ready(&self) -> (u64, u64) {
        self.answer.map_or((NEVER, 0), |answer| {
            (answer.ready, u64::from(answer.header.words != 0))
        })
    }

    /// The completion leaves. Gives the cycle of its last beat.
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
        self.requests.is_empty() && self.answer.is_none()
    }
}

/// A register is accessed whole: eight bytes at a multiple of eight; half of one can be read.
fn is_register(header: &Header, configuration: &Configuration) -> bool {
    let request = &header.request;
    let wide = header.words == 2 && request.address & 4 == 0 && request.enables == 0xff;
    let half = header.words == 1 && request.enables == 0x0f && header.kind == Kind::MemoryRead;
    (wide || half) && !header.poisoned && configuration.is_register(request.address)
}

fn completion(request: &Header, configuration: &Configuration, words: u16) -> Option<Header> {
    let mut header = Header::completing(request, configuration.id, Status::Successful);
    header.kind = Kind::Completion(words != 0);
    header.words = words;
    if let Kind::MemoryRead = request.kind {
        header.completion.byte_count = 4 * request.words;
        header.completion.lower_address = (request.request.address & 0x7f) as u8;
    }
    Some(header)
}
