use object::read::elf::{ElfFile64, FileHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolFlags, SymbolKind};

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

/// Why a file has no symbols.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SymbolError {
    /// It is no file of that kind.
    #[error("not an ELF file that symbols can be read from: {0}")]
    Malformed(String),
}

/// The functions of a module by address.
#[derive(Clone, Default, Debug)]
pub struct Symbols {
    /// In the order of addresses; none overlaps another.
    symbols: Vec<Symbol>,
}

/// A symbol as it is found, and how well its name tells what the function is.
struct Candidate {
    symbol: Symbol,
    rank: (u8, usize),
}

impl Symbols {
    /// The symbols of an ELF file that lies `base` bytes above the addresses in it: of its symbol table, or of the one for
    /// dynamic linking if it is stripped.
    ///
    /// # Errors
    /// [`SymbolError`] for what is no ELF file.
    pub fn of_elf(file: &[u8], base: u64) -> Result<Symbols, SymbolError> {
        let malformed = |error: object::Error| SymbolError::Malformed(error.to_string());
        type Header = object::elf::FileHeader64<Endianness>;
        Header::parse(file).map_err(malformed)?;
        let elf = ElfFile64::<Endianness>::parse(file).map_err(malformed)?;
        let mut found: Vec<Candidate> = elf
            .symbols()
            .filter_map(|symbol| candidate(&elf, &symbol))
            .collect();
        if found.is_empty() {
            found = elf
                .dynamic_symbols()
                .filter_map(|symbol| candidate(&elf, &symbol))
                .collect();
        }
        let ends: Vec<u64> = elf
            .sections()
            .filter(|section| section.kind() == SectionKind::Text)
            .map(|section| section.address() + section.size())
            .collect();
        let mut symbols = Symbols::settle(found, &ends);
        for symbol in &mut symbols.symbols {
            symbol.start = symbol.start.wrapping_add(base);
            symbol.end = symbol.end.wrapping_add(base);
        }
        Ok(symbols)
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

    /// One symbol for each address. One without a size goes up to the next, or to the end of its section.
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
        Symbols { symbols }
    }

    /// The function that `address` lies in, or the addresses without one around it.
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

    /// Where the function of this name begins.
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

/// A symbol of code. The marks that tell code from data (`$x`) and labels of the compiler are none.
fn candidate<'data>(
    elf: &ElfFile64<'data, Endianness>,
    symbol: &impl ObjectSymbol<'data>,
) -> Option<Candidate> {
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
