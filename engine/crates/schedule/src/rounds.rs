use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Looks at another thread's count after which a thread that waits lets others run.
const SPINS: u32 = 512;

/// Looks after which it sleeps: the thread that it waits for has no processor, and may want this one.
const YIELDS: u32 = SPINS + 64;

/// For how long.
const NAP: Duration = Duration::from_micros(50);

/// How many rounds a thread has entered, for all to see.
#[derive(Default)]
pub(crate) struct Rounds(AtomicU64);

/// Rung when a thread of the run fails, so that nobody waits for it.
#[derive(Default)]
pub(crate) struct Alarm(AtomicBool);

impl Rounds {
    /// Enters a round: what the thread has done before is seen by all who find that it has.
    pub(crate) fn enter(&self, round: u64) {
        self.0.store(round + 1, Ordering::Release);
    }

    /// Returns when the thread has entered the round. Windows last microseconds, so that a thread waits without the
    /// kernel's help at first.
    ///
    /// # Panics
    /// When the alarm rings before.
    pub(crate) fn wait(&self, round: u64, alarm: &Alarm) {
        let mut spins = 0;
        while self.0.load(Ordering::Acquire) <= round {
            alarm.check();
            spins += 1;
            match spins {
                ..SPINS => std::hint::spin_loop(),
                SPINS..YIELDS => std::thread::yield_now(),
                YIELDS.. => std::thread::sleep(NAP),
            }
        }
    }
}

impl Alarm {
    /// Rings it.
    pub(crate) fn ring(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// # Panics
    /// When it rings.
    fn check(&self) {
        assert!(
            !self.0.load(Ordering::Acquire),
            "another thread of the run has failed"
        );
    }
}
