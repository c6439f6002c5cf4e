use crate::isa::ISA;

/// The layout of an operand's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Format {
    /// The number of a type.
    pub element_type: u32,
    /// Bytes from one element to the next.
    pub lane: i32,
}

/// An operand of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Operand {
    /// A byte of the scratchpad, an offset in a region, or a constant.
    pub address: u32,
    /// The layout of its elements.
    pub format: Format,
}

/// The strided address calculators.
#[derive(Debug, Clone)]
pub struct Calculators {
    levels: usize,
    /// Of calculator c, the address when l loops are open, at `c * (levels + 1) + l`.
    addresses: Vec<u32>,
    /// The increment of calculator c for loop l, at `c * levels + l`.
    strides: Vec<u32>,
    formats: Vec<Format>,
    regions: Vec<u32>,
}

impl Calculators {
    /// All at 0, for at most `levels` loops.
    pub fn new(levels: usize) -> Calculators {
        let count = ISA.calculators;
        Calculators {
            levels,
            addresses: vec![0; count * (levels + 1)],
            strides: vec![0; count * levels],
            formats: vec![Format::default(); count],
            regions: vec![0; count],
        }
    }

    /// Sets all to 0 again.
    pub fn clear(&mut self) {
        self.addresses.fill(0);
        self.strides.fill(0);
        self.formats.fill(Format::default());
        self.regions.fill(0);
    }

    /// The operand of calculator `c` while `depth` loops are open.
    pub fn operand(&self, c: usize, depth: usize) -> Operand {
        Operand {
            address: self.addresses[c * (self.levels + 1) + depth],
            format: self.formats[c],
        }
    }

    /// The region of calculator `c`.
    pub fn region(&self, c: usize) -> u32 {
        self.regions[c]
    }

    /// Sets the address, and forgets the strides of loops that are not open.
    pub fn set_base(&mut self, c: usize, depth: usize, value: u32) {
        self.addresses[c * (self.levels + 1) + depth] = value;
        self.strides[c * self.levels + depth..(c + 1) * self.levels].fill(0);
    }

    /// Sets the increment of loop `level`.
    pub fn set_stride(&mut self, c: usize, level: usize, value: u32) {
        self.strides[c * self.levels + level] = value;
    }

    /// Sets the layout of elements.
    pub fn set_format(&mut self, c: usize, format: Format) {
        self.formats[c] = format;
    }

    /// Sets the region.
    pub fn set_region(&mut self, c: usize, region: u32) {
        self.regions[c] = region;
    }

    /// A loop is opened within `depth` others.
    pub fn open(&mut self, depth: usize) {
        for addresses in self.addresses.chunks_mut(self.levels + 1) {
            addresses[depth + 1] = addresses[depth];
        }
    }

    /// Loop `level` continues with its next iteration.
    pub fn repeat(&mut self, level: usize) {
        let all = self.addresses.chunks_mut(self.levels + 1);
        for (addresses, strides) in all.zip(self.strides.chunks(self.levels)) {
            addresses[level + 1] = addresses[level + 1].wrapping_add(strides[level]);
        }
    }
}
