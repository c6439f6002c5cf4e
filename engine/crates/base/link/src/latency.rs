use rackwright_time::{Cycles, Domain};

/// Time for which a flit is in flight: at least one cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Latency<C: Domain>(Cycles<C>);

/// A link that cannot exist.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Its ends would have no independence at all.
    #[error("a link has a latency of at least one cycle")]
    NoLatency,
}

impl<C: Domain> Latency<C> {
    /// A latency.
    ///
    /// # Errors
    /// [`LinkError::NoLatency`] for zero.
    pub fn new(cycles: Cycles<C>) -> Result<Latency<C>, LinkError> {
        if cycles.0 == 0 {
            return Err(LinkError::NoLatency);
        }
        Ok(Latency(cycles))
    }

    /// The span.
    pub fn cycles(self) -> Cycles<C> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackwright_time::network::Cycles;

    #[test]
    fn a_link_without_latency_is_refused() {
        assert_eq!(Latency::new(Cycles::new(0)), Err(LinkError::NoLatency));
        assert_eq!(Latency::new(Cycles::new(3)).unwrap().cycles(), Cycles::new(3));
    }
}
