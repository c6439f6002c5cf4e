use crate::attached::Surroundings;
use crate::landmarks::Landmarks;
use crate::rules::MemoryRules;
use rackwright_memory::{AccessKind, GuestMemory, Hierarchy, Placement, Protection, RequesterId, Traffic};
use rackwright_rtl::{Design, MemoryRequest, MemoryResponse, BEAT_BYTES};
use rackwright_time::unit::Cycle;
use rackwright_time::{Crossing, Cycles, Hart, Unit};

/// The port that reads back what the unit wrote before, by convention of its name.
const INTERMEDIATE_PORT: &str = "history";

/// The memory ports of a unit.
pub(crate) struct MemoryPorts {
    ports: Vec<MemoryPort>,
    /// The rules that it is held to, if it is.
    rules: Option<MemoryRules>,
    /// When the last of what it has asked for so far is answered.
    answered: Cycle,
    landmarks: Landmarks,
}

struct MemoryPort {
    requester: RequesterId,
    bytes: usize,
}

/// From the clock of a unit to that of the memory hierarchy, and back.
#[derive(Clone, Copy)]
pub(crate) struct Crossings {
    pub(crate) to_memory: Crossing<Unit, Hart>,
    pub(crate) from_memory: Crossing<Hart, Unit>,
}

impl MemoryPorts {
    /// Attaches the ports of `design` to the hierarchy.
    pub(crate) fn attach(design: &Design, placement: Placement, hierarchy: &mut Hierarchy) -> MemoryPorts {
        MemoryPorts {
            ports: attach_ports(design, placement, hierarchy),
            rules: None,
            answered: Cycle::ZERO,
            landmarks: Landmarks::default(),
        }
    }

    /// The shortest time to an answer, of the memory's; `None` without ports.
    pub(crate) fn minimum_latency(&self, hierarchy: &Hierarchy) -> Option<Cycles> {
        let latencies = self
            .ports
            .iter()
            .map(|port| hierarchy.minimum_latency(port.requester));
        latencies.min()
    }

    /// When the last of what has been asked for so far is answered.
    pub(crate) fn answered(&self) -> Cycle {
        self.answered
    }

    /// The landmarks since they were last taken.
    pub(crate) fn take_landmarks(&mut self) -> Landmarks {
        std::mem::take(&mut self.landmarks)
    }

    /// Holds what is asked from now on to the rules.
    pub(crate) fn hold_to(&mut self, rules: MemoryRules) {
        self.rules = Some(rules);
    }

    /// Has memory hold what has been answered in the unit's cycle `now` or before.
    pub(crate) fn settle(&mut self, now: Cycle, memory: &mut GuestMemory) {
        if let Some(rules) = &mut self.rules {
            rules.settle(now, memory);
        }
    }

    /// Performs one request and says when its answer is due, in the unit's cycles. One that is against the rules is told.
    pub(crate) fn serve(
        &mut self,
        request: &MemoryRequest,
        crossings: Crossings,
        surroundings: &mut Surroundings,
    ) -> (MemoryResponse, Result<(), String>) {
        let port = &self.ports[usize::from(request.port)];
        if let Some(rules) = &mut self.rules {
            rules.settle(request.cycle, surroundings.memory);
        }
        let mut data = [0; BEAT_BYTES];
        let allowed = if request.write {
            may_write(request, port.bytes, surroundings)
        } else {
            let data = &mut data[..port.bytes];
            let allowed = read_beat(request, data, surroundings);
            if let Some(rules) = &self.rules {
                rules.read(request, data);
            }
            allowed
        };
        let kind = if request.write {
            AccessKind::Write
        } else {
            AccessKind::Read
        };
        let at = crossings.to_memory.seen(request.cycle);
        let done = surroundings
            .hierarchy
            .access(at, request.address, kind, port.requester);
        let due = crossings.from_memory.seen(done);
        self.answered = self.answered.max(due);
        self.landmarks.note(request.write, request.cycle, due);
        let mut kept = Ok(());
        match &mut self.rules {
            Some(rules) => {
                kept = rules.ask(request, port.bytes, due);
                if request.write && allowed {
                    rules.write(request, port.bytes, due);
                }
            }
            None if request.write && allowed => store(request, port.bytes, surroundings.memory),
            None => {}
        }
        let response = MemoryResponse {
            due,
            tag: request.tag,
            port: request.port,
            fault: !allowed,
            data,
        };
        (response, kept)
    }
}

fn attach_ports(design: &Design, placement: Placement, hierarchy: &mut Hierarchy) -> Vec<MemoryPort> {
    let widest = design.manifest.memory_ports().map(|(_, bytes)| bytes).max();
    let Some(widest) = widest else { return Vec::new() };
    let link = hierarchy.attach_link(placement, widest);
    let attach = |(name, bytes): (&str, u32)| {
        let traffic = if name == INTERMEDIATE_PORT {
            Traffic::Intermediate
        } else {
            Traffic::Stream
        };
        MemoryPort {
            requester: hierarchy.attach_port(link, traffic),
            bytes: bytes as usize,
        }
    };
    design.manifest.memory_ports().map(attach).collect()
}

fn read_beat(request: &MemoryRequest, data: &mut [u8], surroundings: &mut Surroundings) -> bool {
    let Some(end) = request.address.checked_add(data.len() as u64) else {
        return false;
    };
    surroundings.guard.may_read(request.address..end)
        && surroundings.memory.read(request.address, data).is_ok()
}

/// Whether the masked bytes of a beat, which lies in one page, may be written.
fn may_write(request: &MemoryRequest, bytes: usize, surroundings: &mut Surroundings) -> bool {
    surroundings.guard.may_write(request.address, request.mask)
        && (masked(request, bytes) == 0
            || surroundings
                .memory
                .protection(request.address)
                .allows(Protection::WRITE))
}

/// The bytes of a beat that a write writes.
pub(crate) fn masked(request: &MemoryRequest, bytes: usize) -> u32 {
    request.mask & (u32::MAX >> (BEAT_BYTES - bytes))
}

/// Writes the masked bytes of a beat, run by run, which may be.
pub(crate) fn store(request: &MemoryRequest, bytes: usize, memory: &mut GuestMemory) {
    let mut left = masked(request, bytes);
    while left != 0 {
        let first = left.trailing_zeros() as usize;
        let run = (left >> first).trailing_ones() as usize;
        let end = (first + run).min(bytes);
        let address = request.address.wrapping_add(first as u64);
        let written = memory.write(address, &request.data[first..end]);
        debug_assert!(written.is_ok(), "it was allowed");
        left &= u32::MAX.checked_shl((first + run) as u32).unwrap_or(0);
    }
}
