use object::read::elf::ElfFile64;
use object::Endianness;

/// An ELF file of 64 bits.
pub(crate) type Elf<'data> = ElfFile64<'data, Endianness>;
