use super::schedule::Step;
use super::{RecentStore, Rocket, Run};
use crate::timing::explain::{level, Count};
use crate::timing::FAILED_STORE;
use rackwright_memory::AccessKind;
use rackwright_time::Cycle;

/// Loads, stores and their misses in the data cache.
impl<const EXPLAINED: bool> Rocket<EXPLAINED> {
    #[inline(always)]
    pub(super) fn load(&mut self, run: &mut Run, step: &Step, address: u64) {
        let at = run.start + u64::from(step.offset);
        let replayed = self.conflict(at, address);
        self.explain(Count::Dependency, replayed);
        run.start += replayed;
        if !self.data.contains(address) {
            run.start += self.data_miss(at + replayed, step, address, AccessKind::Read);
        }
    }

    #[inline(always)]
    pub(super) fn store(&mut self, run: &mut Run, step: &Step, address: u64, atomic: bool) {
        let mut at = run.start + u64::from(step.offset);
        if atomic {
            let replayed = self.conflict(at, address);
            self.explain(Count::Dependency, replayed);
            run.start += replayed;
            at = run.start + u64::from(step.offset);
        }
        match self.data.modify(address) {
            Some(false) => {}
            Some(true) => {
                run.start += self.upgrade(at, step, address);
                at = run.start + u64::from(step.offset);
            }
            None => {
                run.start += self.data_miss(at, step, address, AccessKind::Own);
                self.data.modify(address);
                at = run.start + u64::from(step.offset);
            }
        }
        self.stored(at, address, atomic);
    }

    /// A read-modify-write. A store-conditional that fails only looks up the line: if it took it from other caches,
    /// their reservations would be lost, and no store might ever succeed.
    #[inline]
    pub(super) fn atomic(&mut self, run: &mut Run, step: &Step, value: u64) {
        let address = value & !FAILED_STORE;
        if address == value {
            return self.store(run, step, address, true);
        }
        self.load(run, step, address);
        self.stored(run.start + u64::from(step.offset), address, true);
    }

    #[inline]
    pub(super) fn stored(&mut self, at: u64, address: u64, atomic: bool) {
        self.stores[1] = self.stores[0];
        self.stores[0] = RecentStore {
            at,
            word: word(address),
            atomic,
        };
    }

    /// The cycles that a load at `at` loses because a store that it may depend on is still in the pipeline.
    #[inline]
    pub(super) fn conflict(&self, at: u64, address: u64) -> u64 {
        let hit = |store: &RecentStore| {
            if store.atomic {
                at <= store.at + 3
            } else {
                at <= store.at + 2 && store.word == word(address)
            }
        };
        if self.stores.iter().any(hit) {
            u64::from(self.parameters.latencies.replay)
        } else {
            0
        }
    }

    /// Requests permission to write to a line that is present, for a store that would retire at `at`; returns by how
    /// much it retires later.
    #[cold]
    fn upgrade(&mut self, at: u64, step: &Step, address: u64) -> u64 {
        let late = match self.fetch_permission(at, address) {
            0 => 0,
            late => late + u64::from(step.split),
        };
        self.explain(Count::L2, late);
        late
    }

    /// The same without a hart that waits for it.
    pub(super) fn fetch_permission(&mut self, at: u64, address: u64) -> u64 {
        let misses = &self.parameters.misses;
        let mut memory = self.memory.lock();
        if memory.modify(address) {
            return 0;
        }
        let request = Cycle::new(at + misses.data_request);
        let permitted = memory.access(request, address, AccessKind::Own);
        let late = permitted.0 + misses.data_response - at;
        drop(memory);
        // The answer advances the generator like that with a line.
        self.data.choose_next();
        self.explain(Count::Upgrades, 1);
        late
    }

    /// Fetches a line for an access that would retire at `at`; returns by how much it retires later.
    ///
    /// An access that is refused while the cache is busy is fetched again, and costs a cycle if it is split: a store,
    /// which needs the line; any access for which a modified line has to be evicted first; and the access after a load.
    #[cold]
    fn data_miss(&mut self, at: u64, step: &Step, address: u64, kind: AccessKind) -> u64 {
        let fetched = self.fetch_data(at, address, kind);
        let refused = u64::from(kind == AccessKind::Own) + u64::from(fetched.released);
        let behind = kind == AccessKind::Read && step.before_split;
        let late = fetched.late + u64::from(step.split) * refused + u64::from(behind);
        self.explain(fetched.from, late);
        late
    }

    /// Brings in a line for an access that would retire at `at`.
    pub(super) fn fetch_data(&mut self, at: u64, address: u64, kind: AccessKind) -> Fetched {
        let misses = &self.parameters.misses;
        let left = self.data.replace(address);
        self.data.choose_next();
        let modified = left.is_some_and(|left| left.modified);
        let release = if modified { misses.release } else { 0 };
        let request = at + misses.data_request + release;
        let mut memory = self.memory.lock();
        let before = EXPLAINED.then(|| memory.counters());
        let data = memory.access(Cycle::new(request), address, kind);
        let from = before.map_or(Count::L2, |before| level(&before, &memory.counters()));
        match left {
            Some(left) if left.modified => {
                let write_back = Cycle::new(request + misses.write_back);
                memory.access(write_back, left.address, AccessKind::WriteBack);
            }
            Some(left) => memory.drop_clean(left.address),
            None => {}
        }
        let late = data.0 + misses.data_response - at;
        drop(memory);
        self.explain(Count::DataMisses, 1);
        Fetched {
            late,
            from,
            released: modified,
        }
    }
}

/// A line that was brought in.
pub(super) struct Fetched {
    /// Additional cycles compared with a hit.
    pub(super) late: u64,
    from: Count,
    /// Whether a modified line has left for it.
    released: bool,
}

/// The part of an address that the pipeline compares to find a store that a load needs.
#[inline]
fn word(address: u64) -> u64 {
    address >> 3 & 0x1ff
}
