use crate::hierarchy::{AccessKind, Hierarchy, HierarchyCounters, Snoop};
use crate::port::RequesterId;
use rackwright_time::{Cycle, Cycles};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An interconnect used in turn by the harts and the units of a server.
pub struct Shared<I> {
    interconnect: Arc<Mutex<I>>,
}

/// A hierarchy used in turn by the timing models of harts and the units of their server.
pub type SharedHierarchy = Shared<Hierarchy>;

impl<I> Clone for Shared<I> {
    fn clone(&self) -> Shared<I> {
        Shared {
            interconnect: self.interconnect.clone(),
        }
    }
}

impl<I> Shared<I> {
    /// Shares `interconnect`.
    pub fn new(interconnect: I) -> Shared<I> {
        Shared {
            interconnect: Arc::new(Mutex::new(interconnect)),
        }
    }

    /// The interconnect, for as long as the guard lives. A lock that was poisoned by a panic is taken all the same:
    /// that panic ends the run anyway.
    pub fn lock(&self) -> MutexGuard<'_, I> {
        self.interconnect.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedHierarchy {
    /// Attaches the L1 caches of a further hart.
    pub fn attach_hart(&self) -> HartPort {
        let mut hierarchy = self.lock();
        let requester = hierarchy.attach_hart();
        HartPort {
            requester,
            snooped: hierarchy.snooped(requester),
            hierarchy: self.clone(),
        }
    }
}

/// The port of a hierarchy to which the L1 caches of a hart are attached.
pub struct HartPort {
    hierarchy: SharedHierarchy,
    requester: RequesterId,
    snooped: Arc<AtomicBool>,
}

impl HartPort {
    /// The port, for accesses, for the lifetime of the returned value.
    #[inline]
    pub fn lock(&self) -> LockedPort<'_> {
        LockedPort {
            hierarchy: self.hierarchy.lock(),
            requester: self.requester,
        }
    }

    /// [`line_transfer`](crate::HierarchyParameters::line_transfer) of the hierarchy.
    pub fn line_transfer(&self) -> Cycles {
        self.hierarchy.lock().parameters().line_transfer()
    }

    /// Passes on the snoops like [`Hierarchy::take_snoops`]; almost free if there are none, because timing models check
    /// for snoops at each block: as a call, this took 5 % of the time of a loop.
    #[inline(always)]
    pub fn take_snoops(&self, apply: impl FnMut(u64, Snoop)) {
        if self.snooped.load(Ordering::Relaxed) {
            self.take_pending(apply);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_pending(&self, apply: impl FnMut(u64, Snoop)) {
        self.hierarchy.lock().take_snoops(self.requester, apply);
    }
}

/// A [`HartPort`] in use.
pub struct LockedPort<'a> {
    hierarchy: MutexGuard<'a, Hierarchy>,
    requester: RequesterId,
}

impl LockedPort<'_> {
    /// [`Hierarchy::access`] through this port.
    #[inline]
    pub fn access(&mut self, at: Cycle, address: u64, kind: AccessKind) -> Cycle {
        self.hierarchy.access(at, address, kind, self.requester)
    }

    /// [`Hierarchy::counters`] through this port.
    pub fn counters(&self) -> HierarchyCounters {
        self.hierarchy.counters()
    }

    /// [`Hierarchy::modify`] through this port.
    #[inline]
    pub fn modify(&mut self, address: u64) -> bool {
        self.hierarchy.modify(address, self.requester)
    }

    /// [`Hierarchy::drop_clean`] through this port.
    #[inline]
    pub fn drop_clean(&mut self, address: u64) {
        self.hierarchy.drop_clean(address, self.requester);
    }
}
