use rackwright_stats::Digest;
use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;

/// A stream of random numbers that belongs to one purpose of one model.
///
/// Streams of different models and purposes are independent, so that an additional model does not change others.
#[derive(Clone, Debug)]
pub struct Random {
    generator: Pcg64,
}

impl Random {
    /// The stream of a run's `seed`, for a model and a purpose.
    pub fn new(seed: u64, model: u64, purpose: &str) -> Random {
        let mut digest = Digest::new();
        digest.number(seed);
        digest.number(model);
        digest.bytes(purpose.as_bytes());
        let state = digest.value();
        Random {
            generator: Pcg64::new(state, u128::from(model)),
        }
    }

    /// A number above 0 and up to 1.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.generator.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// An exponentially distributed number with mean 1. The logarithm is computed in software, so that
    /// it is the same on every machine.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.unit())
    }

    /// A normally distributed number with mean 0 and variance 1, by the method of Box and Muller.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(2.0 * std::f64::consts::PI * self.unit())
    }

    /// A number below `limit`, which is not zero.
    #[inline]
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.generator.next_u64()) * limit as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ() {
        let first = |seed, model, purpose| Random::new(seed, model, purpose).unit();
        assert_eq!(first(1, 2, "service"), first(1, 2, "service"));
        let others = [
            first(1, 2, "service"),
            first(2, 2, "service"),
            first(1, 3, "service"),
            first(1, 2, "load"),
        ];
        (0..4).for_each(|one| (0..one).for_each(|other| assert_ne!(others[one], others[other])));
    }

    #[test]
    fn numbers_are_spread_as_they_should() {
        let mut random = Random::new(7, 0, "test");
        let mean = (0..200_000).map(|_| random.exponential()).sum::<f64>() / 200_000.0;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        let mut counts = [0; 3];
        (0..30_000).for_each(|_| counts[random.below(3)] += 1);
        assert!(
            counts.iter().all(|count| (9_700..10_300).contains(count)),
            "{counts:?}"
        );
    }
}
