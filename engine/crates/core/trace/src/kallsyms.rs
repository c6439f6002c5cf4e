//! The symbols of a Linux kernel, from the tables in its image (scripts/kallsyms.c of Linux 6.12): names, compressed by
//! 256 tokens, an offset into them for each 256 symbols, the tokens, the position of each token, and addresses.

use crate::symbols::Symbols;

/// Symbols for each marker.
const STEP: usize = 256;

/// A kernel's own symbols.
pub(crate) struct KernelSymbols {
    pub(crate) functions: Symbols,
    /// The address that it is linked to run at.
    pub(crate) base: u64,
    /// Address of the list of its loadable modules, if it has symbols of data (`CONFIG_KALLSYMS_ALL`).
    pub(crate) modules: Option<u64>,
}

/// The symbols of the kernel in `image`.
pub(crate) fn kernel_symbols(image: &[u8]) -> Option<KernelSymbols> {
    // The digits are tokens of one letter each, which no other table has.
    let digits: Vec<u8> = (b'0'..=b'9').flat_map(|digit| [digit, 0]).collect();
    let found = image
        .windows(digits.len())
        .enumerate()
        .filter(|(_, window)| *window == digits)
        .find_map(|(place, _)| tables(image, place));
    let tables = found?;
    let base = u64::from_le_bytes(*image.get(tables.base..)?.first_chunk()?);
    let mut named = Vec::new();
    let mut end = base;
    let mut modules = None;
    let mut at = tables.names;
    for index in 0..tables.count {
        let (letters, next) = entry(image, at)?;
        at = next;
        let address = base + u64::from(half_word(image, tables.offsets + 4 * index)?);
        let name: Vec<u8> = letters
            .iter()
            .flat_map(|token| tables.tokens[usize::from(*token)])
            .copied()
            .collect();
        let (kind, name) = name.split_first()?;
        if matches!(kind, b'T' | b't' | b'W' | b'w') {
            named.push((address, String::from_utf8_lossy(name).into_owned()));
            end = address + 1;
        } else if name == b"modules" {
            modules = Some(address);
        }
    }
    Some(KernelSymbols {
        functions: Symbols::of_addresses(named, end),
        base,
        modules,
    })
}

struct Tables<'a> {
    names: usize,
    count: usize,
    tokens: Vec<&'a [u8]>,
    offsets: usize,
    base: usize,
}

/// The tables around the tokens for digits at `digits`, if they fit together.
fn tables(image: &[u8], digits: usize) -> Option<Tables<'_>> {
    let index = (digits..digits + 4096)
        .map(|at| at.next_multiple_of(8))
        .find(|at| is_index(image, *at))?;
    let begins: Vec<usize> = begins(image, index)?;
    let table = digits.checked_sub(begins[usize::from(b'0')])?;
    let token = |begin: &usize| image.get(table + begin..)?.split(|byte| *byte == 0).next();
    let tokens = begins.iter().map(token).collect::<Option<Vec<_>>>()?;
    let (names, count) = names(image, table)?;
    let offsets = (index + 2 * STEP).next_multiple_of(8);
    Some(Tables {
        names,
        count,
        tokens,
        offsets,
        base: (offsets + 4 * count).next_multiple_of(8),
    })
}

fn begins(image: &[u8], index: usize) -> Option<Vec<usize>> {
    let entries = image.get(index..index + 2 * STEP)?.chunks_exact(2);
    Some(
        entries
            .map(|two| usize::from(u16::from_le_bytes([two[0], two[1]])))
            .collect(),
    )
}

fn is_index(image: &[u8], at: usize) -> bool {
    begins(image, at).is_some_and(|begins| begins[0] == 0 && begins.windows(2).all(|pair| pair[0] < pair[1]))
}

/// The start and the number of the names, which precede the markers, which precede the tokens at `table`.
fn names(image: &[u8], table: usize) -> Option<(usize, usize)> {
    let mut at = table.checked_sub(4)?;
    while half_word(image, at)? == 0 {
        at -= 4;
    }
    let mut markers = Vec::new();
    loop {
        let marker = half_word(image, at)?;
        markers.push(marker as usize);
        if marker == 0 {
            break;
        }
        at = at.checked_sub(4)?;
    }
    markers.reverse();
    let last = *markers.last()?;
    let earliest = at.checked_sub(last + 64 * STEP)?;
    let candidates = (earliest / 8 * 8..=at - last).step_by(8);
    candidates
        .filter_map(|start| Some((start, half_word(image, start.checked_sub(8)?)? as usize)))
        .find(|(start, count)| count.div_ceil(STEP) == markers.len() && fits(image, *start, &markers))
}

/// Whether the second marker is right for names that begin at `start`.
fn fits(image: &[u8], start: usize, markers: &[usize]) -> bool {
    let mut at = start;
    for _ in 0..STEP {
        match entry(image, at) {
            Some((_, next)) => at = next,
            None => return false,
        }
    }
    markers.get(1).is_some_and(|second| at - start == *second)
}

/// The tokens of a name, and the position of the next name.
fn entry(image: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let first = usize::from(*image.get(at)?);
    let (length, begin) = if first & 0x80 == 0 {
        (first, at + 1)
    } else {
        (first & 0x7f | usize::from(*image.get(at + 1)?) << 7, at + 2)
    };
    Some((image.get(begin..begin + length)?, begin + length))
}

fn half_word(image: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*image.get(at..)?.first_chunk()?))
}
