use crate::instruction::Compute;
use crate::isa::ElementType;

/// What arithmetic gives that has no number.
const NAN: u32 = 0x7fc0_0000;

/// Which of the numbers of an instruction are of binary32.
#[derive(Debug, Clone, Copy)]
pub struct Kinds {
    /// Those that are compared and computed with.
    pub operands: bool,
    /// The result, before it becomes one of the destination's type.
    pub result: bool,
}

impl Kinds {
    /// Those of a function of these types, the second of which a function with one operand does not read.
    ///
    /// A constant that is moved has the type of the destination, and is otherwise taken as the other operand is.
    pub fn new(function: Compute, sources: [&ElementType; 2], to: &ElementType) -> Kinds {
        let moved = |from: &ElementType| if from.bytes == 0 { to.float } else { from.float };
        let operands = sources[0].float || (function.is_binary() && sources[1].float);
        let result = match function {
            Compute::Move | Compute::Saturate => moved(sources[0]),
            Compute::Select => moved(sources[1]),
            Compute::Add
            | Compute::Subtract
            | Compute::Multiply
            | Compute::MultiplyAdd
            | Compute::Minimum
            | Compute::Maximum => operands,
            _ => false,
        };
        Kinds { operands, result }
    }
}

/// The number that the bytes of an element are, as 32 bits.
pub fn number(bytes: &[u8], element: &ElementType) -> i32 {
    if let Ok(whole) = bytes.try_into() {
        return i32::from_le_bytes(whole);
    }
    let mut word = [0; 4];
    word[..bytes.len()].copy_from_slice(bytes);
    let unused = 32 - 8 * element.bytes;
    let raised = i32::from_le_bytes(word) << unused;
    if element.float {
        raised
    } else if element.signed {
        raised >> unused
    } else {
        (raised as u32 >> unused) as i32
    }
}

/// Computes `results`, each from its own number of both operands and what was there before.
pub fn compute(function: Compute, kinds: Kinds, first: &[i32], second: &[i32], results: &mut [i32]) {
    if !kinds.operands {
        return each(first, second, results, |first, second, third| {
            whole(function, first, second, third)
        });
    }
    match function {
        Compute::Add => arithmetic(first, second, results, |first, second, _| first + second),
        Compute::Subtract => arithmetic(first, second, results, |first, second, _| first - second),
        Compute::Multiply => arithmetic(first, second, results, |first, second, _| first * second),
        Compute::MultiplyAdd => arithmetic(first, second, results, f32::mul_add),
        _ => each(first, second, results, |first, second, _| {
            compared(function, first, second)
        }),
    }
}

fn each(first: &[i32], second: &[i32], results: &mut [i32], of: impl Fn(i32, i32, i32) -> i32) {
    for (result, (&first, &second)) in results.iter_mut().zip(first.iter().zip(second)) {
        *result = of(first, second, *result);
    }
}

/// Sums and products of binary32, with the number that a destination has.
fn arithmetic(first: &[i32], second: &[i32], results: &mut [i32], of: impl Fn(f32, f32, f32) -> f32) {
    each(first, second, results, |first, second, third| {
        canonical(of(number_of(first), number_of(second), number_of(third)))
    });
}

/// Whether results are stored as they are.
pub fn is_kept(function: Compute, kinds: Kinds, to: &ElementType) -> bool {
    let same = kinds.result == to.float && to.bytes == 4;
    same && !matches!(function, Compute::Saturate | Compute::Select)
}

/// The number of the destination's type, whose low bits are stored.
pub fn converted(function: Compute, kinds: Kinds, value: i32, to: &ElementType) -> i32 {
    let value = match (kinds.result, to.float) {
        (true, false) => number_of(value) as i32,
        (false, true) => (value as f32).to_bits() as i32,
        _ => value,
    };
    if to.float {
        return if to.bytes == 2 {
            i32::from(short(value))
        } else {
            value
        };
    }
    if function == Compute::Saturate {
        return saturate(value, to);
    }
    value
}

fn number_of(bits: i32) -> f32 {
    f32::from_bits(bits as u32)
}

fn canonical(value: f32) -> i32 {
    let bits = if value.is_nan() { NAN } else { value.to_bits() };
    bits as i32
}

/// All else that is done with numbers of binary32.
fn compared(function: Compute, first: i32, second: i32) -> i32 {
    let (left, right) = (number_of(first), number_of(second));
    let none = left.is_nan() || right.is_nan();
    match function {
        Compute::Minimum | Compute::Maximum if none => NAN as i32,
        Compute::Minimum if left.total_cmp(&right).is_lt() => first,
        Compute::Maximum if left.total_cmp(&right).is_ge() => first,
        Compute::Minimum | Compute::Maximum => second,
        Compute::Less => i32::from(left < right),
        Compute::Equal => i32::from(left == right),
        _ => whole(function, first, second, 0),
    }
}

fn whole(function: Compute, first: i32, second: i32, third: i32) -> i32 {
    match function {
        Compute::Move | Compute::Saturate => first,
        Compute::Add => first.wrapping_add(second),
        Compute::Subtract => first.wrapping_sub(second),
        Compute::Multiply => first.wrapping_mul(second),
        Compute::MultiplyAdd => first.wrapping_mul(second).wrapping_add(third),
        Compute::Minimum => first.min(second),
        Compute::Maximum => first.max(second),
        Compute::And => first & second,
        Compute::Or => first | second,
        Compute::Xor => first ^ second,
        Compute::ShiftLeft => first.checked_shl(second as u32).unwrap_or(0),
        Compute::ShiftRight => first.checked_shr(second as u32).unwrap_or(first >> 31),
        Compute::Less => i32::from(first < second),
        Compute::Equal => i32::from(first == second),
        Compute::Select => second,
    }
}

/// The nearest number that the type has.
fn saturate(value: i32, to: &ElementType) -> i32 {
    let bits = 8 * to.bytes;
    let (least, most) = if to.signed {
        (-1i64 << (bits - 1), (1i64 << (bits - 1)) - 1)
    } else {
        (0, (1i64 << bits) - 1)
    };
    i64::from(value).clamp(least, most) as i32
}

/// The nearest number of bfloat16, the even one of two.
fn short(bits: i32) -> i16 {
    let bits = bits as u32;
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    let kept = if number_of(bits as i32).is_nan() {
        NAN
    } else {
        rounded
    };
    (kept >> 16) as i16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::ISA;

    fn named(name: &str) -> &'static ElementType {
        let found = ISA.types.iter().find(|each| each.name == name);
        found.expect("the table has it")
    }

    fn moved(from: &str, value: i32, to: &str) -> i32 {
        let (from, to) = (named(from), named(to));
        let kinds = Kinds::new(Compute::Move, [from, from], to);
        converted(Compute::Move, kinds, value, to)
    }

    #[test]
    fn numbers_have_the_sign_of_their_type() {
        assert_eq!(number(&[0xff], named("u8")), 255);
        assert_eq!(number(&[0xff], named("i8")), -1);
        assert_eq!(number(&[0, 0x80], named("i16")), -32768);
        assert_eq!(number(&[0xfe, 0xff, 0xff, 0xff], named("i32")), -2);
        assert_eq!(number(&[0x80, 0x3f], named("bf16")), 0x3f80_0000);
    }

    #[test]
    fn the_nearest_number_of_a_type() {
        assert_eq!(saturate(300, named("u8")), 255);
        assert_eq!(saturate(-300, named("u8")), 0);
        assert_eq!(saturate(-300, named("i8")), -128);
        assert_eq!(saturate(i32::MIN, named("i32")), i32::MIN);
    }

    #[test]
    fn distances_beyond_all_bits_shift_everything_out() {
        assert_eq!(whole(Compute::ShiftLeft, 1, 32, 0), 0);
        assert_eq!(whole(Compute::ShiftRight, -5, 40, 0), -1);
        assert_eq!(whole(Compute::ShiftRight, -5, -1, 0), -1);
        assert_eq!(whole(Compute::ShiftRight, -5, 1, 0), -3);
    }

    #[test]
    fn whole_numbers_and_those_of_binary32_become_each_other() {
        let bits = |value: f32| value.to_bits() as i32;
        assert_eq!(moved("i32", -3, "f32"), bits(-3.0));
        assert_eq!(moved("i32", 0x0100_0001, "f32"), bits(16_777_216.0));
        assert_eq!(moved("f32", bits(-2.9), "i32"), -2);
        assert_eq!(moved("f32", bits(3e9), "i32"), i32::MAX);
        assert_eq!(moved("f32", NAN as i32, "i32"), 0);
        assert_eq!(moved("constant", bits(1.5), "f32"), bits(1.5));
    }

    #[test]
    fn the_upper_half_of_a_number_is_the_nearest_one() {
        assert_eq!(moved("f32", 0x3f80_8000, "bf16"), 0x3f80);
        assert_eq!(moved("f32", 0x3f81_8000, "bf16"), 0x3f82);
        assert_eq!(moved("f32", 0x7f7f_ffff, "bf16"), 0x7f80);
        assert_eq!(moved("f32", 0x7f80_0001, "bf16"), 0x7fc0);
    }
}
