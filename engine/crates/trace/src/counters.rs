//! What can be counted, and what of it is kept.

use crate::classes::CLASSES;
use rackwright_cpu::Accounts;
use rackwright_memory::HierarchyCounters;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// What the harts of a machine share.
const SHARED: [&str; 6] = [
    "l2_hits",
    "l2_misses",
    "llc_hits",
    "llc_misses",
    "probes",
    "invalidations",
];

/// The names of all counters: instructions by class, what the timing model says of itself, caches, and `units`' events.
pub fn counter_names(model: Accounts, units: &[String]) -> Vec<String> {
    let models = model.stalls.iter().chain(model.events);
    let fixed = CLASSES.iter().chain(models).chain(&SHARED);
    fixed
        .map(|name| (*name).to_string())
        .chain(units.iter().cloned())
        .collect()
}

pub(crate) fn shared(counters: &HierarchyCounters) -> [u64; SHARED.len()] {
    [
        counters.l2_hits,
        counters.l2_misses,
        counters.llc_hits,
        counters.llc_misses,
        counters.probes,
        counters.invalidations,
    ]
}

/// The events of the units beside a hart, as of the last window that each of them has come through.
#[derive(Clone, Default, Debug)]
pub struct UnitEvents(Arc<[AtomicU64]>);

impl UnitEvents {
    /// So many events, of which none has happened.
    pub(crate) fn new(count: usize) -> UnitEvents {
        UnitEvents((0..count).map(|_| AtomicU64::new(0)).collect())
    }

    /// Event number `index` has happened `count` times by now.
    pub fn set(&self, index: usize, count: u64) {
        self.0[index].store(count, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(|count| count.load(Ordering::Relaxed))
    }
}
