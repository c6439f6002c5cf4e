//! Samples of the counters of a hart.

/// Cycle, instructions and the chosen counters, at many times. If there are too many, every second one is dropped.
#[derive(Default, Debug)]
pub(crate) struct Samples {
    /// All values, sample by sample.
    values: Vec<u64>,
    width: usize,
    most: usize,
    /// Cycles between two samples, and the time of the next one.
    every: u64,
    due: u64,
}

impl Samples {
    pub(crate) fn new(counters: usize, every: u64, most: usize) -> Samples {
        Samples {
            values: Vec::new(),
            width: 2 + counters,
            most: most.max(2),
            every,
            due: every,
        }
    }

    /// Time of the next sample.
    #[inline]
    pub(crate) fn due(&self) -> u64 {
        self.due
    }

    /// The first sample after `now` is the next one.
    pub(crate) fn skip_to(&mut self, now: u64) {
        self.due = (now / self.every + 1).saturating_mul(self.every);
    }

    /// Records a sample at `now`; `counters` has one value for each.
    pub(crate) fn add(&mut self, now: u64, instructions: u64, counters: impl Iterator<Item = u64>) {
        self.values.extend([now, instructions]);
        self.values.extend(counters);
        debug_assert_eq!(self.values.len() % self.width, 0);
        if self.values.len() / self.width > self.most {
            self.thin();
        }
        self.skip_to(now);
    }

    fn thin(&mut self) {
        self.every = self.every.saturating_mul(2);
        let kept = self.values.chunks_exact(self.width).skip(1).step_by(2);
        self.values = kept.flatten().copied().collect();
    }

    /// All values, sample by sample.
    pub(crate) fn into_values(self) -> Vec<u64> {
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_look_goes_when_there_are_too_many() {
        let mut samples = Samples::new(1, 10, 4);
        let mut now = 0;
        while now < 100 {
            now = samples.due();
            samples.add(now, now / 2, std::iter::once(now * 3));
        }
        let values = samples.into_values();
        let looks: Vec<&[u64]> = values.chunks(3).collect();
        assert!(looks.len() <= 4);
        assert!(looks
            .iter()
            .all(|look| look[1] == look[0] / 2 && look[2] == look[0] * 3));
        assert!(looks.windows(2).all(|pair| pair[0][0] < pair[1][0]));
    }
}
