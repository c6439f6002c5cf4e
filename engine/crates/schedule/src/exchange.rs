use crate::barrier::{Barrier, Guard};
use crate::node::Envelope;
use rackwright_time::Cycle;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

/// What threads of a run tell each other: one exchange per window.
///
/// Everything exists twice, for even and for odd windows, so that one barrier per window is enough: a
/// thread that is already in the next window writes where nobody reads any more.
pub(crate) struct Exchange<T> {
    threads: usize,
    barrier: Barrier,
    mail: [Vec<Mutex<Vec<Envelope<T>>>>; 2],
    wake: [Vec<AtomicU64>; 2],
}

impl<T> Exchange<T> {
    pub(crate) fn new(threads: usize) -> Exchange<T> {
        let mail = || (0..threads * threads).map(|_| Mutex::new(Vec::new())).collect();
        let wake = || (0..threads).map(|_| AtomicU64::new(Cycle::NEVER.0)).collect();
        Exchange {
            threads,
            barrier: Barrier::new(threads),
            mail: [mail(), mail()],
            wake: [wake(), wake()],
        }
    }

    pub(crate) fn guard(&self) -> Guard<'_> {
        self.barrier.guard()
    }

    /// Hands `envelopes` to the thread `to`, leaving an empty vector with memory.
    pub(crate) fn post(&self, window: usize, from: usize, to: usize, envelopes: &mut Vec<Envelope<T>>) {
        let mut slot = self.slot(window, from, to);
        debug_assert!(slot.is_empty(), "mail of two windows ago was taken");
        std::mem::swap(&mut *slot, envelopes);
    }

    /// Says when this thread next has something to do, waits for all others, and returns the earliest.
    pub(crate) fn agree(&self, window: usize, from: usize, wake: Cycle) -> Cycle {
        let slots = &self.wake[window % 2];
        slots[from].store(wake.0, Ordering::Release);
        self.barrier.wait();
        let earliest = slots.iter().map(|slot| slot.load(Ordering::Acquire)).min();
        Cycle(earliest.unwrap_or(Cycle::NEVER.0))
    }

    /// Gives everything that was posted to the thread `to` in this window to `take`.
    pub(crate) fn collect(&self, window: usize, to: usize, mut take: impl FnMut(Envelope<T>)) {
        for from in (0..self.threads).filter(|from| *from != to) {
            self.slot(window, from, to).drain(..).for_each(&mut take);
        }
    }

    fn slot(&self, window: usize, from: usize, to: usize) -> std::sync::MutexGuard<'_, Vec<Envelope<T>>> {
        let slot = &self.mail[window % 2][from * self.threads + to];
        slot.lock().expect("no thread panics while it holds mail")
    }
}
