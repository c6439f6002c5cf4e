use crate::cache::{Cache, Lookup, Victim, LINE_BYTES};
use crate::calendar::Calendar;
use crate::misses::Misses;
use crate::parameters::LevelParameters;
use rackwright_state::{Pass, State, StateError};
use rackwright_time::{Cycle, Cycles};

/// One cache level: tags, banks and outstanding lines.
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

    /// Takes `beats` cycles of the line's bank; returns the time of the first beat of a hit.
    #[inline]
    pub(crate) fn look_up(&mut self, at: Cycle, address: u64, beats: u64) -> Cycle {
        let bank = (address / LINE_BYTES) as usize & (self.banks.len() - 1);
        self.look_up_in(bank, at, beats)
    }

    /// The same in a bank that the caller has chosen.
    #[inline]
    pub(crate) fn look_up_in(&mut self, bank: usize, at: Cycle, beats: u64) -> Cycle {
        self.banks[bank].reserve_span(at, beats) + self.latency
    }

    /// Replaces its banks by slices, one bank each, which [`Level::look_up_in`] chooses.
    pub(crate) fn slice(&mut self, slices: usize) {
        self.banks = vec![Calendar::new(); slices];
    }

    /// Time at which a line with a present tag really arrives: it may still be outstanding.
    #[inline]
    pub(crate) fn arrival(&self, looked_up: Cycle, address: u64) -> Cycle {
        self.misses.arrival(looked_up, address)
    }

    /// Fetches a missing line by `next`, once a miss register is free; returns the time of its arrival.
    #[inline]
    pub(crate) fn miss(&mut self, at: Cycle, address: u64, next: impl FnOnce(Cycle) -> Cycle) -> Cycle {
        let ready = next(self.misses.start(at));
        self.misses.set(address, ready);
        ready
    }

    /// Adds flags to a line, bringing it in if it is not present; returns the evicted line.
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

impl State for Level {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.tags.pass(by)?;
        by.each(self.banks.iter_mut())?;
        self.misses.pass(by)
    }
}
