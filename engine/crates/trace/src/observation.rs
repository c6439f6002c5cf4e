use crate::collector::Sampling;
use crate::probe::Probed;
use crate::session::Session;
use rackwright_cpu::Timing;
use rackwright_memory::SharedHierarchy;

/// How the harts of a machine are observed.
#[derive(Clone)]
pub struct Observation {
    /// Where what they do is kept.
    pub session: Session,
    /// Cycles between two looks at the counters.
    pub every: u64,
    /// Whether harts go on from a checkpoint: what was before is not observed.
    pub resumes: bool,
}

/// The counters that are looked at, in the order of their values.
pub const COUNTERS: [&str; 6] = [
    "l2_hits",
    "l2_misses",
    "llc_hits",
    "llc_misses",
    "probes",
    "invalidations",
];

impl Observation {
    /// Hart number `hart` with the model `timing`, observed; `hierarchy` is what it shares with others.
    pub fn probe<T: Timing>(&self, timing: T, hart: usize, hierarchy: &SharedHierarchy) -> Probed<T> {
        let hierarchy = hierarchy.clone();
        let read = move || {
            let counters = hierarchy.lock().counters();
            vec![
                counters.l2_hits,
                counters.l2_misses,
                counters.llc_hits,
                counters.llc_misses,
                counters.probes,
                counters.invalidations,
            ]
        };
        let sampling = Sampling {
            every: self.every.max(1),
            read: Box::new(read),
        };
        Probed::new(timing, hart, self, sampling)
    }
}
