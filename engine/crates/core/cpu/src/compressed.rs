//! Expansion of compressed instructions to full ones (unprivileged manual 20191213, chapter 16).

const ZERO: u32 = 0;
const RA: u32 = 1;
const SP: u32 = 2;

/// The full instruction for `half`; `None` if it is illegal or reserved.
pub(crate) fn expand(half: u16) -> Option<u32> {
    let half = u32::from(half);
    match (half & 3, half >> 13) {
        (0, 0) => stack_address(half),
        (0, 1) => Some(load(0x07, 3, double_offset(half), base(half), low(half))),
        (0, 2) => Some(load(0x03, 2, word_offset(half), base(half), low(half))),
        (0, 3) => Some(load(0x03, 3, double_offset(half), base(half), low(half))),
        (0, 5) => Some(store(0x27, 3, double_offset(half), base(half), low(half))),
        (0, 6) => Some(store(0x23, 2, word_offset(half), base(half), low(half))),
        (0, 7) => Some(store(0x23, 3, double_offset(half), base(half), low(half))),
        (1, 0) => Some(immediate(0x13, 0, high(half), high(half), constant(half))),
        (1, 1) if high(half) != 0 => Some(immediate(0x1b, 0, high(half), high(half), constant(half))),
        (1, 2) => Some(immediate(0x13, 0, high(half), ZERO, constant(half))),
        (1, 3) => add_to_stack_or_load_upper(half),
        (1, 4) => arithmetic(half),
        (1, 5) => Some(jump(ZERO, half)),
        (1, 6) => Some(branch(0, half)),
        (1, 7) => Some(branch(1, half)),
        (2, 0) => Some(immediate(0x13, 1, high(half), high(half), shift(half))),
        (2, 1) => Some(load(0x07, 3, stack_double(half), SP, high(half))),
        (2, 2) if high(half) != 0 => Some(load(0x03, 2, stack_word(half), SP, high(half))),
        (2, 3) if high(half) != 0 => Some(load(0x03, 3, stack_double(half), SP, high(half))),
        (2, 4) => jump_or_move(half),
        (2, 5) => Some(store(0x27, 3, stack_double_store(half), SP, second(half))),
        (2, 6) => Some(store(0x23, 2, stack_word_store(half), SP, second(half))),
        (2, 7) => Some(store(0x23, 3, stack_double_store(half), SP, second(half))),
        _ => None,
    }
}

/// Bits `from` down to `to` of `half`, moved to bit `place`.
const fn field(half: u32, from: u32, to: u32, place: u32) -> u32 {
    (half >> to & ((1 << (from - to + 1)) - 1)) << place
}

fn high(half: u32) -> u32 {
    field(half, 11, 7, 0)
}

fn second(half: u32) -> u32 {
    field(half, 6, 2, 0)
}

fn base(half: u32) -> u32 {
    8 + field(half, 9, 7, 0)
}

fn low(half: u32) -> u32 {
    8 + field(half, 4, 2, 0)
}

fn word_offset(half: u32) -> u32 {
    field(half, 12, 10, 3) | field(half, 6, 6, 2) | field(half, 5, 5, 6)
}

fn double_offset(half: u32) -> u32 {
    field(half, 12, 10, 3) | field(half, 6, 5, 6)
}

fn stack_word(half: u32) -> u32 {
    field(half, 12, 12, 5) | field(half, 6, 4, 2) | field(half, 3, 2, 6)
}

fn stack_double(half: u32) -> u32 {
    field(half, 12, 12, 5) | field(half, 6, 5, 3) | field(half, 4, 2, 6)
}

fn stack_word_store(half: u32) -> u32 {
    field(half, 12, 9, 2) | field(half, 8, 7, 6)
}

fn stack_double_store(half: u32) -> u32 {
    field(half, 12, 10, 3) | field(half, 9, 7, 6)
}

fn shift(half: u32) -> u32 {
    field(half, 12, 12, 5) | field(half, 6, 2, 0)
}

/// The sign-extended constant, in the low twelve bits and above.
fn constant(half: u32) -> u32 {
    sign_extend(shift(half), 6)
}

fn sign_extend(value: u32, bits: u32) -> u32 {
    ((value << (32 - bits)) as i32 >> (32 - bits)) as u32
}

fn immediate(opcode: u32, funct3: u32, rd: u32, rs1: u32, value: u32) -> u32 {
    (value & 0xfff) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

fn load(opcode: u32, funct3: u32, offset: u32, rs1: u32, rd: u32) -> u32 {
    immediate(opcode, funct3, rd, rs1, offset)
}

fn store(opcode: u32, funct3: u32, offset: u32, rs1: u32, rs2: u32) -> u32 {
    (offset >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (offset & 31) << 7 | opcode
}

fn register(opcode: u32, funct7: u32, funct3: u32, rd: u32, rs2: u32) -> u32 {
    funct7 << 25 | rs2 << 20 | rd << 15 | funct3 << 12 | rd << 7 | opcode
}

fn stack_address(half: u32) -> Option<u32> {
    let offset = field(half, 12, 11, 4) | field(half, 10, 7, 6) | field(half, 6, 6, 2) | field(half, 5, 5, 3);
    (offset != 0).then(|| immediate(0x13, 0, low(half), SP, offset))
}

fn add_to_stack_or_load_upper(half: u32) -> Option<u32> {
    if high(half) == SP {
        let offset = field(half, 12, 12, 9)
            | field(half, 6, 6, 4)
            | field(half, 5, 5, 6)
            | field(half, 4, 3, 7)
            | field(half, 2, 2, 5);
        return (offset != 0).then(|| immediate(0x13, 0, SP, SP, sign_extend(offset, 10)));
    }
    let upper = constant(half);
    (upper != 0).then(|| upper << 12 | high(half) << 7 | 0x37)
}

fn arithmetic(half: u32) -> Option<u32> {
    let rd = base(half);
    let word = match (
        field(half, 11, 10, 0),
        field(half, 12, 12, 0),
        field(half, 6, 5, 0),
    ) {
        (0, ..) => immediate(0x13, 5, rd, rd, shift(half)),
        (1, ..) => immediate(0x13, 5, rd, rd, shift(half) | 0x400),
        (2, ..) => immediate(0x13, 7, rd, rd, constant(half)),
        (_, 0, 0) => register(0x33, 0x20, 0, rd, low(half)),
        (_, 0, 1) => register(0x33, 0, 4, rd, low(half)),
        (_, 0, 2) => register(0x33, 0, 6, rd, low(half)),
        (_, 0, _) => register(0x33, 0, 7, rd, low(half)),
        (_, _, 0) => register(0x3b, 0x20, 0, rd, low(half)),
        (_, _, 1) => register(0x3b, 0, 0, rd, low(half)),
        _ => return None,
    };
    Some(word)
}

fn jump(rd: u32, half: u32) -> u32 {
    let offset = field(half, 12, 12, 11)
        | field(half, 11, 11, 4)
        | field(half, 10, 9, 8)
        | field(half, 8, 8, 10)
        | field(half, 7, 7, 6)
        | field(half, 6, 6, 7)
        | field(half, 5, 3, 1)
        | field(half, 2, 2, 5);
    let offset = sign_extend(offset, 12);
    let encoded = field(offset, 20, 20, 31)
        | field(offset, 10, 1, 21)
        | field(offset, 11, 11, 20)
        | field(offset, 19, 12, 12);
    encoded | rd << 7 | 0x6f
}

fn branch(funct3: u32, half: u32) -> u32 {
    let offset = field(half, 12, 12, 8)
        | field(half, 11, 10, 3)
        | field(half, 6, 5, 6)
        | field(half, 4, 3, 1)
        | field(half, 2, 2, 5);
    let offset = sign_extend(offset, 9);
    let encoded = field(offset, 12, 12, 31)
        | field(offset, 10, 5, 25)
        | field(offset, 4, 1, 8)
        | field(offset, 11, 11, 7);
    encoded | base(half) << 15 | funct3 << 12 | 0x63
}

fn jump_or_move(half: u32) -> Option<u32> {
    let (rd, rs2) = (high(half), second(half));
    match (half >> 12 & 1, rd, rs2) {
        (0, 0, 0) => None,
        (0, _, 0) => Some(immediate(0x67, 0, ZERO, rd, 0)),
        (0, ..) => Some(rs2 << 20 | rd << 7 | 0x33),
        (_, 0, 0) => Some(0x0010_0073),
        (_, _, 0) => Some(immediate(0x67, 0, RA, rd, 0)),
        _ => Some(register(0x33, 0, 0, rd, rs2)),
    }
}
