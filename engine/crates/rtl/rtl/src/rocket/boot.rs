//! The code with which the boot ROM of the cores continues.

/// Bytes of the code: a line, which the cores fetch at once.
pub const BOOT_BYTES: usize = 64;

const AUIPC_T0: u32 = 0x0000_0297;
const JR_T0: u32 = 0x0002_8067;
const NOP: u32 = 0x0000_0013;
/// Register `a0`, with the number of the hart.
const A0: u32 = 10;
const ZERO: u32 = 0;
const T0: u32 = 5;
const T1: u32 = 6;

/// All cores continue at `entry`, with their numbers still in `a0`.
pub(super) fn together(entry: u64) -> [u8; BOOT_BYTES] {
    line(&[AUIPC_T0, load(T0, T0, 16), JR_T0, NOP], entry, 16)
}

/// The first `harts` cores continue at `entry`, with their numbers still in `a0`: the first at once, the others when
/// their software interrupt is raised. The cores after the harts wait for ever.
pub(super) fn in_turn(entry: u64, harts: usize) -> [u8; BOOT_BYTES] {
    line(&several(harts), entry, BOOT_BYTES - 8)
}

/// A line with code, and with the entry at the offset `at`.
fn line(words: &[u32], entry: u64, at: usize) -> [u8; BOOT_BYTES] {
    let mut code = [0; BOOT_BYTES];
    for (place, word) in code.chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    code[at..][..8].copy_from_slice(&entry.to_le_bytes());
    code
}

/// The code of several cores, with the entry at the end of the line.
fn several(harts: usize) -> [u32; 14] {
    const WAIT: u32 = 0x1050_0073;
    const BACK_TO_WAIT: u32 = 0xffdf_f06f;
    /// Software interrupts of machine mode, in `mie` and `mip`.
    const SOFTWARE: u32 = 1 << 3;
    const WRITE_ENABLED: u32 = 0x3040_5073;
    const READ_PENDING: u32 = 0x3440_2073 | T1 << 7;
    const LESS: u32 = 6;
    const EQUAL: u32 = 0;
    [
        AUIPC_T0,
        load(T0, T0, BOOT_BYTES as u32 - 8),
        // The first hart continues.
        branch(EQUAL, A0, ZERO, 44),
        immediate(0, T1, ZERO, harts as u32),
        branch(LESS, A0, T1, 12),
        // Cores that are no harts.
        WAIT,
        BACK_TO_WAIT,
        // The other harts.
        WRITE_ENABLED | SOFTWARE << 15,
        WAIT,
        READ_PENDING,
        immediate(7, T1, T1, SOFTWARE),
        branch(EQUAL, T1, ZERO, -12),
        WRITE_ENABLED,
        JR_T0,
    ]
}

/// `ld`
const fn load(rd: u32, base: u32, offset: u32) -> u32 {
    offset << 20 | base << 15 | 3 << 12 | rd << 7 | 0x03
}

/// An operation with an immediate value.
const fn immediate(operation: u32, rd: u32, rs1: u32, value: u32) -> u32 {
    value << 20 | rs1 << 15 | operation << 12 | rd << 7 | 0x13
}

/// A branch to `offset`, which is less than 2 KiB away.
const fn branch(condition: u32, rs1: u32, rs2: u32, offset: i32) -> u32 {
    let offset = offset as u32;
    let high = offset >> 31 << 31 | (offset >> 5 & 63) << 25;
    let low = (offset >> 1 & 15) << 8 | (offset >> 11 & 1) << 7;
    high | rs2 << 20 | rs1 << 15 | condition << 12 | low | 0x63
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(code: &[u8; BOOT_BYTES]) -> Vec<u32> {
        let words = code.chunks_exact(4);
        words
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect()
    }

    /// As an assembler encodes them.
    #[test]
    fn the_first_core_continues_and_others_wait_for_their_interrupts() {
        let all = words(&together(0x8000_0000));
        assert_eq!(all[..6], [0x297, 0x0102_b283, 0x2_8067, 0x13, 0x8000_0000, 0]);
        let two = words(&in_turn(0x1_8000_0040, 2));
        let encoded = [
            0x0000_0297,
            0x0382_b283,
            0x0205_0663,
            0x0020_0313,
            0x0065_6663,
            0x1050_0073,
            0xffdf_f06f,
            0x3044_5073,
            0x1050_0073,
            0x3440_2373,
            0x0083_7313,
            0xfe03_0ae3,
            0x3040_5073,
            0x0002_8067,
            0x8000_0040,
            1,
        ];
        assert_eq!(two, encoded);
    }
}
