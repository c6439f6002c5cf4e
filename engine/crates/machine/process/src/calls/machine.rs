//! The process and the machine: identity, limits, random numbers.

use super::{number, Call};
use crate::gather;
use crate::process::Process;
use rand_chacha::rand_core::RngCore;
use std::io;

/// Bytes of each field of the kernel's `struct new_utsname`.
const NAME_BYTES: usize = 65;
/// Words of the kernel's `struct sysinfo`.
const SYSINFO_WORDS: usize = 14;
const STACK_LIMIT: u64 = 8 << 20;
const FILE_LIMIT: u64 = 1024;

impl Process {
    pub(super) fn machine_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [first, second, _, fourth, ..] = call.arguments;
        match number {
            number::GETPPID | number::GETUID..=number::GETEGID => Ok(0),
            number::SET_ROBUST_LIST => Ok(0),
            number::UNAME => name(call),
            number::SYSINFO => {
                let mut words = [0; SYSINFO_WORDS];
                words[0] = self.uptime(call.now).0;
                words[4] = call.memory.end();
                words[5] = call.memory.end();
                words[13] = 1; // bytes in a unit of memory
                gather::store_words(call.memory, first, &words)?;
                Ok(0)
            }
            number::PRLIMIT64 => limits(call, second as i32, fourth),
            number::GETRANDOM => {
                let mut bytes = gather::buffer(second);
                self.random.fill_bytes(&mut bytes);
                call.memory.write(first, &bytes).map_err(gather::fault)?;
                Ok(bytes.len() as u64)
            }
            // Nobody else gives commands to a program's units: the drivers ask, and do without.
            number::RSEQ => Err(io::Error::from_raw_os_error(libc::ENOSYS)),
            _ => self.unknown(number),
        }
    }
}

fn name(call: &mut Call<'_>) -> io::Result<u64> {
    let fields = ["Linux", "rackwright", "6.1.0", "#1", "riscv64", ""];
    let mut bytes = Vec::with_capacity(fields.len() * NAME_BYTES);
    for field in fields {
        bytes.extend_from_slice(field.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(NAME_BYTES), 0);
    }
    bytes.resize(fields.len() * NAME_BYTES, 0);
    call.memory
        .write(call.arguments[0], &bytes)
        .map_err(gather::fault)?;
    Ok(0)
}

fn limits(call: &mut Call<'_>, resource: i32, target: u64) -> io::Result<u64> {
    const UNLIMITED: u64 = u64::MAX;
    if target == 0 {
        return Ok(0);
    }
    let soft = match resource as u32 {
        libc::RLIMIT_STACK => STACK_LIMIT,
        libc::RLIMIT_NOFILE => FILE_LIMIT,
        _ => UNLIMITED,
    };
    gather::store_words(call.memory, target, &[soft, UNLIMITED])?;
    Ok(0)
}
