use super::memory::DataCache;
use super::parameters::BoomParameters;
use super::resources::Queue;
use rackwright_state::{Pass, State, StateError};

/// The load-store unit: the data cache, and the queues of loads and stores.
pub(super) struct LoadStore<const EXPLAINED: bool> {
    pub(super) data: DataCache<EXPLAINED>,
    pub(super) loads: Queue,
    pub(super) stores: Queue,
    /// Time at which the last store was passed to the data cache; the next one follows in a later cycle.
    pub(super) written: u64,
    /// When all stores so far have their lines.
    pub(super) drained: u64,
}

impl<const EXPLAINED: bool> LoadStore<EXPLAINED> {
    /// With an empty cache and empty queues.
    pub(super) fn new(parameters: &BoomParameters) -> LoadStore<EXPLAINED> {
        LoadStore {
            data: DataCache::new(parameters),
            loads: Queue::new(parameters.load_queue),
            stores: Queue::new(parameters.store_queue),
            written: 0,
            drained: 0,
        }
    }

    /// Passes a store to the data cache at `at` at the earliest, after the previous one.
    #[inline(always)]
    pub(super) fn write(&mut self, at: u64) {
        self.written = at.max(self.written + 1);
    }
}

impl<const EXPLAINED: bool> State for LoadStore<EXPLAINED> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.data.pass(by)?;
        self.loads.pass(by)?;
        self.stores.pass(by)?;
        self.written.pass(by)?;
        self.drained.pass(by)
    }
}
