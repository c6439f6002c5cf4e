use crate::node::Node;
use crate::patience::Patience;
use crate::rounds::Rounds;
use crate::Model;
use std::sync::{Mutex, MutexGuard};

/// A model that whoever has time may visit in this window: its number within its part.
pub(crate) struct Lent<'a, M: Model> {
    pub(crate) local: u32,
    pub(crate) node: &'a mut Node<M>,
}

/// Where the threads of a run lay out the visits that take long, so that none waits while another has several to make.
///
/// How long a visit takes is known only roughly, and differs from window to window: shares of equal cost are equal on
/// the average only.
pub(crate) struct Tables<'a, M: Model> {
    places: Vec<Place<'a, M>>,
    patience: Patience,
}

/// What one thread has laid out.
#[repr(align(128))]
struct Place<'a, M: Model> {
    laid: Rounds,
    /// What nobody has begun, the cheapest first.
    open: Mutex<Vec<Lent<'a, M>>>,
    /// What others have done.
    done: Mutex<Vec<Lent<'a, M>>>,
}

impl<'a, M: Model> Tables<'a, M> {
    pub(crate) fn new(threads: usize, patience: Patience) -> Tables<'a, M> {
        let place = |_| Place {
            laid: Rounds::default(),
            open: Mutex::default(),
            done: Mutex::default(),
        };
        Tables {
            places: (0..threads).map(place).collect(),
            patience,
        }
    }

    /// Lays out what a thread's part has to do in a window, and leaves `visits` empty.
    pub(crate) fn lay(&self, thread: usize, window: u64, visits: &mut Vec<Lent<'a, M>>) {
        if !visits.is_empty() {
            visits.sort_by_key(|lent| lent.node.cost.of_visit());
            held(&self.places[thread].open).append(visits);
        }
        self.places[thread].laid.enter(window);
    }

    /// The most expensive visit that a thread has laid out for the window and nobody has begun.
    pub(crate) fn take(&self, thread: usize, window: u64) -> Option<Lent<'a, M>> {
        let place = &self.places[thread];
        place.laid.wait(window, self.patience);
        held(&place.open).pop()
    }

    /// Says that a thread lays out nothing any more.
    pub(crate) fn fail(&self, thread: usize) {
        self.places[thread].laid.fail();
    }

    /// Gives a model back to the thread whose it is.
    pub(crate) fn give_back(&self, thread: usize, lent: Lent<'a, M>) {
        held(&self.places[thread].done).push(lent);
    }

    /// Takes all of a thread's models that others have visited, after they have met it.
    pub(crate) fn take_back(&self, thread: usize) -> Vec<Lent<'a, M>> {
        std::mem::take(&mut *held(&self.places[thread].done))
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panics while it holds a table")
}
