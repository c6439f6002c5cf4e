use crate::calculators::Operand;
use crate::instruction::{Compute, Operands};
use crate::isa::{ElementType, ISA};
use crate::number::{compute, converted, is_kept, number, Kinds};

/// The scratchpad, and the lanes that compute in it.
#[derive(Debug, Clone)]
pub struct Scratchpad {
    bytes: Vec<u8>,
    lanes: usize,
    /// Of the chunk under way: both operands, and what the destination has before and after.
    numbers: [Vec<i32>; 3],
}

/// An operand is outside the scratchpad, or is a constant that should be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outside;

/// An operand with its type, at the chunk under way.
#[derive(Clone, Copy)]
struct Lane {
    address: u32,
    lane: i32,
    element: &'static ElementType,
}

impl Lane {
    fn new(operand: Operand) -> Lane {
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

    /// Elements that are read at once: for all lanes, or as many as a line has for sure, or one.
    fn together(&self, lanes: usize) -> usize {
        if self.same() {
            return lanes;
        }
        let size = self.element.bytes as i32;
        let strides = ISA.strides.iter().map(|&by| by as i32 * size);
        if !strides
            .into_iter()
            .any(|bytes| bytes == self.lane && bytes <= ISA.stride_bytes)
        {
            return 1;
        }
        let whole = (4 * lanes - size as usize) / self.lane as usize + 1;
        1 << whole.min(lanes).ilog2()
    }

    /// Where the bytes of `count` elements are, which are read or written at once.
    fn range(&self, count: usize, end: usize) -> Result<usize, Outside> {
        let first = self.address as usize;
        let between = if count > 1 {
            (count - 1) * self.lane as usize
        } else {
            0
        };
        if first + between + self.element.bytes as usize > end {
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
            numbers: [vec![0; lanes], vec![0; lanes], vec![0; lanes]],
        }
    }

    /// A range of bytes, if it is there.
    pub fn range(&mut self, first: u32, size: usize) -> Result<&mut [u8], Outside> {
        let first = first as usize;
        self.bytes.get_mut(first..first + size).ok_or(Outside)
    }

    /// Computes `length` elements, as many at once as all operands allow.
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
        let kinds = Kinds::new(
            function,
            sources.map(|source| source.element),
            destination.element,
        );
        let together = sources[..used].iter().map(|source| source.together(self.lanes));
        let most = if destination.packed() {
            together.min().unwrap_or(1)
        } else {
            1
        };
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
            if function.is_ternary() {
                self.read(2, &destination, count)?;
            }
            self.write(function, kinds, &destination, target, count);
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
        let size = source.element.bytes as usize;
        if source.same() {
            let first = source.range(1, self.bytes.len())?;
            numbers.fill(number(&self.bytes[first..first + size], source.element));
            return Ok(());
        }
        let first = source.range(count, self.bytes.len())?;
        let step = if count > 1 { source.lane as usize } else { size };
        for (to, from) in numbers.iter_mut().zip(self.bytes[first..].chunks(step)) {
            *to = number(&from[..size], source.element);
        }
        Ok(())
    }

    fn write(&mut self, function: Compute, kinds: Kinds, destination: &Lane, target: usize, count: usize) {
        let size = destination.element.bytes as usize;
        let [first, second, results] = &mut self.numbers;
        compute(function, kinds, &first[..count], &second[..count], results);
        if is_kept(function, kinds, destination.element) {
            let places = self.bytes[target..target + 4 * count].chunks_exact_mut(4);
            for (place, value) in places.zip(results) {
                place.copy_from_slice(&value.to_le_bytes());
            }
            return;
        }
        for (i, (&value, &condition)) in results.iter().zip(first.iter()).take(count).enumerate() {
            if function == Compute::Select && condition == 0 {
                continue;
            }
            let value = converted(function, kinds, value, destination.element);
            let place = target + i * size;
            self.bytes[place..place + size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }
}
