use crate::names::Place;

/// Number of cached places by address, since a hart looks them up repeatedly.
const PLACES: usize = 1 << 12;

/// The identity of an address among equal ones of other address spaces.
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
    /// Whether it is the target of a call, which may make it the beginning of a function.
    called: bool,
}

/// The places of the addresses looked up last.
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

    /// Cached places may be invalid now.
    pub(crate) fn forget(&mut self) {
        self.0.fill(None);
    }
}

/// The cache slot for the place of `pc`.
fn slot(pc: u64) -> usize {
    (pc >> 1 ^ pc >> 13) as usize % PLACES
}
