//! Loads and stores that the translation buffers do not answer at once.

use crate::address::{allowed, Found, Purpose};
use crate::cause::Exception;
use crate::device::DeviceAccess;
use crate::state::{State, Trouble};
use rackwright_memory::{GuestMemory, PAGE_BYTES};

/// The target of an access.
enum Place {
    Memory(u64),
    Device(u64),
}

/// The memory that was passed to the hart for this run.
fn memory(state: &mut State) -> &mut GuestMemory {
    // SAFETY: `run` sets the pointer to the memory that it borrows for as long as handlers run, and nothing
    // else uses that borrow meanwhile.
    unsafe { &mut *state.memory }
}

fn place(state: &mut State, address: u64, purpose: Purpose) -> Result<Place, Exception> {
    let space = state.space;
    // SAFETY: as in `memory`; the regions lie in the state, not in memory.
    let memory = unsafe { &mut *state.memory };
    let Found { physical, span } = space.physical(memory, &state.regions, address, purpose)?;
    if allowed(memory, physical, purpose) {
        if purpose == Purpose::Store {
            memory.host().touch(physical, 1);
        }
        // SAFETY: an allowed page lies in memory.
        let host = unsafe { memory.host().base().add(physical as usize) };
        state
            .data()
            .remember(purpose == Purpose::Store, address, host, span);
        Ok(Place::Memory(physical))
    } else {
        Ok(Place::Device(physical))
    }
}

/// The physical address of an access within one page; the trouble is a device or an exception.
fn physical(
    state: &mut State,
    address: u64,
    bytes: usize,
    purpose: Purpose,
    write: Option<u64>,
) -> Option<u64> {
    let trouble = match place(state, address, purpose) {
        Ok(Place::Memory(physical)) => return Some(physical),
        Ok(Place::Device(physical)) => Trouble::Device(DeviceAccess {
            address: physical,
            bytes: bytes as u8,
            write,
        }),
        Err(exception) => Trouble::Exception(exception),
    };
    state.stopped.trouble = trouble;
    None
}

/// Bytes of the access that lie in its first page.
fn first_part(address: u64, bytes: usize) -> usize {
    bytes.min((PAGE_BYTES - address % PAGE_BYTES) as usize)
}

/// Reads `bytes` bytes at `address`: the value, and the physical address. `None` when there is trouble.
#[cold]
#[inline(never)]
pub(crate) fn load(state: &mut State, address: u64, bytes: usize) -> Option<(u64, u64)> {
    let split = first_part(address, bytes);
    let start = physical(state, address, bytes, Purpose::Load, None)?;
    let mut value = [0; 8];
    let (first, second) = value[..bytes].split_at_mut(split);
    let rest = if second.is_empty() {
        start
    } else {
        physical(
            state,
            address.wrapping_add(split as u64),
            bytes,
            Purpose::Load,
            None,
        )?
    };
    let memory = memory(state);
    memory.read(start, first).expect("the page was found readable");
    memory.read(rest, second).expect("the page was found readable");
    Some((u64::from_le_bytes(value), start))
}

/// Writes the low `bytes` bytes of `value` at `address`, all or none, and returns the physical address. `None` when
/// there is trouble.
#[cold]
#[inline(never)]
pub(crate) fn store(state: &mut State, address: u64, bytes: usize, value: u64) -> Option<u64> {
    let split = first_part(address, bytes);
    let start = physical(state, address, bytes, Purpose::Store, Some(value))?;
    let value_bytes = value.to_le_bytes();
    let (first, second) = value_bytes[..bytes].split_at(split);
    let rest = if second.is_empty() {
        start
    } else {
        let beyond = address.wrapping_add(split as u64);
        physical(state, beyond, bytes, Purpose::Store, Some(value))?
    };
    let memory = memory(state);
    memory.store(start, first).expect("the page was found writable");
    memory.store(rest, second).expect("the page was found writable");
    Some(start)
}

/// The physical address of an atomic access, which must be aligned, and requires the permission of `purpose`.
#[cold]
#[inline(never)]
pub(crate) fn atomic(state: &mut State, address: u64, bytes: usize, purpose: Purpose) -> Option<u64> {
    if address % bytes as u64 != 0 {
        let cause = purpose.misaligned();
        state.stopped.trouble = Trouble::Exception(Exception {
            cause,
            value: address,
        });
        return None;
    }
    let found = physical(state, address, bytes, purpose, None);
    if let Trouble::Device(_) = state.stopped.trouble {
        let cause = purpose.access_fault();
        state.stopped.trouble = Trouble::Exception(Exception {
            cause,
            value: address,
        });
    }
    found
}
