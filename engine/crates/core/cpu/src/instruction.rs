use crate::operation::{Class, File, Operation};
use rackwright_state::{Pass, State, StateError};

/// An architectural register as a timing model sees it: integer registers are 0 to 31,
/// floating-point registers 32 to 63. `x0` and absent operands are [`Register::NONE`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Register(pub u8);

impl Register {
    /// No register: it has no dependency and is not written.
    pub const NONE: Register = Register(64);
    /// Number of values in a table indexed by [`Register::index`], including [`Register::NONE`].
    pub const COUNT: usize = 65;

    /// The place of this register in a table.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    fn of(file: File, number: u8) -> Register {
        match file {
            File::Integer if number != 0 => Register(number),
            File::Float => Register(number + 32),
            _ => Register::NONE,
        }
    }
}

/// One decoded instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// Which instruction it is.
    pub operation: Operation,
    /// Number of the destination register in its file.
    pub rd: u8,
    /// Number of the first source register, or the constant of an immediate control access.
    pub rs1: u8,
    /// Number of the second source register.
    pub rs2: u8,
    /// Number of the third source register.
    pub rs3: u8,
    /// Rounding mode of a floating-point instruction, 0 to 7; for a fence or an atomic, 0.
    pub rounding: u8,
    /// Bytes of the instruction: 2 or 4.
    pub length: u8,
    /// The immediate, sign-extended: offset, constant, shift amount or control register.
    pub immediate: i32,
    /// The instruction word; of a compressed instruction, its lower half.
    pub word: u32,
}

impl Instruction {
    /// The class of this instruction.
    pub fn class(&self) -> Class {
        self.operation.class()
    }

    /// The register written, if any.
    pub fn destination(&self) -> Register {
        if self.operation == Operation::Custom && self.word & (1 << 14) == 0 {
            return Register::NONE;
        }
        Register::of(self.operation.destination_file(), self.rd)
    }

    /// The registers read.
    pub fn sources(&self) -> [Register; 3] {
        let [first, second, third] = self.operation.source_files();
        [
            Register::of(first, self.rs1),
            Register::of(second, self.rs2),
            Register::of(third, self.rs3),
        ]
    }

    /// A jump that leaves a return address in `ra` or `t0`, as calls do.
    pub fn is_call(&self) -> bool {
        matches!(self.operation, Operation::Jal | Operation::Jalr) && matches!(self.rd, 1 | 5)
    }

    /// A jump to the address in `ra` or `t0`, as returns do.
    pub fn is_return(&self) -> bool {
        self.operation == Operation::Jalr && matches!(self.rs1, 1 | 5) && self.rd != self.rs1
    }
}

impl State for Register {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.0.pass(by)
    }
}
