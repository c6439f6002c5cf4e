use crate::Trail;
use rackwright_time::{Domain, Network};

/// An item that crosses links as one burst of flits: a frame of a network, a packet of a fabric.
pub trait Item: Clone + Send {
    /// The clock of the links that it crosses, which is that of all models at them.
    type Clock: Domain;

    /// Adds everything that distinguishes it from other items to the trail of the port through which it leaves.
    fn leave(&self, trail: &mut Trail);
}

impl Item for u64 {
    type Clock = Network;

    fn leave(&self, trail: &mut Trail) {
        trail.add(*self, 0);
    }
}
