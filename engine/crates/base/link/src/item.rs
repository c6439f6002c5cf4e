use crate::Trail;
use rackwright_time::{Domain, Network};

/// What crosses links as one burst of flits: a frame of a network, a packet of a fabric.
pub trait Item: Clone + Send {
    /// The clock of the links that it crosses, which is that of all models at them.
    type Clock: Domain;

    /// Adds everything that makes it differ from another to the trail of the port it leaves through.
    fn leave(&self, trail: &mut Trail);
}

impl Item for u64 {
    type Clock = Network;

    fn leave(&self, trail: &mut Trail) {
        trail.add(*self, 0);
    }
}
