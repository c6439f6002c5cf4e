use crate::cache::LINE_BYTES;
use rackwright_state::state;
use rackwright_time::{Cycle, Cycles};

/// Probes that wait between the hub and an L1 while it answers one: two in the buffer of its tile, one at its port.
const WAITING: usize = 3;

/// The way of an answer through the tile's buffers to the hub, at which there is then room for another probe.
const ROOM: Cycles = Cycles::new(4);

/// What keeps L1 caches coherent where L2 has no directory: each transfer of a line is probed in every L1.
///
/// It admits one transfer after the other: the next one when there is room on the way to every L1 for the probe of the
/// one before, and a second one of a line when the first has ended. Those behind it wait as well (`TLBroadcast` of Rocket
/// Chip 1.2.6: its port has one queue).
#[derive(Default)]
pub(crate) struct Hub {
    /// When it admits the next transfer.
    free: Cycle,
    /// Lines of transfers under way, and when each ends.
    under_way: Vec<(u64, Cycle)>,
}

impl Hub {
    /// When a transfer of the line of `address` that arrives at `at` is admitted.
    pub(crate) fn admit(&mut self, at: Cycle, address: u64) -> Cycle {
        let admitted = at.max(self.free).max(self.end(address));
        self.under_way.retain(|(_, end)| *end > at);
        self.free = admitted + Cycles::new(1);
        admitted
    }

    /// The transfer that was admitted last keeps others away until `until`.
    pub(crate) fn hold(&mut self, until: Cycle) {
        self.free = self.free.max(until);
    }

    /// When the transfer of the line of `address` ends; long ago if there is none.
    pub(crate) fn end(&self, address: u64) -> Cycle {
        let line = address / LINE_BYTES;
        let same = self.under_way.iter().filter(|(other, _)| *other == line);
        same.map(|(_, end)| *end).fold(Cycle::ZERO, Cycle::max)
    }

    /// A transfer of the line of `address` ends at `end`.
    pub(crate) fn begin(&mut self, address: u64, end: Cycle) {
        self.under_way.push((address / LINE_BYTES, end));
    }
}

state!(Hub { free, under_way });
state!(Probes { answered });

/// The probes of an L1, which answers one after the other.
#[derive(Default)]
pub(crate) struct Probes {
    /// When it has answered each of the last ones, the oldest first.
    answered: [Cycle; WAITING],
}

impl Probes {
    /// Probes it at `at`, for which it is busy for `time`; returns when there is room for the probe, and its answer.
    pub(crate) fn add(&mut self, at: Cycle, time: Cycles) -> (Cycle, Cycle) {
        let accepted = at.max(self.answered[0] + ROOM);
        let answer = at.max(self.answered[WAITING - 1]) + time;
        self.answered.rotate_left(1);
        self.answered[WAITING - 1] = answer;
        (accepted, answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_transfer_of_a_line_waits_for_the_first_and_others_wait_behind_it() {
        let mut hub = Hub::default();
        let mut admit = |at, line: u64| {
            let admitted = hub.admit(Cycle::new(at), line * LINE_BYTES);
            hub.begin(line * LINE_BYTES, admitted + Cycles::new(20));
            admitted.0
        };
        assert_eq!(admit(5, 0), 5);
        assert_eq!(admit(5, 1), 6);
        assert_eq!(admit(7, 0), 25);
        assert_eq!(admit(8, 2), 26);
        assert_eq!(admit(60, 2), 60);
        hub.hold(Cycle::new(70));
        assert_eq!(hub.admit(Cycle::new(61), 0), Cycle::new(70));
    }

    #[test]
    fn probes_are_answered_one_after_the_other_and_three_of_them_wait() {
        let mut probes = Probes::default();
        let mut add = |at| {
            let (accepted, answer) = probes.add(Cycle::new(at), Cycles::new(8));
            (accepted.0, answer.0)
        };
        assert_eq!([add(10), add(11), add(12)], [(10, 18), (11, 26), (12, 34)]);
        assert_eq!([add(13), add(14)], [(22, 42), (30, 50)]);
        assert_eq!(add(100), (100, 108));
    }
}
