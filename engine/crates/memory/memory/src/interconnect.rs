use crate::cache::LINE_BYTES;
use crate::hierarchy::{AccessKind, Hierarchy};
use crate::port::{LinkId, RequesterId};
use crate::route::{Route, Traffic};
use rackwright_contract::{Answer, Ticket};
use rackwright_stats::Counters;
use rackwright_time::{Clock, Cycle, Cycles};

/// The path between requesters and memory: caches, the network of a chip, links.
///
/// It determines the times at which accesses complete. Unless it says otherwise ([`Interconnect::MOVES_BYTES`]), it
/// transfers no bytes: the requester reads or writes them at some time between the request and the response.
///
/// A scheduler that runs the attached parts in turn lets each of them send all requests before a cycle, and then passes
/// this cycle to [`Interconnect::advance`]. A response takes at least [`Interconnect::minimum_latency`]: a part that
/// runs no further than that in one step needs no response before.
pub trait Interconnect {
    /// Whether it moves the bytes of writes itself, so that they are in memory with the response.
    const MOVES_BYTES: bool = false;

    /// The clock of all its cycles.
    fn clock(&self) -> Clock;

    /// Attaches the route of a unit; its ports, with beats of `beat_bytes`, share the bandwidth.
    fn attach_link(&mut self, route: &Route, beat_bytes: u32) -> LinkId;

    /// Attaches a memory port of a unit. Its requests are single beats.
    fn attach_port(&mut self, link: LinkId, traffic: Traffic) -> RequesterId;

    /// Attaches the caches of harts. Their requests are lines.
    fn attach_hart(&mut self) -> RequesterId {
        let link = self.attach_link(&Route::default(), LINE_BYTES as u32);
        self.attach_port(link, Traffic::Stream)
    }

    /// The shortest time that any access of `requester` takes.
    fn minimum_latency(&self, requester: RequesterId) -> Cycles;

    /// Announces a coming access, only for the performance of the host.
    fn prefetch(&self, _address: u64) {}

    /// An access that leaves `requester` at `at`, to the beat at `address`. Requests of one port are passed in the
    /// order of their cycles.
    fn ask(&mut self, at: Cycle, address: u64, kind: AccessKind, requester: RequesterId) -> Answer;

    /// The same for a write of the bytes of `data` that have a bit in `mask`.
    fn ask_to_write(
        &mut self,
        at: Cycle,
        address: u64,
        _data: &[u8],
        _mask: u32,
        requester: RequesterId,
    ) -> Answer {
        self.ask(at, address, AccessKind::Write, requester)
    }

    /// A unit that has received the response to a read of the beat at `address` watches its line from now on, until it
    /// is notified.
    fn watch(&mut self, _address: u64, _requester: RequesterId) {}

    /// Ends a watch, since a write to the beat has been observed by `now`; returns the time of the unit's notification.
    fn tell(&mut self, now: Cycle, _address: u64, _requester: RequesterId) -> Cycle {
        now
    }

    /// Appends its counts of events.
    fn count(&self, _counters: &mut Counters) {}

    /// All requests that leave a part before `now` have been sent.
    fn advance(&mut self, _now: Cycle) {}

    /// The next answer that [`Answer::Later`] has promised to `requester` and that has not been taken: the ticket, and
    /// the cycle in which it is back there.
    fn answered(&mut self, _requester: RequesterId) -> Option<(Ticket, Cycle)> {
        None
    }
}

/// A model that accounts for queues and banks in the order of requests, and so knows each answer at once.
impl Interconnect for Hierarchy {
    fn clock(&self) -> Clock {
        self.parameters().clock
    }

    fn attach_link(&mut self, route: &Route, beat_bytes: u32) -> LinkId {
        Hierarchy::attach_link(self, route, beat_bytes)
    }

    fn attach_port(&mut self, link: LinkId, traffic: Traffic) -> RequesterId {
        Hierarchy::attach_port(self, link, traffic)
    }

    fn attach_hart(&mut self) -> RequesterId {
        Hierarchy::attach_hart(self)
    }

    fn minimum_latency(&self, requester: RequesterId) -> Cycles {
        Hierarchy::minimum_latency(self, requester)
    }

    #[inline]
    fn prefetch(&self, address: u64) {
        Hierarchy::prefetch(self, address);
    }

    #[inline]
    fn ask(&mut self, at: Cycle, address: u64, kind: AccessKind, requester: RequesterId) -> Answer {
        Answer::At(self.access(at, address, kind, requester), ())
    }

    fn count(&self, counters: &mut Counters) {
        let found = self.counters();
        counters.push("l2_hits", found.l2_hits);
        counters.push("l2_misses", found.l2_misses);
        counters.push("llc_hits", found.llc_hits);
        counters.push("llc_misses", found.llc_misses);
    }

    fn watch(&mut self, address: u64, requester: RequesterId) {
        Hierarchy::watch(self, address, requester);
    }

    fn tell(&mut self, now: Cycle, address: u64, requester: RequesterId) -> Cycle {
        Hierarchy::tell(self, now, address, requester)
    }
}
