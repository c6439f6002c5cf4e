use crate::names::Place;

/// Places that are kept by address, as a hart needs them over and over.
pub(crate) const PLACES: usize = 1 << 12;

/// The place of an address in an address space.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    pub(crate) pc: u64,
    pub(crate) space: u64,
    pub(crate) place: Place,
    /// Whether it is what a call leads to, which may make it one that a function begins at.
    pub(crate) called: bool,
}
