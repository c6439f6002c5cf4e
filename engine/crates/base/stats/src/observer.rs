use rackwright_time::Cycle;

/// Who looks at the units beside a hart. A unit says what happens in it, and nothing of that comes back to it.
pub trait UnitObserver: Send + Sync {
    /// Event number `index` has happened `count` times by now.
    fn counted(&self, index: usize, count: u64);

    /// The unit whose first event is number `first` had work from the hart's cycle `begin` until `end`.
    fn worked(&self, first: usize, begin: Cycle, end: Cycle);
}
