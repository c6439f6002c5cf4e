use crate::cache::LINE_BYTES;
use crate::dram::Dram;
use rackwright_time::Cycle;
use std::collections::VecDeque;

/// Number of outstanding lines from DRAM that the controller tracks.
const READS: usize = 64;

/// Number of lines to be written to which further beats are free.
const WRITES: usize = 16;

/// The controller of a memory that belongs to one unit, without caches: the beats of a line are one access while the
/// line is outstanding.
pub(crate) struct Direct {
    /// Lines being read, with the times of their arrival, the latest last.
    reads: VecDeque<(u64, Cycle)>,
    /// Lines that are written, the latest last.
    writes: VecDeque<(u64, Cycle)>,
}

impl Direct {
    pub(crate) fn new() -> Direct {
        Direct {
            reads: VecDeque::with_capacity(READS),
            writes: VecDeque::with_capacity(WRITES),
        }
    }

    /// Time at which a beat requested at `at` arrives, or is accepted for writing.
    pub(crate) fn access(&mut self, dram: &mut Dram, at: Cycle, address: u64, write: bool) -> Cycle {
        let line = address / LINE_BYTES;
        if write {
            return self.write(dram, at, address, line);
        }
        if let Some((_, ready)) = latest(&self.reads, line).filter(|(_, ready)| *ready > at) {
            // The controller takes its time for each beat: none has an answer sooner than the unit's window allows.
            return ready.max(dram.answered(at));
        }
        if latest(&self.writes, line).is_some() {
            return dram.answered(at);
        }
        let ready = dram.read(at, address);
        keep(&mut self.reads, READS, (line, ready));
        ready
    }

    fn write(&mut self, dram: &mut Dram, at: Cycle, address: u64, line: u64) -> Cycle {
        if let Some((_, accepted)) = latest(&self.writes, line) {
            return dram.answered(at.max(accepted));
        }
        let accepted = dram.accept(at, address);
        keep(&mut self.writes, WRITES, (line, accepted));
        dram.answered(accepted)
    }
}

fn latest(lines: &VecDeque<(u64, Cycle)>, line: u64) -> Option<(u64, Cycle)> {
    lines.iter().rev().find(|(other, _)| *other == line).copied()
}

fn keep(lines: &mut VecDeque<(u64, Cycle)>, most: usize, line: (u64, Cycle)) {
    if lines.len() == most {
        lines.pop_front();
    }
    lines.push_back(line);
}

rackwright_state::state!(Direct { reads, writes });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::HierarchyParameters;

    fn dram() -> (Dram, HierarchyParameters) {
        let parameters = HierarchyParameters::own_dram();
        (Dram::new(parameters.clock, &parameters.dram), parameters)
    }

    /// Bytes per nanosecond of beats, each of which is requested as soon as the 64th beat before it has a response.
    fn rate(write: impl Fn(u64) -> bool) -> f64 {
        let (mut dram, parameters) = dram();
        let mut direct = Direct::new();
        let mut answers = VecDeque::from(vec![Cycle::ZERO; 64]);
        let mut at = Cycle::ZERO;
        let beats = 100_000;
        for beat in 0..beats {
            at = at.max(answers.pop_front().expect("64 are under way"));
            let place = if write(beat) { 1 << 30 } else { 0 };
            answers.push_back(direct.access(&mut dram, at, place + 32 * beat, write(beat)));
        }
        let nanoseconds = at.0 as f64 * 1e9 / parameters.clock.hertz() as f64;
        32.0 * beats as f64 / nanoseconds
    }

    #[test]
    fn a_stream_has_the_bandwidth_of_the_channel_between_refreshes() {
        let (read, written) = (rate(|_| false), rate(|_| true));
        assert!((23.0..25.6).contains(&read), "{read}");
        assert!((20.0..25.6).contains(&written), "{written}");
    }

    #[test]
    fn reads_and_writes_share_the_bus() {
        // Alternating runs of whole lines, each of which waits for the previous one.
        let both = rate(|beat| beat / 16 % 2 == 0);
        assert!((12.8..25.6).contains(&both), "{both}");
    }

    #[test]
    fn beats_of_a_line_are_one_access() {
        let (mut dram, _) = dram();
        let mut direct = Direct::new();
        let first = direct.access(&mut dram, Cycle::new(10), 0, false);
        assert_eq!(direct.access(&mut dram, Cycle::new(11), 32, false), first);
        let later = direct.access(&mut dram, first + rackwright_time::Cycles::new(1), 0, false);
        assert!(later > first, "nothing is kept that has arrived");
    }

    #[test]
    fn a_beat_that_joins_a_line_at_its_arrival_passes_through_the_controller() {
        let (mut dram, _) = dram();
        let mut direct = Direct::new();
        let first = direct.access(&mut dram, Cycle::new(10), 0, false);
        let at = Cycle::new(first.0 - 1);
        assert_eq!(
            direct.access(&mut dram, at, 32, false),
            at + dram.minimum_latency()
        );
    }
}
