use serde::{Deserialize, Serialize};

/// Outstanding requests for each core, in 256ths: fixed-point, so that hardware computes the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Load(pub u32);

impl Load {
    /// One request for each core.
    pub const ONE: Load = Load(1 << FRACTION);
    /// No replica is alive; higher than every load.
    pub const UNAVAILABLE: Load = Load(u32::MAX);

    /// Requests per core, rounded up to a 256th at most.
    #[inline]
    pub fn of(outstanding: u32, cores: u32) -> Load {
        match cores {
            0 => Load::UNAVAILABLE,
            cores => Load::scaled(outstanding, reciprocal(cores)),
        }
    }

    /// The same, with the precomputed reciprocal of the cores.
    #[inline]
    pub(crate) fn scaled(outstanding: u32, reciprocal: u32) -> Load {
        let product = (u64::from(outstanding) * u64::from(reciprocal)) >> (RECIPROCAL - FRACTION);
        Load(product.min(u64::from(u32::MAX - 1)) as u32)
    }

    /// Requests for each core.
    pub fn requests(self) -> f64 {
        f64::from(self.0) / f64::from(Load::ONE.0)
    }

    /// More by `other`, but never unavailable by adding.
    #[inline]
    pub fn plus(self, other: Load) -> Load {
        Load(self.0.saturating_add(other.0).min(u32::MAX - 1))
    }

    /// The highest power of two (of whole requests) that it reaches; zero below one.
    #[inline]
    pub(crate) fn level(self) -> Load {
        match self.0 >> FRACTION {
            0 => Load(0),
            whole => Load(1 << (FRACTION + whole.ilog2())),
        }
    }
}

/// Bits of a load below the point.
const FRACTION: u32 = 8;
/// Bits of a reciprocal below the point.
const RECIPROCAL: u32 = 16;

/// One divided by `cores`, which is not zero, rounded up: as many requests as cores are then a load of one.
#[inline]
pub(crate) fn reciprocal(cores: u32) -> u32 {
    (1_u32 << RECIPROCAL).div_ceil(cores)
}

/// The minimum difference of loads for a redirection to another rack.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadDelta {
    /// Always by more than this, in requests for each core. With zero, requests are redirected whenever another rack is
    /// less loaded.
    Fixed(f64),
    /// More than the exponentially weighted moving average of the errors of assumed loads when the actual ones were
    /// received.
    Adaptive,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_requests_for_each_core() {
        assert_eq!(Load::of(3, 1), Load(768));
        assert_eq!(Load::of(5, 0), Load::UNAVAILABLE);
        for cores in 1..=1000 {
            assert_eq!(Load::of(cores, cores).0 >> 8, 1, "{cores}");
        }
        assert!(Load::of(u32::MAX, 1) < Load::UNAVAILABLE);
        assert!(Load(u32::MAX - 1).plus(Load::ONE) < Load::UNAVAILABLE);
    }

    #[test]
    fn levels_are_powers_of_two() {
        let levels = [0, 255, 256, 511, 512, 1023, 1024, 1 << 30].map(|load| Load(load).level().0);
        assert_eq!(levels, [0, 0, 256, 256, 512, 512, 1024, 1 << 30]);
    }
}
