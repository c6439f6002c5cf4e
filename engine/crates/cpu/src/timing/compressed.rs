//! The compressed instructions, for [`Operation::of`].

use super::operation::{register_jump, Kind, Operation, Register, Width, FLOAT};

const STACK: Register = 2;
const LINK: Register = 1;

/// The operation of a compressed instruction.
pub(super) fn operation(raw: u16) -> Operation {
    let operation = match raw & 3 {
        0 => memory(raw),
        1 => arithmetic(raw),
        _ => stack_and_jumps(raw),
    };
    Operation {
        bytes: 2,
        ..operation
    }
}

/// A three-bit register field, which names x8 to x15.
fn near(raw: u16, low: u32) -> Register {
    (raw >> low & 7) as Register + 8
}

fn wide(raw: u16, low: u32) -> Register {
    (raw >> low & 31) as Register
}

fn memory(raw: u16) -> Operation {
    let (data, base) = (near(raw, 2), near(raw, 7));
    let load = Kind::Load(Width::Wide);
    match raw >> 13 {
        0 => Operation::new(Kind::Integer, data, [STACK, 0, 0]),
        1 => Operation::new(Kind::FloatLoad, data | FLOAT, [base, 0, 0]),
        2 | 3 => Operation::new(load, data, [base, 0, 0]),
        5 => Operation::new(Kind::Store, 0, [base, data | FLOAT, 0]),
        6 | 7 => Operation::new(Kind::Store, 0, [base, data, 0]),
        _ => Operation::new(Kind::System, 0, [0; 3]),
    }
}

fn arithmetic(raw: u16) -> Operation {
    let (rd, near_rd) = (wide(raw, 7), near(raw, 7));
    match raw >> 13 {
        0 | 1 => Operation::new(Kind::Integer, rd, [rd, 0, 0]),
        2 => Operation::new(Kind::Integer, rd, [0; 3]),
        3 if rd == STACK => Operation::new(Kind::Integer, STACK, [STACK, 0, 0]),
        3 => Operation::new(Kind::Integer, rd, [0; 3]),
        4 if raw >> 10 & 3 == 3 => Operation::new(Kind::Integer, near_rd, [near_rd, near(raw, 2), 0]),
        4 => Operation::new(Kind::Integer, near_rd, [near_rd, 0, 0]),
        5 => Operation::new(Kind::Jump { call: false }, 0, [0; 3]),
        _ => Operation::new(Kind::Branch, 0, [near_rd, 0, 0]),
    }
}

fn stack_and_jumps(raw: u16) -> Operation {
    let (rd, rs2) = (wide(raw, 7), wide(raw, 2));
    match raw >> 13 {
        0 => Operation::new(Kind::Integer, rd, [rd, 0, 0]),
        1 => Operation::new(Kind::FloatLoad, rd | FLOAT, [STACK, 0, 0]),
        2 | 3 => Operation::new(Kind::Load(Width::Wide), rd, [STACK, 0, 0]),
        4 => moves_and_jumps(raw, rd, rs2),
        5 => Operation::new(Kind::Store, 0, [STACK, rs2 | FLOAT, 0]),
        _ => Operation::new(Kind::Store, 0, [STACK, rs2, 0]),
    }
}

fn moves_and_jumps(raw: u16, rd: Register, rs2: Register) -> Operation {
    let links = raw >> 12 & 1 == 1;
    match (links, rd, rs2) {
        (true, 0, 0) => Operation::new(Kind::System, 0, [0; 3]),
        (true, _, 0) => Operation::new(register_jump(LINK, rd), LINK, [rd, 0, 0]),
        (false, _, 0) => Operation::new(register_jump(0, rd), 0, [rd, 0, 0]),
        (true, _, _) => Operation::new(Kind::Integer, rd, [rd, rs2, 0]),
        (false, _, _) => Operation::new(Kind::Integer, rd, [rs2, 0, 0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_compressed_instructions() {
        let cases = [
            (0x4501, Kind::Integer, 10, [0, 0, 0]),
            (0x0785, Kind::Integer, 15, [15, 0, 0]),
            (0xa029, Kind::Jump { call: false }, 0, [0, 0, 0]),
            (0xfb75, Kind::Branch, 0, [14, 0, 0]),
            (0x8082, Kind::JumpRegister { call: false, ret: true }, 0, [1, 0, 0]),
            (0x9782, Kind::JumpRegister { call: true, ret: false }, 1, [15, 0, 0]),
            (0x6108, Kind::Load(Width::Wide), 10, [10, 0, 0]),
            (0xe42a, Kind::Store, 0, [2, 10, 0]),
            (0x953e, Kind::Integer, 10, [10, 15, 0]),
            (0x853e, Kind::Integer, 10, [15, 0, 0]),
            (0x8d1d, Kind::Integer, 10, [10, 15, 0]),
            (0x2108, Kind::FloatLoad, 42, [10, 0, 0]),
        ];
        for (raw, kind, target, sources) in cases {
            let operation = operation(raw);
            assert_eq!(operation.kind, kind, "{raw:04x}");
            assert_eq!((operation.target, operation.sources), (target, sources), "{raw:04x}");
            assert_eq!(operation.bytes, 2);
        }
    }
}
