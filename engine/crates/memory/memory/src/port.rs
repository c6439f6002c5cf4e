use crate::cache::LINE_BYTES;
use crate::calendar::Calendar;
use crate::route::Path;
use rackwright_state::state;
use rackwright_time::{Clock, Cycle, Cycles};

/// Identifies a port of an interconnect, which assigns it to an attached part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct RequesterId(pub u16);

/// Names the link that connects all ports of one unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct LinkId(pub u16);

/// A unit's memory port: one request and one response per cycle in each direction of data.
pub(crate) struct UnitPort {
    pub(crate) link: usize,
    pub(crate) path: Path,
    reads: Calendar,
    writes: Calendar,
    responses: Calendar,
    /// The transfers of a line that it has last begun, to read and to write.
    transfers: [Transfer; 2],
    /// When a hub has admitted the last one to write.
    write_admitted: Cycle,
}

/// A transfer of a line, which later beats of it join.
#[derive(Clone, Copy, Default)]
struct Transfer {
    line: Option<u64>,
    /// The beats that it has: a bit for the byte of the line at which each begins.
    beats: u64,
    /// The last cycle in which they do; none if they always do.
    until: Option<Cycle>,
}

impl UnitPort {
    pub(crate) fn new(link: usize, path: Path) -> UnitPort {
        UnitPort {
            link,
            path,
            reads: Calendar::new(),
            writes: Calendar::new(),
            responses: Calendar::new(),
            transfers: [Transfer::default(); 2],
            write_admitted: Cycle::ZERO,
        }
    }

    /// Whether a request of `at` begins a transfer: beats of a line that follow each other are one.
    ///
    /// A transfer has each beat once, and those that it writes in their order.
    #[inline]
    pub(crate) fn begins_line(&mut self, at: Cycle, address: u64, write: bool) -> bool {
        let (line, beat) = (Some(address / LINE_BYTES), 1 << (address % LINE_BYTES));
        let transfer = &mut self.transfers[usize::from(write)];
        let has_room = if write {
            transfer.beats < beat
        } else {
            transfer.beats & beat == 0
        };
        let joins = transfer.line == line && has_room && transfer.until.is_none_or(|until| at <= until);
        if joins {
            transfer.beats |= beat;
        } else {
            *transfer = Transfer {
                line,
                beats: beat,
                until: None,
            };
        }
        !joins
    }

    /// A transfer to read has arrived at the hub at `at` and was `admitted` later: beats of its line join it while it
    /// waits, at least for a cycle.
    pub(crate) fn begin_read(&mut self, at: Cycle, admitted: Cycle) {
        self.transfers[0].until = Some(admitted.max(at + Cycles::new(1)));
    }

    /// A transfer to write has arrived at the hub at `at` and was `admitted` later: beats of its line join it for
    /// `patience` from when it has left the port, in the register behind which it waits for the one before to be admitted.
    pub(crate) fn begin_write(&mut self, at: Cycle, admitted: Cycle, patience: Cycles) {
        let left = at.max(self.write_admitted + Cycles::new(1) + self.path.request);
        self.transfers[1].until = (patience != Cycles::default()).then(|| left + patience);
        self.write_admitted = admitted;
    }

    #[inline]
    pub(crate) fn request(&mut self, at: Cycle, write: bool) -> Cycle {
        if write {
            self.writes.reserve(at)
        } else {
            self.reads.reserve(at)
        }
    }

    #[inline]
    pub(crate) fn response(&mut self, at: Cycle) -> Cycle {
        self.responses.reserve(at)
    }
}

/// The data rate limit of one unit's link, in each direction.
pub(crate) struct RateLimit {
    /// Cost of a beat, in 1/256 cycles; zero if there is no limit.
    beat_cost: u64,
    to_memory: u64,
    to_unit: u64,
}

const FRACTION_BITS: u32 = 8;

impl RateLimit {
    pub(crate) fn new(clock: Clock, bytes_per_second: Option<u64>, beat_bytes: u32) -> RateLimit {
        let cost = bytes_per_second.map_or(0, |rate| {
            let scaled = (u128::from(beat_bytes) * u128::from(clock.hertz())) << FRACTION_BITS;
            scaled.div_ceil(u128::from(rate)) as u64
        });
        RateLimit {
            beat_cost: cost,
            to_memory: 0,
            to_unit: 0,
        }
    }

    /// When a beat that is ready at `at` has crossed towards memory (written data) or towards the unit (read data).
    #[inline]
    pub(crate) fn cross(&mut self, at: Cycle, write: bool) -> Cycle {
        if self.beat_cost == 0 {
            return at;
        }
        let next = if write {
            &mut self.to_memory
        } else {
            &mut self.to_unit
        };
        let start = (at.0 << FRACTION_BITS).max(*next);
        *next = start + self.beat_cost;
        Cycle::new(start >> FRACTION_BITS)
    }
}

state!(UnitPort {
    reads,
    writes,
    responses,
    transfers,
    write_admitted
});
state!(Transfer { line, beats, until });
state!(RateLimit { to_memory, to_unit });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_keeps_its_rate() {
        let clock = Clock::new(2_000_000_000).unwrap();
        let mut link = RateLimit::new(clock, Some(32_000_000_000), 32);
        let last = (0..100).map(|_| link.cross(Cycle::new(0), false)).max();
        assert_eq!(last, Some(Cycle::new(198)));
        assert_eq!(link.cross(Cycle::new(0), true), Cycle::new(0));
    }

    #[test]
    fn a_transfer_has_each_beat_once_and_writes_them_in_order() {
        let path = Path {
            request: Cycles::default(),
            response: Cycles::default(),
            bytes_per_second: None,
        };
        let mut port = UnitPort::new(0, path);
        let mut begins = |address: u64, write| port.begins_line(Cycle::ZERO, 640 + address, write);
        assert_eq!([begins(32, false), begins(0, false)], [true, false]);
        assert_eq!([begins(32, false), begins(0, false)], [true, false]);
        assert_eq!([begins(0, true), begins(32, true)], [true, false]);
        assert_eq!(
            [begins(32, true), begins(0, true), begins(32, true)],
            [true, true, false]
        );
    }

    #[test]
    fn no_limit_means_no_delay() {
        let clock = Clock::new(2_000_000_000).unwrap();
        let mut link = RateLimit::new(clock, None, 32);
        assert_eq!(link.cross(Cycle::new(3), false), Cycle::new(3));
        assert_eq!(link.cross(Cycle::new(3), false), Cycle::new(3));
    }
}
