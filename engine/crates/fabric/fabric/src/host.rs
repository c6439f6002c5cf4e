use crate::clocks::Edges;
use crate::error::FabricError;
use crate::packet::{Completion, Header, Id, Kind, Status};
use crate::written::Written;
use rackwright_device::{Map, Place};
use rackwright_memory::{
    AccessKind, GuestMemory, Hierarchy, HierarchyParameters, RequesterId, Route, SharedHierarchy, Traffic,
    WarmLevel, PAGE_BYTES,
};
use rackwright_time::fabric::Cycle;
use std::ops::Range;

/// Bytes of a beat on the port of the root complex to the hierarchy.
const BEAT: u64 = 32;

/// The root complex: the host's memory behind its hierarchy, which returns the cycle of completion of each access.
pub(crate) struct Host {
    /// That of a machine is lent for the handling of events.
    pub(crate) memory: GuestMemory,
    /// Where memory is.
    range: Range<u64>,
    /// Where interrupt files are.
    messages: [Place; 2],
    /// Writes of them that have arrived, by address.
    arrived: Vec<(u64, u32)>,
    hierarchy: SharedHierarchy,
    requester: RequesterId,
    edges: Edges,
    /// The writes of devices.
    pub(crate) written: Written,
    /// The address of an awaited write, and the time of its arrival.
    awaited: Option<(u64, Option<Cycle>)>,
}

impl Host {
    /// Zeroed memory of `bytes` bytes, with cold caches.
    ///
    /// # Errors
    /// [`FabricError`] when it cannot be reserved, or no hardware can have the parameters.
    pub(crate) fn new(bytes: u64, parameters: &HierarchyParameters) -> Result<Host, FabricError> {
        let mut memory = GuestMemory::new(bytes)?;
        memory.allow_all();
        let hierarchy = Hierarchy::new(parameters.clone())?.populated();
        let hierarchy = SharedHierarchy::new(hierarchy);
        Ok(Host::with(memory, 0..bytes, Map::NOTHING.messages, &hierarchy))
    }

    /// The host that a machine is, with these caches, and with interrupt files and memory at these addresses; the memory is
    /// lent to it later.
    ///
    /// # Errors
    /// [`FabricError`] if no placeholder memory can be reserved.
    pub(crate) fn attached(
        hierarchy: &SharedHierarchy,
        range: Range<u64>,
        messages: [Place; 2],
    ) -> Result<Host, FabricError> {
        Ok(Host::with(
            GuestMemory::new(PAGE_BYTES)?,
            range,
            messages,
            hierarchy,
        ))
    }

    fn with(memory: GuestMemory, range: Range<u64>, messages: [Place; 2], shared: &SharedHierarchy) -> Host {
        let mut hierarchy = shared.lock();
        let link = hierarchy.attach_link(&Route::default(), BEAT as u32);
        Host {
            memory,
            range,
            messages,
            arrived: Vec::new(),
            requester: hierarchy.attach_port(link, Traffic::Stream),
            edges: Edges::of(hierarchy.parameters().clock),
            hierarchy: shared.clone(),
            written: Written::default(),
            awaited: None,
        }
    }

    /// Continues with caches of its own, without contents: those of a machine whose harts have none
    /// are used by nobody else.
    ///
    /// # Errors
    /// [`FabricError`] if no hardware can have the parameters, which then it did not have before.
    pub(crate) fn forget_caches(&mut self) -> Result<(), FabricError> {
        let parameters = self.hierarchy.lock().parameters().clone();
        let mut hierarchy = Hierarchy::new(parameters)?;
        let link = hierarchy.attach_link(&Route::default(), BEAT as u32);
        self.requester = hierarchy.attach_port(link, Traffic::Stream);
        self.hierarchy = SharedHierarchy::new(hierarchy);
        Ok(())
    }

    /// Whether a range is memory.
    pub(crate) fn has(&self, range: &Range<u64>) -> bool {
        self.range.start <= range.start && range.start <= range.end && range.end <= self.range.end
    }

    /// Whether a request is a message-signalled interrupt: a write of one whole word of an interrupt file.
    pub(crate) fn has_message(&self, header: &Header) -> bool {
        let request = &header.request;
        let within = |place: &Place| place.offset(request.address).is_some();
        header.kind == Kind::MemoryWrite
            && header.words == 1
            && request.enables == 0xf
            && self.messages.iter().any(within)
    }

    /// Takes such a request. Writes that were sent before it have arrived: posted requests do not pass each
    /// other (2.4.1).
    pub(crate) fn receive(&mut self, header: &Header, data: &[u8]) {
        let mut word = [0; 4];
        word.copy_from_slice(&data[..4]);
        self.arrived
            .push((header.request.address, u32::from_le_bytes(word)));
    }

    /// Takes the interrupt of a root port; returns whether its address is that of an interrupt file.
    pub(crate) fn interrupt(&mut self, address: u64, data: u32) -> bool {
        let is_one = self.messages.iter().any(|place| place.offset(address).is_some());
        if is_one {
            self.arrived.push((address, data));
        }
        is_one
    }

    /// The message-signalled interrupts that have arrived since the last call.
    pub(crate) fn take_messages(&mut self) -> Vec<(u64, u32)> {
        std::mem::take(&mut self.arrived)
    }

    /// Brings a range into the last-level cache.
    pub(crate) fn warm(&mut self, range: Range<u64>) {
        self.hierarchy.lock().warm(range, WarmLevel::Llc);
    }

    /// Awaits the next write of the word at an address.
    pub(crate) fn awaits(&mut self, address: u64) {
        self.awaited = Some((address, None));
    }

    /// Time at which the awaited write arrived.
    pub(crate) fn came(&self) -> Option<Cycle> {
        self.awaited.and_then(|(_, at)| at)
    }

    /// Writes the data of a request that reaches memory at `at`; returns the time at which the last of it is written.
    ///
    /// # Errors
    /// [`FabricError::Fault`] outside of memory.
    pub(crate) fn write(&mut self, at: Cycle, header: &Header, data: &[u8]) -> Result<Cycle, FabricError> {
        let address = header.request.address;
        write_enabled(&mut self.memory, header, data)?;
        self.written.add(at, data.len());
        let range = address..address + data.len() as u64;
        let done = self.access(at, range.clone(), AccessKind::Write);
        if let Some((awaited, came)) = &mut self.awaited {
            if range.contains(awaited) {
                came.get_or_insert(done);
            }
        }
        Ok(done)
    }

    /// Reads data requested from memory at `at`; returns the time at which the last of it arrives.
    ///
    /// # Errors
    /// [`FabricError::Fault`] outside of memory.
    pub(crate) fn read(&mut self, at: Cycle, address: u64, data: &mut [u8]) -> Result<Cycle, FabricError> {
        self.memory.read(address, data)?;
        Ok(self.access(at, address..address + data.len() as u64, AccessKind::Read))
    }

    fn access(&mut self, at: Cycle, range: Range<u64>, kind: AccessKind) -> Cycle {
        let seen = self.edges.seen(at);
        let beats = (range.start / BEAT..range.end.div_ceil(BEAT)).map(|beat| beat * BEAT);
        let mut hierarchy = self.hierarchy.lock();
        let done = beats.map(|beat| hierarchy.access(seen, beat, kind, self.requester));
        done.max().map_or(at, |done| at.max(self.edges.instant(done)))
    }
}

/// Writes the words of a request: of the first and of the last one the bytes that it enables (2.2.5).
pub(crate) fn write_enabled(
    memory: &mut GuestMemory,
    header: &Header,
    data: &[u8],
) -> Result<(), FabricError> {
    let (address, enables) = (header.request.address, header.request.enables);
    let last = data.len().saturating_sub(4);
    let first = if last == 0 { 0 } else { 4 };
    if first < last {
        memory.write(address + first as u64, &data[first..last])?;
    }
    let ends = [(0, enables & 0xf), (last, enables >> 4)];
    for (begin, enables) in ends.into_iter().take(1 + usize::from(last != 0)) {
        let (address, word) = (address + begin as u64, &data[begin..begin + 4]);
        if enables == 0xf {
            memory.write(address, word)?;
            continue;
        }
        for (byte, value) in word
            .iter()
            .enumerate()
            .filter(|(byte, _)| enables >> byte & 1 != 0)
        {
            memory.write(address + byte as u64, &[*value])?;
        }
    }
    Ok(())
}

/// The bytes that a read request means, of its words.
pub(crate) fn bytes_asked(header: &Header) -> Range<u64> {
    let enables = header.request.enables;
    let (first, last) = (
        enables & 0xf,
        if header.words == 1 {
            enables & 0xf
        } else {
            enables >> 4
        },
    );
    let begin = header.request.address + u64::from(first.trailing_zeros().min(3));
    let end =
        header.request.address + 4 * u64::from(header.words) - u64::from((last << 4).leading_zeros().min(3));
    begin..end.max(begin + 1)
}

/// The completions of a read, none longer than `most` bytes nor across a multiple of that: their headers, and the
/// addresses of their data.
pub(crate) fn completions(
    request: &Header,
    completer: Id,
    most: u64,
) -> impl Iterator<Item = (Header, Range<u64>)> {
    let request = *request;
    let asked = bytes_asked(&request);
    let (begin, end) = (
        request.request.address,
        request.request.address + 4 * u64::from(request.words),
    );
    let cuts = (begin / most..end.div_ceil(most))
        .map(move |part| (part * most).max(begin)..((part + 1) * most).min(end));
    cuts.map(move |range| {
        let mut header = Header::completing(&request, completer, Status::Successful);
        header.kind = Kind::Completion(true);
        header.words = ((range.end - range.start) / 4) as u16;
        let first = range.start.max(asked.start);
        header.completion = Completion {
            completer,
            status: Status::Successful,
            byte_count: (asked.end - first) as u16,
            lower_address: (first & 0x7f) as u8,
        };
        (header, range)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(address: u64, words: u16, enables: u8) -> Header {
        let mut header = Header::memory(Kind::MemoryRead, Id::default(), 7, address, words);
        header.request.enables = enables;
        header
    }

    #[test]
    fn a_read_is_completed_at_boundaries() {
        let all: Vec<_> = completions(&read(0x10c0, 128, 0xff), Id(1), 256)
            .map(|(header, range)| {
                (
                    range,
                    header.words,
                    header.completion.byte_count,
                    header.completion.lower_address,
                )
            })
            .collect();
        assert_eq!(
            all,
            [
                (0x10c0..0x1100, 16, 512, 0x40),
                (0x1100..0x1200, 64, 448, 0),
                (0x1200..0x12c0, 48, 192, 0),
            ]
        );
    }

    #[test]
    fn a_write_changes_the_bytes_that_it_enables() {
        let mut host = Host::new(1 << 16, &HierarchyParameters::server()).unwrap();
        let mut write = |address, words, enables| {
            let mut header = Header::memory(Kind::MemoryWrite, Id(1), 0, address, words);
            header.request.enables = enables;
            host.write(Cycle::ZERO, &header, &vec![0xaa; 4 * usize::from(words)])
                .unwrap();
        };
        write(0x100, 3, 0x1c);
        write(0x200, 1, 0x05);
        write(0x300, 2, 0x00);
        let word = |address| host.memory.word(address).unwrap();
        assert_eq!((word(0x100), word(0x108)), (0xaaaa_aaaa_aaaa_0000, 0xaa));
        assert_eq!((word(0x200), word(0x300)), (0x00aa_00aa, 0));
    }

    #[test]
    fn enables_choose_bytes_of_the_first_and_of_the_last_word() {
        assert_eq!(bytes_asked(&read(0x100, 2, 0x7c)), 0x102..0x107);
        assert_eq!(bytes_asked(&read(0x100, 1, 0x04)), 0x102..0x103);
        let (header, range) = completions(&read(0x100, 2, 0x7c), Id(1), 64).next().unwrap();
        assert_eq!(
            (
                range,
                header.completion.byte_count,
                header.completion.lower_address
            ),
            (0x100..0x108, 5, 2)
        );
    }
}
