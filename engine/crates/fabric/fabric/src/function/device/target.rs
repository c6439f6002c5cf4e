use crate::aer::{ErrorLog, Fault};
use crate::class::Class;
use crate::function::transmitter::Ready;
use crate::function::{Given, NEVER};
use crate::host::bytes_asked;
use crate::packet::{Header, Id, Kind, Status};
use rackwright_device::PciFunction;
use rackwright_time::Cycle;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// From the arrival of a request until it is served, and from there to its completion, in cycles.
const SERVED: u64 = 4;
/// Bytes of the configuration space of a function; behind them, there are the registers for errors.
const SPACE: u64 = 256;
/// Where the device status register is in the capability of PCI Express (7.5.3.5), with the device control register.
const DEVICE_STATUS: u64 = 8;

/// A request with up to eight bytes of data, from `ready` on.
#[derive(Serialize, Deserialize)]
struct Request {
    header: Header,
    data: u64,
    ready: u64,
}

#[derive(Serialize, Deserialize)]
struct Answer {
    header: Header,
    data: Vec<u8>,
    ready: u64,
}

/// Serves accesses to configuration and registers, one request after the other.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Target {
    requests: VecDeque<Request>,
    answers: VecDeque<Answer>,
    /// Bus, device and function, as in the last write of configuration (2.2.9).
    pub(super) id: Id,
    pub(super) refused: u64,
}

impl Target {
    pub(super) fn arrive(&mut self, now: u64, header: Header, data: u64) {
        let ready = now + SERVED;
        self.requests.push_back(Request { header, data, ready });
    }

    /// When it serves the next request.
    pub(super) fn due(&self) -> u64 {
        self.requests.front().map_or(NEVER, |request| request.ready)
    }

    /// Serves the next request. Returns the error in it, if it is refused.
    pub(super) fn serve(
        &mut self,
        now: u64,
        function: &mut PciFunction,
        errors: &mut ErrorLog,
        give: &mut impl FnMut(u64, Given<'_>),
    ) -> Option<(Fault, Header)> {
        let Request { header, data, .. } = self.requests.pop_front()?;
        give(now + 1, Given::Freed(header.kind.class(), header.cost()));
        let done = match header.kind {
            Kind::ConfigurationRead(false) if header.request.target.function() == 0 => {
                Some(configuration(&header, function, errors))
            }
            Kind::ConfigurationWrite(false) if header.request.target.function() == 0 => {
                self.id = header.request.target;
                configure(&header, data, (function, errors), now);
                Some(0)
            }
            Kind::MemoryRead => access(&header)
                .filter(|(address, bytes)| function.holds(*address, *bytes))
                .and_then(|(address, bytes)| function.read(address, bytes)),
            Kind::MemoryWrite => access(&header).and_then(|(address, bytes)| {
                let value = data >> (8 * (address & 3));
                let taken = function.write(address, bytes, value, Cycle::new(now));
                taken.then_some(0)
            }),
            _ => None,
        };
        self.refused += u64::from(done.is_none());
        if header.kind.class() == Class::NonPosted {
            self.answers
                .push_back(answer(&header, self.id, done, now + SERVED));
        }
        let fault = match header.poisoned {
            true => Fault::Poisoned,
            false => Fault::UnsupportedRequest,
        };
        done.is_none().then_some((fault, header))
    }

    /// The time from which on a completion is ready to leave, and its data credits.
    pub(super) fn ready(&self) -> Ready {
        self.answers
            .front()
            .map_or((NEVER, 0), |answer| (answer.ready, answer.header.cost().data))
    }

    /// The completion leaves. Returns the cycle of its last beat.
    pub(super) fn leave(&mut self, now: u64, give: &mut impl FnMut(u64, Given<'_>)) -> u64 {
        let Some(Answer { header, data, .. }) = self.answers.pop_front() else {
            return now;
        };
        let last = now + u64::from(!data.is_empty());
        give(last + 1, Given::Packet(&header, &data));
        last
    }
}

/// The address and the number of bytes of an access to registers, if it is one of 1, 2, 4 or 8 bytes at a multiple of their
/// number, whose data are right.
fn access(header: &Header) -> Option<(u64, u8)> {
    let enables = header.request.enables;
    let bits = match header.words {
        1 => enables & 0xf,
        2 => enables,
        _ => return None,
    };
    let range = bytes_asked(header);
    let bytes = range.end - range.start;
    let contiguous = u64::from(bits.count_ones()) == bytes && !header.poisoned;
    let aligned = bytes.is_power_of_two() && range.start % bytes == 0;
    (contiguous && aligned).then_some((range.start, bytes as u8))
}

fn configuration(header: &Header, function: &mut PciFunction, errors: &ErrorLog) -> u64 {
    let place = header.request.address;
    if place >= SPACE {
        return errors.read((place - SPACE) / 4).into();
    }
    let value = function.read_configuration(place as usize, 4);
    if has_status(place, function) {
        return value | u64::from(errors.device_status) << 16;
    }
    value
}

/// Whether the device status register is in this word.
fn has_status(place: u64, function: &PciFunction) -> bool {
    function
        .express()
        .is_some_and(|express| express as u64 + DEVICE_STATUS == place)
}

/// Writes the enabled bytes of a word of configuration: at once, if they are an access.
fn configure(header: &Header, data: u64, (function, errors): (&mut PciFunction, &mut ErrorLog), now: u64) {
    if header.poisoned {
        return;
    }
    let place = header.request.address;
    let chosen = (0..4).filter(|byte| header.request.enables >> byte & 1 != 0);
    let mask = chosen.fold(0_u32, |mask, byte| mask | 0xff << (8 * byte));
    if place >= SPACE {
        return errors.write((place - SPACE) / 4, mask, data as u32);
    }
    if has_status(place, function) {
        errors.device_status &= !((data as u32 & mask) >> 16);
    }
    let now = Cycle::new(now);
    if let Some((address, bytes)) = access(header) {
        let value = data >> (8 * (address & 3));
        return function.write_configuration(address as usize, bytes, value, now);
    }
    for byte in (0..4).filter(|byte| header.request.enables >> byte & 1 != 0) {
        let place = header.request.address + byte;
        function.write_configuration(place as usize, 1, data >> (8 * byte) & 0xff, now);
    }
}

/// The completion of a request: with the value that was read, or refused.
fn answer(request: &Header, id: Id, done: Option<u64>, ready: u64) -> Answer {
    let status = match done {
        Some(_) => Status::Successful,
        None => Status::Unsupported,
    };
    let mut header = Header::completing(request, id, status);
    let mut data = Vec::new();
    if let (Some(value), false) = (done, request.kind.has_data()) {
        header.kind = Kind::Completion(true);
        header.words = request.words;
        let range = bytes_asked(request);
        let mut skip = 0;
        if request.kind == Kind::MemoryRead {
            header.completion.byte_count = (range.end - range.start) as u16;
            header.completion.lower_address = (range.start & 0x7f) as u8;
            skip = 8 * (range.start & 3);
        }
        data.extend(&(value << skip).to_le_bytes()[..4 * usize::from(request.words)]);
    }
    Answer { header, data, ready }
}
