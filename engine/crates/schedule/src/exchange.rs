use crate::meeting::{Apart, Meeting};
use crate::Envelope;
use rackwright_time::Cycle;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;

/// Rounds of a wait after which the thread lets others run.
const SPINS: u32 = 512;

/// Where threads of a run meet after each window.
///
/// Everything exists twice, for even and for odd rounds: a thread that is already in the next round
/// writes where nobody reads any more. Windows last microseconds, so a thread waits without the kernel's
/// help at first; and each writes to memory of its own, so that meeting moves one cache line per thread.
pub(crate) struct Exchange<T> {
    places: Vec<Place>,
    mail: [Vec<Slot<T>>; 2],
    broken: AtomicBool,
}

/// What a thread tells all others.
#[repr(align(128))]
struct Place {
    /// How many rounds it has entered.
    rounds: AtomicU64,
    wake: [AtomicU64; 2],
}

/// What one thread hands to another.
#[repr(align(128))]
struct Slot<T>(Mutex<Vec<Envelope<T>>>);

impl<T> Exchange<T> {
    pub(crate) fn new(threads: usize) -> Exchange<T> {
        let place = |_| Place {
            rounds: AtomicU64::new(0),
            wake: [const { AtomicU64::new(u64::MAX) }; 2],
        };
        let mail = || (0..threads * threads).map(|_| Slot(Mutex::new(Vec::new())));
        Exchange {
            places: (0..threads).map(place).collect(),
            mail: [mail().collect(), mail().collect()],
            broken: AtomicBool::new(false),
        }
    }

    /// The place of one thread.
    pub(crate) fn seat(&self, own: usize) -> Seat<'_, T> {
        Seat {
            exchange: self,
            own,
            round: 0,
        }
    }

    /// Returns when the thread has entered the round. What it did before is visible after.
    fn wait(&self, thread: usize, round: u64) {
        let mut spins = 0;
        while self.places[thread].rounds.load(Ordering::Acquire) <= round {
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

    fn slot(&self, round: u64, from: usize, to: usize) -> std::sync::MutexGuard<'_, Vec<Envelope<T>>> {
        let slot = &self.mail[(round % 2) as usize][from * self.places.len() + to];
        slot.0.lock().expect("no thread panics while it holds mail")
    }
}

/// One thread's place; the others are freed when it panics.
pub(crate) struct Seat<'a, T> {
    exchange: &'a Exchange<T>,
    own: usize,
    round: u64,
}

impl<T> Meeting<T> for Seat<'_, T> {
    fn meet(
        &mut self,
        wake: Cycle,
        outgoing: &mut [Vec<Envelope<T>>],
        mail: &mut Vec<Envelope<T>>,
    ) -> Result<Cycle, Apart> {
        let (exchange, round) = (self.exchange, self.round);
        self.round += 1;
        for (to, envelopes) in outgoing.iter_mut().enumerate() {
            if !envelopes.is_empty() {
                // Copied as a whole: memory that only this thread writes stays in its cache.
                exchange.slot(round, self.own, to).append(envelopes);
            }
        }
        let parity = (round % 2) as usize;
        let place = &exchange.places[self.own];
        place.wake[parity].store(wake.0, Ordering::Relaxed);
        place.rounds.store(round + 1, Ordering::Release);
        let mut earliest = wake.0;
        for from in (0..exchange.places.len()).filter(|from| *from != self.own) {
            exchange.wait(from, round);
            earliest = earliest.min(exchange.places[from].wake[parity].load(Ordering::Relaxed));
            mail.append(&mut exchange.slot(round, from, self.own));
        }
        Ok(Cycle(earliest))
    }
}

impl<T> Drop for Seat<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.exchange.broken.store(true, Ordering::Release);
        }
    }
}
