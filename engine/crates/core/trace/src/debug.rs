//! The debug information (DWARF) of a file's code: which functions are inlined at which addresses, and their positions
//! in the source.

use crate::elf::Elf;
use gimli::{
    AttributeValue, DebuggingInformationEntry, Dwarf, EndianSlice, LittleEndian, SectionId, Unit, UnitOffset,
};
use object::{Object, ObjectSection};
use std::collections::HashMap;
use std::convert::Infallible;

type Reader<'data> = EndianSlice<'data, LittleEndian>;
type Entry<'unit, 'data> = DebuggingInformationEntry<'unit, 'unit, Reader<'data>>;

/// A place in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The file, as passed to the compiler.
    pub file: String,
    /// The line, from 1 on.
    pub line: u32,
}

/// Code of inlined functions: a chain of them, each inlined into the one before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Inlined {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Places in [`Details::functions`].
    pub(crate) chain: Vec<usize>,
}

/// The debug information of a file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Details {
    /// Names in the linker's form, and the positions of their declarations.
    pub(crate) functions: Vec<(String, Option<Source>)>,
    /// In the order of addresses; none overlaps another.
    pub(crate) inlined: Vec<Inlined>,
    /// The declarations of the functions that begin at these addresses.
    pub(crate) sources: HashMap<u64, Source>,
}

/// A range of code of one inlined function, at the nesting depth `level`.
#[derive(Clone, Copy)]
struct Part {
    start: u64,
    end: u64,
    level: usize,
    function: usize,
}

/// Maximum number of references followed from an entry to its name.
const HOPS: usize = 8;

impl Details {
    /// The information in the sections of `elf`; empty if there are none, or if they cannot be read.
    pub(crate) fn of_elf(elf: &Elf<'_>) -> Details {
        let load = |id: SectionId| -> Result<Reader<'_>, Infallible> {
            let section = elf.section_by_name(id.name());
            let content = section.and_then(|section| section.data().ok());
            Ok(EndianSlice::new(content.unwrap_or_default(), LittleEndian))
        };
        let Ok(dwarf) = Dwarf::load(load);
        let mut made = Details::default();
        let mut parts = Vec::new();
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            if let Ok(unit) = dwarf.unit(header) {
                made.read(&dwarf, &unit, &mut parts);
            }
        }
        made.inlined = disjoint(parts);
        made
    }

    /// The code around `address` that has the same functions inlined: first address, first one after it, and the functions.
    pub(crate) fn around(&self, address: u64) -> (u64, u64, &[usize]) {
        let after = self.inlined.partition_point(|part| part.start <= address);
        let next = self.inlined.get(after).map_or(u64::MAX, |part| part.start);
        match after.checked_sub(1).map(|index| &self.inlined[index]) {
            Some(part) if address < part.end => (part.start, part.end, &part.chain),
            before => (before.map_or(0, |part| part.end), next, &[]),
        }
    }

    /// With other addresses, for those known to `place`.
    pub(crate) fn moved(&mut self, place: impl Fn(u64) -> Option<u64>) {
        for part in &mut self.inlined {
            let bytes = part.end - part.start;
            part.start = place(part.start).unwrap_or(part.start);
            part.end = part.start + bytes;
        }
        self.inlined.sort_by_key(|part| part.start);
        self.sources = std::mem::take(&mut self.sources)
            .into_iter()
            .map(|(address, source)| (place(address).unwrap_or(address), source))
            .collect();
    }

    fn read<'data>(
        &mut self,
        dwarf: &Dwarf<Reader<'data>>,
        unit: &Unit<Reader<'data>>,
        parts: &mut Vec<Part>,
    ) {
        let mut known = HashMap::new();
        // The depths of the entries into which the next one may be inlined.
        let mut above: Vec<isize> = Vec::new();
        let mut depth = 0;
        let mut entries = unit.entries();
        while let Ok(Some((change, entry))) = entries.next_dfs() {
            depth += change;
            above.retain(|outer| *outer < depth);
            match entry.tag() {
                gimli::DW_TAG_subprogram => self.declare(dwarf, unit, entry),
                gimli::DW_TAG_inlined_subroutine => {
                    let origin = entry.attr_value(gimli::DW_AT_abstract_origin);
                    let Ok(Some(AttributeValue::UnitRef(origin))) = origin else {
                        continue;
                    };
                    let number = *known
                        .entry(origin)
                        .or_insert_with(|| self.add(dwarf, unit, origin));
                    let Some(function) = number else { continue };
                    let level = above.len();
                    above.push(depth);
                    let part = |(start, end)| Part {
                        start,
                        end,
                        level,
                        function,
                    };
                    parts.extend(ranges(dwarf, unit, entry).into_iter().map(part));
                }
                _ => {}
            }
        }
    }

    /// Records the declaration of a function with code of its own.
    fn declare<'data>(
        &mut self,
        dwarf: &Dwarf<Reader<'data>>,
        unit: &Unit<Reader<'data>>,
        entry: &Entry<'_, 'data>,
    ) {
        let Some((start, _)) = ranges(dwarf, unit, entry).first().copied() else {
            return;
        };
        if let (_, Some(source)) = described(dwarf, unit, entry.offset()) {
            self.sources.insert(start, source);
        }
    }

    /// The number of the function described by the entry at `offset`, if it has a name.
    fn add<'data>(
        &mut self,
        dwarf: &Dwarf<Reader<'data>>,
        unit: &Unit<Reader<'data>>,
        offset: UnitOffset,
    ) -> Option<usize> {
        let (name, source) = described(dwarf, unit, offset);
        self.functions.push((name?, source));
        Some(self.functions.len() - 1)
    }
}

/// The address ranges of an entry's code. Code omitted by the linker begins at 0.
fn ranges<'data>(
    dwarf: &Dwarf<Reader<'data>>,
    unit: &Unit<Reader<'data>>,
    entry: &Entry<'_, 'data>,
) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let Ok(mut ranges) = dwarf.die_ranges(unit, entry) else {
        return found;
    };
    while let Ok(Some(range)) = ranges.next() {
        if range.begin > 0 && range.begin < range.end {
            found.push((range.begin, range.end));
        }
    }
    found
}

/// Name and declaration of a function, which may be in entries that its own one refers to.
fn described<'data>(
    dwarf: &Dwarf<Reader<'data>>,
    unit: &Unit<Reader<'data>>,
    mut offset: UnitOffset,
) -> (Option<String>, Option<Source>) {
    let (mut linked, mut plain, mut file, mut line) = (None, None, None, None);
    for _ in 0..HOPS {
        let Ok(entry) = unit.entry(offset) else { break };
        let text = |name| {
            let value = entry.attr_value(name).ok().flatten()?;
            let text = dwarf.attr_string(unit, value).ok()?;
            Some(text.to_string_lossy().into_owned())
        };
        let number = |name| entry.attr(name).ok().flatten()?.udata_value();
        linked = linked.or_else(|| text(gimli::DW_AT_linkage_name));
        plain = plain.or_else(|| text(gimli::DW_AT_name));
        file = file.or_else(|| number(gimli::DW_AT_decl_file));
        line = line.or_else(|| number(gimli::DW_AT_decl_line));
        let refers = |name| match entry.attr_value(name) {
            Ok(Some(AttributeValue::UnitRef(at))) => Some(at),
            _ => None,
        };
        let next = refers(gimli::DW_AT_abstract_origin).or_else(|| refers(gimli::DW_AT_specification));
        let Some(next) = next else { break };
        offset = next;
    }
    let file = file.and_then(|number| path(dwarf, unit, number));
    let line = line.and_then(|line| u32::try_from(line).ok());
    (
        linked.or(plain),
        file.zip(line).map(|(file, line)| Source { file, line }),
    )
}

/// The path of a file by its number in a unit.
fn path<'data>(dwarf: &Dwarf<Reader<'data>>, unit: &Unit<Reader<'data>>, number: u64) -> Option<String> {
    let header = unit.line_program.as_ref()?.header();
    let file = header.file(number)?;
    let text = |value| {
        Some(
            dwarf
                .attr_string(unit, value)
                .ok()?
                .to_string_lossy()
                .into_owned(),
        )
    };
    let name = text(file.path_name())?;
    let folder = file.directory(header).and_then(text);
    Some(match folder {
        Some(folder) if !name.starts_with('/') && !folder.is_empty() => format!("{folder}/{name}"),
        _ => name,
    })
}

/// The ranges between all the ends of `parts`, each with the functions that it belongs to, outermost first.
fn disjoint(mut parts: Vec<Part>) -> Vec<Inlined> {
    parts.sort_by_key(|part| (part.start, part.level));
    let mut ends: Vec<u64> = parts.iter().flat_map(|part| [part.start, part.end]).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut made: Vec<Inlined> = Vec::new();
    let mut active: Vec<Part> = Vec::new();
    let mut waiting = parts.into_iter().peekable();
    for pair in ends.windows(2) {
        let (start, end) = (pair[0], pair[1]);
        active.retain(|part| part.end > start);
        while let Some(part) = waiting.next_if(|part| part.start == start) {
            active.push(part);
        }
        active.sort_by_key(|part| part.level);
        let chain: Vec<usize> = active.iter().map(|part| part.function).collect();
        match made.last_mut() {
            _ if chain.is_empty() => {}
            Some(last) if last.end == start && last.chain == chain => last.end = end,
            _ => made.push(Inlined { start, end, chain }),
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(start: u64, end: u64, level: usize, function: usize) -> Part {
        Part {
            start,
            end,
            level,
            function,
        }
    }

    #[test]
    fn nested_ranges_become_disjoint_ones_with_chains() {
        let made = disjoint(vec![part(14, 16, 1, 1), part(10, 20, 0, 0), part(30, 34, 0, 2)]);
        let shown: Vec<(u64, u64, &[usize])> = made
            .iter()
            .map(|each| (each.start, each.end, each.chain.as_slice()))
            .collect();
        assert_eq!(
            shown,
            [
                (10, 14, &[0][..]),
                (14, 16, &[0, 1]),
                (16, 20, &[0]),
                (30, 34, &[2])
            ]
        );
        let debug = Details {
            inlined: made,
            ..Details::default()
        };
        assert_eq!(debug.around(15), (14, 16, &[0, 1][..]));
        assert_eq!(debug.around(25), (20, 30, &[][..]));
        assert_eq!(debug.around(3), (0, 10, &[][..]));
        assert_eq!(debug.around(99), (34, u64::MAX, &[][..]));
    }

    #[test]
    fn neighbours_with_the_same_functions_are_one() {
        let made = disjoint(vec![part(4, 8, 0, 7), part(8, 12, 0, 7)]);
        assert_eq!(
            made,
            [Inlined {
                start: 4,
                end: 12,
                chain: vec![7]
            }]
        );
    }
}
