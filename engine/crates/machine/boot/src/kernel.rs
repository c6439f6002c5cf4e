use crate::error::BootError;

/// The header of a kernel image (Linux, Documentation/arch/riscv/boot-image-header.rst).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kernel {
    /// Its load address, relative to the start of memory.
    pub(crate) offset: u64,
    /// Bytes that it takes in memory, with data that starts as zeros.
    pub(crate) bytes: u64,
}

const OFFSET: usize = 0x08;
const SIZE: usize = 0x10;
const MAGIC: usize = 0x38;

impl Kernel {
    pub(crate) fn parse(file: &[u8]) -> Result<Kernel, BootError> {
        if file.get(MAGIC..MAGIC + 4) != Some(b"RSC\x05") {
            return Err(BootError::NotKernel);
        }
        let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().expect("eight bytes"));
        let kernel = Kernel {
            offset: word(OFFSET),
            bytes: word(SIZE),
        };
        let bytes = file.len() as u64;
        let sensible = kernel.offset % 0x1000 == 0 && (0x1000..1 << 30).contains(&kernel.offset);
        if !sensible || kernel.bytes < bytes || kernel.bytes >= 1 << 32 {
            return Err(BootError::DamagedKernel { bytes });
        }
        Ok(kernel)
    }
}

/// The load address of an uncompressed Linux image, in bytes from the start of memory.
///
/// # Errors
/// [`BootError`] when it is none.
pub fn kernel_offset(file: &[u8]) -> Result<u64, BootError> {
    Kernel::parse(file).map(|kernel| kernel.offset)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn image(offset: u64, bytes: u64) -> Vec<u8> {
        let mut file = vec![0; 0x100];
        file[OFFSET..OFFSET + 8].copy_from_slice(&offset.to_le_bytes());
        file[SIZE..SIZE + 8].copy_from_slice(&bytes.to_le_bytes());
        file[MAGIC..MAGIC + 4].copy_from_slice(b"RSC\x05");
        file
    }

    #[test]
    fn the_header_tells_place_and_size() {
        let kernel = Kernel::parse(&image(0x20_0000, 0x3000)).unwrap();
        assert_eq!((kernel.offset, kernel.bytes), (0x20_0000, 0x3000));
    }

    #[test]
    fn what_is_no_kernel_is_refused() {
        assert!(matches!(Kernel::parse(b"\x1f\x8b"), Err(BootError::NotKernel)));
        assert!(matches!(Kernel::parse(&[0; 100]), Err(BootError::NotKernel)));
        for (offset, bytes) in [(0x20_0000, 3), (7, 0x1000), (0, 0x1000), (0x20_0000, u64::MAX)] {
            let damaged = Kernel::parse(&image(offset, bytes));
            assert!(
                matches!(damaged, Err(BootError::DamagedKernel { bytes: 0x100 })),
                "{offset:#x} {bytes:#x}"
            );
        }
    }
}
