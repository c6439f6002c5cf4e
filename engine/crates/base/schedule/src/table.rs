use crate::node::Node;
use crate::patience::Patience;
use crate::rounds::Rounds;
use crate::{Envelope, Model};
use rackwright_link::Cycle;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// A visit that any idle thread may make.
pub(crate) struct Lent<'a, M: Model> {
    /// The model's number within its part.
    pub(crate) local: u32,
    pub(crate) node: &'a mut Node<M>,
    pub(crate) from: Cycle<M::Item>,
    pub(crate) end: Cycle<M::Item>,
    /// The items that the model sent in the visit; its owner delivers them.
    pub(crate) sent: Vec<Envelope<M::Item>>,
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
    /// Visits that no thread has started, the cheapest first.
    open: Mutex<Vec<Lent<'a, M>>>,
    /// The number of those, which threads read without taking the lock.
    offered: AtomicUsize,
    done: Mutex<Done<'a, M>>,
    /// The visits that other threads have returned so far.
    returned: Rounds,
}

/// Visits made by other threads.
struct Done<'a, M: Model> {
    visits: Vec<Lent<'a, M>>,
    /// How many there have been in all.
    ever: u64,
}

impl<'a, M: Model> Tables<'a, M> {
    pub(crate) fn new(threads: usize, patience: Patience) -> Tables<'a, M> {
        let place = |_| Place {
            open: Mutex::default(),
            offered: AtomicUsize::new(0),
            done: Mutex::new(Done {
                visits: Vec::new(),
                ever: 0,
            }),
            returned: Rounds::default(),
        };
        Tables {
            places: (0..threads).map(place).collect(),
            patience,
        }
    }

    /// Offers visits of a thread's part, and leaves `visits` empty.
    pub(crate) fn lay(&self, thread: usize, visits: &mut Vec<Lent<'a, M>>) {
        if visits.is_empty() {
            return;
        }
        let place = &self.places[thread];
        let mut open = held(&place.open);
        open.append(visits);
        open.sort_by_key(|lent| lent.node.cost.of_visit());
        place.offered.store(open.len(), Ordering::Relaxed);
    }

    /// The most expensive visit that a thread has offered and no thread has started.
    pub(crate) fn take(&self, thread: usize) -> Option<Lent<'a, M>> {
        let place = &self.places[thread];
        if place.offered.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut open = held(&place.open);
        let lent = open.pop();
        place.offered.store(open.len(), Ordering::Relaxed);
        lent
    }

    /// Announces that a thread of the run has failed, and that visits may never return.
    pub(crate) fn fail(&self) {
        self.places.iter().for_each(|place| place.returned.fail());
    }

    /// Returns a model to the thread that owns it.
    pub(crate) fn give_back(&self, thread: usize, lent: Lent<'a, M>) {
        let place = &self.places[thread];
        let mut done = held(&place.done);
        done.visits.push(lent);
        place.returned.enter(done.ever);
        done.ever += 1;
    }

    /// Takes back a thread's models that others have visited, after it has taken back `before`; waits for at least one,
    /// and does other work until there is one.
    pub(crate) fn take_back(
        &self,
        thread: usize,
        before: u64,
        work: impl FnMut() -> bool,
    ) -> Vec<Lent<'a, M>> {
        let place = &self.places[thread];
        place.returned.wait(before, self.patience, work);
        std::mem::take(&mut held(&place.done).visits)
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panics while it holds a table")
}
