//! What a bare-metal program finds beside its hart; `software/bare-metal/README.md` is the contract.

use crate::ServerError;
use rackwright_linux::BareMetal;
use rackwright_memory::{GuestMemory, Protection};
use std::ops::Range;

/// Addresses of memory.
pub const BARE_METAL_MEMORY: Range<u64> = 0x8000_0000..0x9000_0000;

const EXIT: u64 = 0x1000_1000;
const CONSOLE: u64 = 0x1000_1008;

/// The console and the register that ends the run.
#[derive(Default)]
pub struct BareMetalDevices {
    output: Vec<u8>,
    exit_code: Option<i32>,
}

impl BareMetalDevices {
    /// A store of `data`, in the order of memory; stores elsewhere have no effect.
    pub fn write(&mut self, address: u64, data: &[u8]) {
        match address {
            CONSOLE => self.output.extend(data.first()),
            EXIT => {
                let mut value = [0; 8];
                let known = data.len().min(8);
                value[..known].copy_from_slice(&data[..known]);
                let value = u64::from_le_bytes(value);
                if value & 1 == 1 {
                    self.exit_code = Some((value >> 1) as i32);
                }
            }
            _ => {}
        }
    }

    /// What the program has printed so far.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// The exit code, once the program has ended the run.
    pub fn exit_code(&self) -> Option<i32> {
        self.exit_code
    }
}

/// Memory with the program of an ELF file in it, and the program's entry point. What is no memory faults.
///
/// # Errors
/// [`ServerError`] when memory cannot be reserved or the file is no program that fits.
pub fn load_bare_metal(file: &[u8]) -> Result<(GuestMemory, u64), ServerError> {
    let mut memory = GuestMemory::new(BARE_METAL_MEMORY.end)?;
    let length = BARE_METAL_MEMORY.end - BARE_METAL_MEMORY.start;
    let program = BareMetal::load(file, &mut memory)?;
    memory
        .protect(BARE_METAL_MEMORY.start, length, Protection::ALL)
        .expect("the range lies within the memory just reserved");
    Ok((memory, program.entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_console_and_the_exit_register() {
        let mut devices = BareMetalDevices::default();
        devices.write(CONSOLE, b"h");
        devices.write(CONSOLE, b"i");
        devices.write(EXIT, &0u64.to_le_bytes());
        assert_eq!((devices.output(), devices.exit_code()), (&b"hi"[..], None));
        devices.write(EXIT, &(3u64 << 1 | 1).to_le_bytes());
        assert_eq!(devices.exit_code(), Some(3));
    }
}
