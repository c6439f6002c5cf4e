//! `/proc/self/maps` of a program.

use crate::layout::Layout;
use rackwright_memory::{GuestMemory, Protection, PAGE_BYTES};
use std::fmt::Write;

/// A line for each range of pages with the same protection, as Linux writes it.
pub(crate) fn text(layout: &Layout, memory: &GuestMemory) -> String {
    let mut text = String::new();
    let mut start = 0;
    while start < memory.end() {
        let protection = memory.protection(start);
        let mut end = start + PAGE_BYTES;
        while end < memory.end() && memory.protection(end) == protection && !layout.begins_at(end) {
            end += PAGE_BYTES;
        }
        if protection != Protection::NONE {
            line(&mut text, start, end, protection, layout.name_of(start));
        }
        start = end;
    }
    text
}

/// The column of a range's name in its line.
const NAME_COLUMN: usize = 73;

fn line(text: &mut String, start: u64, end: u64, protection: Protection, name: &str) {
    let letter = |access, letter| if protection.allows(access) { letter } else { '-' };
    let read = letter(Protection::READ, 'r');
    let write = letter(Protection::WRITE, 'w');
    let execute = letter(Protection::EXECUTE, 'x');
    let range = format!("{start:08x}-{end:08x} {read}{write}{execute}p 00000000 00:00 0");
    // Writing to a string does not fail.
    let _ = if name.is_empty() {
        writeln!(text, "{range} ")
    } else {
        writeln!(text, "{range:<NAME_COLUMN$}{name}")
    };
}
