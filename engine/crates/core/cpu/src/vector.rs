//! The vector extension (RISC-V "V" vector extension, version 1.0) with registers of 128 bits and elements of up to 64.
//!
//! Tails and masked-off elements are left undisturbed, for any policy, as the specification always allows. Every
//! instruction works element by element; [`memory`] moves consecutive bytes at once. Reserved encodings are illegal,
//! except for overlapping sources of different widths, which are computed as if each were read in full.

mod carry;
mod compare;
mod configure;
mod control;
mod element;
mod execute;
mod fixed;
mod float;
mod float_convert;
mod float_estimate;
mod float_widen;
mod fused;
mod group;
mod integer;
mod mask;
mod memory;
mod moves;
mod multiply;
mod narrow;
mod operand;
mod permute;
mod reduce;
mod unit;
mod widen;
mod word;

pub(crate) use configure::{set, Length};
pub(crate) use execute::execute;
pub(crate) use memory::{access, Lines};
pub(crate) use unit::Vector;
pub use unit::VectorRegisters;
pub(crate) use word::Word;

/// Bytes of a vector register.
pub(crate) const REGISTER_BYTES: usize = 16;
/// Most elements that an instruction works on: bytes in a group of eight registers.
pub(crate) const MOST_ELEMENTS: usize = 8 * REGISTER_BYTES;

/// Most lines that an access touches: two with each element that is not aligned.
pub(crate) const LINES_OF_ACCESS: usize = 2 * MOST_ELEMENTS;

/// The instruction is reserved, or not for the type that is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Illegal;

/// Whether an instruction could be executed.
pub(crate) type Done = Result<(), Illegal>;

/// [`Illegal`] unless `legal`.
pub(crate) fn require(legal: bool) -> Done {
    if legal {
        Ok(())
    } else {
        Err(Illegal)
    }
}
