/// The cost of visits to a model: the number of recent visits, and their estimated duration.
///
/// It determines which thread visits a model, but never affects the behaviour of the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    visits: u64,
    timed: u32,
    nanoseconds: f64,
}

/// One in this number of windows is timed.
pub(crate) const TIMED_WINDOWS: u64 = 32;
/// Before that, this number of visits to each model are timed; afterwards, a timed visit stands for one of as many.
const FIRST_VISITS: u32 = 8;

impl Default for Cost {
    /// No visits yet; they are expected to take as long as visits to a switch.
    fn default() -> Self {
        Cost {
            visits: 0,
            timed: 0,
            nanoseconds: 200.0,
        }
    }
}

impl Cost {
    pub(crate) fn visit(&mut self) {
        self.visits += 1;
    }

    /// Whether too few visits have been timed for an estimate.
    #[inline]
    pub(crate) fn is_unknown(&self) -> bool {
        self.timed < FIRST_VISITS
    }

    /// Takes the duration of one visit into account. A visit during which the thread was preempted is no measurement of
    /// the model; it counts as four times the usual duration.
    pub(crate) fn time(&mut self, nanoseconds: f64) {
        let most = if self.is_unknown() {
            self.timed += 1;
            f64::INFINITY
        } else {
            4.0 * self.nanoseconds
        };
        self.nanoseconds += (nanoseconds.min(most) - self.nanoseconds) / f64::from(self.timed);
    }

    /// Estimated duration of a visit, in nanoseconds.
    #[inline]
    pub(crate) fn of_visit(&self) -> u64 {
        self.nanoseconds as u64
    }

    /// Estimated duration of all recent visits, in nanoseconds; at least one, so that idle models count too.
    pub(crate) fn total(&self) -> u64 {
        1 + (self.visits as f64 * self.nanoseconds) as u64
    }

    /// Halves the weight of the visits so far, because old visits predict later ones poorly.
    pub(crate) fn age(&mut self) {
        self.visits /= 2;
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

    #[test]
    fn the_first_visits_say_what_one_costs() {
        let mut cost = Cost::default();
        (1..=FIRST_VISITS).for_each(|visit| cost.time(f64::from(visit) * 1000.0));
        assert_eq!(cost.of_visit(), 4500);
        assert!(!cost.is_unknown());
    }

    #[test]
    fn what_is_long_ago_counts_less() {
        let mut cost = Cost::default();
        (0..100).for_each(|_| cost.visit());
        cost.age();
        assert_eq!(cost.total(), 10_001);
    }
}
