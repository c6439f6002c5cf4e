//! The L1 data cache with its miss registers, and the store queue as loads see it.

use super::parameters::BoomParameters;
use rackwright_memory::{AccessKind, Cache, Lookup, RequesterId, SharedHierarchy, Snoop, LINE_BYTES};
use rackwright_time::Cycle;

/// Flag of a modified line.
const MODIFIED: u8 = 1;

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
}

/// The data side of the core.
pub(super) struct DataCache {
    tags: Cache,
    misses: Box<[Miss]>,
    latest: u64,
    recent: [RecentStore; RECENT],
    request: u64,
    response: u64,
    prefetch: bool,
}

impl DataCache {
    pub(super) fn new(parameters: &BoomParameters) -> DataCache {
        let none = Miss {
            line: u64::MAX,
            ready: 0,
        };
        DataCache {
            tags: Cache::new(parameters.data),
            misses: vec![none; parameters.outstanding_misses].into(),
            latest: 0,
            recent: [RecentStore::default(); RECENT],
            request: parameters.miss_request,
            response: parameters.miss_response,
            prefetch: parameters.prefetch_next_line,
        }
    }

    /// A load that starts at `at`; returns by when its data is later than on a hit.
    #[inline]
    pub(super) fn load(&mut self, at: u64, address: u64, shared: &SharedHierarchy, hart: RequesterId) -> u64 {
        let store = &self.recent[word(address) as usize % RECENT];
        let forwarded = if store.word == word(address) {
            store.ready
        } else {
            0
        };
        let at = at.max(forwarded);
        self.line(at, address, AccessKind::Read, shared, hart)
    }

    /// A store whose data is ready at `ready` and that is written at `at`; returns when the line has it.
    #[inline]
    pub(super) fn store(
        &mut self,
        ready: u64,
        at: u64,
        address: u64,
        shared: &SharedHierarchy,
        hart: RequesterId,
    ) -> u64 {
        self.recent[word(address) as usize % RECENT] = RecentStore {
            word: word(address),
            ready,
        };
        let there = self.line(at, address, AccessKind::Own, shared, hart);
        if let Lookup::Hit(index) = self.tags.touch(address) {
            if self.tags.flags(index) & MODIFIED == 0 {
                self.tags.set_flags(index, MODIFIED);
                shared.lock().modified_in_l1(address);
            }
        }
        there
    }

    /// When the line is there for an access at `at`.
    #[inline]
    fn line(
        &mut self,
        at: u64,
        address: u64,
        kind: AccessKind,
        shared: &SharedHierarchy,
        hart: RequesterId,
    ) -> u64 {
        if let Lookup::Hit(_) = self.tags.touch(address) {
            return if at < self.latest {
                self.arrival(at, address)
            } else {
                at
            };
        }
        let ready = self.fetch(at, address, kind, shared, hart);
        let next = address + LINE_BYTES;
        if self.prefetch && kind == AccessKind::Read && next % 4096 >= LINE_BYTES && !self.tags.contains(next)
        {
            self.fetch(at + 1, next, AccessKind::Read, shared, hart);
            self.tags.touch(address);
        }
        ready
    }

    fn arrival(&self, at: u64, address: u64) -> u64 {
        self.misses
            .iter()
            .filter(|miss| miss.line == address / LINE_BYTES)
            .fold(at, |at, miss| at.max(miss.ready))
    }

    /// Brings in a line as soon as a miss register is free.
    #[cold]
    fn fetch(
        &mut self,
        at: u64,
        address: u64,
        kind: AccessKind,
        shared: &SharedHierarchy,
        hart: RequesterId,
    ) -> u64 {
        let mut register = 0;
        for other in 1..self.misses.len() {
            if self.misses[other].ready < self.misses[register].ready {
                register = other;
            }
        }
        let start = at.max(self.misses[register].ready);
        let mut hierarchy = shared.lock();
        let data = hierarchy
            .access(Cycle(start + self.request), address, kind, hart)
            .0;
        if let Some(victim) = self.tags.insert(address, 0) {
            if victim.flags & MODIFIED != 0 {
                hierarchy.access(Cycle(data), victim.address, AccessKind::WriteBack, hart);
            }
        }
        let ready = data + self.response;
        self.misses[register] = Miss {
            line: address / LINE_BYTES,
            ready,
        };
        self.latest = self.latest.max(ready);
        ready
    }

    /// What units did to lines that are held here.
    pub(super) fn snoop(&mut self, line: u64, snoop: Snoop) {
        match snoop {
            Snoop::Invalidate => {
                self.tags.remove(line);
            }
            Snoop::Clean => {
                if let Lookup::Hit(index) = self.tags.touch(line) {
                    self.tags.set_flags(index, 0);
                }
            }
        }
    }
}

#[inline]
fn word(address: u64) -> u64 {
    address >> 3
}
