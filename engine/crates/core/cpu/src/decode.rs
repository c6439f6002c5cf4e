//! From instruction words to [`Instruction`]s (unprivileged manual 20191213, chapter 24).

use crate::compressed;
use crate::instruction::Instruction;
use crate::operation::Operation::{self, *};

/// Decodes the instruction at the start of `bits`: 32 bits of the instruction stream, of which a compressed instruction
/// uses the lower half. Unknown instructions are [`Operation::Illegal`].
pub fn decode(bits: u32) -> Instruction {
    if bits & 3 == 3 {
        full(bits)
    } else {
        let half = bits & 0xffff;
        let expanded = compressed::expand(half as u16).map_or_else(|| plain(half, Illegal), full);
        Instruction {
            length: 2,
            word: half,
            ..expanded
        }
    }
}

fn plain(word: u32, operation: Operation) -> Instruction {
    Instruction {
        operation,
        rd: (word >> 7 & 31) as u8,
        rs1: (word >> 15 & 31) as u8,
        rs2: (word >> 20 & 31) as u8,
        rs3: (word >> 27) as u8,
        rounding: 0,
        length: 4,
        immediate: 0,
        word,
    }
}

fn full(word: u32) -> Instruction {
    let (operation, immediate) = match word >> 2 & 31 {
        0b00000 => (
            pick([Lb, Lh, Lw, Ld, Lbu, Lhu, Lwu, Illegal], word),
            immediate_i(word),
        ),
        0b00001 if is_vector_access(word) => (vector_access(word, [VectorLoad, VectorLoadStrided]), 0),
        0b00001 => (float_load(word), immediate_i(word)),
        0b00011 => (fence(word), 0),
        0b00100 => integer_immediate(word),
        0b00101 => (Auipc, (word & 0xffff_f000) as i32),
        0b00110 => integer_immediate_word(word),
        0b01000 => (store(word), immediate_s(word)),
        0b01001 if is_vector_access(word) => (vector_access(word, [VectorStore, VectorStoreStrided]), 0),
        0b01001 => (float_store(word), immediate_s(word)),
        0b01011 => (atomic(word), 0),
        0b01100 => (integer(word), 0),
        0b01101 => (Lui, (word & 0xffff_f000) as i32),
        0b01110 => (integer_word(word), 0),
        0b10000..=0b10011 => (fused(word), 0),
        0b10100 => (float(word), 0),
        0b10101 => (vector(word), 0),
        0b11000 => (
            pick([Beq, Bne, Illegal, Illegal, Blt, Bge, Bltu, Bgeu], word),
            immediate_b(word),
        ),
        0b11001 if funct3(word) == 0 => (Jalr, immediate_i(word)),
        0b11011 => (Jal, immediate_j(word)),
        0b11100 => system(word),
        0b00010 | 0b01010 | 0b10110 | 0b11110 => (Custom, 0),
        _ => (Illegal, 0),
    };
    let rounding = match word >> 2 & 31 {
        0b10000..=0b10100 => funct3(word) as u8,
        _ => 0,
    };
    Instruction {
        immediate,
        rounding,
        ..plain(word, operation)
    }
}

fn funct3(word: u32) -> usize {
    (word >> 12 & 7) as usize
}

fn pick(choices: [Operation; 8], word: u32) -> Operation {
    choices[funct3(word)]
}

fn immediate_i(word: u32) -> i32 {
    word as i32 >> 20
}

fn immediate_s(word: u32) -> i32 {
    (word as i32 >> 25 << 5) | (word >> 7 & 31) as i32
}

fn immediate_b(word: u32) -> i32 {
    let low = (word >> 8 & 15) << 1 | (word >> 25 & 63) << 5 | (word >> 7 & 1) << 11;
    (word as i32 >> 31 << 12) | low as i32
}

fn immediate_j(word: u32) -> i32 {
    let low = (word >> 21 & 0x3ff) << 1 | (word >> 20 & 1) << 11 | (word & 0xf_f000);
    (word as i32 >> 31 << 20) | low as i32
}

fn float_load(word: u32) -> Operation {
    pick(
        [Illegal, Illegal, Flw, Fld, Illegal, Illegal, Illegal, Illegal],
        word,
    )
}

fn store(word: u32) -> Operation {
    pick([Sb, Sh, Sw, Sd, Illegal, Illegal, Illegal, Illegal], word)
}

fn float_store(word: u32) -> Operation {
    pick(
        [Illegal, Illegal, Fsw, Fsd, Illegal, Illegal, Illegal, Illegal],
        word,
    )
}

/// Whether the width of a floating-point load or store is a width of vectors.
fn is_vector_access(word: u32) -> bool {
    matches!(funct3(word), 0 | 5..=7)
}

fn vector_access(word: u32, [usual, strided]: [Operation; 2]) -> Operation {
    if word >> 26 & 3 == 2 {
        strided
    } else {
        usual
    }
}

fn vector(word: u32) -> Operation {
    // Instructions that move the only element of a vector to other registers.
    let leaves = word >> 26 == 0b01_0000;
    match funct3(word) {
        0 | 3 => Vector,
        1 if leaves => VectorToFloat,
        1 => VectorFloat,
        2 if leaves => VectorToInteger,
        2 => Vector,
        4 | 6 => VectorScalar,
        5 => VectorFloatScalar,
        _ => match word >> 25 {
            0..=0b011_1111 => Vsetvli,
            0b110_0000.. => Vsetivli,
            0b100_0000 => Vsetvl,
            _ => Illegal,
        },
    }
}

fn fence(word: u32) -> Operation {
    pick(
        [
            Fence, FenceI, Illegal, Illegal, Illegal, Illegal, Illegal, Illegal,
        ],
        word,
    )
}

fn integer_immediate(word: u32) -> (Operation, i32) {
    let immediate = immediate_i(word);
    let shift = immediate & 63;
    match (funct3(word), word >> 26) {
        (1, 0) => (Slli, shift),
        (5, 0) => (Srli, shift),
        (5, 0b01_0000) => (Srai, shift),
        (1 | 5, _) => (Illegal, 0),
        (6, _) if word >> 7 & 31 == 0 => or_to_nowhere(word),
        _ => (
            pick([Addi, Illegal, Slti, Sltiu, Xori, Illegal, Ori, Andi], word),
            immediate,
        ),
    }
}

/// Hints: the lower bits of the immediate select the hint (cache-management operations 1.0.1, section 2.6).
fn or_to_nowhere(word: u32) -> (Operation, i32) {
    let offset = immediate_i(word) & !31;
    match word >> 20 & 31 {
        0 => (PrefetchI, offset),
        1 => (PrefetchR, offset),
        3 => (PrefetchW, offset),
        _ => (Ori, immediate_i(word)),
    }
}

fn integer_immediate_word(word: u32) -> (Operation, i32) {
    let immediate = immediate_i(word);
    match (funct3(word), word >> 25) {
        (0, _) => (Addiw, immediate),
        (1, 0) => (Slliw, immediate & 31),
        (5, 0) => (Srliw, immediate & 31),
        (5, 0b010_0000) => (Sraiw, immediate & 31),
        _ => (Illegal, 0),
    }
}

fn integer(word: u32) -> Operation {
    match (word >> 25, funct3(word)) {
        (0, _) => pick([Add, Sll, Slt, Sltu, Xor, Srl, Or, And], word),
        (1, _) => pick([Mul, Mulh, Mulhsu, Mulhu, Div, Divu, Rem, Remu], word),
        (0b010_0000, 0) => Sub,
        (0b010_0000, 5) => Sra,
        _ => Illegal,
    }
}

fn integer_word(word: u32) -> Operation {
    match (word >> 25, funct3(word)) {
        (0, 0) => Addw,
        (0, 1) => Sllw,
        (0, 5) => Srlw,
        (0b010_0000, 0) => Subw,
        (0b010_0000, 5) => Sraw,
        (1, 0) => Mulw,
        (1, 4) => Divw,
        (1, 5) => Divuw,
        (1, 6) => Remw,
        (1, 7) => Remuw,
        _ => Illegal,
    }
}

fn atomic(word: u32) -> Operation {
    let (narrow, wide) = match (word >> 27, word >> 20 & 31) {
        (0b00010, 0) => (LrW, LrD),
        (0b00011, _) => (ScW, ScD),
        (0b00001, _) => (AmoswapW, AmoswapD),
        (0b00000, _) => (AmoaddW, AmoaddD),
        (0b00100, _) => (AmoxorW, AmoxorD),
        (0b01100, _) => (AmoandW, AmoandD),
        (0b01000, _) => (AmoorW, AmoorD),
        (0b10000, _) => (AmominW, AmominD),
        (0b10100, _) => (AmomaxW, AmomaxD),
        (0b11000, _) => (AmominuW, AmominuD),
        (0b11100, _) => (AmomaxuW, AmomaxuD),
        _ => (Illegal, Illegal),
    };
    match funct3(word) {
        2 => narrow,
        3 => wide,
        _ => Illegal,
    }
}

fn fused(word: u32) -> Operation {
    let choices = match word >> 25 & 3 {
        0 => [FmaddS, FmsubS, FnmsubS, FnmaddS],
        1 => [FmaddD, FmsubD, FnmsubD, FnmaddD],
        _ => return Illegal,
    };
    choices[(word >> 2 & 3) as usize]
}

fn float(word: u32) -> Operation {
    let (single, double) = match (word >> 27, funct3(word), word >> 20 & 31) {
        (0b00000, ..) => (FaddS, FaddD),
        (0b00001, ..) => (FsubS, FsubD),
        (0b00010, ..) => (FmulS, FmulD),
        (0b00011, ..) => (FdivS, FdivD),
        (0b01011, _, 0) => (FsqrtS, FsqrtD),
        (0b00100, 0, _) => (FsgnjS, FsgnjD),
        (0b00100, 1, _) => (FsgnjnS, FsgnjnD),
        (0b00100, 2, _) => (FsgnjxS, FsgnjxD),
        (0b00101, 0, _) => (FminS, FminD),
        (0b00101, 1, _) => (FmaxS, FmaxD),
        (0b01000, _, 1) => (FcvtSD, Illegal),
        (0b01000, _, 0) => (Illegal, FcvtDS),
        (0b10100, 0, _) => (FleS, FleD),
        (0b10100, 1, _) => (FltS, FltD),
        (0b10100, 2, _) => (FeqS, FeqD),
        (0b11000, _, 0) => (FcvtWS, FcvtWD),
        (0b11000, _, 1) => (FcvtWuS, FcvtWuD),
        (0b11000, _, 2) => (FcvtLS, FcvtLD),
        (0b11000, _, 3) => (FcvtLuS, FcvtLuD),
        (0b11010, _, 0) => (FcvtSW, FcvtDW),
        (0b11010, _, 1) => (FcvtSWu, FcvtDWu),
        (0b11010, _, 2) => (FcvtSL, FcvtDL),
        (0b11010, _, 3) => (FcvtSLu, FcvtDLu),
        (0b11100, 0, 0) => (FmvXW, FmvXD),
        (0b11100, 1, 0) => (FclassS, FclassD),
        (0b11110, 0, 0) => (FmvWX, FmvDX),
        _ => (Illegal, Illegal),
    };
    match word >> 25 & 3 {
        0 => single,
        1 => double,
        _ => Illegal,
    }
}

fn system(word: u32) -> (Operation, i32) {
    if funct3(word) != 0 {
        let operation = pick(
            [Illegal, Csrrw, Csrrs, Csrrc, Illegal, Csrrwi, Csrrsi, Csrrci],
            word,
        );
        return (operation, (word >> 20) as i32);
    }
    let operation = match word {
        0x0000_0073 => Ecall,
        0x0010_0073 => Ebreak,
        0x1020_0073 => Sret,
        0x3020_0073 => Mret,
        0x1050_0073 => Wfi,
        0x1800_0073 => SfenceWInval,
        0x1810_0073 => SfenceInvalIr,
        _ if word >> 25 == 0b000_1001 && word >> 7 & 31 == 0 => SfenceVma,
        _ if word >> 25 == 0b000_1011 && word >> 7 & 31 == 0 => SinvalVma,
        _ => Illegal,
    };
    (operation, 0)
}
