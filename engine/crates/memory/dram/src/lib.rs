//! The timing of DRAM behind a C interface (`dram.h`), for harnesses of whole chips.

use rackwright_memory::{
    AccessKind, Hierarchy, HierarchyParameters, NamedParameters, RequesterId, Route, Traffic,
};
use rackwright_time::Cycle;
use std::collections::BTreeMap;

/// A channel of DDR4-3200 behind the memory port of a chip.
pub struct Dram {
    memory: Hierarchy,
    port: RequesterId,
}

impl Dram {
    /// None for a clock that the model does not have.
    fn new(clock_hz: u64) -> Option<Dram> {
        let mut parameters = HierarchyParameters::own_dram();
        let clock = BTreeMap::from([("clock-hz".to_owned(), clock_hz)]);
        parameters.set(&clock).ok()?;
        let beat_bytes = parameters.l2.beat_bytes;
        let mut memory = Hierarchy::new(parameters).ok()?;
        let link = memory.attach_link(&Route::default(), beat_bytes);
        let port = memory.attach_port(link, Traffic::Stream);
        Some(Dram { memory, port })
    }
}

/// A channel in which every row is closed; null for a clock that the model does not have.
#[no_mangle]
pub extern "C" fn rackwright_dram_create(clock_hz: u64) -> *mut Dram {
    Dram::new(clock_hz).map_or(std::ptr::null_mut(), |dram| Box::into_raw(Box::new(dram)))
}

/// An access to the line of `address` that arrives in `cycle`, no earlier than the access before it; returns the cycle
/// of its data, or of the acknowledgement of a write.
///
/// # Safety
/// `dram` is from [`rackwright_dram_create`], not destroyed, and used by one thread at a time.
#[no_mangle]
pub unsafe extern "C" fn rackwright_dram_access(
    dram: *mut Dram,
    cycle: u64,
    address: u64,
    write: bool,
) -> u64 {
    // SAFETY: the caller's promise.
    let dram = unsafe { &mut *dram };
    let kind = if write {
        AccessKind::Write
    } else {
        AccessKind::Read
    };
    dram.memory.access(Cycle::new(cycle), address, kind, dram.port).0
}

/// Ends a channel.
///
/// # Safety
/// `dram` is from [`rackwright_dram_create`], and is not used again.
#[no_mangle]
pub unsafe extern "C" fn rackwright_dram_destroy(dram: *mut Dram) {
    // SAFETY: the caller's promise; it was a box.
    drop(unsafe { Box::from_raw(dram) });
}
