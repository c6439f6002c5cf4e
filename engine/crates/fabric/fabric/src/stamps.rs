use rackwright_time::unit::Cycles;

/// The times at which the requests of a run were issued and done, as reported by a card out of band: in its own cycles,
/// modulo 2 to the 32.
#[derive(Default)]
pub(crate) struct Stamps {
    stamps: Vec<(u32, u32)>,
}

impl Stamps {
    pub(crate) fn clear(&mut self) {
        self.stamps.clear();
    }

    /// Adds one, in the format of the card's stream.
    pub(crate) fn add(&mut self, word: u64) {
        self.stamps.push((word as u32, (word >> 32) as u32));
    }

    pub(crate) fn len(&self) -> usize {
        self.stamps.len()
    }

    /// The latency of each request.
    pub(crate) fn latencies(&self) -> impl Iterator<Item = Cycles> + '_ {
        let latency = |(issued, done): &(u32, u32)| Cycles::new(u64::from(done.wrapping_sub(*issued)));
        self.stamps.iter().map(latency)
    }

    /// From the first request that was done to the last.
    pub(crate) fn between(&self) -> Cycles {
        match (self.stamps.first(), self.stamps.last()) {
            (Some((_, first)), Some((_, last))) => Cycles::new(u64::from(last.wrapping_sub(*first))),
            _ => Cycles::new(0),
        }
    }
}
