use rackwright_memory::GuestMemory;
use rackwright_rtl::{MemoryRequest, BEAT_BYTES};

/// The bytes of a beat that a write writes.
pub(crate) fn masked(request: &MemoryRequest, bytes: usize) -> u32 {
    request.mask & (u32::MAX >> (BEAT_BYTES - bytes))
}

/// Writes the masked bytes of a beat, run by run, which may be.
pub(crate) fn store(request: &MemoryRequest, bytes: usize, memory: &mut GuestMemory) {
    let mut left = masked(request, bytes);
    while left != 0 {
        let first = left.trailing_zeros() as usize;
        let run = (left >> first).trailing_ones() as usize;
        let end = (first + run).min(bytes);
        let address = request.address.wrapping_add(first as u64);
        let written = memory.write(address, &request.data[first..end]);
        debug_assert!(written.is_ok(), "it was allowed");
        left &= u32::MAX.checked_shl((first + run) as u32).unwrap_or(0);
    }
}
