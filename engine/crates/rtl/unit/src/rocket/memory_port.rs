use rackwright_contract::{Answer, Ticket};
use rackwright_memory::{AccessKind, GuestMemory, Interconnect, RequesterId};
use rackwright_rtl::rocket::{Rocket, RocketMemory};
use rackwright_stats::Digest;
use rackwright_time::Cycle;

/// The port of the design through which its caches reach memory.
pub(super) struct MemoryPort {
    requester: RequesterId,
    /// The bursts of requests without a response.
    awaited: Vec<(Ticket, u64)>,
}

impl MemoryPort {
    /// A port that has been attached as `requester`.
    pub(super) fn new(requester: RequesterId) -> MemoryPort {
        MemoryPort {
            requester,
            awaited: Vec::new(),
        }
    }

    /// Passes responses to the design and runs it, to cycle `until` at the latest.
    pub(super) fn run<I: Interconnect>(
        &mut self,
        rtl: &mut Rocket,
        memory: &mut GuestMemory,
        interconnect: &mut I,
        digest: &mut Digest,
        until: Cycle,
    ) {
        while let Some((ticket, due)) = interconnect.answered(self.requester) {
            let index = self.awaited.iter().position(|(other, _)| *other == ticket);
            let index = index.expect("each request is answered once");
            rtl.complete(self.awaited.swap_remove(index).1, due);
        }
        let mut behind = Behind {
            memory,
            interconnect,
            port: self,
            digest,
        };
        rtl.run(&mut behind, until);
    }
}

/// What is behind the port.
struct Behind<'a, I> {
    memory: &'a mut GuestMemory,
    interconnect: &'a mut I,
    port: &'a mut MemoryPort,
    digest: &'a mut Digest,
}

impl<I: Interconnect> Behind<'_, I> {
    fn record(&mut self, at: Cycle, address: u64, data: &[u8]) {
        self.digest.cycle(at);
        self.digest.number(address);
        self.digest.bytes(data);
    }

    fn ask(&mut self, burst: u64, at: Cycle, address: u64, kind: AccessKind) -> Option<Cycle> {
        match self.interconnect.ask(at, address, kind, self.port.requester) {
            Answer::At(due, ()) => Some(due),
            Answer::Later(ticket) => {
                self.port.awaited.push((ticket, burst));
                None
            }
        }
    }
}

impl<I: Interconnect> RocketMemory for Behind<'_, I> {
    fn read(&mut self, burst: u64, at: Cycle, address: u64, data: &mut [u8]) -> Option<Cycle> {
        // The cores may fetch ahead beyond memory; such bytes are never executed.
        if self.memory.read(address, data).is_err() {
            data.fill(0);
        }
        self.record(at, address, data);
        // The L1 caches are inside the RTL and cannot be snooped, so that their contents are not tracked.
        self.ask(burst, at, address, AccessKind::Fetch)
    }

    fn write(&mut self, burst: u64, at: Cycle, address: u64, data: &[u8]) -> Option<Cycle> {
        self.record(at, address, data);
        // A line beyond memory can only hold the zeros that were read from there.
        let _ = self.memory.write(address, data);
        self.ask(burst, at, address, AccessKind::WriteBack)
    }
}
