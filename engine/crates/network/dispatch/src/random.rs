use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;

/// The random numbers of a dispatcher.
#[derive(Clone, Debug)]
pub(crate) struct Random(Pcg64);

impl Random {
    pub(crate) fn new(seed: u64, own: u16) -> Random {
        Random(Pcg64::new(u128::from(seed), u128::from(own)))
    }

    /// A number below `limit`, which is not zero.
    #[inline]
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.0.next_u64()) * limit as u128) >> 64) as usize
    }
}
