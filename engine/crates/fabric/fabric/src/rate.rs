use rackwright_time::fabric::Cycles;

/// The generation of a link: its signalling rate and encoding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Generation {
    /// 2.5 GT/s, 8b/10b.
    One,
    /// 5 GT/s, 8b/10b.
    Two,
    /// 8 GT/s, 128b/130b.
    Three,
    /// 16 GT/s, 128b/130b.
    Four,
    /// 32 GT/s, 128b/130b.
    Five,
}

/// The rate of a link: its generation and number of lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    generation: Generation,
    lanes: u32,
}

/// Widths of links (4.2.6.2.1); that of twelve lanes has left the specification.
const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];
/// Payloads up to which an acknowledgement waits for more packets on wide links.
const SHORT_PAYLOAD: u32 = 256;

impl Rate {
    /// The rate of a link of `generation` 1 to 5; none for an invalid generation or width.
    pub fn new(generation: u32, lanes: u32) -> Option<Rate> {
        use Generation::{Five, Four, One, Three, Two};
        let known = [One, Two, Three, Four, Five];
        let generation = *known.get(generation.checked_sub(1)? as usize)?;
        WIDTHS.contains(&lanes).then_some(Rate { generation, lanes })
    }

    /// Its generation, 1 to 5, as in registers of links.
    pub(crate) fn generation(self) -> u32 {
        self.generation as u32 + 1
    }

    pub(crate) fn lanes(self) -> u32 {
        self.lanes
    }

    /// The time of a byte on one lane, which is the time of a symbol; of 130 bits of a block, 128 are data.
    pub fn symbol(self) -> Cycles {
        Cycles::new(match self.generation {
            Generation::One => 4_096_000,
            Generation::Two => 2_048_000,
            Generation::Three => 1_040_000,
            Generation::Four => 520_000,
            Generation::Five => 260_000,
        })
    }

    /// The time of `bytes` bytes on all lanes, whose number is a power of two.
    pub fn bytes(self, bytes: u64) -> Cycles {
        Cycles::new(bytes * (self.symbol().0 >> self.lanes.trailing_zeros()))
    }

    /// The maximum time for which an acknowledgement or an update of credits may wait to be combined with others
    /// (3.6.3.1, 2.6.1.2), for a maximum payload of `payload` bytes.
    ///
    /// The specification's tables follow from this formula; those of 16 and 32 GT/s use the delay of 8 GT/s here.
    pub fn latency_limit(self, payload: u32) -> Cycles {
        let internal = match self.generation {
            Generation::One => 19,
            Generation::Two => 70,
            _ => 115,
        };
        let overhead = 28;
        let tenths = match (payload <= SHORT_PAYLOAD, self.lanes) {
            (true, 1..=4) => 14,
            (true, 8) => 25,
            (true, _) => 30,
            (false, 1..=8) => 10,
            (false, _) => 20,
        };
        let symbols = (payload + overhead) * tenths / (10 * self.lanes) + internal;
        Cycles::new(u64::from(symbols) * self.symbol().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_of_each_generation_has_the_rate_of_the_specification() {
        // Bytes per second on 16 lanes: transfers, times the efficiency of the encoding.
        let expected = [
            4.0e9,
            8.0e9,
            16e9 * 128.0 / 130.0,
            32e9 * 128.0 / 130.0,
            64e9 * 128.0 / 130.0,
        ];
        for (generation, expected) in (1..).zip(expected) {
            let rate = Rate::new(generation, 16).unwrap();
            let seconds = rate.bytes(1 << 20).0 as f64 / 1.024e15;
            assert!(((1 << 20) as f64 / seconds / expected - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn limits_are_those_of_the_tables() {
        // Table 3-7 of the specification, of 2.5 GT/s, in symbol times.
        let rows = [
            (128, [237, 128, 73, 67, 48]),
            (256, [416, 217, 118, 107, 72]),
            (512, [559, 289, 154, 86, 86]),
            (1024, [1071, 545, 282, 150, 150]),
        ];
        for (payload, limits) in rows {
            for (lanes, limit) in WIDTHS.into_iter().zip(limits) {
                let rate = Rate::new(1, lanes).unwrap();
                assert_eq!(
                    rate.latency_limit(payload).0 / rate.symbol().0,
                    limit,
                    "{payload} x{lanes}"
                );
            }
        }
    }

    #[test]
    fn other_links_are_not_links() {
        assert_eq!(
            (Rate::new(0, 1), Rate::new(6, 1), Rate::new(3, 3)),
            (None, None, None)
        );
    }
}
