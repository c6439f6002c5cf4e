//! Offsets of members in the structures of a kernel, from its own type information (BTF: Documentation/bpf/btf.rst of
//! the kernel).

use std::collections::HashMap;

/// A table of types.
pub(crate) struct Types<'a> {
    bytes: &'a [u8],
    strings: &'a [u8],
    /// The position of each type; the type 0 is `void`.
    places: Vec<usize>,
    structures: HashMap<&'a [u8], u32>,
}

const MAGIC: [u8; 4] = [0x9f, 0xeb, 1, 0];
const HEAD: usize = 12;

mod kind {
    pub(super) const INTEGER: u32 = 1;
    pub(super) const ARRAY: u32 = 3;
    pub(super) const STRUCTURE: u32 = 4;
    pub(super) const UNION: u32 = 5;
    pub(super) const ENUMERATION: u32 = 6;
    pub(super) const TYPEDEF: u32 = 8;
    pub(super) const RESTRICT: u32 = 11;
    pub(super) const PROTOTYPE: u32 = 13;
    pub(super) const VARIABLE: u32 = 14;
    pub(super) const SECTION: u32 = 15;
    pub(super) const DECLARATION_TAG: u32 = 17;
    pub(super) const TYPE_TAG: u32 = 18;
    pub(super) const LONG_ENUMERATION: u32 = 19;
}

struct Head {
    name: u32,
    kind: u32,
    count: usize,
    bitfields: bool,
    target: u32,
}

impl<'a> Types<'a> {
    /// The types found in the image of a kernel.
    pub(crate) fn within(image: &'a [u8]) -> Option<Types<'a>> {
        let mut at = 0;
        while let Some(found) = image[at..].windows(4).position(|four| four == MAGIC) {
            at += found;
            if let Some(types) = Types::at(&image[at..]) {
                return Some(types);
            }
            at += 4;
        }
        None
    }

    fn at(table: &'a [u8]) -> Option<Types<'a>> {
        let head: Vec<usize> = (1..6)
            .map(|index| word(table, 4 * index).map(|word| word as usize))
            .collect::<Option<_>>()?;
        let [length, types, type_bytes, strings, string_bytes] = head[..] else {
            return None;
        };
        let bytes = table.get(length + types..)?.get(..type_bytes)?;
        let strings = table.get(length + strings..)?.get(..string_bytes)?;
        let mut found = Types {
            bytes,
            strings,
            places: vec![0],
            structures: HashMap::new(),
        };
        let mut place = 0;
        while place < bytes.len() {
            let head = found.head(place)?;
            let name = found.name(head.name)?;
            if matches!(head.kind, kind::STRUCTURE | kind::UNION) && !name.is_empty() {
                found.structures.insert(name, found.places.len() as u32);
            }
            found.places.push(place);
            place += HEAD + extra(&head);
        }
        Some(found)
    }

    /// Bytes from the start of `structure` to a member; `path` leads through nested structures.
    pub(crate) fn offset(&self, structure: &str, path: &[&str]) -> Option<u64> {
        let mut number = *self.structures.get(structure.as_bytes())?;
        let mut bits = 0;
        for name in path {
            let (offset, target) = self.member(number, name.as_bytes())?;
            bits += offset;
            number = target;
        }
        Some(u64::from(bits / 8))
    }

    /// Offset in bits and type of a member, which may be one of a member without a name.
    fn member(&self, structure: u32, name: &[u8]) -> Option<(u32, u32)> {
        let place = *self.places.get(self.plain(structure)? as usize)?;
        let head = self.head(place)?;
        if !matches!(head.kind, kind::STRUCTURE | kind::UNION) {
            return None;
        }
        for index in 0..head.count {
            let at = place + HEAD + 12 * index;
            let (named, target) = (word(self.bytes, at)?, word(self.bytes, at + 4)?);
            let mut offset = word(self.bytes, at + 8)?;
            if head.bitfields {
                offset &= 0xff_ffff;
            }
            let its_name = self.name(named)?;
            if its_name == name {
                return Some((offset, target));
            }
            if its_name.is_empty() {
                if let Some((inner, found)) = self.member(target, name) {
                    return Some((offset + inner, found));
                }
            }
        }
        None
    }

    /// The type without its names and qualifiers.
    fn plain(&self, mut number: u32) -> Option<u32> {
        loop {
            let head = self.head(*self.places.get(number as usize)?)?;
            match head.kind {
                kind::TYPEDEF..=kind::RESTRICT | kind::TYPE_TAG => number = head.target,
                _ => return Some(number),
            }
        }
    }

    fn head(&self, place: usize) -> Option<Head> {
        let info = word(self.bytes, place + 4)?;
        Some(Head {
            name: word(self.bytes, place)?,
            kind: info >> 24 & 31,
            count: (info & 0xffff) as usize,
            bitfields: info >> 31 != 0,
            target: word(self.bytes, place + 8)?,
        })
    }

    fn name(&self, at: u32) -> Option<&'a [u8]> {
        self.strings.get(at as usize..)?.split(|byte| *byte == 0).next()
    }
}

/// Bytes that follow the head of a type.
fn extra(head: &Head) -> usize {
    match head.kind {
        kind::INTEGER | kind::VARIABLE | kind::DECLARATION_TAG => 4,
        kind::ARRAY => 12,
        kind::STRUCTURE | kind::UNION | kind::SECTION | kind::LONG_ENUMERATION => 12 * head.count,
        kind::ENUMERATION | kind::PROTOTYPE => 8 * head.count,
        _ => 0,
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*four))
}
