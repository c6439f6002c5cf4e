//! The available counters, and the recorded ones.

use crate::classes::CLASSES;
use crate::slices::{Longest, Work};
use rackwright_cpu::Accounts;
use rackwright_memory::HierarchyCounters;
use rackwright_stats::UnitObserver;
use rackwright_time::Cycle;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Counters that the harts of a machine share.
const SHARED: [&str; 6] = [
    "l2_hits",
    "l2_misses",
    "llc_hits",
    "llc_misses",
    "probes",
    "invalidations",
];

/// The names of all counters: instructions by class, counters of the timing model, caches, and `units`' events.
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

/// The events of the units beside a hart, as of the last window that each of them has completed, and the times at which
/// they had work.
#[derive(Clone, Default, Debug)]
pub(crate) struct UnitEvents {
    counts: Arc<[AtomicU64]>,
    /// By the number of a unit's first event.
    work: Arc<Mutex<BTreeMap<usize, Longest<Work>>>>,
}

impl UnitEvents {
    /// `count` events, none of which has occurred.
    pub(crate) fn new(count: usize) -> UnitEvents {
        UnitEvents {
            counts: (0..count).map(|_| AtomicU64::new(0)).collect(),
            work: Arc::default(),
        }
    }

    /// The longest times in which each unit had work, by the number of its first event.
    pub(crate) fn work(&self) -> Vec<(usize, Vec<Work>)> {
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = |(first, longest): (&usize, &Longest<Work>)| (*first, longest.kept().to_vec());
        work.iter().map(kept).collect()
    }

    pub(crate) fn read(&self) -> impl Iterator<Item = u64> + '_ {
        self.counts.iter().map(|count| count.load(Ordering::Relaxed))
    }
}

impl UnitObserver for UnitEvents {
    fn counted(&self, index: usize, count: u64) {
        self.counts[index].store(count, Ordering::Relaxed);
    }

    fn worked(&self, first: usize, begin: Cycle, end: Cycle) {
        let (begin, end) = (begin.0, end.0);
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        work.entry(first).or_default().add(Work { begin, end });
    }
}
