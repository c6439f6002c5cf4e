use num_integer::gcd;
use rackwright_contract::FLIT_BYTES;
use rackwright_time::network::{Cycle, Cycles};
use rackwright_time::Clock;

/// The data rate of a port: in whole flits, at most one per cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    /// Cycles per flit, as a reduced fraction that is at least one.
    cycles: u64,
    flits: u64,
}

/// A rate that no port has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RateError {
    /// No flit would ever be sent.
    #[error("a port sends at least 1 Mbit/s, not {0} bit/s")]
    TooSlow(u64),
    /// More than one flit per cycle.
    #[error("a port of 64 bits at {hertz} Hz sends at most {most} bit/s, not {asked}")]
    TooFast {
        /// The requested rate, in bits per second.
        asked: u64,
        /// The maximum rate of the port, in bits per second.
        most: u64,
        /// Its clock.
        hertz: u64,
    },
}

const FLIT_BITS: u64 = 8 * FLIT_BYTES as u64;
const SLOWEST: u64 = 1_000_000;

impl Rate {
    /// One flit per cycle: 204.8 Gbit/s at 3.2 GHz.
    pub const FULL: Rate = Rate { cycles: 1, flits: 1 };

    /// A rate in bits per second.
    ///
    /// # Errors
    /// [`RateError`] below 1 Mbit/s and above one flit per cycle of the clock.
    pub fn new(bits_per_second: u64, clock: Clock) -> Result<Rate, RateError> {
        let most = FLIT_BITS.saturating_mul(clock.hertz());
        if bits_per_second < SLOWEST {
            return Err(RateError::TooSlow(bits_per_second));
        }
        if bits_per_second > most {
            return Err(RateError::TooFast {
                asked: bits_per_second,
                most,
                hertz: clock.hertz(),
            });
        }
        let shared = gcd(most, bits_per_second);
        Ok(Rate {
            cycles: most / shared,
            flits: bits_per_second / shared,
        })
    }

    /// The rate as flits per cycles, each at most `most`: exactly if possible, otherwise rounded down.
    pub fn flits_per_cycles(self, most: u64) -> (u64, u64) {
        let divisor = self.cycles.max(self.flits).div_ceil(most);
        ((self.flits / divisor).max(1), self.cycles.div_ceil(divisor))
    }

    /// Time from the first flit of a frame that starts with a cycle until `flits` more have left.
    #[inline]
    pub fn cycles(self, flits: u64) -> Cycles {
        Cycles::new(self.after(Moment::default(), flits).ceiling().0)
    }

    /// Time at which `flits` flits that start at `start` have been sent, to a fraction of a cycle, so that frames back
    /// to back have exactly the rate.
    #[inline]
    pub(crate) fn after(self, start: Moment, flits: u64) -> Moment {
        if self == Rate::FULL {
            return Moment {
                cycle: start.cycle + Cycles::new(flits),
                part: 0,
            };
        }
        let parts = u128::from(start.part) + u128::from(flits) * u128::from(self.cycles);
        let per_cycle = u128::from(self.flits);
        Moment {
            cycle: start.cycle + Cycles::new((parts / per_cycle) as u64),
            part: (parts % per_cycle) as u64,
        }
    }
}

/// A moment at or after the beginning of a cycle. A cycle has as many parts as the numerator of the port's flits per
/// cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Moment {
    cycle: Cycle,
    part: u64,
}

impl Moment {
    /// The beginning of a cycle.
    pub(crate) fn of(cycle: Cycle) -> Moment {
        Moment { cycle, part: 0 }
    }

    /// The first cycle that begins then or later.
    #[inline]
    pub(crate) fn ceiling(self) -> Cycle {
        self.cycle + Cycles::new(u64::from(self.part > 0))
    }
}

rackwright_state::state!(Moment { cycle, part });

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> Clock {
        Clock::new(3_200_000_000).unwrap()
    }

    fn cycles(rate: Rate, flits: u64) -> u64 {
        rate.after(Moment::default(), flits).ceiling().0
    }

    #[test]
    fn a_full_port_sends_a_flit_per_cycle() {
        let rate = Rate::new(204_800_000_000, clock()).unwrap();
        assert_eq!(rate, Rate::FULL);
        assert_eq!(cycles(rate, 188), 188);
    }

    #[test]
    fn slower_ports_take_longer() {
        let rate = Rate::new(10_000_000_000, clock()).unwrap();
        assert_eq!(cycles(rate, 125), 2560);
        assert_eq!(cycles(rate, 124), 2540, "124 flits of 20.48 cycles, rounded up");
    }

    #[test]
    fn frames_back_to_back_add_up_to_the_rate() {
        let rate = Rate::new(200_000_000_000, clock()).unwrap();
        let end = (0..1000).fold(Moment::default(), |moment, _| rate.after(moment, 189));
        assert_eq!(end.ceiling(), Cycle::new(189 * 1024));
    }

    #[test]
    fn a_rate_is_flits_per_cycles_in_few_bits() {
        let rate = |bits| Rate::new(bits, clock()).unwrap();
        assert_eq!(rate(200_000_000_000).flits_per_cycles(0xffff), (125, 128));
        let (flits, cycles) = rate(123_456_789_012).flits_per_cycles(0xffff);
        let gbps = 204.8 * flits as f64 / cycles as f64;
        assert!(
            cycles <= 0xffff && gbps < 123.456_789_012 && gbps > 123.45,
            "{gbps}"
        );
    }

    #[test]
    fn impossible_rates_are_refused() {
        let error = Rate::new(400_000_000_000, clock()).unwrap_err();
        assert!(
            error.to_string().contains("at most 204800000000 bit/s"),
            "{error}"
        );
        assert!(Rate::new(0, clock()).is_err());
    }
}
