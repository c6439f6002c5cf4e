//! What a timing model needs to know of an instruction: its kind and its registers.

use super::compressed;

/// Register numbers: 0 to 31 are the integer registers, 32 to 63 the floating-point ones; 0 also stands for "none".
pub type Register = u8;

/// First floating-point register.
pub const FLOAT: Register = 32;

/// Precision of a floating-point operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// 32 bits.
    Single,
    /// 64 bits.
    Double,
}

/// Width of a memory access, as far as it changes a load's latency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// One or two bytes, which need alignment and extension.
    Narrow,
    /// Four or eight bytes.
    Wide,
}

/// Kinds of instructions that differ in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One-cycle integer operation.
    Integer,
    /// Integer multiplication; whether only 32 bits of operands matter, and whether the high half is asked for.
    Multiply {
        /// `mulw`.
        word: bool,
        /// `mulh`, `mulhu`, `mulhsu`.
        high: bool,
    },
    /// Integer division or remainder.
    Divide {
        /// `divw`, `remuw`, …
        word: bool,
        /// Whether operands are signed.
        signed: bool,
    },
    /// Load into an integer register.
    Load(Width),
    /// Load into a floating-point register.
    FloatLoad,
    /// Store, from either file.
    Store,
    /// Load-reserved.
    LoadReserved,
    /// Store-conditional.
    StoreConditional,
    /// Read-modify-write.
    Atomic,
    /// Addition, multiplication, multiply-add.
    FloatMultiplyAdd(Precision),
    /// Division or square root.
    FloatDivide(Precision),
    /// Moves, comparisons, conversions within the floating-point file or into it.
    FloatOther,
    /// Floating-point operation with an integer result.
    FloatToInteger,
    /// Conditional branch.
    Branch,
    /// Jump to a constant target; whether it links (a call).
    Jump {
        /// Writes a return address.
        call: bool,
    },
    /// Jump to a register's value.
    JumpRegister {
        /// Writes a return address.
        call: bool,
        /// Jumps to a return address.
        ret: bool,
    },
    /// Fence between memory accesses.
    Fence,
    /// Fence between stores and instruction fetches.
    FenceInstructions,
    /// Access of a control and status register; whether it writes.
    Csr {
        /// Changes the register.
        writes: bool,
    },
    /// Everything that leaves the normal flow: calls to the environment, returns from traps, commands to units.
    System,
}

/// An instruction as a timing model sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// What it is.
    pub kind: Kind,
    /// Register it writes, 0 for none.
    pub target: Register,
    /// Registers it reads, 0 for none.
    pub sources: [Register; 3],
    /// Whether it orders memory accesses (the `aq` or `rl` bit of an atomic).
    pub ordered: bool,
    /// Its length, 2 or 4.
    pub bytes: u8,
}

impl Operation {
    /// The operation of an instruction; only the low 16 bits of `raw` count when they are a compressed one.
    pub fn of(raw: u32) -> Operation {
        if raw & 3 == 3 {
            full(raw)
        } else {
            compressed::operation(raw as u16)
        }
    }

    pub(super) fn new(kind: Kind, target: Register, sources: [Register; 3]) -> Operation {
        Operation {
            kind,
            target,
            sources,
            ordered: false,
            bytes: 4,
        }
    }
}

/// Kind of a register jump, by the convention of the unprivileged specification: x1 and x5 hold return addresses.
pub(super) fn register_jump(target: Register, source: Register) -> Kind {
    let links = |register| register == 1 || register == 5;
    Kind::JumpRegister {
        call: links(target),
        ret: links(source) && !links(target),
    }
}

fn full(raw: u32) -> Operation {
    let field = |low: u32| (raw >> low & 31) as Register;
    let (rd, rs1, rs2, rs3) = (field(7), field(15), field(20), field(27));
    let funct3 = raw >> 12 & 7;
    let width = if funct3 & 3 < 2 { Width::Narrow } else { Width::Wide };
    match raw & 0x7f {
        0x03 => Operation::new(Kind::Load(width), rd, [rs1, 0, 0]),
        0x07 => Operation::new(Kind::FloatLoad, rd | FLOAT, [rs1, 0, 0]),
        0x0f if funct3 == 1 => Operation::new(Kind::FenceInstructions, 0, [0; 3]),
        0x0f => Operation::new(Kind::Fence, 0, [0; 3]),
        0x13 | 0x1b => Operation::new(Kind::Integer, rd, [rs1, 0, 0]),
        0x17 | 0x37 => Operation::new(Kind::Integer, rd, [0; 3]),
        0x23 => Operation::new(Kind::Store, 0, [rs1, rs2, 0]),
        0x27 => Operation::new(Kind::Store, 0, [rs1, rs2 | FLOAT, 0]),
        0x2f => atomic(raw, rd, rs1, rs2),
        0x33 | 0x3b => Operation::new(arithmetic(raw), rd, [rs1, rs2, 0]),
        0x43 | 0x47 | 0x4b | 0x4f => Operation::new(
            Kind::FloatMultiplyAdd(precision(raw)),
            rd | FLOAT,
            [rs1 | FLOAT, rs2 | FLOAT, rs3 | FLOAT],
        ),
        0x53 => float(raw, rd, rs1, rs2),
        0x63 => Operation::new(Kind::Branch, 0, [rs1, rs2, 0]),
        0x67 => Operation::new(register_jump(rd, rs1), rd, [rs1, 0, 0]),
        0x6f => Operation::new(Kind::Jump { call: rd == 1 || rd == 5 }, rd, [0; 3]),
        0x73 => system(raw, funct3, rd, rs1),
        _ => Operation::new(Kind::System, rd, [rs1, rs2, 0]),
    }
}

fn precision(raw: u32) -> Precision {
    if raw >> 25 & 1 == 1 {
        Precision::Double
    } else {
        Precision::Single
    }
}

fn arithmetic(raw: u32) -> Kind {
    let word = raw & 0x7f == 0x3b;
    let funct3 = raw >> 12 & 7;
    match (raw >> 25, funct3) {
        (1, 0..=3) => Kind::Multiply {
            word,
            high: funct3 != 0,
        },
        (1, _) => Kind::Divide {
            word,
            signed: funct3 & 1 == 0,
        },
        _ => Kind::Integer,
    }
}

fn atomic(raw: u32, rd: Register, rs1: Register, rs2: Register) -> Operation {
    let kind = match raw >> 27 {
        2 => Kind::LoadReserved,
        3 => Kind::StoreConditional,
        _ => Kind::Atomic,
    };
    Operation {
        ordered: raw >> 25 & 3 != 0,
        ..Operation::new(kind, rd, [rs1, rs2, 0])
    }
}

fn float(raw: u32, rd: Register, rs1: Register, rs2: Register) -> Operation {
    let pair = [rs1 | FLOAT, rs2 | FLOAT, 0];
    match raw >> 27 {
        0..=2 => Operation::new(Kind::FloatMultiplyAdd(precision(raw)), rd | FLOAT, pair),
        3 => Operation::new(Kind::FloatDivide(precision(raw)), rd | FLOAT, pair),
        0x0b => Operation::new(Kind::FloatDivide(precision(raw)), rd | FLOAT, [rs1 | FLOAT, 0, 0]),
        0x14 => Operation::new(Kind::FloatToInteger, rd, pair),
        0x18 | 0x1c => Operation::new(Kind::FloatToInteger, rd, [rs1 | FLOAT, 0, 0]),
        0x1a | 0x1e => Operation::new(Kind::FloatOther, rd | FLOAT, [rs1, 0, 0]),
        0x08 => Operation::new(Kind::FloatOther, rd | FLOAT, [rs1 | FLOAT, 0, 0]),
        _ => Operation::new(Kind::FloatOther, rd | FLOAT, pair),
    }
}

fn system(raw: u32, funct3: u32, rd: Register, rs1: Register) -> Operation {
    match funct3 {
        0 | 4 => Operation::new(Kind::System, 0, [0; 3]),
        1..=3 => Operation::new(
            Kind::Csr {
                writes: funct3 == 1 || raw >> 15 & 31 != 0,
            },
            rd,
            [rs1, 0, 0],
        ),
        _ => Operation::new(
            Kind::Csr {
                writes: funct3 == 5 || raw >> 15 & 31 != 0,
            },
            rd,
            [0; 3],
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_full_instructions() {
        let cases = [
            (0x0005_3703, Kind::Load(Width::Wide), 14, [10, 0, 0]),
            (0x0007_c703, Kind::Load(Width::Narrow), 14, [15, 0, 0]),
            (0x00e6_0023, Kind::Store, 0, [12, 14, 0]),
            (0xfed7_9be3, Kind::Branch, 0, [15, 13, 0]),
            (0x0000_8067, Kind::JumpRegister { call: false, ret: true }, 0, [1, 0, 0]),
            (0x02b5_0533, Kind::Multiply { word: false, high: false }, 10, [10, 11, 0]),
            (0x02b5_5533, Kind::Divide { word: false, signed: false }, 10, [10, 11, 0]),
            (0x02b5_7553, Kind::FloatMultiplyAdd(Precision::Double), 42, [42, 43, 0]),
            (0xe205_0553, Kind::FloatToInteger, 10, [42, 0, 0]),
            (0xf205_0553, Kind::FloatOther, 42, [10, 0, 0]),
            (0xb000_2573, Kind::Csr { writes: false }, 10, [0, 0, 0]),
            (0x0000_0073, Kind::System, 0, [0, 0, 0]),
        ];
        for (raw, kind, target, sources) in cases {
            let operation = Operation::of(raw);
            assert_eq!(operation.kind, kind, "{raw:08x}");
            assert_eq!((operation.target, operation.sources), (target, sources), "{raw:08x}");
        }
    }
}
