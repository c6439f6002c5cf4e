use crate::names::Place;

/// Places that are kept by address, as a hart needs them over and over.
const PLACES: usize = 1 << 12;

/// What tells an address from the same of other address spaces.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) pc: u64,
    pub(crate) space: u64,
}

/// The place of an address.
#[derive(Clone, Copy)]
struct Known {
    address: Address,
    place: Place,
    /// Whether it is what a call leads to, which may make it one that a function begins at.
    called: bool,
}

/// The places of addresses that were asked for last.
pub(crate) struct Places(Box<[Option<Known>]>);

impl Places {
    /// None is known.
    pub(crate) fn new() -> Places {
        Places(vec![None; PLACES].into_boxed_slice())
    }

    /// The place of `address`, if it is known, and known as one that is called if it is.
    pub(crate) fn get(&self, address: Address, called: bool) -> Option<Place> {
        let known = self.0[slot(address.pc)].filter(|known| known.address == address)?;
        (known.called || !called).then_some(known.place)
    }

    /// Keeps the place of an address.
    pub(crate) fn keep(&mut self, address: Address, place: Place, called: bool) {
        self.0[slot(address.pc)] = Some(Known {
            address,
            place,
            called,
        });
    }

    /// What was known may be wrong now.
    pub(crate) fn forget(&mut self) {
        self.0.fill(None);
    }
}

/// Where the place of `pc` is kept.
fn slot(pc: u64) -> usize {
    (pc >> 1 ^ pc >> 13) as usize % PLACES
}
