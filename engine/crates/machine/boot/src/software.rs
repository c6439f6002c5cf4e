use crate::device_tree::{self, Hardware};
use crate::error::BootError;
use crate::firmware;
use crate::kernel::Kernel;
use rackwright_memory::GuestMemory;

/// The software that a machine starts.
#[derive(Clone, Copy, Debug)]
pub struct Software<'a> {
    /// OpenSBI's `fw_dynamic.bin`.
    pub firmware: &'a [u8],
    /// An uncompressed Linux image.
    pub kernel: &'a [u8],
    /// The initial file system: one or more archives, one after the other.
    pub initial_files: &'a [u8],
    /// The kernel's command line.
    pub command_line: &'a str,
}

/// The initial state of every hart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Address of the first instruction.
    pub pc: u64,
    /// For register a1: address of the device tree.
    pub device_tree: u64,
    /// For register a2: address of the information for the firmware.
    pub information: u64,
}

/// Maximum size of the device tree with the firmware's additions; it is at the end of memory.
const TREE_BYTES: u64 = 2 << 20;
/// Minimum memory for the kernel, in addition to its image and the initial file system: page tables, and room to
/// unpack.
const KERNEL_ROOM: u64 = 32 << 20;
const PAGE: u64 = 4096;

impl Software<'_> {
    /// Loads everything into the memory of `hardware`.
    ///
    /// # Errors
    /// [`BootError`] if a file is invalid or does not fit.
    pub fn load(&self, memory: &mut GuestMemory, hardware: &Hardware<'_>) -> Result<Entry, BootError> {
        let base = hardware.map.memory;
        let kernel = Kernel::parse(self.kernel)?;
        let firmware_bytes = self.firmware.len() as u64;
        if firmware_bytes == 0 || firmware_bytes > kernel.offset {
            return Err(BootError::Firmware {
                bytes: firmware_bytes,
                most: kernel.offset,
            });
        }
        let files = self.initial_files.len() as u64;
        let needed =
            kernel.offset + kernel.bytes + 2 * files.next_multiple_of(PAGE) + KERNEL_ROOM + TREE_BYTES;
        if hardware.memory_bytes < needed {
            return Err(BootError::Memory {
                memory: hardware.memory_bytes,
                needed,
            });
        }
        let end = base + hardware.memory_bytes / PAGE * PAGE;
        let device_tree = (end - TREE_BYTES) / TREE_BYTES * TREE_BYTES;
        let files_start = (device_tree - files) / PAGE * PAGE;
        memory.load(base, self.firmware)?;
        memory.load(base + kernel.offset, self.kernel)?;
        memory.load(files_start, self.initial_files)?;
        let tree = device_tree::write(hardware, self.command_line, files_start..files_start + files)?;
        let information = device_tree + TREE_BYTES - firmware::BYTES as u64;
        let room = TREE_BYTES / 2;
        if tree.len() as u64 > room {
            let bytes = tree.len() as u64;
            return Err(BootError::DeviceTreeSize { bytes, room });
        }
        memory.load(device_tree, &tree)?;
        memory.load(information, &firmware::dynamic_information(base + kernel.offset))?;
        Ok(Entry {
            pc: base,
            device_tree,
            information,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::tests::image;
    use rackwright_device::Map;
    use rackwright_time::Clock;

    fn hardware(bytes: u64) -> Hardware<'static> {
        Hardware {
            map: &Map::SERVER,
            harts: 2,
            memory_bytes: bytes,
            time_base: Clock::new(1_000_000).unwrap(),
            seed: 1,
            vector: false,
        }
    }

    fn software<'a>(kernel: &'a [u8], firmware: &'a [u8]) -> Software<'a> {
        Software {
            firmware,
            kernel,
            initial_files: b"files",
            command_line: "console=ttyS0",
        }
    }

    #[test]
    fn everything_lies_where_the_registers_say() {
        let bytes = 64 << 20;
        let base = Map::SERVER.memory;
        let mut memory = GuestMemory::new(base + bytes).unwrap();
        memory.allow_all();
        let kernel = image(0x20_0000, 0x1000);
        let entry = software(&kernel, b"firmware")
            .load(&mut memory, &hardware(bytes))
            .unwrap();
        let mut read = [0; 8];
        memory.read(entry.pc, &mut read).unwrap();
        assert_eq!(&read, b"firmware");
        memory.read(entry.device_tree, &mut read).unwrap();
        assert_eq!(read[..4], 0xd00d_feed_u32.to_be_bytes());
        memory.read(entry.information + 16, &mut read).unwrap();
        assert_eq!(u64::from_le_bytes(read), base + 0x20_0000);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut memory = GuestMemory::new(Map::SERVER.memory + (64 << 20)).unwrap();
        let kernel = image(0x20_0000, 0x1000);
        let small = software(&kernel, b"f").load(&mut memory, &hardware(16 << 20));
        assert!(matches!(small, Err(BootError::Memory { .. })));
        for firmware in [&[][..], &[0; 0x20_0001]] {
            let refused = software(&kernel, firmware).load(&mut memory, &hardware(64 << 20));
            assert!(matches!(refused, Err(BootError::Firmware { .. })));
        }
    }
}
