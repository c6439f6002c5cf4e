//! The fields of a vector instruction.

/// An instruction word of one of the vector opcodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word(pub(crate) u32);

impl Word {
    const fn field(self, from: u32, bits: u32) -> u32 {
        self.0 >> from & ((1 << bits) - 1)
    }

    /// The destination, and the data of a store.
    pub(crate) const fn vd(self) -> u8 {
        self.field(7, 5) as u8
    }

    /// The second source: a vector, a register with an address or a scalar, or an immediate.
    pub(crate) const fn vs1(self) -> u8 {
        self.field(15, 5) as u8
    }

    /// The first source, the indices of an indexed access, or the register with the stride.
    pub(crate) const fn vs2(self) -> u8 {
        self.field(20, 5) as u8
    }

    /// Whether only elements whose bit in `v0` is set are worked on.
    pub(crate) const fn masked(self) -> bool {
        self.field(25, 1) == 0
    }

    /// Which instruction of its kind it is.
    pub(crate) const fn funct6(self) -> u32 {
        self.field(26, 6)
    }

    /// Which kinds of operands there are, or the width of a memory access.
    pub(crate) const fn funct3(self) -> u32 {
        self.field(12, 3)
    }

    /// The addressing mode of a memory access.
    pub(crate) const fn addressing(self) -> u32 {
        self.field(26, 2)
    }

    /// Of a memory access: fields of a segment, less one.
    pub(crate) const fn fields(self) -> u32 {
        self.field(29, 3)
    }

    /// Of a memory access: reserved for wide elements.
    pub(crate) const fn wide(self) -> bool {
        self.field(28, 1) != 0
    }

    /// The immediate of five bits, sign-extended.
    pub(crate) const fn immediate(self) -> u64 {
        ((self.0 << 12) as i32 >> 27) as u64
    }
}
