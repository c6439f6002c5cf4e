use crate::names::Function;

/// The durations of a function's calls, from call to return.
///
/// Durations below [`EXACT`] cycles are recorded exactly, longer ones to one part in [`STEPS`].
#[derive(Clone, Default, Debug)]
pub struct Durations {
    counts: Vec<u64>,
    slowest: Vec<SlowCall>,
}

/// One of the slowest calls of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlowCall {
    /// Cycles from call to return.
    pub cycles: u64,
    /// The cycle of the call.
    pub begin: u64,
}

/// Number of recorded bits of a duration.
const BITS: u32 = 6;
/// Parts that each power of two is divided into.
pub const STEPS: u64 = 1 << BITS;
/// The shortest duration that is rounded.
pub const EXACT: u64 = 2 * STEPS;
/// Number of recorded slowest calls.
const SLOWEST: usize = 10;

impl Durations {
    /// Adds a call.
    #[inline]
    pub fn add(&mut self, call: SlowCall) {
        let index = index(call.cycles);
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
        if self.slowest.len() < SLOWEST || call.cycles > self.slowest[SLOWEST - 1].cycles {
            self.keep(call);
        }
    }

    fn keep(&mut self, call: SlowCall) {
        let at = self.slowest.partition_point(|kept| kept.cycles >= call.cycles);
        self.slowest.insert(at, call);
        self.slowest.truncate(SLOWEST);
    }

    /// Adds the calls of `other`.
    pub fn merge(&mut self, other: &Durations) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        other.slowest.iter().for_each(|call| self.keep(*call));
    }

    /// The shortest duration of each step with calls, and their number.
    pub fn steps(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let counts = self.counts.iter().enumerate();
        counts
            .filter(|(_, count)| **count > 0)
            .map(|(index, count)| (shortest(index), *count))
    }

    /// The slowest calls, slowest first.
    pub fn slowest(&self) -> &[SlowCall] {
        &self.slowest
    }
}

/// Durations of all functions.
#[derive(Default, Debug)]
pub(crate) struct AllDurations {
    functions: Vec<Durations>,
}

impl AllDurations {
    #[inline]
    pub(crate) fn add(&mut self, function: Function, call: SlowCall) {
        let index = function.0 as usize;
        if index >= self.functions.len() {
            self.functions.resize(index + 1, Durations::default());
        }
        self.functions[index].add(call);
    }

    pub(crate) fn of(&self, function: Function) -> Option<&Durations> {
        self.functions.get(function.0 as usize)
    }
}

#[inline]
fn index(cycles: u64) -> usize {
    if cycles < EXACT {
        return cycles as usize;
    }
    let octave = cycles.ilog2() - BITS;
    (u64::from(octave) * STEPS + (cycles >> octave)) as usize
}

fn shortest(index: usize) -> u64 {
    let index = index as u64;
    if index < EXACT {
        return index;
    }
    let octave = index / STEPS - 1;
    (index - octave * STEPS) << octave
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn steps_are_close_below_and_in_order(cycles in 0..u64::MAX / 2, more in 1u64..1 << 40) {
            let low = shortest(index(cycles));
            prop_assert!(low <= cycles && cycles - low <= cycles / STEPS);
            prop_assert!(index(cycles + more) >= index(cycles));
            prop_assert_eq!(index(low), index(cycles));
        }
    }

    #[test]
    fn the_slowest_are_kept_in_order() {
        let mut durations = Durations::default();
        (0..100).for_each(|cycles| {
            durations.add(SlowCall {
                cycles: cycles * 37 % 101,
                begin: cycles,
            });
        });
        let slowest: Vec<u64> = durations.slowest().iter().map(|call| call.cycles).collect();
        assert_eq!(slowest.len(), SLOWEST);
        assert!(slowest.windows(2).all(|pair| pair[0] >= pair[1]));
        assert_eq!(durations.steps().map(|(_, count)| count).sum::<u64>(), 100);
    }
}
