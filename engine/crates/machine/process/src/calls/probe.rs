//! A program's queries about the harts (`riscv_hwprobe`).

use super::{refuse, Call};
use crate::gather;
use std::io;

// Keys, and their values.
const VENDOR: u64 = 0;
const IMPLEMENTATION: u64 = 2;
const BASE: u64 = 3;
const EXTENSIONS: u64 = 4;
/// Whether misaligned accesses are fast: this is not guaranteed.
const PERFORMANCE: u64 = 5;

/// The base instructions, with multiplication and atomics.
const IMA: u64 = 1;
/// Floating point, compressed instructions, vectors.
const FDCV: u64 = 1 | 1 << 1 | 1 << 2;

/// `riscv_hwprobe(pairs, count, bytes, harts, flags)`: all harts are alike.
pub(super) fn probe(call: &mut Call<'_>) -> io::Result<u64> {
    let [pairs, count, _, _, flags, _] = call.arguments;
    if flags != 0 {
        return refuse(libc::EINVAL);
    }
    for index in 0..count {
        let pair = pairs.wrapping_add(index * 16);
        let key = gather::word(call.memory, pair)?;
        let answer = match key {
            BASE => [key, IMA],
            EXTENSIONS => [key, FDCV],
            VENDOR..=IMPLEMENTATION | PERFORMANCE => [key, 0],
            // A key that is not known.
            _ => [u64::MAX, 0],
        };
        gather::store_words(call.memory, pair, &answer)?;
    }
    Ok(0)
}
