use crate::cache::{Lookup, Victim, LINE_BYTES};
use crate::direct::Direct;
use crate::directory::{Directory, Sharing, MAXIMUM_SHARERS};
use crate::dram::Dram;
use crate::hub::{Hub, Probes};
use crate::level::Level;
use crate::named::NamedParameters;
use crate::parameters::{HierarchyParameters, ParameterError, ProbeParameters};
use crate::port::{LinkId, RateLimit, RequesterId, UnitPort};
use crate::route::{Route, Traffic};
use crate::tiles::Tiles;
use crate::watches::Watches;
use rackwright_state::{state, Pass, State, StateError};
use rackwright_time::{Cycle, Cycles};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// The kinds of requests for a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// Data to read: a line for a hart's L1, one beat for a unit.
    Read,
    /// A hart's L1 requests the line for modification; it may already have it to read.
    Own,
    /// A unit writes (part of) a beat.
    Write,
    /// A hart's L1 writes back a modified line; no requester waits for the returned cycle.
    WriteBack,
    /// Instructions for a hart's L1. Such caches are not kept coherent (`fence.i` empties them): the line's state in
    /// other caches does not change.
    Fetch,
}

/// The effect of another requester's access on a line in a hart's L1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Snoop {
    /// It is written there: the L1 must forget it.
    Invalidate,
    /// It is read there: the L1 keeps it, no longer modified.
    Clean,
}

/// A cache to fill by [`Hierarchy::warm`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WarmLevel {
    /// The shared L2 (and the last-level cache behind it): recently used data.
    L2,
    /// The last-level cache only: data a device has just delivered by DDIO.
    Llc,
}

/// Number of accesses and hits of each level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HierarchyCounters {
    /// Requests that found their line in L2.
    pub l2_hits: u64,
    /// Requests that did not.
    pub l2_misses: u64,
    /// Those that hit in the last-level cache.
    pub llc_hits: u64,
    /// Those that went to memory.
    pub llc_misses: u64,
    /// Accesses that had to wait for the L1 of a hart, another one for an access of a hart.
    pub probes: u64,
    /// Lines that an L1 lost to others.
    pub invalidations: u64,
}

/// Flag of a line in L2 or the last-level cache: this copy is newer than those at lower levels.
const DIRTY: u8 = 4;

enum Requester {
    /// The hart of this number.
    Hart(usize),
    Unit(Box<UnitPort>),
}

/// Snoops of lines of a hart's L1 since its last query.
#[derive(Default)]
struct Snoops {
    pending: Vec<(u64, Snoop)>,
    /// Whether there are any, readable without a lock of the hierarchy.
    any: Arc<AtomicBool>,
    /// The probes of a hub.
    probes: Probes,
}

/// The caches and DRAM that the L1 caches of harts and the units share: timing only, the data is in guest memory.
///
/// A directory at L2 knows which L1 data caches hold a line, whether or not L2 holds it too: see `docs/coherence.md`.
///
/// Every response depends only on the requests so far.
pub struct Hierarchy {
    parameters: HierarchyParameters,
    l2: Level,
    llc: Level,
    dram: Dram,
    direct: Direct,
    ports: Vec<Requester>,
    links: Vec<(Route, RateLimit)>,
    directory: Directory,
    watches: Watches,
    /// In place of the directory, if an L1 is busy with probes.
    hub: Option<Hub>,
    /// The network between requesters, slices of L2 and memory; without, the paths between them are part of the fixed
    /// times.
    tiles: Option<Box<Tiles>>,
    /// Whether there is one hart and no unit: there is no directory then, since it is never needed.
    alone: bool,
    /// One for each hart.
    snoops: Vec<Snoops>,
    counters: HierarchyCounters,
}

impl Hierarchy {
    /// A cold hierarchy without attached requesters.
    ///
    /// # Errors
    /// [`ParameterError`] when no hardware can have these parameters.
    pub fn new(parameters: HierarchyParameters) -> Result<Hierarchy, ParameterError> {
        parameters.check()?;
        Ok(Hierarchy {
            l2: Level::new(&parameters.l2),
            llc: Level::new(&parameters.llc),
            dram: Dram::new(parameters.clock, &parameters.dram),
            direct: Direct::new(),
            ports: Vec::new(),
            links: Vec::new(),
            directory: Directory::new(),
            watches: Watches::default(),
            hub: (parameters.coherence.busy != ProbeParameters::default()).then(Hub::default),
            tiles: None,
            alone: false,
            snoops: Vec::new(),
            counters: HierarchyCounters::default(),
            parameters,
        })
    }

    /// The same with a slice of L2 on each of the tiles, and messages between them. What was attached before has no tile.
    ///
    /// # Errors
    /// [`ParameterError`] if an L1 is busy with probes: a hub is in one place.
    pub fn on_tiles(mut self, tiles: Tiles) -> Result<Hierarchy, ParameterError> {
        if self.hub.is_some() {
            return Err(ParameterError::new(
                "L1 caches that are busy with probes are not on tiles",
            ));
        }
        self.l2.slice(tiles.slices());
        self.tiles = Some(Box::new(tiles));
        Ok(self)
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

    /// Attaches a further hart, before the first access. Its requests are whole lines that start and end at L2's own
    /// port; the path between this port and its L1 is part of the hart's timing model.
    ///
    /// # Panics
    /// When there are [`MAXIMUM_SHARERS`] already.
    pub fn attach_hart(&mut self) -> RequesterId {
        let number = self.snoops.len();
        assert!(
            number < MAXIMUM_SHARERS,
            "a hierarchy has at most {MAXIMUM_SHARERS} harts"
        );
        self.snoops.push(Snoops::default());
        self.add_port(Requester::Hart(number))
    }

    /// Attaches a unit's link; its ports, with beats of `beat_bytes`, share the bandwidth of the link.
    pub fn attach_link(&mut self, route: &Route, beat_bytes: u32) -> LinkId {
        let clock = self.parameters.clock;
        let path = route.memory_path(clock, Traffic::Stream);
        let link = RateLimit::new(clock, path.bytes_per_second, beat_bytes);
        self.links.push((route.clone(), link));
        if let Some(tiles) = &mut self.tiles {
            tiles.attach_link(beat_bytes);
        }
        LinkId((self.links.len() - 1) as u16)
    }

    /// Attaches a memory port of a unit. Its requests are single beats.
    pub fn attach_port(&mut self, link: LinkId, traffic: Traffic) -> RequesterId {
        let link = usize::from(link.0);
        let mut path = self.links[link].0.memory_path(self.parameters.clock, traffic);
        path.request = path.request + self.parameters.port.request;
        path.response = path.response + self.parameters.port.response;
        self.add_port(Requester::Unit(Box::new(UnitPort::new(link, path))))
    }

    fn add_port(&mut self, port: Requester) -> RequesterId {
        self.alone = self.ports.is_empty() && self.tiles.is_none() && matches!(port, Requester::Hart(_));
        self.ports.push(port);
        RequesterId((self.ports.len() - 1) as u16)
    }

    /// The minimum latency of accesses of `requester`: while a unit waits for nothing older, it may be stepped this far
    /// ahead of the rest.
    pub fn minimum_latency(&self, requester: RequesterId) -> Cycles {
        match &self.ports[usize::from(requester.0)] {
            Requester::Hart(_) => self.parameters.l2.latency,
            Requester::Unit(port) => {
                let shortest = if self.parameters.is_own {
                    self.dram.minimum_latency()
                } else {
                    self.parameters.l2.latency
                };
                (port.path.request + shortest + port.path.response).min(self.parameters.window)
            }
        }
    }

    /// Announces a coming access: its tags are spread over megabytes of the host's memory, and a caller that knows
    /// several accesses can have their tags fetched at the same time. Changes no timing of the guest.
    #[inline]
    pub fn prefetch(&self, address: u64) {
        self.l2.tags.prefetch(address);
        self.llc.tags.prefetch(address);
    }

    /// An access that leaves the requester at `at`; returns when its (first beat of) data, or the
    /// acknowledgement of a write, is back there.
    pub fn access(&mut self, at: Cycle, address: u64, kind: AccessKind, requester: RequesterId) -> Cycle {
        let write = kind == AccessKind::Write;
        let port = match &mut self.ports[usize::from(requester.0)] {
            Requester::Unit(port) => port,
            Requester::Hart(hart) => {
                let hart = *hart;
                return self.hart_access(at, address, kind, hart);
            }
        };
        let (link, path) = (port.link, port.path);
        let mut arrival = port.request(at, write);
        if write {
            arrival = self.links[link].1.cross(arrival, true);
        }
        let left = arrival + path.request;
        let tiles = self.tiles.as_mut();
        let reached = tiles.map_or(left, |tiles| tiles.unit_asks(left, link, address, write));
        let mut done = self.unit_access(reached, address, write, requester);
        if let Some(tiles) = &mut self.tiles {
            done = tiles.answer_unit(done, link, address, !write);
        }
        if !write {
            done = self.links[link].1.cross(done, false);
        }
        match &mut self.ports[usize::from(requester.0)] {
            Requester::Unit(port) => port.response(done + path.response),
            Requester::Hart(_) => unreachable!("ports keep their kind"),
        }
    }

    fn hart_access(&mut self, at: Cycle, address: u64, kind: AccessKind, hart: usize) -> Cycle {
        if self.tiles.is_none() {
            return self.access_at_home(at, address, kind, hart);
        }
        self.access_by_messages(at, address, kind, hart)
    }

    /// The access of a hart whose request and response cross the network between tiles.
    fn access_by_messages(&mut self, at: Cycle, address: u64, kind: AccessKind, hart: usize) -> Cycle {
        let holders = self.directory.find(address).map_or(0, |entry| entry.holders);
        let line = |carries| if carries { LINE_BYTES } else { 0 };
        let writes_back = kind == AccessKind::WriteBack;
        let mut time = at;
        if let Some(tiles) = &mut self.tiles {
            time = tiles.hart_asks(at, hart, address, line(writes_back));
        }
        time = self.access_at_home(time, address, kind, hart);
        match &mut self.tiles {
            Some(tiles) if !writes_back => {
                let has_line = kind == AccessKind::Own && holders >> hart & 1 == 1;
                tiles.answer_hart(time, hart, address, line(!has_line))
            }
            _ => time,
        }
    }

    #[inline]
    fn access_at_home(&mut self, at: Cycle, address: u64, kind: AccessKind, hart: usize) -> Cycle {
        let beats = self.l2.beats_per_line();
        let at = if self.alone {
            at
        } else {
            self.admit(at, address, kind)
        };
        let looked_up = self.look_up(at, address, beats);
        if self.alone && kind != AccessKind::WriteBack {
            return self.line_in_l2(looked_up, address);
        }
        let done = match kind {
            AccessKind::WriteBack => {
                self.leave(address, hart);
                self.replace_flags(looked_up, address, DIRTY);
                looked_up
            }
            AccessKind::Read => self.read_line(looked_up, address, hart),
            AccessKind::Own => self.own_line(looked_up, address, hart),
            AccessKind::Fetch | AccessKind::Write => self.fetch_line(looked_up, address, hart),
        };
        if self.watches.hold(address) {
            self.share_watched(looked_up, address, kind, hart);
        }
        if let Some(hub) = &mut self.hub {
            hub.begin(address, done);
        }
        done
    }

    #[inline]
    fn look_up(&mut self, at: Cycle, address: u64, beats: u64) -> Cycle {
        match &self.tiles {
            None => self.l2.look_up(at, address, beats),
            Some(tiles) => self.l2.look_up_in(tiles.home(address), at, beats),
        }
    }

    /// No L1 may modify a watched line alone: a hart's writes to it are done in L2, which notifies watchers.
    fn share_watched(&mut self, looked_up: Cycle, address: u64, kind: AccessKind, hart: usize) {
        if let Some(entry) = self.directory.find(address) {
            entry.sharing = Sharing::Shared;
        }
        if kind == AccessKind::Own {
            self.snoop(1 << hart, address, Snoop::Clean);
            self.watches.note(address, looked_up);
        }
    }

    /// A unit that has just read the line of `address` watches it from now on, until it is notified.
    pub fn watch(&mut self, address: u64, requester: RequesterId) {
        if let Some(entry) = self.directory.find(address) {
            debug_assert!(entry.sharing != Sharing::Modified, "it was read");
            entry.sharing = Sharing::Shared;
        }
        self.watches.begin(address, requester);
    }

    /// Ends a watch. Returns the time of the unit's notification: after the last write that L2 has taken there, or, if
    /// there was none through L2, after `now`.
    pub fn tell(&mut self, now: Cycle, address: u64, requester: RequesterId) -> Cycle {
        let written = self.watches.end(address, requester).unwrap_or(now);
        match &mut self.ports[usize::from(requester.0)] {
            Requester::Unit(port) => {
                let told = match &mut self.tiles {
                    Some(tiles) => tiles.answer_unit(written, port.link, address, false),
                    None => written,
                };
                port.response(told + port.path.response)
            }
            Requester::Hart(_) => unreachable!("harts watch nothing"),
        }
    }

    /// A hart's L1 receives a line to read: exclusively if no other L1 has it.
    fn read_line(&mut self, looked_up: Cycle, address: u64, hart: usize) -> Cycle {
        let Some(entry) = self.directory.find(address) else {
            let done = self.line_in_l2(looked_up, address);
            self.directory.insert(address, hart, Sharing::Exclusive);
            return done;
        };
        if entry.others(hart) == 0 {
            return self.line_in_l2(looked_up, address);
        }
        let before = *entry;
        entry.sharing = Sharing::Shared;
        entry.holders |= 1 << hart;
        if before.sharing == Sharing::Shared {
            return self.line_in_l2(looked_up, address);
        }
        if before.sharing == Sharing::Modified {
            self.snoop(before.holders, address, Snoop::Clean);
            return self.line_of_owner(looked_up, address, before.holders);
        }
        let done = self.line_in_l2(looked_up, address);
        self.probed(
            done,
            address,
            before.holders,
            (self.parameters.coherence.sharer, 0),
        )
    }

    /// A hart's L1 receives a line, or permission to modify one that it has.
    fn own_line(&mut self, looked_up: Cycle, address: u64, hart: usize) -> Cycle {
        let Some(entry) = self.directory.find(address) else {
            let done = self.line_in_l2(looked_up, address);
            self.directory.insert(address, hart, Sharing::Modified);
            return done;
        };
        let before = *entry;
        let others = before.others(hart);
        entry.sharing = Sharing::Modified;
        entry.holders = 1 << hart;
        if others == 0 {
            return self.line_in_l2(looked_up, address);
        }
        self.snoop(others, address, Snoop::Invalidate);
        if before.sharing == Sharing::Modified {
            return self.line_of_owner(looked_up, address, others);
        }
        let done = if before.holders == others {
            self.line_in_l2(looked_up, address)
        } else {
            looked_up
        };
        self.probed(done, address, others, (self.parameters.coherence.sharer, 0))
    }

    /// Instructions: lines that another hart has just written come from its L1.
    fn fetch_line(&mut self, looked_up: Cycle, address: u64, hart: usize) -> Cycle {
        let entry = self.directory.find(address);
        let written = entry.filter(|entry| entry.sharing == Sharing::Modified && entry.others(hart) != 0);
        let Some(entry) = written else {
            return self.line_in_l2(looked_up, address);
        };
        entry.sharing = Sharing::Exclusive;
        let before = *entry;
        self.snoop(before.holders, address, Snoop::Clean);
        self.line_of_owner(looked_up, address, before.holders)
    }

    /// Time at which a hart's request of `at` is accepted: a line moves between L1 caches once at a time.
    fn admit(&mut self, at: Cycle, address: u64, kind: AccessKind) -> Cycle {
        let at = match kind {
            AccessKind::WriteBack => at,
            AccessKind::Fetch if self.hub.is_some() => self.probe(at, address).1,
            _ => self.hub.as_mut().map_or(at, |hub| hub.admit(at, address)),
        };
        let entry = self.directory.find(address);
        entry.map_or(at, |entry| at.max(entry.acknowledged))
    }

    /// A line that an L1 has modified comes from that L1.
    fn line_of_owner(&mut self, looked_up: Cycle, address: u64, owner: u64) -> Cycle {
        let done = self.line_from_l1(looked_up, address);
        self.probed(
            done,
            address,
            owner,
            (self.parameters.coherence.owner, LINE_BYTES),
        )
    }

    /// The responses of other L1 caches, of so many bytes, arrive `probe` later than an access would otherwise complete.
    fn probed(&mut self, at: Cycle, address: u64, holders: u64, probe: (Cycles, u64)) -> Cycle {
        self.counters.probes += 1;
        let done = self.holders_answer(at, address, holders, probe);
        if let Some(entry) = self.directory.find(address) {
            entry.acknowledged = done + self.parameters.coherence.acknowledgement;
        }
        done
    }

    fn holders_answer(&mut self, at: Cycle, address: u64, holders: u64, probe: (Cycles, u64)) -> Cycle {
        match &mut self.tiles {
            Some(tiles) => tiles.ask_holders(at, address, holders, probe),
            None => at + probe.0,
        }
    }

    fn unit_access(&mut self, at: Cycle, address: u64, write: bool, requester: RequesterId) -> Cycle {
        if self.parameters.is_own {
            return self.direct.access(&mut self.dram, at, address, write);
        }
        if self.hub.is_some() {
            return self.access_through_hub(at, address, write, requester);
        }
        self.access_caches(at, address, write)
    }

    /// The access of a unit to a beat: the first one of a line begins a transfer, which others join.
    fn access_through_hub(&mut self, at: Cycle, address: u64, write: bool, requester: RequesterId) -> Cycle {
        let Requester::Unit(port) = &mut self.ports[usize::from(requester.0)] else {
            unreachable!("a hart accesses lines")
        };
        let joins = !port.begins_line(at, address, write);
        let hub = self.hub.as_mut().expect("the hierarchy has a hub");
        if joins {
            hub.hold(at + Cycles::new(1));
            let end = hub.end(address);
            return self.access_caches(at, address, write).max(end);
        }
        let (admitted, probed) = self.probe(at, address);
        let patience = self.parameters.port.patience;
        if let Requester::Unit(port) = &mut self.ports[usize::from(requester.0)] {
            if write {
                port.begin_write(at, admitted, patience);
            } else {
                port.begin_read(at, admitted);
            }
        }
        let done = self.access_caches(probed, address, write);
        if let Some(entry) = self.directory.find(address) {
            // A hart that writes to a line again asks for it after this reader's probe.
            entry.sharing = Sharing::Shared;
        }
        let hub = self.hub.as_mut().expect("the hierarchy has a hub");
        hub.begin(address, done);
        done
    }

    fn access_caches(&mut self, at: Cycle, address: u64, write: bool) -> Cycle {
        let looked_up = self.look_up(at, address, 1);
        let entry = self.directory.find(address);
        let holders = entry.as_ref().map_or(0, |entry| entry.holders);
        let modified = entry.filter(|entry| entry.sharing == Sharing::Modified);
        let done = if let Some(entry) = modified {
            entry.sharing = Sharing::Exclusive;
            if !write {
                self.snoop(holders, address, Snoop::Clean);
            }
            self.counters.probes += 1;
            let known = self.line_from_l1(looked_up, address);
            let probe = (self.parameters.coherence.unit, LINE_BYTES);
            self.holders_answer(known, address, holders, probe)
        } else {
            let known = self.line_in_l2(looked_up, address);
            self.holders_forget(known, address, if write { holders } else { 0 })
        };
        if write {
            self.invalidate(address);
            self.replace_flags(looked_up, address, DIRTY);
            self.watches.note(address, looked_up);
        }
        done
    }

    /// L1 caches answer that they have no copy of a line that a unit writes; only on tiles does that take longer than the
    /// write itself.
    fn holders_forget(&mut self, at: Cycle, address: u64, holders: u64) -> Cycle {
        match &mut self.tiles {
            Some(tiles) => tiles.ask_holders(at, address, holders, (Cycles::default(), 0)),
            None => at,
        }
    }

    /// When the hub admits a transfer of a line that arrives at `at`, and when the last L1 has answered its probe.
    fn probe(&mut self, at: Cycle, address: u64) -> (Cycle, Cycle) {
        let busy = self.parameters.coherence.busy;
        let entry = self.directory.find(address);
        let (holders, modified) = entry.map_or((0, false), |entry| {
            (entry.holders, entry.sharing == Sharing::Modified)
        });
        let hub = self.hub.as_mut().expect("only a hub probes every L1");
        let admitted = hub.admit(at, address);
        let (mut accepted, mut answered) = (admitted, admitted);
        for (hart, l1) in self.snoops.iter_mut().enumerate() {
            let time = match (holders >> hart & 1 == 1, modified) {
                (true, true) => busy.modified,
                (true, false) => busy.held,
                (false, _) => busy.absent,
            };
            let (room, answer) = l1.probes.add(admitted, time);
            accepted = accepted.max(room);
            answered = answered.max(answer);
        }
        hub.hold(accepted);
        (admitted, answered)
    }

    /// An L1 no longer holds a line.
    #[inline]
    fn leave(&mut self, address: u64, hart: usize) {
        if !self.alone {
            self.directory.leave(address, hart);
        }
    }

    /// Takes a line out of all L1 caches.
    fn invalidate(&mut self, address: u64) {
        if self.alone {
            self.snoop(1, address, Snoop::Invalidate);
        } else if let Some(entry) = self.directory.remove(address) {
            self.snoop(entry.holders, address, Snoop::Invalidate);
        }
    }

    /// Announces that a hart is about to modify a line that its L1 has to read. If it has it exclusively, there is no
    /// traffic, and it may. Otherwise (false), it has to send [`AccessKind::Own`] first.
    pub fn modify(&mut self, address: u64, requester: RequesterId) -> bool {
        if self.alone {
            return true;
        }
        let hart = self.hart(requester);
        match self.directory.find(address) {
            Some(entry) if entry.others(hart) != 0 || entry.sharing == Sharing::Shared => false,
            Some(entry) => {
                entry.sharing = Sharing::Modified;
                true
            }
            None => {
                debug_assert!(false, "the L1 holds the line");
                false
            }
        }
    }

    /// Announces that an unmodified line has left a hart's L1. That has no traffic of its own.
    pub fn drop_clean(&mut self, address: u64, requester: RequesterId) {
        let hart = self.hart(requester);
        self.leave(address, hart);
    }

    fn hart(&self, requester: RequesterId) -> usize {
        match self.ports[usize::from(requester.0)] {
            Requester::Hart(hart) => hart,
            Requester::Unit(_) => unreachable!("a unit has no L1"),
        }
    }

    /// Whether there are snoops for a hart, readable without a lock of the hierarchy.
    pub(crate) fn snooped(&self, requester: RequesterId) -> Arc<AtomicBool> {
        self.snoops[self.hart(requester)].any.clone()
    }

    /// Leaves a snoop for each of `harts`, a bit for each.
    fn snoop(&mut self, mut harts: u64, address: u64, snoop: Snoop) {
        if snoop == Snoop::Invalidate {
            self.counters.invalidations += u64::from(harts.count_ones());
        }
        while harts != 0 {
            let snoops = &mut self.snoops[harts.trailing_zeros() as usize];
            snoops.pending.push((address & !(LINE_BYTES - 1), snoop));
            snoops.any.store(true, Ordering::Relaxed);
            harts &= harts - 1;
        }
    }

    /// Passes on the snoops since the last call of lines in the L1 of `hart`, oldest first.
    #[inline]
    pub fn take_snoops(&mut self, hart: RequesterId, mut apply: impl FnMut(u64, Snoop)) {
        let hart = self.hart(hart);
        let snoops = &mut self.snoops[hart];
        snoops.any.store(false, Ordering::Relaxed);
        for (address, snoop) in snoops.pending.drain(..) {
            apply(address, snoop);
        }
    }

    /// A modified line moves from an L1 to L2; returns the time at which L2 can request it.
    fn line_from_l1(&mut self, looked_up: Cycle, address: u64) -> Cycle {
        let (hits, misses) = (&mut self.counters.l2_hits, &mut self.counters.l2_misses);
        let known = matches!(self.l2.tags.touch(address), Lookup::Hit(_));
        *(if known { hits } else { misses }) += 1;
        let ready = if known {
            self.l2.arrival(looked_up, address)
        } else {
            looked_up
        };
        self.replace_flags(looked_up, address, DIRTY);
        ready
    }

    /// Brings the line into L2 if necessary; returns the time at which its data arrive.
    fn line_in_l2(&mut self, looked_up: Cycle, address: u64) -> Cycle {
        if let Lookup::Hit(_) = self.l2.tags.touch(address) {
            self.counters.l2_hits += 1;
            return self.l2.arrival(looked_up, address);
        }
        self.counters.l2_misses += 1;
        let (llc, dram, counters) = (&mut self.llc, &mut self.dram, &mut self.counters);
        let tiles = &mut self.tiles;
        let ready = self.l2.miss(looked_up, address, |start| match tiles {
            None => line_from_llc(llc, dram, counters, start, address),
            Some(tiles) => {
                let asked = tiles.ask_memory(start, address, 0);
                let found = line_from_llc(llc, dram, counters, asked, address);
                tiles.memory_answers(found, address)
            }
        });
        let victim = self.l2.tags.insert(address, 0);
        self.evict_from_l2(looked_up, victim);
        ready
    }

    /// Sets a line's flags, bringing the line in (without its data) if it is not present.
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
        let tiles = self.tiles.as_mut();
        let at = tiles.map_or(at, |tiles| tiles.ask_memory(at, victim.address, LINE_BYTES));
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

    /// A device's write replaces the copies nearer to the harts.
    fn forget_in_l2(&mut self, address: u64) {
        self.l2.tags.remove(address);
        self.invalidate(address);
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

state!(HierarchyCounters {
    l2_hits,
    l2_misses,
    llc_hits,
    llc_misses,
    probes,
    invalidations
});

impl State for Snoops {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.list(&mut self.pending, || (0, Snoop::Clean))?;
        self.any.store(!self.pending.is_empty(), Ordering::Relaxed);
        self.probes.pass(by)
    }
}

impl State for Snoop {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.one_of(self, &[Snoop::Invalidate, Snoop::Clean])
    }
}

/// The L1 caches of timed harts are those of their timing models.
impl State for Hierarchy {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.l2.pass(by)?;
        self.llc.pass(by)?;
        self.dram.pass(by)?;
        self.direct.pass(by)?;
        self.hub.pass(by)?;
        let units = self.ports.iter_mut().filter_map(|port| match port {
            Requester::Unit(unit) => Some(&mut **unit),
            Requester::Hart(_) => None,
        });
        let units: Vec<&mut UnitPort> = units.collect();
        by.each(units.into_iter())?;
        by.each(self.links.iter_mut().map(|(_, limit)| limit))?;
        if let Some(tiles) = &mut self.tiles {
            tiles.pass(by)?;
        }
        self.directory.pass(by)?;
        self.watches.pass(by)?;
        by.each(self.snoops.iter_mut())?;
        self.counters.pass(by)
    }
}
