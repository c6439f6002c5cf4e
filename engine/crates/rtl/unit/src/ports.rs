use crate::beat::{masked, store};
use crate::clock::UnitClock;
use crate::landmarks::Landmarks;
use crate::rules::MemoryRules;
use crate::surroundings::Surroundings;
use rackwright_contract::{Answer, Ticket};
use rackwright_memory::{AccessKind, GuestMemory, Interconnect, Protection, RequesterId, Route, Traffic};
use rackwright_rtl::{Design, MemoryRequest, MemoryResponse, Moves, Port, RequestKind, BEAT_BYTES};
use rackwright_state::{Pass, State, StateError};
use rackwright_time::unit::Cycle;
use rackwright_time::{hart, Cycles};

/// Of the word that a swap compares.
const WORD_BYTES: usize = 8;

/// The memory ports of a unit.
pub struct MemoryPorts {
    ports: Vec<MemoryPort>,
    /// Outstanding requests.
    awaited: Vec<(Ticket, MemoryRequest)>,
    /// Reads that wait until memory changes.
    watches: Vec<MemoryRequest>,
    /// The rules that it is held to, if it is.
    rules: Option<MemoryRules>,
    /// The cycle of the last response to all requests so far.
    answered: Cycle,
    landmarks: Landmarks,
}

/// Landmarks are not in it: they are kept for reports of single units.
impl State for MemoryPorts {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.list(&mut self.watches, MemoryRequest::blank)?;
        self.answered.pass(by)
    }
}

struct MemoryPort {
    name: String,
    /// Whether it has tags, which are the unit's.
    has_tags: bool,
    requester: RequesterId,
    bytes: usize,
}

impl MemoryPorts {
    /// Attaches the ports of `design` to an interconnect.
    pub(crate) fn attach<I: Interconnect>(
        design: &Design,
        placement: &Route,
        interconnect: &mut I,
    ) -> MemoryPorts {
        MemoryPorts {
            ports: attach_ports(design, placement, interconnect),
            awaited: Vec::new(),
            watches: Vec::new(),
            rules: None,
            answered: Cycle::ZERO,
            landmarks: Landmarks::default(),
        }
    }

    /// The shortest time to an answer, of the memory's; `None` without ports.
    pub(crate) fn minimum_latency<I: Interconnect>(&self, interconnect: &I) -> Option<Cycles> {
        let latencies = self
            .ports
            .iter()
            .map(|port| interconnect.minimum_latency(port.requester));
        latencies.min()
    }

    /// The cycle of the last response to all requests so far.
    pub(crate) fn answered(&self) -> Cycle {
        self.answered
    }

    /// The first read and the last write since the last call.
    pub fn take_landmarks(&mut self) -> Landmarks {
        std::mem::take(&mut self.landmarks)
    }

    /// Enforces the rules of memory ports, with a memory in which writes are visible only from their responses on. For
    /// a unit that shares memory only with the caller of [`MemoryPorts::settle`].
    pub fn hold_to_rules(&mut self) {
        let names = self.ports.iter().map(|port| (port.name.clone(), port.has_tags));
        self.rules = Some(MemoryRules::new(names));
    }

    /// Makes accesses with responses in the unit's cycle `now` or before visible in memory.
    pub fn settle(&mut self, now: Cycle, memory: &mut GuestMemory) {
        if let Some(rules) = &mut self.rules {
            rules.settle(now, memory);
        }
    }

    /// Whether requests are outstanding whose state is not in the unit or its instance.
    pub(crate) fn is_under_way(&self) -> bool {
        self.rules.is_some() || self.awaits()
    }

    /// Whether a response is pending.
    pub(crate) fn awaits(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// Sends a request of the unit to the interconnect; returns the memory's cycle of the response, if it is known.
    pub(crate) fn ask<I: Interconnect>(
        &mut self,
        request: &MemoryRequest,
        clock: &UnitClock,
        interconnect: &mut I,
    ) -> Option<hart::Cycle> {
        let port = &self.ports[usize::from(request.port)];
        let at = clock.seen_by_hart(request.cycle);
        let asked = match request.kind {
            RequestKind::Write => {
                let data = &request.data[..port.bytes];
                interconnect.ask_to_write(at, request.address, data, request.mask, port.requester)
            }
            RequestKind::Swap => interconnect.ask(at, request.address, AccessKind::Write, port.requester),
            _ => interconnect.ask(at, request.address, AccessKind::Read, port.requester),
        };
        match asked {
            Answer::At(done, ()) => Some(done),
            Answer::Later(ticket) => {
                self.awaited.push((ticket, *request));
                None
            }
        }
    }

    /// The next request that has received a response, and the memory's cycle of the response.
    pub(crate) fn answer<I: Interconnect>(
        &mut self,
        interconnect: &mut I,
    ) -> Option<(MemoryRequest, hart::Cycle)> {
        let mut ports = self.ports.iter();
        let (ticket, done) = ports.find_map(|port| interconnect.answered(port.requester))?;
        let of = |(other, _): &(Ticket, MemoryRequest)| *other == ticket;
        let index = self
            .awaited
            .iter()
            .position(of)
            .expect("each request is answered once");
        Some((self.awaited.swap_remove(index).1, done))
    }

    /// Performs a request with a response in the memory's cycle `done`: immediately, or at that time if the rules are
    /// enforced. A watch that waits has no answer yet. Violations of the rules are reported.
    pub(crate) fn perform<I: Interconnect>(
        &mut self,
        request: &MemoryRequest,
        done: hart::Cycle,
        clock: &UnitClock,
        surroundings: &mut Surroundings<I>,
    ) -> (Option<MemoryResponse>, Result<(), String>) {
        let port = &self.ports[usize::from(request.port)];
        if let Some(rules) = &mut self.rules {
            rules.settle(request.cycle, surroundings.memory);
        }
        let mut data = [0; BEAT_BYTES];
        let mut allowed = !request.is_write() || may_write(request, port.bytes, surroundings);
        if request.kind != RequestKind::Write {
            let data = &mut data[..port.bytes];
            allowed &= read_beat(request, data, surroundings);
            if let Some(rules) = &self.rules {
                rules.read(request, data);
            }
        }
        let due = clock.seen_by_unit(done);
        let waits = is_watch(request) && allowed && !has_changed(request, &data);
        let kept = match &mut self.rules {
            Some(rules) => rules.ask(request, port.bytes, (!waits).then_some(due)),
            None => Ok(()),
        };
        if waits {
            surroundings.interconnect.watch(request.address, port.requester);
            self.watches.push(*request);
            return (None, kept);
        }
        self.answered = self.answered.max(due);
        self.landmarks.note(request.is_write(), request.cycle, due);
        if let Some(write) = written(request, &data).filter(|_| allowed && !I::MOVES_BYTES) {
            match &mut self.rules {
                Some(rules) => rules.write(&write, port.bytes, due),
                None => store(&write, port.bytes, surroundings.memory),
            }
        }
        (Some(answer(request, due, allowed, data)), kept)
    }

    /// Whether a watch waits.
    pub(crate) fn watch(&self) -> bool {
        !self.watches.is_empty()
    }

    /// Responds to the watches whose beats have changed, or may not be read any more, as of the memory's cycle `now`.
    pub(crate) fn tell<I: Interconnect>(
        &mut self,
        now: hart::Cycle,
        clock: &UnitClock,
        surroundings: &mut Surroundings<I>,
    ) -> Vec<(MemoryRequest, MemoryResponse)> {
        self.end_watches(now, clock, surroundings, |watch, data, allowed| {
            !allowed || has_changed(watch, data)
        })
    }

    /// Answers all watches of the port of a `request` that ends them.
    pub(crate) fn withdraw<I: Interconnect>(
        &mut self,
        request: &MemoryRequest,
        clock: &UnitClock,
        surroundings: &mut Surroundings<I>,
    ) -> Vec<(MemoryRequest, MemoryResponse)> {
        if !is_watch(request) || request.mask != 0 {
            return Vec::new();
        }
        let now = clock.seen_by_hart(request.cycle);
        self.end_watches(now, clock, surroundings, |watch, _, _| watch.port == request.port)
    }

    /// Responds to ended watches with the contents of their beats, if they may be read.
    fn end_watches<I: Interconnect>(
        &mut self,
        now: hart::Cycle,
        clock: &UnitClock,
        surroundings: &mut Surroundings<I>,
        is_over: impl Fn(&MemoryRequest, &[u8; BEAT_BYTES], bool) -> bool,
    ) -> Vec<(MemoryRequest, MemoryResponse)> {
        let mut told = Vec::new();
        self.watches.retain(|watch| {
            let port = &self.ports[usize::from(watch.port)];
            let mut data = [0; BEAT_BYTES];
            let allowed = read_beat(watch, &mut data[..port.bytes], surroundings);
            if !is_over(watch, &data, allowed) {
                return true;
            }
            let interconnect = &mut *surroundings.interconnect;
            let due = clock.seen_by_unit(interconnect.tell(now, watch.address, port.requester));
            if let Some(rules) = &mut self.rules {
                rules.answer(watch, due);
            }
            told.push((*watch, answer(watch, due, allowed, data)));
            false
        });
        told
    }
}

/// What a request writes to memory, whose beat is `data`.
fn written(request: &MemoryRequest, data: &[u8; BEAT_BYTES]) -> Option<MemoryRequest> {
    let (first, second) = (0..WORD_BYTES, WORD_BYTES..2 * WORD_BYTES);
    match request.kind {
        RequestKind::Write => Some(*request),
        RequestKind::Swap if request.data[first.clone()] == data[first] => {
            let mut write = *request;
            write.data.copy_within(second, 0);
            Some(write)
        }
        _ => None,
    }
}

fn is_watch(request: &MemoryRequest) -> bool {
    request.kind == RequestKind::Watch
}

/// Whether a watched beat differs from the request's data; a beat without a mask is never watched.
fn has_changed(request: &MemoryRequest, data: &[u8; BEAT_BYTES]) -> bool {
    let mut bytes = request.data.iter().zip(data).enumerate();
    request.mask == 0 || bytes.any(|(index, (known, held))| request.mask >> index & 1 != 0 && known != held)
}

fn answer(request: &MemoryRequest, due: Cycle, allowed: bool, data: [u8; BEAT_BYTES]) -> MemoryResponse {
    MemoryResponse {
        due,
        tag: request.tag,
        port: request.port,
        fault: !allowed,
        data,
    }
}

fn attach_ports<I: Interconnect>(
    design: &Design,
    placement: &Route,
    interconnect: &mut I,
) -> Vec<MemoryPort> {
    let widest = design.manifest.memory_ports().map(|(_, bytes)| bytes).max();
    let Some(widest) = widest else { return Vec::new() };
    let link = interconnect.attach_link(placement, widest);
    let ports = design.manifest.ports.iter();
    let memory = ports.filter_map(|port| Some((port, port.moves()?)));
    let attach = |((port, moves), (name, bytes)): ((&Port, Moves), (&str, u32))| {
        let traffic = match moves {
            Moves::Stream => Traffic::Stream,
            Moves::Intermediate => Traffic::Intermediate,
        };
        MemoryPort {
            name: name.to_string(),
            has_tags: matches!(port, Port::Memory { .. }),
            requester: interconnect.attach_port(link, traffic),
            bytes: bytes as usize,
        }
    };
    memory.zip(design.manifest.memory_ports()).map(attach).collect()
}

fn read_beat<I>(request: &MemoryRequest, data: &mut [u8], surroundings: &mut Surroundings<I>) -> bool {
    let Some(end) = request.address.checked_add(data.len() as u64) else {
        return false;
    };
    surroundings.guard.may_read(request.address..end)
        && surroundings.memory.read(request.address, data).is_ok()
}

/// Whether the masked bytes of a beat, which is in one page, may be written.
fn may_write<I>(request: &MemoryRequest, bytes: usize, surroundings: &mut Surroundings<I>) -> bool {
    surroundings.guard.may_write(request.address, request.mask)
        && (masked(request, bytes) == 0
            || surroundings
                .memory
                .protection(request.address)
                .allows(Protection::WRITE))
}
