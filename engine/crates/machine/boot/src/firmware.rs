//! The data that register a2 refers to for OpenSBI's `fw_dynamic` (OpenSBI, docs/firmware/fw_dynamic.md).

const MAGIC: u64 = 0x4942_534f;
const VERSION: u64 = 2;
const SUPERVISOR: u64 = 1;

/// Bytes of [`dynamic_information`].
pub(crate) const BYTES: usize = 48;

/// Instructs the firmware to start the code at `next` in supervisor mode, on hart 0.
pub(crate) fn dynamic_information(next: u64) -> [u8; BYTES] {
    let options = 0;
    let boot_hart = 0;
    let mut bytes = [0; BYTES];
    let words = [MAGIC, VERSION, next, SUPERVISOR, options, boot_hart];
    for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}
