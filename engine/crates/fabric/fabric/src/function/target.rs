use super::configuration::Configuration;
use super::{Given, NEVER};
use crate::class::Class;
use crate::packet::{Header, Kind, Status};
use std::collections::VecDeque;

/// A request of the fabric, with up to eight bytes of data; from when on it is in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) header: Header,
    pub(super) data: u64,
    pub(super) ready: u64,
}

/// A pending completion.
#[derive(Clone, Copy)]
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
    /// It was refused.
    Refused,
    /// It is an access to the register at this offset, with the written value: [`Target::answered`] must be called.
    Register(u64, Option<u64>),
    /// The same, at this offset of the table of messages, and whether it means eight bytes.
    Table(u64, bool, Option<u64>),
}

/// Serves configuration and registers, one request after the other.
#[derive(Default)]
pub(super) struct Target {
    requests: VecDeque<Request>,
    /// From when on the next request is taken.
    free: u64,
    /// The access to a register that has not been answered.
    asked: Option<Header>,
    answer: Option<Answer>,
}

impl Target {
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

    /// Serves the request that is due.
    pub(super) fn step(
        &mut self,
        now: u64,
        configuration: &mut Configuration,
        give: &mut impl FnMut(u64, Given<'_>),
    ) -> Served {
        let Some(Request { header, data, .. }) = self.requests.pop_front() else {
            return Served::Configuration;
        };
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
            Kind::MemoryRead | Kind::MemoryWrite if is_register(&header, configuration) => {
                self.asked = Some(header);
                let written = (header.kind == Kind::MemoryWrite).then_some(data);
                if let Some(offset) = configuration.in_table(header.request.address) {
                    return Served::Table(offset, header.words == 2, written);
                }
                return Served::Register(header.request.address & 0xff8, written);
            }
            _ => {
                let refused = Header::completing(&header, configuration.id, Status::Unsupported);
                let waits = header.kind.class() == Class::NonPosted;
                (waits.then_some((refused, 0)), Served::Refused)
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

    /// The access to the register is complete, with this value; its completion is ready at `ready`.
    pub(super) fn answered(&mut self, ready: u64, value: u64, configuration: &Configuration) {
        let Some(header) = self.asked.take() else {
            return;
        };
        self.free = ready;
        if header.kind == Kind::MemoryRead {
            let shift = 8 * (header.request.address & 4);
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

/// A register is accessed completely: eight bytes at a multiple of eight; reads of one half are allowed, and writes in the
/// table of messages.
fn is_register(header: &Header, configuration: &Configuration) -> bool {
    let request = &header.request;
    let wide = header.words == 2 && request.address & 4 == 0 && request.enables == 0xff;
    let in_table = configuration.in_table(request.address).is_some();
    let halves = header.kind == Kind::MemoryRead || in_table;
    let half = header.words == 1 && request.enables == 0x0f && halves;
    (wide || half) && !header.poisoned && configuration.is_within(0, request.address)
}

fn completion(request: &Header, configuration: &Configuration, words: u16) -> Header {
    let mut header = Header::completing(request, configuration.id, Status::Successful);
    header.kind = Kind::Completion(words != 0);
    header.words = words;
    if let Kind::MemoryRead = request.kind {
        header.completion.byte_count = 4 * request.words;
        header.completion.lower_address = (request.request.address & 0x7f) as u8;
    }
    header
}
