use crate::Trail;

/// What crosses links as one burst of flits: a frame of a network, a packet of a fabric.
pub trait Item: Clone + Send {
    /// Adds everything that makes it differ from another to the trail of the port it leaves through.
    fn leave(&self, trail: &mut Trail);
}

impl Item for u64 {
    fn leave(&self, trail: &mut Trail) {
        trail.add(*self, 0);
    }
}
