use super::WINDOW;
use crate::class::Class;
use crate::credits::Amount;
use crate::error::FabricError;
use crate::function::configuration::Configuration;
use crate::function::target::Request;
use crate::function::{Given, BEAT, NEVER, PAYLOAD};
use crate::host::{completions, write_enabled};
use crate::packet::{Header, Kind};
use rackwright_memory::{
    AccessKind, GuestMemory, Hierarchy, HierarchyParameters, RequesterId, Route, Traffic,
};
use rackwright_rtl::{MemoryRequest, MemoryResponse, BEAT_BYTES};
use rackwright_time::{unit, Clock, Cycle};
use std::collections::VecDeque;
use std::ops::Range;

/// A completion, from `ready` on.
struct Answer {
    ready: u64,
    header: Header,
    data: Vec<u8>,
}

/// DRAM of a card's own behind its second window: one channel without caches, at the clock of the function.
///
/// The unit accesses it by the same addresses as others do. Requests of others are taken in the order of their arrival,
/// and several reads may be under way.
pub(super) struct OwnMemory {
    bytes: u64,
    contents: GuestMemory,
    hierarchy: Hierarchy,
    /// The requester for packets, and that of each port of the unit, with the bytes of its beats.
    others: RequesterId,
    ports: Vec<(RequesterId, usize)>,
    answers: VecDeque<Answer>,
    /// Beats of the unit, and packets of others: reads and writes.
    beats: [u64; 2],
    packets: [u64; 2],
}

impl OwnMemory {
    /// Zeros, `bytes` of them, a power of two; for a unit with beats of these sizes.
    ///
    /// # Errors
    /// [`FabricError`] when it cannot be reserved.
    pub(super) fn new(bytes: u64, clock: Clock, widths: &[usize]) -> Result<OwnMemory, FabricError> {
        let mut contents = GuestMemory::new(bytes)?;
        contents.allow_all();
        let own = HierarchyParameters::own_dram();
        let mut hierarchy = Hierarchy::new(HierarchyParameters { clock, ..own })?;
        let link = hierarchy.attach_link(&Route::default(), BEAT_BYTES as u32);
        let mut attach = || hierarchy.attach_port(link, Traffic::Stream);
        let others = attach();
        let ports = widths.iter().map(|width| (attach(), *width)).collect();
        Ok(OwnMemory {
            bytes,
            contents,
            hierarchy,
            others,
            ports,
            answers: VecDeque::new(),
            beats: [0; 2],
            packets: [0; 2],
        })
    }

    /// The logarithm of its size.
    pub(super) fn bits(&self) -> u32 {
        self.bytes.ilog2()
    }

    /// The place of a bus address in it.
    fn place(&self, address: u64) -> u64 {
        address & (self.bytes - 1)
    }

    /// Reads it for an inspection that takes no time.
    ///
    /// # Errors
    /// [`FabricError::Fault`] behind its end.
    pub(super) fn read(&self, address: u64, data: &mut [u8]) -> Result<(), FabricError> {
        Ok(self.contents.read(self.place(address), data)?)
    }

    /// Writes it in the same way.
    ///
    /// # Errors
    /// [`FabricError::Fault`] behind its end.
    pub(super) fn write(&mut self, address: u64, data: &[u8]) -> Result<(), FabricError> {
        Ok(self.contents.write(self.place(address), data)?)
    }

    /// Serves a beat of a port of the unit.
    pub(super) fn ask(&mut self, request: &MemoryRequest) -> MemoryResponse {
        let (requester, bytes) = self.ports[usize::from(request.port)];
        let (place, asked) = (self.place(request.address), request.cycle.0);
        let mut data = [0; BEAT_BYTES];
        let (kind, fault) = if request.is_write() {
            let mut enabled = (0..bytes).filter(|byte| request.mask >> byte & 1 != 0);
            let mut write = |byte: usize| {
                self.contents
                    .write(place + byte as u64, &request.data[byte..=byte])
            };
            (AccessKind::Write, enabled.any(|byte| write(byte).is_err()))
        } else {
            let read = self.contents.read(place, &mut data[..bytes]);
            (AccessKind::Read, read.is_err())
        };
        self.beats[usize::from(request.is_write())] += 1;
        let done = self
            .hierarchy
            .access(Cycle::new(asked + 1), place, kind, requester);
        MemoryResponse {
            // The unit may be as far ahead already.
            due: unit::Cycle::new(done.0.max(asked + WINDOW)),
            tag: request.tag,
            port: request.port,
            fault,
            data,
        }
    }

    /// Serves a request of others at `now`, which is in the window as a whole: a write frees its room when memory has
    /// taken it, a read when its last completion leaves.
    ///
    /// # Errors
    /// [`FabricError::Fault`] behind the end.
    pub(super) fn serve(
        &mut self,
        now: u64,
        request: &Request,
        configuration: &Configuration,
        give: &mut impl FnMut(u64, Given<'_>),
    ) -> Result<(), FabricError> {
        let Request { mut header, .. } = *request;
        self.packets[usize::from(header.kind == Kind::MemoryWrite)] += 1;
        if header.kind == Kind::MemoryWrite {
            header.request.address = self.place(header.request.address);
            write_enabled(&mut self.contents, &header, &request.data)?;
            let begin = header.request.address;
            let done = self.access(now, begin..begin + request.data.len() as u64, AccessKind::Write);
            give(done, Given::Freed(Class::Posted, header.cost()));
            return Ok(());
        }
        let most = configuration.allowed().payload().min(PAYLOAD);
        for (header, range) in completions(&header, configuration.id, most) {
            let mut data = vec![0; (range.end - range.start) as usize];
            let begin = self.place(range.start);
            self.contents.read(begin, &mut data)?;
            let done = self.access(now, begin..begin + data.len() as u64, AccessKind::Read);
            self.answers.push_back(Answer {
                ready: done + 1,
                header,
                data,
            });
        }
        Ok(())
    }

    /// When the last beat of a range has been accessed that is asked for at `now`.
    fn access(&mut self, now: u64, range: Range<u64>, kind: AccessKind) -> u64 {
        let beat = BEAT_BYTES as u64;
        let beats = (range.start / beat..range.end.div_ceil(beat)).map(|number| number * beat);
        let done = beats.map(|place| self.hierarchy.access(Cycle::new(now), place, kind, self.others));
        done.max().map_or(now, |done| done.0)
    }

    /// The time from which on a completion is ready to leave, and its data credits.
    pub(super) fn ready(&self) -> (u64, u64) {
        let next = self.answers.front();
        next.map_or((NEVER, 0), |answer| (answer.ready, answer.header.cost().data))
    }

    /// The completion leaves. Returns the cycle of its last beat, and its bytes.
    pub(super) fn leave(&mut self, now: u64, give: &mut impl FnMut(u64, Given<'_>)) -> (u64, u64) {
        let Some(Answer { header, data, .. }) = self.answers.pop_front() else {
            return (now, 0);
        };
        let last = now + (data.len() as u64).div_ceil(BEAT);
        give(last + 1, Given::Packet(&header, &data));
        if usize::from(header.completion.byte_count) <= data.len() {
            let room = Amount { headers: 1, data: 0 };
            give(last + 1, Given::Freed(Class::NonPosted, room));
        }
        (last, header.bytes() as u64)
    }

    /// Whether no completion is to leave.
    pub(super) fn is_idle(&self) -> bool {
        self.answers.is_empty()
    }

    pub(super) fn events(&self) -> [(&'static str, u64); 4] {
        [
            ("memory_reads", self.beats[0]),
            ("memory_writes", self.beats[1]),
            ("window_reads", self.packets[0]),
            ("window_writes", self.packets[1]),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::configuration::Identity;
    use crate::packet::Id;
    use rackwright_rtl::RequestKind;

    const BYTES: u64 = 8 << 30;
    const BASE: u64 = 3 * BYTES;

    fn memory() -> OwnMemory {
        OwnMemory::new(BYTES, Clock::new(2_000_000_000).unwrap(), &[32]).unwrap()
    }

    fn configuration() -> Configuration {
        Configuration::new(Identity {
            numbers: 0,
            windows: [12, 33],
            vectors: 0,
            interrupts: false,
        })
    }

    fn packet(kind: Kind, address: u64, words: u16, enables: u8, data: &[u8]) -> Request {
        let mut header = Header::memory(kind, Id(0x200), 5, address, words);
        header.request.enables = enables;
        Request {
            header,
            data: data.to_vec(),
            ready: 0,
        }
    }

    fn beat(cycle: u64, address: u64, kind: RequestKind, mask: u32) -> MemoryRequest {
        MemoryRequest {
            cycle: unit::Cycle::new(cycle),
            address,
            mask,
            tag: 9,
            port: 0,
            kind,
            data: [0xcc; BEAT_BYTES],
        }
    }

    #[test]
    fn others_and_the_unit_find_what_each_has_written() {
        let (mut memory, configuration) = (memory(), configuration());
        let mut freed = Vec::new();
        // In the upper half, which 32 bits do not reach: of two words, the first and the last byte are not written.
        let place = BASE + (5 << 30) + 0x40;
        let write = packet(Kind::MemoryWrite, place, 2, 0x7e, &[0xaa; 8]);
        memory
            .serve(100, &write, &configuration, &mut |at, given| {
                if let Given::Freed(class, amount) = given {
                    freed.push((at > 100, class, amount.headers, amount.data));
                }
            })
            .unwrap();
        assert_eq!(freed, [(true, Class::Posted, 1, 1)]);
        let read = memory.ask(&beat(200, place, RequestKind::Read, 0));
        assert_eq!(read.data[..9], [0, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0, 0]);
        assert!((read.tag, read.fault) == (9, false) && read.due.0 >= 200 + WINDOW);
        let written = memory.ask(&beat(300, place, RequestKind::Write, 0x101));
        assert!(written.due.0 >= 300 + WINDOW);
        let mut found = [0; 9];
        memory.read(place, &mut found).unwrap();
        assert_eq!(found, [0xcc, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0, 0xcc]);
        memory.read(BASE + 0x40, &mut found).unwrap();
        assert_eq!(found, [0; 9], "4 GiB below, there is other memory");
    }

    #[test]
    fn a_long_read_is_several_completions_after_the_time_of_dram() {
        let (mut memory, configuration) = (memory(), configuration());
        memory.write(BASE + 64, &[7; 256]).unwrap();
        let read = packet(Kind::MemoryRead, BASE + 64, 64, 0xff, &[]);
        memory.serve(1000, &read, &configuration, &mut |_, _| {}).unwrap();
        let mut sent = Vec::new();
        while !memory.is_idle() {
            let (ready, _) = memory.ready();
            let mut freed = false;
            memory.leave(ready, &mut |_, given| match given {
                Given::Packet(header, data) => {
                    sent.push((ready, header.completion.byte_count, data.to_vec()))
                }
                Given::Freed(class, _) => freed = class == Class::NonPosted,
                _ => {}
            });
            assert_eq!(freed, memory.is_idle());
        }
        // Payloads of 128 bytes after reset; a closed row takes 48 ns and the pins.
        let lengths: Vec<_> = sent.iter().map(|(_, left, data)| (*left, data.len())).collect();
        assert_eq!(lengths, [(256, 64), (192, 128), (64, 64)]);
        assert!(sent.iter().all(|(_, _, data)| data.iter().all(|byte| *byte == 7)));
        assert!((1090..1200).contains(&sent[0].0), "{}", sent[0].0);
    }
}
