//! Groups of registers: their sizes, alignment, and allowed overlaps.

use super::element::Width;
use super::unit::{Vector, ILLEGAL_TYPE};
use super::word::Word;
use super::{require, Done, Illegal, REGISTER_BYTES};

/// Number of registers in a group, as a power of two: -3 to 3, and beyond in intermediate results.
pub(crate) type Multiplier = i32;

/// The elements and groups of `vtype`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kind {
    pub(crate) width: Width,
    pub(crate) multiplier: Multiplier,
}

impl Kind {
    /// The type encoded by the bits, unless they are reserved or not supported.
    pub(crate) fn from_bits(bits: u64) -> Result<Kind, Illegal> {
        let multiplier = ((bits << 61) as i64 >> 61) as Multiplier;
        let width = (bits >> 3 & 7) as u32;
        require(bits >> 8 == 0 && width <= Width::LONG.0 && multiplier != -4)?;
        // An element fits its share of the widest one.
        require(width as i32 <= Width::LONG.0 as i32 + multiplier.min(0))?;
        Ok(Kind {
            width: Width(width),
            multiplier,
        })
    }

    /// The most elements of a group.
    pub(crate) fn most(self) -> usize {
        let elements = REGISTER_BYTES >> self.width.0;
        match self.multiplier {
            more @ 0.. => elements << more,
            less => elements >> -less,
        }
    }

    /// Elements twice as wide, in groups twice as large.
    pub(crate) fn doubled(self) -> Result<Kind, Illegal> {
        require(self.width < Width::LONG && self.multiplier < 3)?;
        Ok(Kind {
            width: Width(self.width.0 + 1),
            multiplier: self.multiplier + 1,
        })
    }

    /// The same number of elements of another width.
    pub(crate) fn with_width(self, width: Width) -> Result<Kind, Illegal> {
        let multiplier = self.multiplier + width.0 as i32 - self.width.0 as i32;
        require((-3..=3).contains(&multiplier))?;
        Ok(Kind { width, multiplier })
    }

    /// The group of this kind that starts with `register`, which must be aligned.
    pub(crate) fn group(self, register: u8) -> Result<Group, Illegal> {
        let group = Group {
            first: register,
            multiplier: self.multiplier,
        };
        require(register % group.registers() == 0 && register + group.registers() <= 32)?;
        Ok(group)
    }
}

/// Registers that hold the elements of one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Group {
    pub(crate) first: u8,
    multiplier: Multiplier,
}

impl Group {
    /// One register, for masks and the results of reductions.
    pub(crate) fn single(register: u8) -> Group {
        Group {
            first: register,
            multiplier: 0,
        }
    }

    pub(crate) fn registers(self) -> u8 {
        1 << self.multiplier.max(0)
    }

    /// Registers of each group of `kind`.
    pub(crate) fn registers_of(kind: Kind) -> u8 {
        1 << kind.multiplier.max(0)
    }

    fn end(self) -> u8 {
        self.first + self.registers()
    }

    pub(crate) fn overlaps(self, other: Group) -> bool {
        self.first < other.end() && other.first < self.end()
    }

    /// A destination may overlap a source with wider elements in the source's lowest part only, and one with narrower elements
    /// in its own highest part only, and only if they fill a register.
    pub(crate) fn may_overlap_source(self, source: Group) -> bool {
        let highest = source.multiplier >= 0 && source.end() == self.end();
        let allowed = match self.multiplier.cmp(&source.multiplier) {
            std::cmp::Ordering::Less => self.first == source.first,
            std::cmp::Ordering::Equal => true,
            std::cmp::Ordering::Greater => highest,
        };
        allowed || !self.overlaps(source)
    }
}

impl Vector {
    /// The type that is set.
    pub(crate) fn kind(&self) -> Result<Kind, Illegal> {
        require(self.kind & ILLEGAL_TYPE == 0)?;
        Kind::from_bits(self.kind)
    }

    /// Whether element `index` is active according to the mask.
    #[inline]
    pub(crate) fn active(&self, word: Word, index: usize) -> bool {
        !word.masked() || self.bit(0, index)
    }

    /// Does `body` for every element that is worked on; the next instruction starts at the first element again.
    #[inline]
    pub(crate) fn each(&mut self, word: Word, mut body: impl FnMut(&mut Vector, usize)) {
        for index in self.start..self.length {
            if self.active(word, index) {
                body(self, index);
            }
        }
        self.start = 0;
    }
}

/// Checks that a destination with elements wider than a bit is not the mask itself.
pub(crate) fn spares_mask(word: Word, destination: Group) -> Done {
    require(!word.masked() || !destination.overlaps(Group::single(0)))
}
