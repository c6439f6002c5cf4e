use crate::guard::Guard;
use rackwright_memory::{GuestMemory, Hierarchy};

/// The parts that a unit accesses beyond its pins.
pub struct Surroundings<'a, I = Hierarchy> {
    /// The bytes.
    pub memory: &'a mut GuestMemory,
    /// The timing of accesses to them.
    pub interconnect: &'a mut I,
    /// Which of them are allowed.
    pub guard: &'a mut Guard,
}
