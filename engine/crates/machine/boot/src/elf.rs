use object::elf::{FileHeader64, EM_RISCV, ET_DYN, ET_EXEC, PF_R, PF_W, PF_X, PT_INTERP, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader};
use object::LittleEndian;
use rackwright_device::Map;
use rackwright_memory::{GuestFault, GuestMemory, Protection};

type Header = FileHeader64<LittleEndian>;

/// The load address of a position-independent program.
const BASE_OF_RELOCATABLE: u64 = 0x40_0000;

/// Why a file cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElfError {
    /// Not an ELF file, or truncated.
    #[error("not a 64-bit little-endian ELF file: {0}")]
    Malformed(String),
    /// For another machine.
    #[error("it is for another processor (machine {0}), not for RISC-V")]
    Machine(u16),
    /// A library or an object file.
    #[error("it is not a program (ELF type {0})")]
    Type(u16),
    /// Needs a dynamic loader.
    #[error("it is dynamically linked; link it with -static")]
    Dynamic,
    /// A segment lies outside memory.
    #[error("its segment at {address:#x} of {bytes} bytes does not fit into memory of {memory} bytes")]
    OutOfMemory {
        /// First address.
        address: u64,
        /// Its size.
        bytes: u64,
        /// Size of guest memory.
        memory: u64,
    },
}

/// Properties of a program in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// First instruction.
    pub entry: u64,
    /// First address after all segments.
    pub end: u64,
    /// Address of the program headers in memory, for the auxiliary vector.
    pub headers: u64,
    /// Number of program headers.
    pub header_count: u64,
    /// Bytes of a program header.
    pub header_size: u64,
}

/// The offset of a static program in memory from the addresses in its file.
///
/// # Errors
/// [`ElfError`] when it is none.
pub fn program_base(file: &[u8]) -> Result<u64, ElfError> {
    parse(file).map(base_of)
}

fn base_of(header: &Header) -> u64 {
    if header.e_type(LittleEndian) == ET_DYN {
        BASE_OF_RELOCATABLE
    } else {
        0
    }
}

/// Loads the segments of a static RISC-V program into memory, with their protection.
///
/// # Errors
/// [`ElfError`] when it is not a static RISC-V program or does not fit.
pub fn load_program(file: &[u8], memory: &mut GuestMemory) -> Result<Image, ElfError> {
    let header = parse(file)?;
    let endian = LittleEndian;
    let segments = header.program_headers(endian, file).map_err(malformed)?;
    if segments.iter().any(|segment| segment.p_type(endian) == PT_INTERP) {
        return Err(ElfError::Dynamic);
    }
    let base = base_of(header);
    let mut image = Image {
        entry: header.e_entry(endian).wrapping_add(base),
        end: 0,
        headers: 0,
        header_count: segments.len() as u64,
        header_size: u64::from(header.e_phentsize(endian)),
    };
    for segment in segments
        .iter()
        .filter(|segment| segment.p_type(endian) == PT_LOAD)
    {
        let bytes = segment
            .data(endian, file)
            .map_err(|()| ElfError::Malformed("a segment is cut short".into()))?;
        let address = segment.p_vaddr(endian).wrapping_add(base);
        let size = segment.p_memsz(endian).max(bytes.len() as u64);
        place(memory, address, size, bytes, protection(segment.p_flags(endian)))?;
        image.end = image.end.max(address + size);
        let header_offset = header.e_phoff(endian).wrapping_sub(segment.p_offset(endian));
        if header_offset < segment.p_filesz(endian) {
            image.headers = address + header_offset;
        }
    }
    Ok(image)
}

fn parse(file: &[u8]) -> Result<&Header, ElfError> {
    let header = Header::parse(file).map_err(malformed)?;
    let endian = header.endian().map_err(malformed)?;
    if header.e_machine(endian) != EM_RISCV {
        return Err(ElfError::Machine(header.e_machine(endian)));
    }
    match header.e_type(endian) {
        ET_EXEC | ET_DYN => Ok(header),
        other => Err(ElfError::Type(other)),
    }
}

fn place(
    memory: &mut GuestMemory,
    address: u64,
    size: u64,
    bytes: &[u8],
    protection: Protection,
) -> Result<(), ElfError> {
    let memory_end = memory.end();
    let outside = |_: GuestFault| ElfError::OutOfMemory {
        address,
        bytes: size,
        memory: memory_end,
    };
    memory.protect(address, size, protection).map_err(outside)?;
    memory.load(address, bytes).map_err(outside)
}

fn protection(flags: u32) -> Protection {
    [
        (PF_R, Protection::READ),
        (PF_W, Protection::WRITE),
        (PF_X, Protection::EXECUTE),
    ]
    .into_iter()
    .filter(|(flag, _)| flags & flag != 0)
    .fold(Protection::NONE, |all, (_, one)| all.with(one))
}

fn malformed(error: object::read::Error) -> ElfError {
    ElfError::Malformed(error.to_string())
}

/// A bare-metal program in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BareMetal {
    /// First instruction.
    pub entry: u64,
}

impl BareMetal {
    /// The address from which on bare-metal programs are linked, as in `software/bare-metal/link.ld`.
    pub const MEMORY_BASE: u64 = Map::BARE_METAL.memory;

    /// Whether a file is a bare-metal program: all of its segments lie in the memory of bare metal.
    ///
    /// # Errors
    /// [`ElfError`] when it is not a RISC-V program.
    pub fn recognises(file: &[u8]) -> Result<bool, ElfError> {
        let segments = parse(file)?
            .program_headers(LittleEndian, file)
            .map_err(malformed)?;
        let mut loaded = segments
            .iter()
            .filter(|segment| segment.p_type(LittleEndian) == PT_LOAD)
            .peekable();
        let has_any = loaded.peek().is_some();
        Ok(has_any && loaded.all(|segment| segment.p_vaddr(LittleEndian) >= Self::MEMORY_BASE))
    }

    /// Loads a bare-metal program into memory; its accesses to memory are not restricted.
    ///
    /// # Errors
    /// [`ElfError`] when it is not a static RISC-V program or does not fit.
    pub fn load(file: &[u8], memory: &mut GuestMemory) -> Result<BareMetal, ElfError> {
        Ok(BareMetal {
            entry: load_program(file, memory)?.entry,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_bytes(file: &[u8]) -> ElfError {
        load_program(file, &mut GuestMemory::new(1 << 20).unwrap()).unwrap_err()
    }

    #[test]
    fn what_is_no_program_for_this_machine_is_refused_with_its_reason() {
        assert!(matches!(load_bytes(b"#!/bin/sh\n"), ElfError::Malformed(_)));
        assert!(matches!(load_bytes(b""), ElfError::Malformed(_)));
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(matches!(load_bytes(&own), ElfError::Machine(_)));
        assert!(matches!(load_bytes(&own[..40]), ElfError::Malformed(_)));
    }

    #[test]
    fn a_segment_beyond_memory_is_refused_with_its_address() {
        let error = load_bytes(&program(0x4000_0000, 16));
        assert_eq!(
            error,
            ElfError::OutOfMemory {
                address: 0x4000_0000,
                bytes: 16,
                memory: 1 << 20
            }
        );
    }

    #[test]
    fn a_program_cut_short_is_refused() {
        let whole = program(0x1_0000, 16);
        assert!(matches!(
            load_bytes(&whole[..whole.len() - 1]),
            ElfError::Malformed(_)
        ));
    }

    #[test]
    fn bare_metal_is_told_by_its_addresses() {
        assert_eq!(
            BareMetal::recognises(&program(BareMetal::MEMORY_BASE, 4)),
            Ok(true)
        );
        assert_eq!(BareMetal::recognises(&program(0x1_0000, 4)), Ok(false));
    }

    /// An ELF file with one segment of `size` bytes at `address`.
    fn program(address: u64, size: u64) -> Vec<u8> {
        let mut file = b"\x7fELF\x02\x01\x01".to_vec();
        file.resize(16, 0);
        let mut number = |value: u64, bytes: usize| file.extend_from_slice(&value.to_le_bytes()[..bytes]);
        for (value, bytes) in [(2, 2), (243, 2), (1, 4), (address, 8), (64, 8), (0, 8), (0, 4)] {
            number(value, bytes);
        }
        for value in [64, 56, 1, 64, 0, 0] {
            number(value, 2);
        }
        for (value, bytes) in [
            (1, 4),
            (5, 4),
            (120, 8),
            (address, 8),
            (address, 8),
            (size, 8),
            (size, 8),
            (4, 8),
        ] {
            number(value, bytes);
        }
        file.resize(120 + size as usize, 0);
        file
    }
}
