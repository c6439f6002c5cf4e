use crate::calculators::Operand;
use crate::instruction::{Compute, Operands};
use crate::isa::{ElementType, ISA};

/// The scratchpad, and the lanes that compute in it.
#[derive(Debug, Clone)]
pub struct Scratchpad {
    bytes: Vec<u8>,
    lanes: usize,
    /// Of the chunk under way, both operands.
    numbers: [Vec<i32>; 2],
}

/// An operand is outside the scratchpad, or is a constant that should be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outside;

/// An operand with its type, at the chunk under way.
#[derive(Clone, Copy)]
struct Lane<'a> {
    address: u32,
    lane: i32,
    element: &'a ElementType,
}

impl Lane<'_> {
    fn new(operand: Operand) -> Lane<'static> {
        let element = ISA.element_type(operand.format.element_type);
        Lane {
            address: operand.address,
            lane: operand.format.lane,
            element: element.expect("formats are checked when they are set"),
        }
    }

    fn constant(&self) -> bool {
        self.element.bytes == 0
    }

    fn packed(&self) -> bool {
        self.lane == self.element.bytes as i32
    }

    fn same(&self) -> bool {
        self.constant() || self.lane == 0
    }

    /// Where the bytes of `count` elements are that lie packed, or are one.
    fn range(&self, count: usize, end: usize) -> Result<usize, Outside> {
        let elements = if self.same() { 1 } else { count };
        let first = self.address as usize;
        if first + elements * self.element.bytes as usize > end {
            return Err(Outside);
        }
        Ok(first)
    }

    fn advance(&mut self, elements: usize) {
        if !self.constant() {
            let by = self.lane.wrapping_mul(elements as i32);
            self.address = self.address.wrapping_add_signed(by);
        }
    }
}

impl Scratchpad {
    /// Zeros, with so many lanes.
    pub fn new(bytes: usize, lanes: usize) -> Scratchpad {
        Scratchpad {
            bytes: vec![0; bytes],
            lanes,
            numbers: [vec![0; lanes], vec![0; lanes]],
        }
    }

    /// A range of bytes, if it is there.
    pub fn range(&mut self, first: u32, size: usize) -> Result<&mut [u8], Outside> {
        let first = first as usize;
        self.bytes.get_mut(first..first + size).ok_or(Outside)
    }

    /// Computes `length` elements, as many at once as there are lanes, or one where an operand is not packed.
    pub fn compute(
        &mut self,
        function: Compute,
        operands: Operands,
        of: impl Fn(usize) -> Operand,
        length: usize,
    ) -> Result<(), Outside> {
        let mut destination = Lane::new(of(operands.destination));
        let mut sources = [Lane::new(of(operands.first)), Lane::new(of(operands.second))];
        let used = if function.is_binary() { 2 } else { 1 };
        let even = |lane: &Lane| lane.packed() || lane.same();
        let wide = destination.packed() && sources[..used].iter().all(even);
        let most = if wide { self.lanes } else { 1 };
        let mut left = length;
        while left > 0 {
            let count = left.min(most);
            if destination.constant() {
                return Err(Outside);
            }
            let target = destination.range(count, self.bytes.len())?;
            for (place, source) in sources[..used].iter().enumerate() {
                self.read(place, source, count)?;
            }
            self.write(function, &destination, target, count);
            destination.advance(count);
            sources.iter_mut().for_each(|source| source.advance(count));
            left -= count;
        }
        Ok(())
    }

    fn read(&mut self, place: usize, source: &Lane, count: usize) -> Result<(), Outside> {
        let numbers = &mut self.numbers[place][..count];
        if source.constant() {
            numbers.fill(source.address as i32);
            return Ok(());
        }
        let first = source.range(count, self.bytes.len())?;
        let size = source.element.bytes as usize;
        if source.same() {
            numbers.fill(number(&self.bytes[first..first + size], source.element));
        } else {
            let elements = self.bytes[first..first + count * size].chunks_exact(size);
            for (to, from) in numbers.iter_mut().zip(elements) {
                *to = number(from, source.element);
            }
        }
        Ok(())
    }

    fn write(&mut self, function: Compute, destination: &Lane, target: usize, count: usize) {
        let size = destination.element.bytes as usize;
        let [first, second] = &self.numbers;
        for (i, (&first, &second)) in first.iter().zip(second).take(count).enumerate() {
            if function == Compute::Select && first == 0 {
                continue;
            }
            let value = result(function, first, second, destination.element);
            let place = target + i * size;
            self.bytes[place..place + size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }
}

/// The number that the bytes of an element are.
fn number(bytes: &[u8], element: &ElementType) -> i32 {
    let mut word = [0; 4];
    word[..bytes.len()].copy_from_slice(bytes);
    let unused = 32 - 8 * element.bytes;
    let raised = i32::from_le_bytes(word) << unused;
    if element.signed {
        raised >> unused
    } else {
        (raised as u32 >> unused) as i32
    }
}

fn result(function: Compute, first: i32, second: i32, to: &ElementType) -> i32 {
    match function {
        Compute::Move => first,
        Compute::Add => first.wrapping_add(second),
        Compute::Subtract => first.wrapping_sub(second),
        Compute::Multiply => first.wrapping_mul(second),
        Compute::Minimum => first.min(second),
        Compute::Maximum => first.max(second),
        Compute::And => first & second,
        Compute::Or => first | second,
        Compute::Xor => first ^ second,
        Compute::ShiftLeft => first.checked_shl(second as u32).unwrap_or(0),
        Compute::ShiftRight => first.checked_shr(second as u32).unwrap_or(first >> 31),
        Compute::Saturate => saturate(first, to),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> &'static ElementType {
        let found = ISA.types.iter().find(|each| each.name == name);
        found.expect("the table has it")
    }

    #[test]
    fn numbers_have_the_sign_of_their_type() {
        assert_eq!(number(&[0xff], named("u8")), 255);
        assert_eq!(number(&[0xff], named("i8")), -1);
        assert_eq!(number(&[0, 0x80], named("i16")), -32768);
        assert_eq!(number(&[0xfe, 0xff, 0xff, 0xff], named("i32")), -2);
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
        let word = named("i32");
        assert_eq!(result(Compute::ShiftLeft, 1, 32, word), 0);
        assert_eq!(result(Compute::ShiftRight, -5, 40, word), -1);
        assert_eq!(result(Compute::ShiftRight, -5, -1, word), -1);
        assert_eq!(result(Compute::ShiftRight, -5, 1, word), -3);
    }
}
