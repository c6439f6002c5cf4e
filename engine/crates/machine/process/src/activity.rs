//! Events that threads may wait for.

use rackwright_state::{Pass, State, StateError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// Counts the events that programs may wait for: data arrived, room became free, an end was closed.
#[derive(Clone, Default, Debug)]
pub(crate) struct Activity {
    changes: Arc<AtomicU64>,
    seen: Arc<AtomicU64>,
}

impl State for Activity {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        pass_count(&self.changes, by)?;
        pass_count(&self.seen, by)
    }
}

/// Passes a count that others share.
pub(crate) fn pass_count(count: &AtomicU64, by: &mut Pass<'_>) -> Result<(), StateError> {
    let mut value = count.load(Ordering::Relaxed);
    value.pass(by)?;
    count.store(value, Ordering::Relaxed);
    Ok(())
}

impl Activity {
    /// For another process: it observes the same events separately.
    pub(crate) fn fork(&self) -> Activity {
        Activity {
            changes: self.changes.clone(),
            seen: Arc::default(),
        }
    }

    pub(crate) fn note(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether an event has occurred since the last call.
    pub(crate) fn has_changed(&self) -> bool {
        let changes = self.changes.load(Ordering::Relaxed);
        self.seen.swap(changes, Ordering::Relaxed) != changes
    }
}

/// The operations that a descriptor is ready for, and how often it has become ready.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Readiness {
    /// Bits of `poll`.
    pub(crate) events: u32,
    /// Number of arrivals of data to read.
    pub(crate) arrivals: u64,
    /// Number of times that room to write became free.
    pub(crate) departures: u64,
}

/// `poll`'s bits, which `epoll` has too.
pub(crate) mod event {
    pub(crate) const IN: u32 = libc::POLLIN as u32 | libc::POLLRDNORM as u32;
    pub(crate) const OUT: u32 = libc::POLLOUT as u32 | libc::POLLWRNORM as u32;
    pub(crate) const ERROR: u32 = libc::POLLERR as u32;
    pub(crate) const HANG_UP: u32 = libc::POLLHUP as u32;
    /// The other end of a connection sends no more.
    pub(crate) const FAR_HANG_UP: u32 = libc::POLLRDHUP as u32;
    /// These are always reported.
    pub(crate) const ALWAYS: u32 = ERROR | HANG_UP;
}

impl Readiness {
    /// For descriptors that never wait.
    pub(crate) fn always(events: u32) -> Readiness {
        Readiness {
            events,
            ..Readiness::default()
        }
    }
}
