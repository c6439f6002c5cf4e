/// Bytes of the scratchpad, at most a line, by their first and last line.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place {
    pub address: u32,
    pub line: u32,
    pub last_line: u32,
}

impl Place {
    /// The lines from `address` to `last`.
    pub fn new(address: u32, last: u32, line_bytes: usize) -> Place {
        let shift = line_bytes.trailing_zeros();
        Place {
            address,
            line: address >> shift,
            last_line: last >> shift,
        }
    }

    /// Both have bytes of a line.
    fn meets(&self, other: &Place) -> bool {
        self.line == other.line || self.last_line == other.line || self.line == other.last_line
    }
}

/// The scratchpad: bytes in lines of a vector, in banks that are accessed at the same time.
#[derive(Debug, Clone)]
pub struct Scratchpad {
    pub bytes: Vec<u8>,
    line_bytes: usize,
    /// From the number of a line to that of its bank.
    bank_shift: u32,
}

impl Scratchpad {
    /// Zeros.
    pub fn new(bytes: usize, line_bytes: usize, banks: usize) -> Scratchpad {
        Scratchpad {
            bytes: vec![0; bytes],
            line_bytes,
            bank_shift: (bytes / line_bytes / banks).trailing_zeros(),
        }
    }

    pub fn line_bytes(&self) -> usize {
        self.line_bytes
    }

    /// A bit for each bank that has a line of a place.
    fn banks(&self, place: &Place) -> u32 {
        let bank = |line: u32| 1u32 << (line >> self.bank_shift);
        bank(place.line) | bank(place.last_line)
    }

    /// `count` bytes from an address as returned by one read, with the following bytes.
    ///
    /// A read brings a line, and of the pair that its last line is in the one of the other half. The following bytes
    /// are the contents of the line, also beyond its end.
    pub fn brought(&self, place: &Place, count: usize, to: &mut [u8]) {
        let line = self.line_bytes;
        let offset = place.address as usize % line;
        let second = if place.last_line == place.line {
            place.line ^ 1
        } else {
            place.last_line
        };
        let (first, second) = (place.line as usize * line + offset, second as usize * line);
        let own = count.min(line - offset);
        to[..own].copy_from_slice(&self.bytes[first..first + own]);
        to[own..count].copy_from_slice(&self.bytes[second..second + count - own]);
    }
}

/// Which of the accesses of a cycle have their banks.
///
/// Operands have priority, in their order, then stored data; results are always written, and loaded data if there is no
/// other access. One line is not read and written at once.
pub struct Ports<'a> {
    scratchpad: &'a Scratchpad,
    results: Option<Place>,
    taken: u32,
    wanted: [Option<Place>; 4],
}

impl<'a> Ports<'a> {
    /// The ports in a cycle in which these results are written.
    pub fn new(scratchpad: &'a Scratchpad, results: Option<Place>) -> Ports<'a> {
        Ports {
            scratchpad,
            results,
            taken: 0,
            wanted: [None; 4],
        }
    }

    /// Reads operand `which`; returns whether the read was granted.
    pub fn read(&mut self, which: usize, place: &Place) -> bool {
        self.wanted[which] = Some(*place);
        let banks = self.scratchpad.banks(place);
        let free = self.taken & banks == 0;
        if free {
            self.taken |= banks;
        }
        free
    }

    /// Reads bytes to be stored; returns whether the read was granted.
    pub fn read_stored(&mut self, place: &Place) -> bool {
        let written = self.results.is_some_and(|results| place.meets(&results));
        if written {
            self.wanted[3] = Some(*place);
            return false;
        }
        self.read(3, place)
    }

    /// Whether bytes that are loaded are written.
    pub fn write_loaded(&self, place: &Place) -> bool {
        let banks = self.scratchpad.banks(place);
        let taken = self
            .results
            .is_some_and(|results| self.scratchpad.banks(&results) & banks != 0);
        !taken && !self.wanted.iter().flatten().any(|read| read.meets(place))
    }
}
