use crate::isa::{Element, ISA};

/// Address calculators.
const COUNT: usize = 16;

/// The layout of an operand's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Format {
    /// Their type.
    pub element: Element,
    /// Bytes from one element to the next.
    pub lane: i32,
    /// Number of elements read together: for all lanes, or as many as a line is guaranteed to contain, or one.
    pub together: u32,
}

impl Format {
    /// The layout of elements in lines of so many lanes.
    pub fn new(lanes: usize, element: Element, lane: i32) -> Format {
        Format {
            element,
            lane,
            together: together(lanes as i32, element, lane),
        }
    }

    /// Whether all lanes have the same element.
    pub fn is_same(&self) -> bool {
        self.element.bytes == 0 || self.lane == 0
    }
}

fn together(lanes: i32, element: Element, lane: i32) -> u32 {
    if element.bytes == 0 || lane == 0 {
        return lanes as u32;
    }
    let size = element.bytes as i32;
    let known = ISA.strides.iter().any(|&by| by as i32 * size == lane);
    if !known || lane > ISA.stride_bytes {
        return 1;
    }
    let whole = (4 * lanes - size) / lane + 1;
    1 << whole.min(lanes).ilog2()
}

/// An operand of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Operand {
    /// A byte of the scratchpad, an offset in a region, or a constant.
    pub address: u32,
    /// The layout of its elements.
    pub format: Format,
}

impl Operand {
    /// Elements follow each other.
    pub fn is_contiguous(&self) -> bool {
        self.format.lane == self.format.element.bytes as i32
    }

    /// Elements are integers of at most so many bytes.
    pub fn is_whole(&self, bytes: u32) -> bool {
        let element = self.format.element;
        element.bytes != 0 && element.bytes <= bytes && !element.float
    }

    /// A lane may compute several elements of so many bytes from this operand. A constant has a bit more than they, as
    /// one without sign has with it.
    pub fn packs(&self, bytes: u32) -> bool {
        if self.format.element.bytes == 0 {
            let above = self.address as i32 >> (8 * bytes);
            return above == 0 || above == -1;
        }
        self.is_whole(bytes) && (self.format.lane == 0 || self.is_contiguous())
    }
}

/// A value of each calculator.
type Each = [u32; COUNT];

/// The strided address calculators.
#[derive(Debug, Clone)]
pub struct Calculators {
    lanes: usize,
    /// Addresses when l loops are open, at l.
    addresses: Vec<Each>,
    /// Increments for each loop.
    strides: Vec<Each>,
    formats: [Format; COUNT],
    regions: Each,
}

impl Calculators {
    /// All at 0, of a unit with these lanes, for at most `levels` loops.
    pub fn new(lanes: usize, levels: usize) -> Calculators {
        assert_eq!(ISA.calculators, COUNT, "instructions have numbers for so many");
        Calculators {
            lanes,
            addresses: vec![[0; COUNT]; levels + 1],
            strides: vec![[0; COUNT]; levels],
            formats: [Format::default(); COUNT],
            regions: [0; COUNT],
        }
    }

    /// Sets all to 0 again.
    pub fn clear(&mut self) {
        let element = ISA.element(0).expect("there is a first type");
        self.addresses.fill([0; COUNT]);
        self.strides.fill([0; COUNT]);
        self.formats.fill(Format::new(self.lanes, element, 0));
        self.regions.fill(0);
    }

    /// The operand of calculator `c` while `depth` loops are open.
    pub fn operand(&self, c: usize, depth: usize) -> Operand {
        Operand {
            address: self.addresses[depth][c],
            format: self.formats[c],
        }
    }

    /// The region of calculator `c`.
    pub fn region(&self, c: usize) -> u32 {
        self.regions[c]
    }

    /// Sets the address, and forgets the strides of loops that are not open.
    pub fn set_base(&mut self, c: usize, depth: usize, value: u32) {
        self.addresses[depth][c] = value;
        for strides in &mut self.strides[depth..] {
            strides[c] = 0;
        }
    }

    /// Sets the increment of loop `level`.
    pub fn set_stride(&mut self, c: usize, level: usize, value: u32) {
        self.strides[level][c] = value;
    }

    /// Sets the layout of elements.
    pub fn set_format(&mut self, c: usize, element: Element, lane: i32) {
        self.formats[c] = Format::new(self.lanes, element, lane);
    }

    /// Sets the region.
    pub fn set_region(&mut self, c: usize, region: u32) {
        self.regions[c] = region;
    }

    /// A loop is opened within `depth` others.
    pub fn open(&mut self, depth: usize) {
        self.addresses[depth + 1] = self.addresses[depth];
    }

    /// Loop `level` continues with its next iteration.
    pub fn repeat(&mut self, level: usize) {
        let addresses = &mut self.addresses[level + 1];
        for (address, stride) in addresses.iter_mut().zip(self.strides[level]) {
            *address = address.wrapping_add(stride);
        }
    }
}
