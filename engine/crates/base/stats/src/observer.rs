use rackwright_time::Cycle;

/// An observer of the units beside a hart. It receives the events of a unit, and does not affect the unit.
pub trait UnitObserver: Send + Sync {
    /// Event number `index` has happened `count` times by now.
    fn counted(&self, index: usize, count: u64);

    /// The unit whose first event is number `first` had work from the hart's cycle `begin` until `end`.
    fn worked(&self, first: usize, begin: Cycle, end: Cycle);
}
