use crate::samples::Samples;

/// Appends the values of counters.
type ReadCounters = Box<dyn Fn(&mut Vec<u64>) + Send>;

/// The settings for samples of counters.
pub(crate) struct Sampling {
    /// Cycles between two samples.
    pub(crate) every: u64,
    /// Maximum number of samples.
    pub(crate) most: usize,
    /// The positions of the recorded counters, among all.
    pub(crate) chosen: Vec<usize>,
    /// Number of counters.
    pub(crate) counters: usize,
    /// Reads those that are not the hart's own; must not change anything that affects the simulation.
    pub(crate) read: ReadCounters,
}

/// Takes samples of a hart's counters.
pub(crate) struct Sampler {
    sampling: Sampling,
    samples: Samples,
    /// All counters when they were last read.
    counters: Vec<u64>,
}

impl Sampler {
    pub(crate) fn new(sampling: Sampling) -> Sampler {
        Sampler {
            samples: Samples::new(sampling.chosen.len(), sampling.every, sampling.most),
            counters: vec![0; sampling.counters],
            sampling,
        }
    }

    /// The cycle of the next sample.
    pub(crate) fn due(&self) -> u64 {
        self.samples.due()
    }

    /// The next sample is not before `cycle`.
    pub(crate) fn skip_to(&mut self, cycle: u64) {
        self.samples.skip_to(cycle);
    }

    /// The counter of a number when it was last read.
    pub(crate) fn last(&self, index: usize) -> u64 {
        self.counters[index]
    }

    /// Reads all counters, of which the hart's `own` come first, and returns their previous values.
    pub(crate) fn read(&mut self, own: [&[u64]; 2]) -> Vec<u64> {
        let mut values = Vec::with_capacity(self.counters.len());
        values.extend(own.into_iter().flatten());
        (self.sampling.read)(&mut values);
        std::mem::replace(&mut self.counters, values)
    }

    /// Keeps what was last read as a sample.
    pub(crate) fn keep(&mut self, now: u64, instructions: u64) {
        let chosen = self.sampling.chosen.iter();
        let values = chosen.map(|index| self.counters[*index]);
        self.samples.add(now, instructions, values);
    }

    /// The values of all samples, of which there are no more.
    pub(crate) fn take(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.samples).into_values()
    }
}
