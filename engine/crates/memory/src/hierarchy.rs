use crate::cache::{Lookup, Victim, LINE_BYTES};
use crate::dram::Dram;
use crate::level::Level;
use crate::parameters::{HierarchyParameters, ParameterError};
use crate::placement::{Placement, Traffic};
use crate::port::{Link, LinkId, RequesterId, UnitPort};
use rackwright_time::{Cycle, Cycles};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// What a requester wants of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// Data to read: a line for a hart's L1, one beat for a unit.
    Read,
    /// A hart's L1 wants the line to modify it.
    Own,
    /// A unit writes (part of) a beat.
    Write,
    /// A hart's L1 gives back a modified line; nobody waits for the returned cycle.
    WriteBack,
    /// Instructions for a hart's L1; such lines are never modified there.
    Fetch,
}

/// What a unit's access did to a line that a hart's L1 may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Snoop {
    /// A unit wrote it: the L1 must forget it.
    Invalidate,
    /// A unit read it: the L1 keeps it, no longer modified.
    Clean,
}

/// A cache to put lines into with [`Hierarchy::warm`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WarmLevel {
    /// The shared L2 (and the last-level cache behind it): data that was just used.
    L2,
    /// The last-level cache only: data a device has just delivered by DDIO.
    Llc,
}

/// How often each level was asked, and had the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HierarchyCounters {
    /// Requests that found their line in L2.
    pub l2_hits: u64,
    /// Requests that did not.
    pub l2_misses: u64,
    /// Of those, the ones that found it in the last-level cache.
    pub llc_hits: u64,
    /// And those that went to memory.
    pub llc_misses: u64,
    /// Unit accesses that had to probe a hart's L1.
    pub probes: u64,
}

/// Flags of a line in L2: an L1 holds it, an L1 may have modified it, L2's copy is newer than memory's.
const HELD: u8 = 1;
const OWNED: u8 = 2;
const DIRTY: u8 = 4;

enum Port {
    Hart,
    Unit(Box<UnitPort>),
}

/// The caches and DRAM that a hart's L1 and the units share: timing only, the data is in guest memory.
///
/// Every answer depends on the requests made so far and on nothing else.
pub struct Hierarchy {
    parameters: HierarchyParameters,
    l2: Level,
    llc: Level,
    dram: Dram,
    ports: Vec<Port>,
    links: Vec<(Placement, Link)>,
    snoops: Vec<(u64, Snoop)>,
    /// Whether there are snoops, for those who do not hold the hierarchy.
    snooped: Arc<AtomicBool>,
    counters: HierarchyCounters,
}

impl Hierarchy {
    /// A cold hierarchy with nothing attached.
    ///
    /// # Errors
    /// [`ParameterError`] when no hardware can have these parameters.
    pub fn new(parameters: HierarchyParameters) -> Result<Hierarchy, ParameterError> {
        parameters.check()?;
        Ok(Hierarchy {
            l2: Level::new(&parameters.l2),
            llc: Level::new(&parameters.llc),
            dram: Dram::new(parameters.clock, &parameters.dram),
            parameters,
            ports: Vec::new(),
            links: Vec::new(),
            snoops: Vec::new(),
            snooped: Arc::default(),
            counters: HierarchyCounters::default(),
        })
    }

    /// Takes the host's memory for the tags of all levels now: worth it for one busy server, not for one of a thousand
    /// that are mostly idle.
    pub fn populated(mut self) -> Hierarchy {
        self.l2.tags.populate();
        self.llc.tags.populate();
        self
    }

    /// The parameters it was built from.
    pub fn parameters(&self) -> &HierarchyParameters {
        &self.parameters
    }

    /// Hits and misses so far.
    pub fn counters(&self) -> HierarchyCounters {
        self.counters
    }

    /// Attaches the hart. Its requests are whole lines and start and end at L2's own port; the way
    /// from its L1 to there is part of the hart's timing model.
    ///
    /// # Panics
    /// When a hart is attached already: harts that snoop each other are not modelled.
    pub fn attach_hart(&mut self) -> RequesterId {
        let has_hart = self.ports.iter().any(|port| matches!(port, Port::Hart));
        assert!(!has_hart, "the hierarchy models one hart");
        self.add_port(Port::Hart)
    }

    /// Attaches a unit's link; its ports, with beats of `beat_bytes`, share the bandwidth of the link.
    pub fn attach_link(&mut self, placement: Placement, beat_bytes: u32) -> LinkId {
        let clock = self.parameters.clock;
        let path = placement.memory_path(clock, Traffic::Stream);
        let link = Link::new(clock, path.bytes_per_second, beat_bytes);
        self.links.push((placement, link));
        LinkId((self.links.len() - 1) as u16)
    }

    /// Attaches a memory port of a unit. Its requests are single beats.
    pub fn attach_port(&mut self, link: LinkId, traffic: Traffic) -> RequesterId {
        let link = usize::from(link.0);
        let path = self.links[link].0.memory_path(self.parameters.clock, traffic);
        self.add_port(Port::Unit(Box::new(UnitPort::new(link, path))))
    }

    fn add_port(&mut self, port: Port) -> RequesterId {
        self.ports.push(port);
        RequesterId((self.ports.len() - 1) as u16)
    }

    /// The shortest time any access of `requester` can take: while a unit waits for nothing older, it may be
    /// stepped this far ahead of the rest.
    pub fn minimum_latency(&self, requester: RequesterId) -> Cycles {
        match &self.ports[usize::from(requester.0)] {
            Port::Hart => self.parameters.l2.latency,
            Port::Unit(port) => port.path.request + self.parameters.l2.latency + port.path.response,
        }
    }

    /// Announces an access that comes soon: its tags are spread over megabytes of the host's memory, and a caller
    /// that knows several accesses can have them fetched at once. Changes no timing of the guest.
    #[inline]
    pub fn prefetch(&self, address: u64) {
        self.l2.tags.prefetch(address);
        self.llc.tags.prefetch(address);
    }

    /// An access that leaves the requester at `at`; returns when its (first beat of) data, or the
    /// acknowledgement of a write, is back there.
    pub fn access(&mut self, at: Cycle, address: u64, kind: AccessKind, requester: RequesterId) -> Cycle {
        let write = kind == AccessKind::Write;
        let Port::Unit(port) = &mut self.ports[usize::from(requester.0)] else {
            return self.hart_access(at, address, kind);
        };
        let (link, path) = (port.link, port.path);
        let mut arrival = port.request(at, write);
        if write {
            arrival = self.links[link].1.cross(arrival, true);
        }
        let mut done = self.unit_access(arrival + path.request, address, write);
        if !write {
            done = self.links[link].1.cross(done, false);
        }
        match &mut self.ports[usize::from(requester.0)] {
            Port::Unit(port) => port.response(done + path.response),
            Port::Hart => unreachable!("ports keep their kind"),
        }
    }

    fn hart_access(&mut self, at: Cycle, address: u64, kind: AccessKind) -> Cycle {
        let beats = self.l2.beats_per_line();
        let looked_up = self.l2.look_up(at, address, beats);
        if kind == AccessKind::WriteBack {
            self.replace_flags(looked_up, address, DIRTY);
            return looked_up;
        }
        let (index, done) = self.line_in_l2(looked_up, address);
        let held = match kind {
            AccessKind::Read => HELD,
            AccessKind::Own => HELD | OWNED,
            AccessKind::Fetch | AccessKind::Write | AccessKind::WriteBack => 0,
        };
        let flags = self.l2.tags.flags(index) | held;
        self.l2.tags.set_flags(index, flags);
        done
    }

    fn unit_access(&mut self, at: Cycle, address: u64, write: bool) -> Cycle {
        let looked_up = self.l2.look_up(at, address, 1);
        let (index, mut done) = self.line_in_l2(looked_up, address);
        let mut flags = self.l2.tags.flags(index);
        if flags & OWNED != 0 {
            done += self.parameters.coherence.probe;
            flags = flags & !OWNED | DIRTY;
            self.counters.probes += 1;
            if !write {
                self.snoop(address, Snoop::Clean);
            }
        }
        if write {
            if flags & HELD != 0 {
                self.snoop(address, Snoop::Invalidate);
            }
            flags = DIRTY;
        }
        self.l2.tags.set_flags(index, flags);
        done
    }

    /// Tells that a hart modifies a line it so far only read, without any traffic (an exclusive, clean line).
    pub fn modified_in_l1(&mut self, address: u64) {
        if let Lookup::Hit(index) = self.l2.tags.touch(address) {
            let flags = self.l2.tags.flags(index) | HELD | OWNED;
            self.l2.tags.set_flags(index, flags);
        }
    }

    pub(crate) fn snooped(&self) -> Arc<AtomicBool> {
        self.snooped.clone()
    }

    fn snoop(&mut self, address: u64, snoop: Snoop) {
        self.snoops.push((address & !(LINE_BYTES - 1), snoop));
        self.snooped.store(true, Ordering::Relaxed);
    }

    /// Hands over what units did, since the last call, to lines that the hart's L1 may hold, oldest first.
    #[inline]
    pub fn take_snoops(&mut self, mut apply: impl FnMut(u64, Snoop)) {
        self.snooped.store(false, Ordering::Relaxed);
        for (address, snoop) in self.snoops.drain(..) {
            apply(address, snoop);
        }
    }

    /// Brings the line into L2 if need be; returns its index in the tags and when its data is there.
    fn line_in_l2(&mut self, looked_up: Cycle, address: u64) -> (usize, Cycle) {
        if let Lookup::Hit(index) = self.l2.tags.touch(address) {
            self.counters.l2_hits += 1;
            return (index, self.l2.arrival(looked_up, address));
        }
        self.counters.l2_misses += 1;
        let (llc, dram, counters) = (&mut self.llc, &mut self.dram, &mut self.counters);
        let ready = self.l2.miss(looked_up, address, |start| {
            line_from_llc(llc, dram, counters, start, address)
        });
        let victim = self.l2.tags.insert(address, 0);
        self.evict_from_l2(looked_up, victim);
        match self.l2.tags.touch(address) {
            Lookup::Hit(index) => (index, ready),
            Lookup::Miss => unreachable!("the line was just inserted"),
        }
    }

    /// Sets a line's flags, bringing the line in (without its data) if it is not there.
    fn replace_flags(&mut self, at: Cycle, address: u64, flags: u8) {
        if let Lookup::Hit(index) = self.l2.tags.touch(address) {
            self.l2.tags.set_flags(index, flags);
            return;
        }
        let victim = self.l2.tags.insert(address, flags);
        self.evict_from_l2(at, victim);
    }

    fn evict_from_l2(&mut self, at: Cycle, victim: Option<Victim>) {
        let Some(victim) = victim else { return };
        if victim.flags & DIRTY == 0 {
            return;
        }
        let beats = self.llc.beats_per_line();
        let stored = self.llc.look_up(at, victim.address, beats);
        let left = self.llc.put(victim.address, DIRTY);
        evict_from_llc(&mut self.dram, stored, left);
    }

    /// Marks the lines of `range` as present, as if they had been used (`L2`) or delivered by a device (`Llc`) before
    /// the run; takes no time. When the range is larger than the cache, its end stays.
    pub fn warm(&mut self, range: Range<u64>, level: WarmLevel) {
        let first = range.start & !(LINE_BYTES - 1);
        for address in (first..range.end).step_by(LINE_BYTES as usize) {
            match level {
                WarmLevel::L2 => {
                    self.llc.put(address, 0);
                    self.l2.put(address, 0);
                }
                WarmLevel::Llc => {
                    self.llc.put(address, DIRTY);
                    self.forget_in_l2(address);
                }
            }
        }
    }

    /// A device's write replaces the copies nearer to the hart.
    fn forget_in_l2(&mut self, address: u64) {
        if let Some(flags) = self.l2.tags.remove(address) {
            if flags & HELD != 0 {
                self.snoop(address, Snoop::Invalidate);
            }
        }
    }
}

fn line_from_llc(
    llc: &mut Level,
    dram: &mut Dram,
    counters: &mut HierarchyCounters,
    at: Cycle,
    address: u64,
) -> Cycle {
    let beats = llc.beats_per_line();
    let looked_up = llc.look_up(at, address, beats);
    if let Lookup::Hit(_) = llc.tags.touch(address) {
        counters.llc_hits += 1;
        return llc.arrival(looked_up, address);
    }
    counters.llc_misses += 1;
    let ready = llc.miss(looked_up, address, |start| dram.read(start, address));
    let left = llc.tags.insert(address, 0);
    evict_from_llc(dram, looked_up, left);
    ready
}

fn evict_from_llc(dram: &mut Dram, at: Cycle, victim: Option<Victim>) {
    if let Some(victim) = victim {
        if victim.flags & DIRTY != 0 {
            dram.write(at, victim.address);
        }
    }
}
