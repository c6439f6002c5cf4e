use rackwright_contract::{flits, FLIT_BYTES};
use rackwright_ethernet::Rate;
use rackwright_time::network::{Cycle, Cycles};
use rackwright_time::{unit, Clock, Network};
use rackwright_unit::SentFrame;

/// Number of flits of the link that a unit accepts and sends per cycle of its own: its clock is slower than the link's
/// by this factor, and their first edges coincide.
///
/// A wide flit that leaves in a cycle is on the link from the first of its cycles on, flit by flit. One that arrives is
/// taken in the unit's first cycle that begins with its last flit or later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Width(u64);

impl Width {
    /// The width of a unit with this number of bytes of the network per cycle.
    pub(crate) fn of(network_bytes: u32) -> Width {
        Width((u64::from(network_bytes) / FLIT_BYTES as u64).max(1))
    }

    /// The unit's clock; `None` when that of the link can't be divided.
    pub(crate) fn clock(self, link: Clock) -> Option<Clock> {
        let divides = link.hertz() % self.0 == 0;
        divides.then(|| Clock::new(link.hertz() / self.0).ok()).flatten()
    }

    /// The unit's first cycle that begins with a cycle of the link or later.
    pub(crate) fn inside(self, link: Cycle) -> unit::Cycle {
        unit::Cycle::new(link.0.div_ceil(self.0))
    }

    /// The link's cycle with which a cycle of the unit begins.
    pub(crate) fn outside(self, own: unit::Cycle) -> Cycle {
        Cycle::new(own.0.saturating_mul(self.0))
    }

    /// A frame that has left, in cycles of the link.
    pub(crate) fn sent(self, frame: SentFrame) -> SentFrame<Network> {
        let behind = (flits(frame.bytes.len()).max(1) as u64 - 1) % self.0;
        SentFrame {
            first: self.outside(frame.first),
            last: self.outside(frame.last) + Cycles::new(behind),
            port: frame.port,
            bytes: frame.bytes,
        }
    }

    /// A rate of the link as flits per cycles of the unit, each at most `most`.
    pub(crate) fn flits_per_cycles(self, rate: Rate, most: u64) -> (u64, u64) {
        let (flits, period) = rate.flits_per_cycles(most / self.0);
        if period % self.0 == 0 {
            (flits, period / self.0)
        } else {
            (flits * self.0, period)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(bytes: usize) -> SentFrame {
        SentFrame {
            first: unit::Cycle::new(10),
            last: unit::Cycle::new(11),
            port: 0,
            bytes: vec![0; bytes],
        }
    }

    #[test]
    fn one_flit_per_cycle_changes_nothing() {
        let narrow = Width::of(8);
        assert_eq!(narrow, Width::of(0), "a unit without streams");
        assert_eq!(
            (narrow.inside(Cycle::new(7)), narrow.outside(unit::Cycle::new(7))),
            (unit::Cycle::new(7), Cycle::new(7))
        );
        let left = narrow.sent(sent(16));
        assert_eq!((left.first, left.last), (Cycle::new(10), Cycle::new(11)));
        assert_eq!(narrow.flits_per_cycles(Rate::FULL, 0xffff), (1, 1));
    }

    #[test]
    fn a_wide_unit_runs_at_half_of_the_clock() {
        let wide = Width::of(16);
        let clock = |hertz| Clock::new(hertz).unwrap();
        assert_eq!(wide.clock(clock(3_200_000_000)), Some(clock(1_600_000_000)));
        assert_eq!(wide.clock(clock(3)), None);
        let inside = [6, 7, 8].map(|link| wide.inside(Cycle::new(link)).0);
        assert_eq!(inside, [3, 4, 4]);
        assert_eq!(wide.outside(unit::Cycle::new(4)), Cycle::new(8));
    }

    #[test]
    fn a_frame_of_odd_flits_ends_with_half_a_wide_flit() {
        let wide = Width::of(16);
        let ends = [17, 24, 25, 32].map(|bytes| wide.sent(sent(bytes)).last.0);
        assert_eq!(ends, [22, 22, 23, 23]);
        assert_eq!(wide.sent(sent(32)).first, Cycle::new(20));
    }

    #[test]
    fn a_rate_means_the_same_in_cycles_of_the_unit() {
        let link = Clock::new(3_200_000_000).unwrap();
        let wide = |bits| Width::of(16).flits_per_cycles(Rate::new(bits, link).unwrap(), 0xffff);
        assert_eq!(wide(200_000_000_000), (125, 64));
        assert_eq!(wide(40_960_000_000), (2, 5));
        assert_eq!(wide(204_800_000_000), (2, 1));
    }
}
