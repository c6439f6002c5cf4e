use crate::aer::{Fault, Severity};
use crate::class::Class;
use crate::function::device_control::{DeviceControl, TAGS};
use crate::function::transmitter::Ready;
use crate::function::{Given, BEAT, NEVER, PAYLOAD};
use crate::host::bytes_asked;
use crate::packet::{Header, Id, Kind, Status};
use crate::reports::TO_ROOT;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;

/// After so many cycles, a read has no completion: those of 2 GHz are 65 µs (7.5.3.16).
const PATIENCE: u64 = 1 << 17;

/// What software allows a function.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Allowed {
    /// The number under which it does so.
    pub(super) id: Id,
    pub(super) control: DeviceControl,
}

/// A packet that is to leave, from `ready` on.
#[derive(Serialize, Deserialize)]
struct Leaving {
    ready: u64,
    header: Header,
    data: Vec<u8>,
}

impl Leaving {
    fn is_posted(&self) -> bool {
        self.header.kind.class() == Class::Posted
    }
}

/// The read of a device, in several requests.
#[derive(Serialize, Deserialize)]
struct Reading {
    range: Range<u64>,
    data: Vec<u8>,
    failed: bool,
}

/// A request with a tag: the addresses that are still to come, and until when.
#[derive(Serialize, Deserialize)]
struct Waiting {
    range: Range<u64>,
    until: u64,
}

/// The accesses of a device as packets: writes of at most the payload that is allowed, and reads of at most the longest
/// request, several of them at once. They leave in the order of the device's program.
#[derive(Serialize, Deserialize)]
pub(super) struct Dma {
    leaving: VecDeque<Leaving>,
    reading: Option<Reading>,
    /// By tag.
    waiting: Vec<Option<Waiting>>,
    next_tag: usize,
    allowed: Allowed,
    /// Packets so far, and completions that no request waits for; requests without one.
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) unexpected: u64,
    pub(super) timeouts: u64,
}

impl Dma {
    pub(super) fn new() -> Dma {
        Dma {
            leaving: VecDeque::new(),
            reading: None,
            waiting: std::iter::repeat_with(|| None).take(TAGS.into()).collect(),
            next_tag: 0,
            allowed: Allowed::default(),
            reads: 0,
            writes: 0,
            unexpected: 0,
            timeouts: 0,
        }
    }

    /// What software allows from now on.
    pub(super) fn allow(&mut self, allowed: Allowed) {
        self.allowed = allowed;
    }

    /// Writes data from `now` on.
    pub(super) fn write(&mut self, now: u64, address: u64, data: &[u8]) {
        let range = address..address + data.len() as u64;
        for part in parts(range, self.allowed.control.payload().min(PAYLOAD)) {
            let header = memory(Kind::MemoryWrite, self.allowed.id, &part);
            let skip = (part.start % 4) as usize;
            let from = (part.start - address) as usize;
            let bytes = &data[from..from + (part.end - part.start) as usize];
            let mut words = vec![0; 4 * header.payload_words()];
            words[skip..skip + bytes.len()].copy_from_slice(bytes);
            self.leaving.push_back(Leaving {
                ready: now + 1,
                header,
                data: words,
            });
        }
    }

    /// Sends the message of an error from `now` on (2.2.8.3).
    pub(super) fn tell(&mut self, now: u64, severity: Severity) {
        let mut header = Header::new(Kind::Message(TO_ROOT, false), self.allowed.id, 0);
        header.request.enables = severity.code();
        self.leaving.push_back(Leaving {
            ready: now + 1,
            header,
            data: Vec::new(),
        });
    }

    /// What software allows.
    pub(super) fn control(&self) -> u32 {
        self.allowed.control.0
    }

    /// Reads `bytes` bytes from `now` on: [`Dma::take_read`] has them when all have come.
    pub(super) fn read(&mut self, now: u64, address: u64, bytes: usize) {
        let range = address..address + bytes as u64;
        for part in parts(range.clone(), self.allowed.control.read_request()) {
            self.leaving.push_back(Leaving {
                ready: now + 1,
                header: memory(Kind::MemoryRead, self.allowed.id, &part),
                data: Vec::new(),
            });
        }
        self.reading = Some(Reading {
            range,
            data: vec![0; bytes],
            failed: false,
        });
    }

    /// The data of the read when it is complete, or nothing if it was refused; the outer option says whether it is.
    pub(super) fn take_read(&mut self) -> Option<Option<Vec<u8>>> {
        let waits = self.waiting.iter().any(Option::is_some)
            || self
                .leaving
                .iter()
                .any(|packet| packet.header.kind == Kind::MemoryRead);
        let reading = self.reading.take_if(|_| !waits)?;
        Some((!reading.failed).then_some(reading.data))
    }

    /// A completion arrives. Whatever differs from what its request waits for is not its completion (2.3.2). Returns the
    /// error in it.
    pub(super) fn arrive(&mut self, header: &Header, data: &[u8]) -> Option<Fault> {
        let place = self.waiting.get_mut(usize::from(header.tag));
        let (Some(Some(waiting)), Some(reading)) = (place, &mut self.reading) else {
            self.unexpected += 1;
            return Some(Fault::UnexpectedCompletion);
        };
        let completion = &header.completion;
        if completion.status != Status::Successful || header.poisoned {
            reading.failed = true;
            self.waiting[usize::from(header.tag)] = None;
            return header.poisoned.then_some(Fault::Poisoned);
        }
        let Range { start, end } = waiting.range;
        let begin = start & !3;
        let reached = (begin + data.len() as u64).min(end);
        let fits = !data.is_empty()
            && begin + data.len() as u64 <= end.next_multiple_of(4)
            && u64::from(completion.byte_count) == end - start
            && u64::from(completion.lower_address) == start & 0x7f;
        if !fits {
            self.unexpected += 1;
            return Some(Fault::UnexpectedCompletion);
        }
        let (from, to) = ((start - begin) as usize, (reached - begin) as usize);
        let place = (start - reading.range.start) as usize;
        reading.data[place..place + to - from].copy_from_slice(&data[from..to]);
        waiting.range.start = reached;
        if reached == end {
            self.waiting[usize::from(header.tag)] = None;
        }
        None
    }

    /// When a read has waited for too long.
    pub(super) fn times_out(&self) -> u64 {
        let all = self.waiting.iter().flatten();
        all.map(|waiting| waiting.until).min().unwrap_or(NEVER)
    }

    /// Ends the requests that have waited for too long; returns whether there are any.
    pub(super) fn give_up(&mut self, now: u64) -> bool {
        let before = self.timeouts;
        for place in &mut self.waiting {
            if place.take_if(|waiting| waiting.until <= now).is_some() {
                self.timeouts += 1;
                if let Some(reading) = &mut self.reading {
                    reading.failed = true;
                }
            }
        }
        self.timeouts != before
    }

    /// Whether posted requests are to leave, which no completion of this function passes (2.4.1).
    pub(super) fn has_posted(&self) -> bool {
        self.leaving.iter().any(Leaving::is_posted)
    }

    /// The tag of the next read, if one is free.
    fn free_tag(&self) -> Option<usize> {
        let tags = usize::from(self.allowed.control.tags());
        let turns = (0..tags).map(|ahead| (self.next_tag + ahead) % tags);
        turns.into_iter().find(|tag| self.waiting[*tag].is_none())
    }

    /// The time from which on the next packet is ready to leave, as a posted or another request, and its data credits.
    pub(super) fn ready(&self) -> (Ready, Ready) {
        let never = (NEVER, 0);
        match self.leaving.front() {
            Some(packet) if packet.is_posted() => ((packet.ready, packet.header.cost().data), never),
            Some(packet) if self.free_tag().is_some() => (never, (packet.ready, 0)),
            _ => (never, never),
        }
    }

    /// The next packet leaves. Returns the cycle of its last beat.
    pub(super) fn leave(&mut self, now: u64, give: &mut impl FnMut(u64, Given<'_>)) -> u64 {
        let Some(Leaving { mut header, data, .. }) = self.leaving.pop_front() else {
            return now;
        };
        if header.kind == Kind::MemoryRead {
            let tag = self.free_tag().expect("it was ready");
            self.next_tag = tag + 1;
            header.tag = tag as u16;
            self.waiting[tag] = Some(Waiting {
                range: bytes_asked(&header),
                until: now + PATIENCE,
            });
            self.reads += 1;
        } else if header.kind == Kind::MemoryWrite {
            self.writes += 1;
        }
        let last = now + (data.len() as u64).div_ceil(BEAT);
        give(last + 1, Given::Packet(&header, &data));
        last
    }
}

/// The parts of a range, none of which is longer than `most` bytes, or crosses a multiple of it.
fn parts(range: Range<u64>, most: u64) -> impl Iterator<Item = Range<u64>> {
    let cuts = range.start / most..range.end.div_ceil(most);
    cuts.map(move |part| (part * most).max(range.start)..((part + 1) * most).min(range.end))
}

/// A request for a range of bytes: those of the first and of the last word that it does not mean are not enabled (2.2.5).
fn memory(kind: Kind, id: Id, range: &Range<u64>) -> Header {
    let first = range.start & !3;
    let words = ((range.end - first).div_ceil(4)) as u16;
    let mut header = Header::memory(kind, id, 0, first, words);
    let (begin, end) = (range.start % 4, range.end % 4);
    let head = 0xf << begin & 0xf;
    let tail = if end == 0 { 0xf } else { (1 << end) - 1 };
    header.request.enables = if words == 1 { head & tail } else { head | tail << 4 };
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::completions;

    fn allowed() -> Allowed {
        Allowed {
            id: Id::new(3, 0),
            control: DeviceControl(1 << 5 | 1 << 12),
        }
    }

    fn leave(dma: &mut Dma) -> Vec<(Header, Vec<u8>)> {
        let mut all = Vec::new();
        while !dma.leaving.is_empty() && dma.ready() != ((NEVER, 0), (NEVER, 0)) {
            dma.leave(5, &mut |_, given| {
                if let Given::Packet(header, data) = given {
                    all.push((*header, data.to_vec()));
                }
            });
        }
        all
    }

    #[test]
    fn writes_are_cut_at_payloads_and_enable_their_bytes_only() {
        let mut dma = Dma::new();
        dma.allow(allowed());
        let data: Vec<u8> = (0..=255).collect();
        dma.write(1, 0x10fe, &data[..6]);
        let all = leave(&mut dma);
        let seen = all.iter().map(|(header, data)| {
            (
                header.request.address,
                header.words,
                header.request.enables,
                data.clone(),
            )
        });
        let expected = [
            (0x10fc, 1, 0b1100, vec![0, 0, 0, 1]),
            (0x1100, 1, 0b1111, vec![2, 3, 4, 5]),
        ];
        assert_eq!(seen.collect::<Vec<_>>(), expected);
        assert!(dma.leaving.is_empty() && dma.writes == 2);
    }

    #[test]
    fn a_read_is_complete_when_all_of_its_requests_are() {
        let mut dma = Dma::new();
        dma.allow(allowed());
        dma.read(1, 0x10fd, 300);
        let requests = leave(&mut dma);
        assert_eq!(requests.len(), 3);
        // The last one first, each in parts, as the root complex sends them.
        for (request, _) in requests.iter().rev() {
            for (header, range) in completions(request, Id(0), 64) {
                assert_eq!(dma.take_read(), None);
                let data: Vec<u8> = range.map(|address| address as u8).collect();
                dma.arrive(&header, &data);
            }
        }
        let expected: Vec<u8> = (0x10fd..0x10fd + 300).map(|address: u64| address as u8).collect();
        assert_eq!(dma.take_read(), Some(Some(expected)));
        assert!(dma.leaving.is_empty() && dma.unexpected == 0);
    }

    #[test]
    fn completions_that_differ_from_the_request_are_not_taken() {
        let mut dma = Dma::new();
        dma.allow(allowed());
        dma.read(1, 0x1000, 8);
        let (request, _) = leave(&mut dma)[0].clone();
        let (right, _) = completions(&request, Id(0), 64).next().unwrap();
        let changed = |change: &dyn Fn(&mut Header)| {
            let mut header = right;
            change(&mut header);
            header
        };
        let wrong = [
            (changed(&|header| header.tag += 1), 8),
            (changed(&|header| header.completion.byte_count = 12), 8),
            (changed(&|header| header.completion.lower_address = 4), 8),
            (right, 0),
            (right, 12),
        ];
        for (number, (header, bytes)) in wrong.iter().enumerate() {
            dma.arrive(header, &vec![0x55; *bytes]);
            assert_eq!((dma.unexpected, dma.take_read()), (number as u64 + 1, None));
        }
        dma.arrive(&right, &[7; 8]);
        assert_eq!(dma.take_read(), Some(Some(vec![7; 8])));
        // Nobody waits for another one; a refused read, and one without a completion, fail.
        dma.arrive(&right, &[7; 8]);
        assert_eq!(dma.unexpected, wrong.len() as u64 + 1);
        for refused in [true, false] {
            dma.read(1, 0x1000, 8);
            let (request, _) = leave(&mut dma)[0].clone();
            if refused {
                dma.arrive(&Header::completing(&request, Id(0), Status::Unsupported), &[]);
            } else {
                dma.give_up(dma.times_out());
            }
            assert_eq!(dma.take_read(), Some(None));
        }
        assert_eq!(dma.timeouts, 1);
    }
}
