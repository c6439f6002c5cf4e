use crate::core::Core;
use crate::counters::Counters;
use crate::frames::Frames;
use crate::{ReplicaSettings, Settings};
use rackwright_dispatch::wire::Key;
use rackwright_dispatch::{ReplicaId, ReplicaSpec, ServiceId};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

/// State shared by the threads of a balancer.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) key: Key,
    pub(crate) core: Mutex<Core>,
    pub(crate) counters: Counters,
    pub(crate) frames: Frames,
    /// All replicas there ever were, by their numbers.
    pub(crate) replicas: RwLock<Vec<Member>>,
    /// The next changes for one of the threads.
    pub(crate) changes: Mutex<Vec<Change>>,
    pub(crate) start: Instant,
    /// No more requests are taken from clients.
    pub(crate) draining: AtomicBool,
    /// Threads end, independent of outstanding requests.
    pub(crate) stop: AtomicBool,
    /// Threads that no longer listen to clients and have no outstanding requests.
    pub(crate) drained: AtomicUsize,
}

/// A change of replicas.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// A replica more.
    Add(ServiceId, ReplicaSpec),
    /// A replica less.
    Remove(ReplicaId),
}

/// A replica that there is or was.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) id: ReplicaId,
    /// The index of its service.
    pub(crate) service: usize,
    pub(crate) settings: ReplicaSettings,
    pub(crate) removed: bool,
    pub(crate) work: Arc<Work>,
}

/// The work of a replica.
#[derive(Default, Debug)]
pub(crate) struct Work {
    /// Requests answered.
    pub(crate) answered: AtomicU64,
    /// Total time from forwarding requests to their responses.
    pub(crate) nanoseconds: AtomicU64,
}

impl Shared {
    /// Nanoseconds since the start.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// The dispatcher, for as long as the guard lives. A thread that panicked has left it consistent: it is changed by
    /// calls that complete.
    #[inline]
    pub(crate) fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes that the thread has not executed yet.
    pub(crate) fn take_changes(&self) -> Vec<Change> {
        std::mem::take(&mut *self.changes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A replica.
    pub(crate) fn member(&self, replica: ReplicaId) -> Option<Member> {
        let replicas = self.replicas.read().unwrap_or_else(PoisonError::into_inner);
        replicas.get(usize::from(replica.0)).cloned()
    }

    /// All replicas that there are.
    pub(crate) fn members(&self) -> Vec<Member> {
        let replicas = self.replicas.read().unwrap_or_else(PoisonError::into_inner);
        replicas
            .iter()
            .filter(|member| !member.removed)
            .cloned()
            .collect()
    }
}
