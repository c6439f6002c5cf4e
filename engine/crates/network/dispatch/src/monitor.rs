use crate::Load;

/// The times at which a rack informs the others about a service (Wang 2025, section 2.3.3): when its load has doubled
/// or halved since the last message, and is not below a threshold.
///
/// The threshold is the moving average of the load, but never below the floor. Points that the text leaves open: a load
/// that was sent is sent again when it has halved, independent of the threshold, because others would otherwise assume
/// a burst for ever; and zero is not a power of two, so that a rack that becomes idle sends nothing.
#[derive(Clone, Debug)]
pub(crate) struct Monitor {
    floor: Load,
    shift: u32,
    /// Of the load, with 8 more bits below the point.
    average: i64,
    /// The power of two that the others believe.
    told: Load,
}

/// The change of a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Crossing {
    /// It has doubled.
    Up,
    /// It has halved.
    Down,
}

impl Monitor {
    pub(crate) fn new(floor: u32, shift: u32) -> Monitor {
        Monitor {
            floor: Load(floor << 8),
            shift,
            average: 0,
            told: Load::ONE,
        }
    }

    /// Processes the load after a change; returns whether the others are to be informed, and of what.
    #[inline]
    pub(crate) fn crosses(&mut self, load: Load) -> Option<Crossing> {
        self.average += (i64::from(load.0) * 256 - self.average) >> self.shift;
        let threshold = self.floor.max(self.average());
        let has_doubled = load.0 >= 2 * self.told.0 && load >= threshold;
        let has_halved = self.told >= self.floor.max(Load(2 * Load::ONE.0)) && load.0 <= self.told.0 / 2;
        let crossing = match (has_doubled, has_halved) {
            (true, _) => Crossing::Up,
            (false, true) => Crossing::Down,
            (false, false) => return None,
        };
        self.told = load.level().max(Load::ONE);
        Some(crossing)
    }

    /// The moving average.
    pub(crate) fn average(&self) -> Load {
        Load((self.average >> 8) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(floor: u32, loads: &[u32]) -> Vec<u32> {
        let mut monitor = Monitor::new(floor, 20);
        let crosses = |load: &&u32| monitor.crosses(Load(**load << 8)).is_some();
        loads.iter().filter(crosses).copied().collect()
    }

    #[test]
    fn powers_of_two_are_told_up_and_down() {
        let up_and_down: Vec<u32> = (0..=20).chain((0..20).rev()).collect();
        assert_eq!(told(0, &up_and_down), [2, 4, 8, 16, 8, 4, 2, 1]);
    }

    #[test]
    fn below_the_floor_only_the_end_of_a_burst_is_told() {
        assert_eq!(told(4, &[1, 2, 3, 4, 3, 2, 1, 0, 1, 2, 3, 4, 8]), [4, 2, 4, 8]);
    }

    #[test]
    fn a_load_that_is_usual_is_not_told() {
        let mut monitor = Monitor::new(1, 4);
        (0..1000).for_each(|_| {
            monitor.crosses(Load(40 << 8));
        });
        monitor.told = Load::ONE;
        assert_eq!(monitor.crosses(Load(20 << 8)), None, "the average is 40");
        assert_eq!(monitor.crosses(Load(64 << 8)), Some(Crossing::Up));
    }
}
