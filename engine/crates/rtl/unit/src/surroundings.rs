use crate::guard::Guard;
use rackwright_memory::{GuestMemory, Hierarchy};

/// What a unit reaches beside its pins.
pub struct Surroundings<'a, I = Hierarchy> {
    /// The bytes.
    pub memory: &'a mut GuestMemory,
    /// What says when accesses to them are over.
    pub interconnect: &'a mut I,
    /// Which of them are allowed.
    pub guard: &'a mut Guard,
}
