//! `signalfd`: signals that are read instead of handled.

use crate::activity::{event, pass_count, Readiness};
use rackwright_state::{Pass, State, StateError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// What descriptors observe of signals: those that are pending for the thread that makes a call, a bit each, and how
/// many have been sent in all.
#[derive(Clone, Debug, Default)]
pub(crate) struct PendingSignals {
    set: Arc<AtomicU64>,
    ever: Arc<AtomicU64>,
}

impl State for PendingSignals {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        pass_count(&self.set, by)?;
        pass_count(&self.ever, by)
    }
}

impl PendingSignals {
    /// Sets those of the calling thread.
    pub(crate) fn show(&self, set: u64) {
        self.set.store(set, Ordering::Relaxed);
    }

    /// Counts one that has been sent.
    pub(crate) fn note(&self) {
        self.ever.fetch_add(1, Ordering::Relaxed);
    }
}

/// The object behind the descriptor.
#[derive(Debug)]
pub(crate) struct SignalFile {
    /// The signals that it reads, a bit each.
    pub(crate) wanted: u64,
    pending: PendingSignals,
}

impl State for SignalFile {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.wanted.pass(by)
    }
}

impl SignalFile {
    pub(crate) fn new(wanted: u64, pending: PendingSignals) -> SignalFile {
        SignalFile { wanted, pending }
    }

    pub(crate) fn readiness(&self) -> Readiness {
        let is_there = self.pending.set.load(Ordering::Relaxed) & self.wanted != 0;
        Readiness {
            events: if is_there { event::IN } else { 0 },
            arrivals: self.pending.ever.load(Ordering::Relaxed),
            departures: 0,
        }
    }
}
