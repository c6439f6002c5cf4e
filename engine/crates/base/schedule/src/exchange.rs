use crate::meeting::{Apart, Meeting};
use crate::patience::Patience;
use crate::rounds::Rounds;
use crate::Envelope;
use rackwright_link::{Cycle, Item};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

/// The data by which threads of a run synchronise after each window.
///
/// Everything exists twice, for even and for odd rounds: a thread that is already in the next round writes data that no
/// thread reads any more. Each thread writes to memory of its own, so that meeting moves one cache line per thread.
pub(crate) struct Exchange<T: Item> {
    places: Vec<Place>,
    mail: [Vec<Slot<T>>; 2],
    patience: Patience,
}

/// The data that a thread publishes to all others.
#[derive(Default)]
#[repr(align(128))]
struct Place {
    rounds: Rounds,
    wake: [AtomicU64; 2],
}

/// The data from one thread to another.
#[repr(align(128))]
struct Slot<T: Item>(Mutex<Vec<Envelope<T>>>);

impl<T: Item> Exchange<T> {
    pub(crate) fn new(threads: usize, patience: Patience) -> Exchange<T> {
        let mail = || (0..threads * threads).map(|_| Slot(Mutex::new(Vec::new())));
        Exchange {
            places: (0..threads).map(|_| Place::default()).collect(),
            mail: [mail().collect(), mail().collect()],
            patience,
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

    /// Announces that a thread takes part in no further synchronisation.
    pub(crate) fn fail(&self, thread: usize) {
        self.places[thread].rounds.fail();
    }

    fn slot(&self, round: u64, from: usize, to: usize) -> std::sync::MutexGuard<'_, Vec<Envelope<T>>> {
        let slot = &self.mail[(round % 2) as usize][from * self.places.len() + to];
        slot.0.lock().expect("no thread panics while it holds mail")
    }
}

/// One thread's place.
pub(crate) struct Seat<'a, T: Item> {
    exchange: &'a Exchange<T>,
    own: usize,
    round: u64,
}

impl<T: Item> Meeting<T> for Seat<'_, T> {
    fn meet(
        &mut self,
        wake: Cycle<T>,
        outgoing: &mut [Vec<Envelope<T>>],
        mail: &mut Vec<Envelope<T>>,
        mut work: impl FnMut() -> bool,
    ) -> Result<Cycle<T>, Apart> {
        let (exchange, round) = (self.exchange, self.round);
        self.round += 1;
        for (to, envelopes) in outgoing.iter_mut().enumerate() {
            if !envelopes.is_empty() {
                // Copied completely: memory that only this thread writes stays in its cache.
                exchange.slot(round, self.own, to).append(envelopes);
            }
        }
        let parity = (round % 2) as usize;
        let place = &exchange.places[self.own];
        place.wake[parity].store(wake.0, Ordering::Relaxed);
        place.rounds.enter(round);
        let mut earliest = wake.0;
        for (from, place) in exchange.places.iter().enumerate() {
            if from != self.own {
                place.rounds.wait(round, exchange.patience, &mut work);
                earliest = earliest.min(place.wake[parity].load(Ordering::Relaxed));
                mail.append(&mut exchange.slot(round, from, self.own));
            }
        }
        Ok(Cycle::<T>::new(earliest))
    }
}
