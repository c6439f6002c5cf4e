/// What visits to a model cost: how many there were, and about how long each takes.
///
/// It decides which thread gets which model, never what a model does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    visits: u64,
    nanoseconds: f64,
}

/// One in so many windows is timed.
pub(crate) const TIMED_WINDOWS: u64 = 32;

impl Default for Cost {
    /// No visits, which are expected to take as long as those of a switch.
    fn default() -> Self {
        Cost {
            visits: 0,
            nanoseconds: 200.0,
        }
    }
}

impl Cost {
    pub(crate) fn visit(&mut self) {
        self.visits += 1;
    }

    /// Takes the duration of one visit into account. One during which the thread had to stand back says
    /// nothing about the model, and counts as four times the usual.
    pub(crate) fn time(&mut self, nanoseconds: f64) {
        self.nanoseconds += (nanoseconds.min(4.0 * self.nanoseconds) - self.nanoseconds) / 8.0;
    }

    /// About how long all visits took, in nanoseconds; at least one, so that idle models count too.
    pub(crate) fn total(self) -> u64 {
        1 + (self.visits as f64 * self.nanoseconds) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_what_is_usual_and_not_one_long_visit() {
        let mut cost = Cost::default();
        (0..100).for_each(|_| cost.visit());
        (0..200).for_each(|_| cost.time(80_000.0));
        assert!((7_900_000..8_100_000).contains(&cost.total()));
        cost.time(1e9);
        assert!(cost.total() < 12_000_000);
    }
}
