//! Bytes and strings between system calls and guest memory.

use rackwright_memory::{GuestFault, GuestMemory};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The longest path, as in Linux.
const LONGEST_PATH: usize = 4096;
/// Maximum number of bytes that one call moves; programs handle short counts.
const LARGEST_TRANSFER: u64 = 1 << 24;
/// The most pieces of a scattered read or write.
const MOST_PIECES: u64 = 1024;

/// A fault is reported as a bad address, as in Linux.
pub(crate) fn fault(_: GuestFault) -> io::Error {
    io::Error::from_raw_os_error(libc::EFAULT)
}

/// The null-terminated path at `address`.
pub(crate) fn path(memory: &GuestMemory, address: u64) -> io::Result<PathBuf> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while bytes.len() < LONGEST_PATH {
        memory
            .read(address.wrapping_add(bytes.len() as u64), &mut byte)
            .map_err(fault)?;
        if byte[0] == 0 {
            return Ok(PathBuf::from(OsString::from_vec(bytes)));
        }
        bytes.push(byte[0]);
    }
    Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG))
}

/// The bytes of the null-terminated string at `address`, at most `most` of them.
pub(crate) fn name(memory: &GuestMemory, address: u64, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while bytes.len() < most {
        memory
            .read(address.wrapping_add(bytes.len() as u64), &mut byte)
            .map_err(fault)?;
        if byte[0] == 0 {
            break;
        }
        bytes.push(byte[0]);
    }
    Ok(bytes)
}

/// A buffer for a transfer of `length` bytes, limited to the maximum of one call.
pub(crate) fn buffer(length: u64) -> Vec<u8> {
    vec![0; length.min(LARGEST_TRANSFER) as usize]
}

/// The bytes of a transfer from `address`.
pub(crate) fn bytes(memory: &GuestMemory, address: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = buffer(length);
    memory.read(address, &mut bytes).map_err(fault)?;
    Ok(bytes)
}

/// The pieces (address, length) of a scattered transfer.
pub(crate) fn pieces(memory: &GuestMemory, address: u64, count: u64) -> io::Result<Vec<(u64, u64)>> {
    if count > MOST_PIECES {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    (0..count)
        .map(|index| {
            Ok((
                word(memory, address + index * 16)?,
                word(memory, address + index * 16 + 8)?,
            ))
        })
        .collect()
}

/// The 64-bit number at `address`.
pub(crate) fn word(memory: &GuestMemory, address: u64) -> io::Result<u64> {
    memory.word(address).map_err(fault)
}

/// The 32-bit number at `address`.
pub(crate) fn half_word(memory: &GuestMemory, address: u64) -> io::Result<u32> {
    let mut bytes = [0; 4];
    memory.read(address, &mut bytes).map_err(fault)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Stores numbers of 64 bits one after the other.
pub(crate) fn store_words(memory: &mut GuestMemory, address: u64, words: &[u64]) -> io::Result<()> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(address, &bytes).map_err(fault)
}
