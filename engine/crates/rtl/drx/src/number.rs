use crate::instruction::Compute;
use crate::isa::Element;

/// The result of arithmetic without a number.
const NAN: u32 = 0x7fc0_0000;

/// The numbers of an instruction that are in binary32.
#[derive(Debug, Clone, Copy)]
pub struct Kinds {
    /// The operands of comparisons and computations.
    pub operands: bool,
    /// The result, before it becomes one of the destination's type.
    pub result: bool,
}

impl Kinds {
    /// The kinds for a function with these types, the second of which is ignored by a function with one operand.
    ///
    /// A constant that is moved has the type of the destination, and is otherwise taken as the other operand is.
    pub fn new(function: Compute, sources: [Element; 2], to: Element) -> Kinds {
        let moved = |from: Element| if from.bytes == 0 { to.float } else { from.float };
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

/// The elements as numbers of 32 bits; the first begins with `bytes`, and there is one every `step` bytes.
pub fn numbers(bytes: &[u8], step: usize, element: Element, numbers: &mut [i32]) {
    in_vectors(|| read_numbers(bytes, step, element, numbers));
}

#[inline(always)]
fn read_numbers(bytes: &[u8], step: usize, element: Element, numbers: &mut [i32]) {
    let raised = element.float;
    match (element.bytes, element.signed) {
        (1, false) => read(bytes, step, numbers, |[byte]: [u8; 1]| i32::from(byte)),
        (1, true) => read(bytes, step, numbers, |[byte]: [u8; 1]| i32::from(byte as i8)),
        (2, _) if raised => read(bytes, step, numbers, |of| i32::from(i16::from_le_bytes(of)) << 16),
        (2, false) => read(bytes, step, numbers, |of| i32::from(u16::from_le_bytes(of))),
        (2, true) => read(bytes, step, numbers, |of| i32::from(i16::from_le_bytes(of))),
        _ => read(bytes, step, numbers, i32::from_le_bytes),
    }
}

#[inline(always)]
fn read<const N: usize>(bytes: &[u8], step: usize, numbers: &mut [i32], of: impl Fn([u8; N]) -> i32) {
    let element = |from: &[u8]| of(*from.first_chunk().expect("it has so many bytes"));
    if step == N {
        for (to, from) in numbers.iter_mut().zip(bytes.chunks_exact(N)) {
            *to = element(from);
        }
    } else {
        for (to, from) in numbers.iter_mut().zip(bytes.chunks(step)) {
            *to = element(from);
        }
    }
}

/// Stores the low bytes of numbers, as many as an element has, consecutively.
pub fn pack(numbers: &[i32], size: u32, bytes: &mut [u8]) {
    in_vectors(|| match size {
        1 => write(numbers, bytes, |number| [number as u8]),
        2 => write(numbers, bytes, |number| (number as u16).to_le_bytes()),
        _ => write(numbers, bytes, i32::to_le_bytes),
    });
}

#[inline(always)]
fn write<const N: usize>(numbers: &[i32], bytes: &mut [u8], of: impl Fn(i32) -> [u8; N]) {
    for (&number, to) in numbers.iter().zip(bytes.chunks_exact_mut(N)) {
        to.copy_from_slice(&of(number));
    }
}

/// Copies the elements of `size` bytes that are chosen.
pub fn copy_chosen(from: &[u8], chosen: &[bool], size: usize, to: &mut [u8]) {
    in_vectors(|| match size {
        1 => copy::<1>(from, chosen, to),
        2 => copy::<2>(from, chosen, to),
        _ => copy::<4>(from, chosen, to),
    });
}

#[inline(always)]
fn copy<const N: usize>(from: &[u8], chosen: &[bool], to: &mut [u8]) {
    let elements = to.chunks_exact_mut(N).zip(from.chunks_exact(N));
    for ((to, from), &chosen) in elements.zip(chosen) {
        let kept: [u8; N] = *to.first_chunk().expect("it has so many bytes");
        let new: [u8; N] = *from.first_chunk().expect("it has so many bytes");
        to.copy_from_slice(if chosen { &new } else { &kept });
    }
}

/// Work on all lanes, by the vectors of this processor and its instructions that sum products with one rounding: without
/// them, each takes a call.
#[inline(always)]
fn in_vectors(work: impl FnOnce()) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions.
        return unsafe { by_vectors(work) };
    }
    work();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn by_vectors(work: impl FnOnce()) {
    work();
}

/// Computes `results`, each from its own number of both operands and what was there before, as numbers of a type of which
/// the low bits are stored.
pub fn compute(
    function: Compute,
    kinds: Kinds,
    [first, second]: [&[i32]; 2],
    to: Element,
    results: &mut [i32],
) {
    in_vectors(|| {
        if kinds.operands {
            compute_floats(function, first, second, results);
        } else {
            compute_whole(function, first, second, results);
        }
        convert(function, kinds, to, results);
    });
}

#[inline(always)]
fn compute_whole(function: Compute, first: &[i32], second: &[i32], results: &mut [i32]) {
    let all = (first, second, results);
    match function {
        Compute::Move | Compute::Saturate => each(all, |first, _, _| first),
        Compute::Add => each(all, |first, second, _| first.wrapping_add(second)),
        Compute::Subtract => each(all, |first, second, _| first.wrapping_sub(second)),
        Compute::Multiply => each(all, |first, second, _| first.wrapping_mul(second)),
        Compute::MultiplyAdd => each(all, |first, second, third| {
            first.wrapping_mul(second).wrapping_add(third)
        }),
        Compute::Minimum => each(all, |first, second, _| first.min(second)),
        Compute::Maximum => each(all, |first, second, _| first.max(second)),
        Compute::And => each(all, |first, second, _| first & second),
        Compute::Or => each(all, |first, second, _| first | second),
        Compute::Xor => each(all, |first, second, _| first ^ second),
        Compute::ShiftLeft => each(all, shifted_left),
        Compute::ShiftRight => each(all, shifted_right),
        Compute::Less => each(all, |first, second, _| i32::from(first < second)),
        Compute::Equal => each(all, |first, second, _| i32::from(first == second)),
        Compute::Select => each(all, |_, second, _| second),
    }
}

fn shifted_left(first: i32, second: i32, _: i32) -> i32 {
    first.checked_shl(second as u32).unwrap_or(0)
}

fn shifted_right(first: i32, second: i32, _: i32) -> i32 {
    first.checked_shr(second as u32).unwrap_or(first >> 31)
}

/// The same with numbers of binary32; operations other than arithmetic and comparison work on their bits.
#[inline(always)]
fn compute_floats(function: Compute, first: &[i32], second: &[i32], results: &mut [i32]) {
    let all = (first, second, results);
    match function {
        Compute::Add => arithmetic(all, |first, second, _| first + second),
        Compute::Subtract => arithmetic(all, |first, second, _| first - second),
        Compute::Multiply => arithmetic(all, |first, second, _| first * second),
        Compute::MultiplyAdd => arithmetic(all, f32::mul_add),
        Compute::Minimum => each(all, |first, second, _| extreme(first, second, true)),
        Compute::Maximum => each(all, |first, second, _| extreme(first, second, false)),
        Compute::Less => each(all, |first, second, _| {
            i32::from(number_of(first) < number_of(second))
        }),
        Compute::Equal => each(all, |first, second, _| {
            i32::from(number_of(first) == number_of(second))
        }),
        _ => {
            let (first, second, results) = all;
            compute_whole(function, first, second, results);
        }
    }
}

/// Both operands, and the results.
type All<'a> = (&'a [i32], &'a [i32], &'a mut [i32]);

#[inline(always)]
fn each((first, second, results): All, of: impl Fn(i32, i32, i32) -> i32) {
    for (result, (&first, &second)) in results.iter_mut().zip(first.iter().zip(second)) {
        *result = of(first, second, *result);
    }
}

/// Sums and products of binary32, with the number that a destination has.
#[inline(always)]
fn arithmetic(all: All, of: impl Fn(f32, f32, f32) -> f32) {
    each(all, |first, second, third| {
        canonical(of(number_of(first), number_of(second), number_of(third)))
    });
}

/// The lesser or the greater of two numbers of binary32, with -0 below 0; none if one of them is none.
fn extreme(first: i32, second: i32, least: bool) -> i32 {
    let (left, right) = (number_of(first), number_of(second));
    if left.is_nan() || right.is_nan() {
        NAN as i32
    } else if left.total_cmp(&right).is_lt() == least {
        first
    } else {
        second
    }
}

/// Makes results numbers of the destination's type.
#[inline(always)]
fn convert(function: Compute, kinds: Kinds, to: Element, results: &mut [i32]) {
    match (kinds.result, to.float) {
        (true, false) => results
            .iter_mut()
            .for_each(|each| *each = number_of(*each) as i32),
        (false, true) => results
            .iter_mut()
            .for_each(|each| *each = (*each as f32).to_bits() as i32),
        _ => {}
    }
    if to.float && to.bytes == 2 {
        results
            .iter_mut()
            .for_each(|each| *each = i32::from(short(*each)));
    } else if !to.float && function == Compute::Saturate {
        results.iter_mut().for_each(|each| *each = saturate(*each, to));
    }
}

fn number_of(bits: i32) -> f32 {
    f32::from_bits(bits as u32)
}

fn canonical(value: f32) -> i32 {
    let bits = if value.is_nan() { NAN } else { value.to_bits() };
    bits as i32
}

/// The nearest number that the type has.
fn saturate(value: i32, to: Element) -> i32 {
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

    fn named(name: &str) -> Element {
        let found = ISA.types.iter().find(|each| each.name == name);
        found.expect("the table has it").element
    }

    fn moved(from: &str, value: i32, to: &str) -> i32 {
        let (from, to) = (named(from), named(to));
        let mut results = [value];
        let kinds = Kinds::new(Compute::Move, [from, from], to);
        convert(Compute::Move, kinds, to, &mut results);
        results[0]
    }

    fn number(bytes: &[u8], element: Element) -> i32 {
        let mut found = [0];
        numbers(bytes, bytes.len(), element, &mut found);
        found[0]
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
        assert_eq!(shifted_left(1, 32, 0), 0);
        assert_eq!(shifted_right(-5, 40, 0), -1);
        assert_eq!(shifted_right(-5, -1, 0), -1);
        assert_eq!(shifted_right(-5, 1, 0), -3);
    }

    #[test]
    fn elements_with_others_between_them() {
        let mut found = [0; 3];
        numbers(&[1, 9, 9, 2, 9, 9, 3], 3, named("u8"), &mut found);
        assert_eq!(found, [1, 2, 3]);
        let mut bytes = [7; 4];
        pack(&[-2, 0x0001_0003], 2, &mut bytes);
        assert_eq!(bytes, [0xfe, 0xff, 3, 0]);
    }

    #[test]
    fn the_lesser_number_and_the_greater() {
        let (zero, minus_zero, one) = (0, i32::MIN, 1.0f32.to_bits() as i32);
        assert_eq!(extreme(zero, minus_zero, true), minus_zero);
        assert_eq!(extreme(minus_zero, zero, false), zero);
        assert_eq!(extreme(one, zero, false), one);
        assert_eq!(extreme(one, NAN as i32, true), NAN as i32);
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
