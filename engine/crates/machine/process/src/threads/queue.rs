//! Signals that wait to be taken.

use super::information::Information;
use super::signals::SignalSet;
use rackwright_state::{Pass, State, StateError};

/// The first signal that is queued each time it is sent; lower ones are queued only once.
const FIRST_QUEUED: u64 = 32;

/// Signals in the order in which they were sent.
#[derive(Clone, Default, Debug)]
pub(super) struct Queue(Vec<Information>);

impl State for Queue {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.0.pass(by)
    }
}

impl Queue {
    pub(super) fn add(&mut self, information: Information) {
        if information.signal >= FIRST_QUEUED || !self.set().has(information.signal) {
            self.0.push(information);
        }
    }

    /// Which signals there are.
    pub(super) fn set(&self) -> SignalSet {
        SignalSet(self.0.iter().fold(0, |all, one| all | SignalSet::of(one.signal)))
    }

    /// Takes the lowest signal of `wanted`, and the oldest one if there are several.
    pub(super) fn take(&mut self, wanted: SignalSet) -> Option<Information> {
        let candidates = self.0.iter().enumerate();
        let fitting = candidates.filter(|(_, one)| wanted.has(one.signal));
        let (place, _) = fitting.min_by_key(|(_, one)| one.signal)?;
        Some(self.0.remove(place))
    }

    /// Removes the signals for which `drop` is true.
    pub(super) fn forget(&mut self, drop: impl Fn(&Information) -> bool) {
        self.0.retain(|one| !drop(one));
    }

    /// Replaces the signals for which `is_it` is true.
    pub(super) fn replace(
        &mut self,
        is_it: impl Fn(&Information) -> bool,
        by: impl Fn(Information) -> Information,
    ) {
        for one in self.0.iter_mut().filter(|one| is_it(one)) {
            *one = by(*one);
        }
    }

    pub(super) fn any(&self, is_it: impl Fn(&Information) -> bool) -> bool {
        self.0.iter().any(is_it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_time_signals_are_queued_and_others_are_not() {
        let mut queue = Queue::default();
        for signal in [35, 37, 15, 35, 15] {
            queue.add(Information::sent(signal, 1));
        }
        let taken = std::iter::from_fn(|| queue.take(SignalSet(u64::MAX)));
        let signals: Vec<u64> = taken.map(|one| one.signal).collect();
        assert_eq!(signals, [15, 35, 35, 37]);
    }

    #[test]
    fn what_is_not_wanted_stays() {
        let mut queue = Queue::default();
        queue.add(Information::sent(1, 1));
        queue.add(Information::sent(40, 1));
        assert_eq!(
            queue.take(SignalSet(SignalSet::of(40))).map(|one| one.signal),
            Some(40)
        );
        assert_eq!(queue.set(), SignalSet(SignalSet::of(1)));
    }
}
