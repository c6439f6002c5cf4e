//! Prefetches of data (Zicbop): hints, which request a remote page if the machine fetches such pages, and have no other
//! effect.

use super::memory::{address, trouble};
use super::next;
use crate::address::Purpose;
use crate::state::{MicroOperation, State, Trouble};

pub(crate) unsafe fn read(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
    // SAFETY: the same contract.
    unsafe { prefetch(state, operation, cursor, Purpose::Load) }
}

pub(crate) unsafe fn write(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
    // SAFETY: the same contract.
    unsafe { prefetch(state, operation, cursor, Purpose::Store) }
}

#[inline(always)]
unsafe fn prefetch(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: *mut u64,
    purpose: Purpose,
) -> u32 {
    // SAFETY: as for every handler that may not be the last.
    unsafe {
        let address = address(state, operation);
        let asks = state.asks_for_remote_pages && state.data().loads.find(address, 1).is_none();
        if let Some(place) = asks.then(|| remote_page(state, address, purpose)).flatten() {
            state.stopped.trouble = Trouble::Prefetch(place);
            return trouble(state, operation, cursor);
        }
        next(state, operation, cursor)
    }
}

/// The place of the entry of a remote page that an access for `purpose` could have.
#[cold]
#[inline(never)]
fn remote_page(state: &State, address: u64, purpose: Purpose) -> Option<u64> {
    // SAFETY: `run` sets the pointer to the memory that it borrows for as long as handlers run, and nothing else uses that
    // borrow meanwhile.
    let memory = unsafe { &*state.memory };
    state.space.remote_page(memory, &state.regions, address, purpose)
}
