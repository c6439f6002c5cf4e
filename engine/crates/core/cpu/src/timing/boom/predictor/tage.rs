//! TAGE: six tables, each indexed with a longer history of outcomes than the one before. The longest that knows a branch provides
//! its direction.

use super::history::{Folded, History};
use rackwright_state::{state, Pass, State, StateError};

const TABLES: usize = 6;
/// Rows of a table, of four places each, and the position of the first of them.
const ROWS: [usize; TABLES] = [128, 128, 256, 256, 128, 128];
const FIRST: [usize; TABLES] = [0, 128, 256, 512, 768, 896];
/// Rows of all tables in one bank.
const BANK: usize = 1024;
const TAG_BITS: [u32; TABLES] = [7, 7, 8, 8, 9, 9];

/// An entry is its tag, a mark for "valid", a counter of three bits and two of usefulness.
#[derive(Clone, Copy, Default)]
struct Entry(u16);

const VALID: u16 = 1 << 9;
const KEY: u16 = (VALID << 1) - 1;

impl Entry {
    fn new(key: u16, counter: u16, useful: u16) -> Entry {
        Entry(key | counter << 10 | useful << 13)
    }

    #[inline(always)]
    fn key(self) -> u16 {
        self.0 & KEY
    }

    /// Taken from four on.
    #[inline(always)]
    fn counter(self) -> u16 {
        self.0 >> 10 & 7
    }

    #[inline(always)]
    fn useful(self) -> u16 {
        self.0 >> 13
    }

    fn set_useful(&mut self, useful: u16) {
        self.0 = self.0 & !(3 << 13) | useful << 13;
    }
}

/// The entries of the tables for a branch.
pub(super) struct Found {
    pub(super) taken: bool,
    /// The prediction of the next shorter history.
    other: bool,
    /// The table that provides the direction, and one more: zero when none does.
    provider: usize,
    /// The position of its entry in each table, and its tag.
    places: [(u16, u16); TABLES],
}

pub(super) struct Tage {
    entries: Box<[Entry; 2 * BANK * 4]>,
    /// Selects the table for a new branch, without randomness.
    register: u8,
}

impl Tage {
    pub(super) fn new() -> Tage {
        Tage {
            entries: Box::new([Entry::default(); 2 * BANK * 4]),
            register: 1,
        }
    }

    /// Looks up a branch for which the bimodal table predicts `base`.
    #[inline(always)]
    pub(super) fn look_up(&self, site: u64, history: &History, base: bool) -> Found {
        let places = places(site, &history.folded);
        let mut found = Found {
            taken: base,
            other: base,
            provider: 0,
            places,
        };
        // The tables with an entry for a branch are as hard to predict as the branch itself: all tables are read before
        // a decision.
        let mut known = 0u32;
        let mut likely = 0u32;
        let mut weak = 0u32;
        for (table, &(place, key)) in places.iter().enumerate() {
            let entry = self.entries[usize::from(place) % (2 * BANK * 4)];
            known |= u32::from(entry.key() == key) << table;
            likely |= u32::from(entry.counter() >= 4) << table;
            weak |= u32::from(matches!(entry.counter(), 3 | 4)) << table;
        }
        if known != 0 {
            let table = known.ilog2();
            let shorter = known ^ 1 << table;
            found.other = (shorter.checked_ilog2()).map_or(base, |table| likely >> table & 1 != 0);
            let follows = weak >> table & 1 != 0;
            found.taken = if follows {
                found.other
            } else {
                likely >> table & 1 != 0
            };
            found.provider = table as usize + 1;
        }
        found
    }

    #[inline(always)]
    fn entry(&mut self, found: &Found, table: usize) -> &mut Entry {
        &mut self.entries[usize::from(found.places[table].0) % (2 * BANK * 4)]
    }

    /// Learns the outcome of a branch that was looked up, and whether its prediction was wrong.
    #[inline(always)]
    pub(super) fn learn(&mut self, found: &Found, taken: bool, wrong: bool) {
        if let Some(table) = found.provider.checked_sub(1) {
            let entry = self.entry(found, table);
            let counter = entry.counter();
            let counter = if taken {
                (counter + 1).min(7)
            } else {
                counter.saturating_sub(1)
            };
            let useful = match (found.other != found.taken, wrong) {
                (false, _) => entry.useful(),
                (true, true) => entry.useful().saturating_sub(1),
                (true, false) => (entry.useful() + 1).min(3),
            };
            *entry = Entry::new(entry.key(), counter, useful);
        }
        if wrong {
            self.allocate(found, taken);
        }
    }

    /// Allocates an entry with a longer history for a mispredicted branch, or makes room for one.
    #[cold]
    fn allocate(&mut self, found: &Found, taken: bool) {
        let bit = (self.register ^ self.register >> 1) & 1;
        self.register = self.register >> 1 | bit << 5;
        let mut free = 0u8;
        for table in found.provider..TABLES {
            let key = found.places[table].1;
            let entry = *self.entry(found, table);
            free |= u8::from(entry.key() != key && entry.useful() == 0) << table;
        }
        let chosen = if free & self.register != 0 {
            free & self.register
        } else {
            free
        };
        if chosen != 0 {
            let table = chosen.trailing_zeros() as usize;
            let key = found.places[table].1;
            *self.entry(found, table) = Entry::new(key, if taken { 4 } else { 3 }, 0);
        } else if found.provider > 0 {
            for table in found.provider..TABLES {
                self.entry(found, table).set_useful(0);
            }
        }
    }
}

/// The position of a branch in each table, and its tag.
#[inline(always)]
fn places(site: u64, folded: &Folded) -> [(u16, u16); TABLES] {
    // The highest bits that any table uses are those of tags.
    let chunk = (site >> 4) as u32;
    let recent = folded.latest as u32;
    let middle = recent ^ recent >> 8;
    let [index32, tag32, index64, tag64] = folded.long();
    let hashes = [
        (recent & 0x3, recent & 0x3),
        (recent & 0xf, recent & 0xf),
        (recent, recent),
        (middle, middle),
        (index32, tag32),
        (index64, tag64),
    ];
    let bank = (site >> 3) as usize % 2 * BANK;
    let within = (site >> 1) as usize % 4;
    let mut places = [(0, 0); TABLES];
    for (table, (index, tag)) in hashes.into_iter().enumerate() {
        let row = (chunk ^ index) as usize % ROWS[table];
        let tag = (chunk >> ROWS[table].ilog2() ^ tag) & ((1 << TAG_BITS[table]) - 1);
        let place = (bank + FIRST[table] + row) * 4 + within;
        places[table] = (place as u16, tag as u16 | VALID);
    }
    places
}

impl State for Entry {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.0.pass(by)
    }
}

state!(Tage { entries, register });
