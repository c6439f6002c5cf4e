use crate::node::Node;
use crate::patience::Patience;
use crate::rounds::Rounds;
use crate::Model;
use std::sync::{Mutex, MutexGuard};

/// A model that any idle thread may visit in this window: its number within its part.
pub(crate) struct Lent<'a, M: Model> {
    pub(crate) local: u32,
    pub(crate) node: &'a mut Node<M>,
}

/// The tables in which the threads of a run offer long visits, so that none waits while another has several left.
///
/// The duration of a visit is only an estimate, and differs between windows: shares of equal cost are equal only on
/// average.
pub(crate) struct Tables<'a, M: Model> {
    places: Vec<Place<'a, M>>,
    patience: Patience,
}

/// The visits offered by one thread.
#[repr(align(128))]
struct Place<'a, M: Model> {
    laid: Rounds,
    /// Visits that no thread has started, the cheapest first.
    open: Mutex<Vec<Lent<'a, M>>>,
    /// Visits made by other threads.
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

    /// Offers the visits of a thread's part in a window, and leaves `visits` empty.
    pub(crate) fn lay(&self, thread: usize, window: u64, visits: &mut Vec<Lent<'a, M>>) {
        if !visits.is_empty() {
            visits.sort_by_key(|lent| lent.node.cost.of_visit());
            held(&self.places[thread].open).append(visits);
        }
        self.places[thread].laid.enter(window);
    }

    /// The most expensive visit that a thread has offered for the window and no thread has started.
    pub(crate) fn take(&self, thread: usize, window: u64) -> Option<Lent<'a, M>> {
        let place = &self.places[thread];
        place.laid.wait(window, self.patience);
        held(&place.open).pop()
    }

    /// Announces that a thread offers no more visits.
    pub(crate) fn fail(&self, thread: usize) {
        self.places[thread].laid.fail();
    }

    /// Returns a model to the thread that owns it.
    pub(crate) fn give_back(&self, thread: usize, lent: Lent<'a, M>) {
        held(&self.places[thread].done).push(lent);
    }

    /// Takes back all of a thread's models that others have visited, after the threads have synchronised.
    pub(crate) fn take_back(&self, thread: usize) -> Vec<Lent<'a, M>> {
        std::mem::take(&mut *held(&self.places[thread].done))
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panics while it holds a table")
}
