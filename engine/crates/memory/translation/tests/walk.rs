//! Walks through tables that are made here, entry by entry.

use proptest::prelude::*;
use rackwright_translation::{bit, PageTables};
use std::collections::BTreeMap;

const PAGE: u64 = 4096;
const OF_PAGE: u64 = bit::VALID | bit::READ | bit::WRITE | bit::ACCESSED | bit::DIRTY;

/// Page tables of `levels` levels, and their entries by their places.
struct Tables {
    levels: u32,
    entries: BTreeMap<u64, u64>,
    next: u64,
}

impl Tables {
    fn new(levels: u32) -> Tables {
        let next = 0x8_0000 * PAGE;
        Tables {
            levels,
            entries: BTreeMap::new(),
            next,
        }
    }

    fn satp(&self) -> u64 {
        (u64::from(self.levels + 5) << 60) | 0x8_0000
    }

    /// Writes the `entry` of `address` in a table of `level`, and the tables that lead there.
    fn set(&mut self, address: u64, level: u32, entry: u64) {
        let mut table = 0x8_0000 * PAGE;
        for above in (level + 1..self.levels).rev() {
            let place = table + 8 * (address >> (12 + 9 * above) & 511);
            let next = &mut self.next;
            let found = *self.entries.entry(place).or_insert_with(|| {
                *next += PAGE;
                ((*next / PAGE) << 10) | bit::VALID
            });
            table = (found >> 10) * PAGE;
        }
        let place = table + 8 * (address >> (12 + 9 * level) & 511);
        self.entries.insert(place, entry);
    }

    fn physical(&self, address: u64) -> Option<u64> {
        let read = |place| Ok::<_, ()>(self.entries.get(&place).copied().unwrap_or(0));
        let tables = PageTables::of(self.satp()).unwrap();
        tables.walk(address, read).unwrap().physical()
    }
}

fn page_at(address: u64) -> u64 {
    ((address / PAGE) << 10) | OF_PAGE
}

#[test]
fn modes_without_tables_have_none() {
    for mode in (0..8).chain(11..16) {
        assert_eq!(PageTables::of((mode << 60) | 1), None);
    }
}

#[test]
fn an_address_is_canonical_when_its_unused_bits_repeat_the_highest_used_one() {
    for (mode, bits) in [(8, 39), (9, 48), (10, 57)] {
        let tables = PageTables::of(mode << 60).unwrap();
        let half = 1 << (bits - 1);
        for address in [0, half - 1, 0u64.wrapping_sub(half), u64::MAX] {
            assert!(tables.is_canonical(address), "{address:#x} of {bits} bits");
        }
        for address in [half, half << 1, 0u64.wrapping_sub(half) - 1] {
            assert!(!tables.is_canonical(address), "{address:#x} of {bits} bits");
        }
    }
}

#[test]
fn a_large_page_lies_at_a_multiple_of_its_size() {
    let mut tables = Tables::new(3);
    tables.set(0x4000_0000, 2, page_at(0x8000_0000));
    tables.set(0x20_0000, 1, page_at(0x4020_0000));
    tables.set(0x40_0000, 1, page_at(0x4020_1000));
    assert_eq!(tables.physical(0x4765_4321), Some(0x8765_4321));
    assert_eq!(tables.physical(0x21_2345), Some(0x4021_2345));
    assert_eq!(tables.physical(0x40_0000), None);
}

#[test]
fn entries_that_mean_nothing_lead_nowhere() {
    let page = page_at(0x1234_5000);
    let table = page & !(OF_PAGE & !bit::VALID);
    let meaningless = [
        page & !bit::VALID,
        page & !bit::READ,
        page & !bit::READ | bit::EXECUTE,
        page | 1 << 54,
        page | 1 << 63,
        table,
        table | bit::USER,
        table | bit::ACCESSED,
        table | bit::DIRTY,
    ];
    for entry in meaningless {
        for level in 0..2 {
            let mut tables = Tables::new(4);
            tables.set(0, level, entry);
            assert_eq!(tables.physical(0), None, "{entry:#x} in level {level}");
        }
    }
}

#[test]
fn what_can_not_be_read_ends_the_walk() {
    let tables = PageTables::of((8 << 60) | 0x8_0000).unwrap();
    assert_eq!(tables.walk(8 << 30, Err::<u64, u64>), Err(0x8000_0040));
}

proptest! {
    #[test]
    fn each_page_is_found_where_it_was_put(
        levels in 3u32..=5,
        pages in prop::collection::btree_map(0u64..1 << 26, 0u64..1 << 44, 1..20),
        offset in 0..PAGE,
    ) {
        let mut tables = Tables::new(levels);
        for (&page, &frame) in &pages {
            tables.set(page * PAGE, 0, (frame << 10) | OF_PAGE);
        }
        for (&page, &frame) in &pages {
            prop_assert_eq!(tables.physical(page * PAGE + offset), Some(frame * PAGE + offset));
        }
    }
}
