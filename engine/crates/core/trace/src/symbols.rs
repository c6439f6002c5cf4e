use crate::debug::Details;
use crate::elf::Elf;
use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindSection};
use object::{
    Endianness, Object, ObjectSection, ObjectSegment, ObjectSymbol, SectionKind, SegmentFlags, SymbolFlags,
    SymbolKind,
};
use std::ops::Range;

/// A function in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Its first address.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
    /// Its name as the linker knows it.
    pub name: String,
}

impl Symbol {
    /// Whether the function is known by its address only.
    fn learned(&self) -> bool {
        self.name.starts_with('@')
    }
}

/// Why a file has no symbols.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SymbolError {
    /// It is not an ELF file.
    #[error("not an ELF file that symbols can be read from: {0}")]
    Malformed(String),
}

/// The functions of a module by address.
#[derive(Clone, Default, Debug)]
pub struct Symbols {
    /// In the order of addresses; none overlaps another.
    symbols: Vec<Symbol>,
    /// The difference between addresses of the file and those here, by ranges of the latter.
    shifts: Vec<(Range<u64>, u64)>,
    /// The ranges of the file's code; empty if unknown.
    code: Vec<Range<u64>>,
    pub(crate) debug: Details,
}

/// A symbol, and how well its name describes the function.
struct Candidate {
    symbol: Symbol,
    rank: (u8, usize),
}

impl Symbols {
    /// The functions of an ELF file loaded `base` bytes above the addresses in it.
    ///
    /// They come from its symbol table and from the one for dynamic linking. Functions without a symbol, as in a
    /// stripped file, are named by their address if the table for unwinding (`.eh_frame`) has them.
    ///
    /// # Errors
    /// [`SymbolError`] if it is not an ELF file.
    pub fn of_elf(file: &[u8], base: u64) -> Result<Symbols, SymbolError> {
        let elf = parse(file)?;
        let whole = (0..u64::MAX, base.wrapping_neg());
        Ok(Symbols::of_parsed(&elf).moved(vec![whole]))
    }

    /// The same by the place in the file instead of the address.
    ///
    /// # Errors
    /// [`SymbolError`] if it is not an ELF file.
    pub(crate) fn of_mapped_elf(file: &[u8]) -> Result<Symbols, SymbolError> {
        let elf = parse(file)?;
        let shift = |segment: object::read::elf::ElfSegment64<'_, '_, Endianness>| {
            let (offset, bytes) = segment.file_range();
            (offset..offset + bytes, segment.address().wrapping_sub(offset))
        };
        Ok(Symbols::of_parsed(&elf).moved(elf.segments().map(shift).collect()))
    }

    fn of_parsed(elf: &Elf<'_>) -> Symbols {
        let mut found: Vec<Candidate> = elf
            .symbols()
            .filter_map(|symbol| candidate(elf, &symbol))
            .collect();
        found.extend(elf.dynamic_symbols().filter_map(|symbol| candidate(elf, &symbol)));
        found.extend(described(elf));
        let ends: Vec<u64> = elf
            .sections()
            .filter(|section| section.kind() == SectionKind::Text)
            .map(|section| section.address() + section.size())
            .collect();
        Symbols {
            code: elf.segments().filter_map(|segment| code_of(&segment)).collect(),
            debug: Details::of_elf(elf),
            ..Symbols::settle(found, &ends)
        }
    }

    /// With the addresses shifted by `shifts`.
    fn moved(mut self, shifts: Vec<(Range<u64>, u64)>) -> Symbols {
        let place = |address: u64| {
            let mut places = shifts
                .iter()
                .map(|(range, shift)| (range, address.wrapping_sub(*shift)));
            places
                .find(|(range, place)| range.contains(place))
                .map(|(_, place)| place)
        };
        for symbol in &mut self.symbols {
            let bytes = symbol.end - symbol.start;
            symbol.start = place(symbol.start).unwrap_or(symbol.start);
            symbol.end = symbol.start + bytes;
        }
        self.symbols.sort_by_key(|symbol| symbol.start);
        for range in &mut self.code {
            if let Some(start) = place(range.start) {
                *range = start..start + (range.end - range.start);
            }
        }
        self.debug.moved(place);
        self.shifts = shifts;
        self
    }

    /// Records that a function begins at `address`, where there is no symbol, because it was called: a function without
    /// a name. It extends to the next one.
    pub(crate) fn learn(&mut self, address: u64) {
        let after = self.symbols.partition_point(|symbol| symbol.start <= address);
        let end = self.symbols.get(after).map_or(u64::MAX, |symbol| symbol.start);
        if let Some(before) = after.checked_sub(1).map(|index| &mut self.symbols[index]) {
            if before.end > address {
                before.end = address;
            }
        }
        let shift = self.shifts.iter().find(|(range, _)| range.contains(&address));
        let shown = address.wrapping_add(shift.map_or(0, |(_, shift)| *shift));
        let symbol = Symbol {
            start: address,
            end,
            name: by_address(shown),
        };
        self.symbols.insert(after, symbol);
    }

    /// Whether the function that contains `address` has no name of its own, and begins elsewhere.
    pub(crate) fn is_inside_nameless(&self, address: u64) -> bool {
        match self.find(address) {
            Ok(symbol) => symbol.learned() && symbol.start != address,
            Err(_) => true,
        }
    }

    /// Whether the file has code at `address`, as far as is known.
    pub(crate) fn has_code(&self, address: u64) -> bool {
        self.code.is_empty() || self.code.iter().any(|range| range.contains(&address))
    }

    /// Symbols by address and name, each up to the next one; the last up to `end`.
    pub fn of_addresses(mut named: Vec<(u64, String)>, end: u64) -> Symbols {
        named.sort();
        let candidate = |(start, name): (u64, String)| Candidate {
            rank: rank(0, &name),
            symbol: Symbol {
                start,
                end: start,
                name,
            },
        };
        Symbols::settle(named.into_iter().map(candidate).collect(), &[end])
    }

    /// One symbol for each address. A symbol without a size extends to the next one, or to the end of its section.
    fn settle(mut found: Vec<Candidate>, ends: &[u64]) -> Symbols {
        found.sort_by(|one, other| {
            let key = |each: &Candidate| (each.symbol.start, each.rank);
            key(one)
                .cmp(&key(other))
                .then_with(|| one.symbol.name.cmp(&other.symbol.name))
        });
        let sizes = found
            .iter()
            .fold(std::collections::HashMap::new(), |mut sizes, each| {
                let end = sizes.entry(each.symbol.start).or_insert(0);
                *end = each.symbol.end.max(*end);
                sizes
            });
        found.dedup_by_key(|each| each.symbol.start);
        let mut symbols: Vec<Symbol> = found.into_iter().map(|each| each.symbol).collect();
        for index in 0..symbols.len() {
            let start = symbols[index].start;
            let next = symbols.get(index + 1).map_or(u64::MAX, |next| next.start);
            let known = sizes[&start];
            let section = ends.iter().copied().filter(|end| *end > start).min();
            let end = if known > start {
                known
            } else {
                section.unwrap_or(next)
            };
            symbols[index].end = end.min(next);
        }
        Symbols {
            symbols,
            ..Symbols::default()
        }
    }

    /// The function that contains `address`, or the surrounding addresses without a function.
    pub fn find(&self, address: u64) -> Result<&Symbol, (u64, u64)> {
        let after = self.symbols.partition_point(|symbol| symbol.start <= address);
        let before = after.checked_sub(1).map(|index| &self.symbols[index]);
        match before {
            Some(symbol) if address < symbol.end => Ok(symbol),
            _ => Err((
                before.map_or(0, |symbol| symbol.end),
                self.symbols.get(after).map_or(u64::MAX, |symbol| symbol.start),
            )),
        }
    }

    /// The address of the function with this name.
    pub fn address_of(&self, name: &str) -> Option<u64> {
        self.iter()
            .find(|symbol| symbol.name == name)
            .map(|symbol| symbol.start)
    }

    /// All of them, in the order of addresses.
    pub fn iter(&self) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }
}

/// The addresses of a segment that may be executed.
fn code_of<'data>(segment: &impl ObjectSegment<'data>) -> Option<Range<u64>> {
    const EXECUTABLE: u32 = 1;
    let SegmentFlags::Elf { p_flags } = segment.flags() else {
        return None;
    };
    (p_flags & EXECUTABLE != 0).then(|| segment.address()..segment.address() + segment.size())
}

fn parse(file: &[u8]) -> Result<Elf<'_>, SymbolError> {
    Elf::parse(file).map_err(|error| SymbolError::Malformed(error.to_string()))
}

/// Functions by their addresses: those that can be unwound, and the stubs of calls to other files.
fn described(elf: &Elf<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut add = |start: u64, end: u64, name: String| {
        let symbol = Symbol { start, end, name };
        found.push(Candidate {
            rank: (u8::MAX, 0),
            symbol,
        });
    };
    if let Some(stubs) = elf.section_by_name(".plt") {
        let start = stubs.address();
        add(start, start + stubs.size(), "[plt]".to_string());
    }
    let Some(section) = elf.section_by_name(".eh_frame") else {
        return found;
    };
    let Ok(content) = section.data() else { return found };
    let frames = EhFrame::new(content, LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(section.address());
    let mut entries = frames.entries(&bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let Ok(entry) = partial.parse(|_, bases, offset| frames.cie_from_offset(bases, offset)) else {
            break;
        };
        let start = entry.initial_address();
        add(start, start + entry.len(), by_address(start));
    }
    found
}

/// The name of a function without a symbol.
fn by_address(address: u64) -> String {
    format!("@{address:#x}")
}

/// A symbol of code. The marks that distinguish code from data (`$x`) and labels of the compiler are excluded.
fn candidate<'data>(elf: &Elf<'data>, symbol: &impl ObjectSymbol<'data>) -> Option<Candidate> {
    const INDIRECT: u8 = 10;
    let SymbolFlags::Elf { st_info, .. } = symbol.flags() else {
        return None;
    };
    let section = elf.section_by_index(symbol.section_index()?).ok()?;
    let is_code = symbol.kind() == SymbolKind::Text
        || st_info & 15 == INDIRECT
        || (st_info & 15 == 0 && section.kind() == SectionKind::Text);
    let name = symbol.name().ok()?;
    if !is_code || name.is_empty() || name.starts_with(['$', '.']) {
        return None;
    }
    let global = u8::from(!symbol.is_global()) + u8::from(symbol.is_weak());
    Some(Candidate {
        rank: rank(global, name),
        symbol: Symbol {
            start: symbol.address(),
            end: symbol.address() + symbol.size(),
            name: name.to_string(),
        },
    })
}

/// Of several names of a function, users know the one that is seen most widely and has no decorations.
fn rank(binding: u8, name: &str) -> (u8, usize) {
    (binding, name.len() - name.trim_start_matches('_').len())
}
