use super::predictor::Predictor;
use rackwright_memory::{Cache, Shape};
use rackwright_state::state;

/// The front end: the cache of instructions, the predictor of branches, and the packets that it supplies.
pub(super) struct FrontEnd {
    pub(super) instructions: Cache,
    pub(super) predictor: Predictor,
    /// When the latest packet was fetched, and when the next one is at the earliest.
    pub(super) packet: u64,
    pub(super) fetch: u64,
    /// Cycles from the fetch of a packet to its dispatch.
    stages: u64,
}

impl FrontEnd {
    /// With an empty cache, and `stages` cycles from the fetch of a packet to its dispatch.
    pub(super) fn new(instructions: Shape, stages: u64) -> FrontEnd {
        FrontEnd {
            instructions: Cache::new(instructions),
            predictor: Predictor::new(),
            packet: 0,
            fetch: 0,
            stages,
        }
    }

    /// It restarts, so that the next dispatch is in `cycle`.
    #[inline(always)]
    pub(super) fn restart(&mut self, cycle: u64) {
        self.fetch = cycle.saturating_sub(self.stages);
    }

    /// It supplies nothing that is dispatched before `cycle`.
    #[inline(always)]
    pub(super) fn not_before(&mut self, cycle: u64) {
        self.fetch = self.fetch.max(cycle.saturating_sub(self.stages));
    }

    /// It loses some cycles before the packet after the current one.
    #[inline(always)]
    pub(super) fn lose(&mut self, cycles: u64) {
        self.fetch = self.fetch.max(self.packet + 1 + cycles);
    }
}

state!(FrontEnd {
    instructions,
    predictor,
    packet,
    fetch
});
