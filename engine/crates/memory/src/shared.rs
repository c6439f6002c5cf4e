use crate::hierarchy::{Hierarchy, Snoop};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A hierarchy that a hart's timing model and the units of its server use in turn.
#[derive(Clone)]
pub struct SharedHierarchy {
    hierarchy: Arc<Mutex<Hierarchy>>,
    snooped: Arc<AtomicBool>,
}

impl SharedHierarchy {
    /// Shares `hierarchy`.
    pub fn new(hierarchy: Hierarchy) -> SharedHierarchy {
        SharedHierarchy {
            snooped: hierarchy.snooped(),
            hierarchy: Arc::new(Mutex::new(hierarchy)),
        }
    }

    /// The hierarchy, for as long as the guard lives. A lock that was poisoned by a panic is taken all the same: that
    /// panic ends the run anyway.
    pub fn lock(&self) -> MutexGuard<'_, Hierarchy> {
        self.hierarchy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over the snoops as [`Hierarchy::take_snoops`] does; costs next to nothing when there are none.
    #[inline]
    pub fn take_snoops(&self, apply: impl FnMut(u64, Snoop)) {
        if self.snooped.load(Ordering::Relaxed) {
            self.lock().take_snoops(apply);
        }
    }
}
