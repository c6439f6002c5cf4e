use rackwright_time::network::Cycles;

/// How long a flit is on its way: at least one cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Latency(Cycles);

/// A link that cannot exist.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Its ends would have no independence at all.
    #[error("a link has a latency of at least one cycle")]
    NoLatency,
}

impl Latency {
    /// A latency.
    ///
    /// # Errors
    /// [`LinkError::NoLatency`] for zero.
    pub fn new(cycles: Cycles) -> Result<Latency, LinkError> {
        if cycles.0 == 0 {
            return Err(LinkError::NoLatency);
        }
        Ok(Latency(cycles))
    }

    /// The span.
    pub fn cycles(self) -> Cycles {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_without_latency_is_refused() {
        assert_eq!(Latency::new(Cycles::new(0)), Err(LinkError::NoLatency));
        assert_eq!(Latency::new(Cycles::new(3)).unwrap().cycles(), Cycles::new(3));
    }
}
