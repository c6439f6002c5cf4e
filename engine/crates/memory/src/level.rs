use crate::cache::{Cache, Lookup, Victim, LINE_BYTES};
use crate::calendar::Calendar;
use crate::parameters::LevelParameters;
use rackwright_time::{Cycle, Cycles};

/// One cache level: tags, banks and the lines that are on their way to it.
pub(crate) struct Level {
    pub(crate) tags: Cache,
    banks: Vec<Calendar>,
    misses: Misses,
    latency: Cycles,
    beats_per_line: u64,
}

impl Level {
    pub(crate) fn new(parameters: &LevelParameters) -> Level {
        Level {
            tags: Cache::new(parameters.shape),
            banks: vec![Calendar::new(); parameters.banks as usize],
            misses: Misses::new(parameters.outstanding_misses),
            latency: parameters.latency,
            beats_per_line: parameters.beats_per_line(),
        }
    }

    pub(crate) fn beats_per_line(&self) -> u64 {
        self.beats_per_line
    }

    /// Takes `beats` turns of the line's bank; returns when a hit's first beat is there.
    #[inline]
    pub(crate) fn look_up(&mut self, at: Cycle, address: u64, beats: u64) -> Cycle {
        let bank = (address / LINE_BYTES) as usize & (self.banks.len() - 1);
        self.banks[bank].reserve_span(at, beats) + self.latency
    }

    /// When a line whose tag is present is really there: it may still be on its way.
    #[inline]
    pub(crate) fn arrival(&self, looked_up: Cycle, address: u64) -> Cycle {
        self.misses.arrival(looked_up, address)
    }

    /// Fetches a missing line with `next`, once a miss register is free; returns when it is there.
    #[inline]
    pub(crate) fn miss(&mut self, at: Cycle, address: u64, next: impl FnOnce(Cycle) -> Cycle) -> Cycle {
        let (register, start) = self.misses.free_register(at);
        let ready = next(start);
        self.misses.set(register, address, ready);
        ready
    }

    /// Adds flags to a line, bringing it in when it is not there; returns what had to leave.
    pub(crate) fn put(&mut self, address: u64, flags: u8) -> Option<Victim> {
        match self.tags.touch(address) {
            Lookup::Hit(index) => {
                let merged = self.tags.flags(index) | flags;
                self.tags.set_flags(index, merged);
                None
            }
            Lookup::Miss => self.tags.insert(address, flags),
        }
    }
}

/// Miss status registers: which lines are on their way, and until when.
struct Misses {
    lines: Vec<u64>,
    ready: Vec<Cycle>,
    latest: Cycle,
}

impl Misses {
    fn new(registers: u32) -> Misses {
        Misses {
            lines: vec![u64::MAX; registers as usize],
            ready: vec![Cycle::ZERO; registers as usize],
            latest: Cycle::ZERO,
        }
    }

    #[inline]
    fn arrival(&self, looked_up: Cycle, address: u64) -> Cycle {
        if looked_up >= self.latest {
            return looked_up;
        }
        let line = address / LINE_BYTES;
        self.lines
            .iter()
            .zip(&self.ready)
            .filter(|(&pending, _)| pending == line)
            .map(|(_, &ready)| ready)
            .fold(looked_up, Cycle::max)
    }

    /// The register that is free first, and when it may be used.
    #[inline]
    fn free_register(&self, at: Cycle) -> (usize, Cycle) {
        let mut first = 0;
        for register in 1..self.ready.len() {
            if self.ready[register] < self.ready[first] {
                first = register;
            }
        }
        (first, at.max(self.ready[first]))
    }

    #[inline]
    fn set(&mut self, register: usize, address: u64, ready: Cycle) {
        self.lines[register] = address / LINE_BYTES;
        self.ready[register] = ready;
        self.latest = self.latest.max(ready);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_miss_of_a_line_waits_for_the_first() {
        let mut misses = Misses::new(2);
        misses.set(0, 128, Cycle(50));
        assert_eq!(misses.arrival(Cycle(10), 130), Cycle(50));
        assert_eq!(misses.arrival(Cycle(10), 64), Cycle(10));
        assert_eq!(misses.arrival(Cycle(60), 130), Cycle(60));
    }

    #[test]
    fn a_miss_waits_for_a_free_register() {
        let mut misses = Misses::new(2);
        misses.set(0, 0, Cycle(50));
        misses.set(1, 64, Cycle(40));
        assert_eq!(misses.free_register(Cycle(10)), (1, Cycle(40)));
    }
}
