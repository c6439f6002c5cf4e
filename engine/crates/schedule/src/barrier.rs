use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Rounds of a wait after which the thread lets others run.
const SPINS: u32 = 512;

/// Holds threads until all are there. Windows last microseconds, so it waits without the kernel's help
/// at first.
pub(crate) struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    broken: AtomicBool,
}

impl Barrier {
    pub(crate) fn new(threads: usize) -> Barrier {
        Barrier {
            threads,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// Returns when every thread has called it. What they did before is visible after.
    ///
    /// # Panics
    /// When another thread has panicked and will never come.
    pub(crate) fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.round.load(Ordering::Acquire) == round {
            assert!(
                !self.broken.load(Ordering::Acquire),
                "another thread of the run has failed"
            );
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }

    /// A guard that frees the others when this thread panics.
    pub(crate) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }
}

pub(crate) struct Guard<'a>(&'a Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
        }
    }
}
