//! The L1 data cache with its miss registers, and the store queue as loads see it.

use super::parameters::BoomParameters;
use crate::timing::explain::{level, Count};
use rackwright_memory::{AccessKind, Cache, HartPort, Lookup, Snoop, LINE_BYTES};
use rackwright_state::{state, Pass, State, StateError};
use rackwright_time::Cycle;

/// Flag of a modified line.
const MODIFIED: u8 = 1;
/// Flag of a line that may still be outstanding.
const ARRIVING: u8 = 2;

/// Words whose latest store is remembered, by the low bits of their address.
const RECENT: usize = 64;

#[derive(Clone, Copy, Default)]
struct RecentStore {
    word: u64,
    ready: u64,
}

#[derive(Clone, Copy)]
struct Miss {
    line: u64,
    ready: u64,
    /// The level that supplied the line.
    from: Count,
}

/// The wait of an access for its line.
#[derive(Default)]
pub(super) struct Waited {
    pub(super) cycles: u64,
    /// The level that supplied the line, or the permission to write it.
    pub(super) from: Count,
    /// Number of missing lines and permissions.
    pub(super) misses: u64,
    pub(super) upgrades: u64,
}

/// The address of an access, and its instruction.
pub(super) struct Access<'a> {
    pub(super) address: u64,
    /// When its instruction was dispatched.
    pub(super) dispatched: u64,
    pub(super) memory: &'a HartPort,
}

/// The data side of the core.
pub(super) struct DataCache<const EXPLAINED: bool> {
    tags: Cache,
    misses: Box<[Miss]>,
    recent: [RecentStore; RECENT],
    request: u64,
    response: u64,
    prefetch: bool,
    /// Of the latest access, if that is explained.
    waited: Waited,
}

impl<const EXPLAINED: bool> DataCache<EXPLAINED> {
    pub(super) fn new(parameters: &BoomParameters) -> DataCache<EXPLAINED> {
        let none = Miss {
            line: u64::MAX,
            ready: 0,
            from: Count::L2,
        };
        DataCache {
            tags: Cache::new(parameters.data),
            misses: vec![none; parameters.misses.outstanding].into(),
            recent: [RecentStore::default(); RECENT],
            request: parameters.misses.request,
            response: parameters.misses.response,
            prefetch: parameters.misses.prefetch_next_line,
            waited: Waited::default(),
        }
    }

    /// Whether a load hits in its first lookup; no further action is needed then.
    #[inline(always)]
    pub(super) fn loads_at_once(&self, address: u64) -> bool {
        self.tags.is_latest(address, 0, ARRIVING)
    }

    /// The same for a store: the line is present and known to be modified.
    #[inline(always)]
    pub(super) fn stores_at_once(&self, address: u64) -> bool {
        self.tags.is_latest(address, MODIFIED, ARRIVING)
    }

    /// Time at which the word of a load is ready, if an earlier store writes it.
    #[inline(always)]
    pub(super) fn forwarded(&self, address: u64) -> u64 {
        let store = &self.recent[word(address) as usize % RECENT];
        if store.word == word(address) {
            store.ready
        } else {
            0
        }
    }

    /// Notes a store whose data is ready at `ready`.
    #[inline(always)]
    pub(super) fn forward(&mut self, address: u64, ready: u64) {
        self.recent[word(address) as usize % RECENT] = RecentStore {
            word: word(address),
            ready,
        };
    }

    /// A load that starts at `at`; returns by when its data is later than on a hit.
    pub(super) fn load(&mut self, at: u64, access: &Access<'_>) -> u64 {
        let at = at.max(self.forwarded(access.address));
        self.line(at, access, AccessKind::Read)
    }

    /// A store whose data is ready at `ready` and that is written at `at`; returns the time at which the line has it.
    pub(super) fn store(&mut self, ready: u64, at: u64, access: &Access<'_>) -> u64 {
        self.forward(access.address, ready);
        let there = self.line(at, access, AccessKind::Own);
        if let Lookup::Hit(index) = self.tags.touch(access.address) {
            let flags = self.tags.flags(index);
            if flags & MODIFIED == 0 {
                self.tags.set_flags(index, flags | MODIFIED);
                return self.upgrade(there, access);
            }
        }
        there
    }

    /// Time at which a line that is present at `at` may be modified.
    fn upgrade(&mut self, at: u64, access: &Access<'_>) -> u64 {
        let mut memory = access.memory.lock();
        if memory.modify(access.address) {
            return at;
        }
        let request = Cycle::new(at + self.request);
        let permitted = memory.access(request, access.address, AccessKind::Own).0 + self.response;
        if EXPLAINED {
            self.waited.cycles += permitted - at;
            self.waited.from = Count::L2;
            self.waited.upgrades += 1;
        }
        permitted
    }

    /// The wait of the latest access, returned once.
    pub(super) fn take_waited(&mut self) -> Waited {
        std::mem::take(&mut self.waited)
    }

    /// Whether the line of `address` is present.
    pub(super) fn contains(&self, address: u64) -> bool {
        self.tags.contains(address)
    }

    /// Time at which the line is present for an access at `at`.
    fn line(&mut self, at: u64, access: &Access<'_>, kind: AccessKind) -> u64 {
        if let Lookup::Hit(index) = self.tags.touch(access.address) {
            if self.tags.flags(index) & ARRIVING == 0 {
                return at;
            }
            let ready = self.arrival(index, access);
            self.explain(at, ready, access.address);
            return at.max(ready);
        }
        let ready = self.fetch(at, access.address, access, kind);
        self.explain(at, ready, access.address);
        if EXPLAINED {
            self.waited.misses += 1;
        }
        let next = access.address + LINE_BYTES;
        if self.prefetch && kind == AccessKind::Read && next % 4096 >= LINE_BYTES && !self.tags.contains(next)
        {
            self.fetch(at + 1, next, access, AccessKind::Read);
            self.tags.touch(access.address);
        }
        ready
    }

    /// The line of an access at `at`, which is or was outstanding, arrives at `ready`.
    #[inline(always)]
    fn explain(&mut self, at: u64, ready: u64, address: u64) {
        if EXPLAINED {
            let line = address / LINE_BYTES;
            let arriving = |miss: &&Miss| miss.line == line && miss.ready == ready;
            let from = self.misses.iter().find(arriving).map(|miss| miss.from);
            self.waited.cycles = ready.saturating_sub(at);
            self.waited.from = from.unwrap_or_default();
        }
    }

    /// Arrival of the line at an index, which is or was outstanding.
    fn arrival(&mut self, index: usize, access: &Access<'_>) -> u64 {
        let line = access.address / LINE_BYTES;
        let same = self.misses.iter().filter(|miss| miss.line == line);
        let ready = same.fold(0, |at, miss| at.max(miss.ready));
        // No access begins before its dispatch, and dispatches go in order.
        if ready <= access.dispatched {
            let flags = self.tags.flags(index);
            self.tags.set_flags(index, flags & !ARRIVING);
        }
        ready
    }

    /// Brings in the line of `address` as soon as a miss register is free.
    #[cold]
    fn fetch(&mut self, at: u64, address: u64, access: &Access<'_>, kind: AccessKind) -> u64 {
        let mut register = 0;
        for other in 1..self.misses.len() {
            if self.misses[other].ready < self.misses[register].ready {
                register = other;
            }
        }
        let start = at.max(self.misses[register].ready);
        let mut memory = access.memory.lock();
        let request = Cycle::new(start + self.request);
        let before = EXPLAINED.then(|| memory.counters());
        let data = memory.access(request, address, kind).0;
        let from = before.map_or(Count::L2, |before| level(&before, &memory.counters()));
        if let Some(victim) = self.tags.insert(address, ARRIVING) {
            if victim.flags & MODIFIED != 0 {
                memory.access(Cycle::new(data), victim.address, AccessKind::WriteBack);
            } else {
                memory.drop_clean(victim.address);
            }
        }
        let ready = data + self.response;
        self.misses[register] = Miss {
            line: address / LINE_BYTES,
            ready,
            from,
        };
        ready
    }

    /// Actions of others on lines in this cache.
    pub(super) fn snoop(&mut self, line: u64, snoop: Snoop) {
        match snoop {
            Snoop::Invalidate => {
                self.tags.remove(line);
            }
            Snoop::Clean => {
                if let Lookup::Hit(index) = self.tags.touch(line) {
                    let flags = self.tags.flags(index);
                    self.tags.set_flags(index, flags & !MODIFIED);
                }
            }
        }
    }
}

#[inline]
fn word(address: u64) -> u64 {
    address >> 3
}

state!(RecentStore { word, ready });
state!(Miss { line, ready });

/// What has supplied lines is not in it: that is kept for observers.
impl<const EXPLAINED: bool> State for DataCache<EXPLAINED> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.tags.pass(by)?;
        self.misses.pass(by)?;
        self.recent.pass(by)
    }
}
