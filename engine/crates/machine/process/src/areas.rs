//! The mapped addresses of a program, and their backing.

use rackwright_memory::Protection;
use rackwright_state::{Pass, State, StateError};
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

/// A file behind a shared mapping.
#[derive(Clone, Debug)]
pub(crate) struct Backing {
    pub(crate) file: Arc<File>,
    /// The offset in the file at which the mapping begins.
    pub(crate) offset: u64,
    /// The number of its bytes, whole pages from the start, that belong to the file: without pages beyond its end.
    pub(crate) present: u64,
    /// Whether it may be written to.
    pub(crate) writable: bool,
    /// The allowed accesses to the pages of the file.
    pub(crate) protection: Protection,
}

/// The backing of a range: memory of the program's own, or a file that it shares.
pub(crate) type Kind = Option<Backing>;

/// Mapped ranges, which do not overlap.
#[derive(Clone, Default, Debug)]
pub(crate) struct Areas {
    /// End and kind, by start.
    by_start: BTreeMap<u64, (u64, Kind)>,
}

impl State for Areas {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        if self.by_start.values().any(|(_, kind)| kind.is_some()) {
            let reason = "a program that shares memory with a file cannot be saved";
            return Err(StateError::Unsaved(reason.to_string()));
        }
        let of = |(start, (end, _)): (&u64, &(u64, Kind))| (*start, *end);
        let mut ranges: Vec<(u64, u64)> = self.by_start.iter().map(of).collect();
        ranges.pass(by)?;
        let back = |(start, end)| (start, (end, None));
        self.by_start = ranges.into_iter().map(back).collect();
        Ok(())
    }
}

impl Areas {
    /// Maps a range without existing mappings.
    pub(crate) fn add(&mut self, range: Range<u64>, kind: Kind) {
        if range.is_empty() {
            return;
        }
        if kind.is_none() {
            if let Some((_, (end, None))) = self.by_start.range_mut(..range.start).next_back() {
                if *end == range.start {
                    *end = range.end;
                    return;
                }
            }
        }
        self.by_start.insert(range.start, (range.end, kind));
    }

    /// Unmaps a range; returns what was mapped there.
    pub(crate) fn remove(&mut self, range: &Range<u64>) -> Vec<(Range<u64>, Kind)> {
        let mut removed = Vec::new();
        for (area, kind) in self.overlapping(range) {
            self.by_start.remove(&area.start);
            let within = area.start.max(range.start)..area.end.min(range.end);
            self.add(area.start..within.start, kind.clone());
            self.add(within.end..area.end, behind(&kind, within.end - area.start));
            removed.push((within.clone(), behind(&kind, within.start - area.start)));
        }
        removed
    }

    /// The areas that have addresses of the range.
    pub(crate) fn overlapping(&self, range: &Range<u64>) -> Vec<(Range<u64>, Kind)> {
        let before = self.by_start.range(..range.end).rev();
        let touching = before.take_while(|(_, (end, _))| *end > range.start);
        let mut found: Vec<_> = touching
            .map(|(start, (end, kind))| (*start..*end, kind.clone()))
            .collect();
        found.reverse();
        found
    }

    /// Whether all of the range is mapped.
    pub(crate) fn cover(&self, range: &Range<u64>) -> bool {
        let mut at = range.start;
        for (area, _) in self.overlapping(range) {
            if area.start > at {
                return false;
            }
            at = area.end;
        }
        at >= range.end
    }

    /// Sets the protection of the parts of the range that are shared with files; returns these parts.
    pub(crate) fn protect(
        &mut self,
        range: &Range<u64>,
        protection: Protection,
    ) -> Vec<(Range<u64>, Backing)> {
        let mut changed = Vec::new();
        for (area, _) in self
            .overlapping(range)
            .into_iter()
            .filter(|(_, kind)| kind.is_some())
        {
            let within = area.start.max(range.start)..area.end.min(range.end);
            for (part, kind) in self.remove(&within) {
                let kind = kind.map(|backing| Backing {
                    protection,
                    ..backing
                });
                changed.extend(kind.clone().map(|backing| (part.clone(), backing)));
                self.add(part, kind);
            }
        }
        changed
    }

    /// All shared mappings of files.
    pub(crate) fn shared(&mut self) -> impl Iterator<Item = (Range<u64>, &mut Backing)> {
        let areas = self.by_start.iter_mut();
        areas.filter_map(|(start, (end, kind))| Some((*start..*end, kind.as_mut()?)))
    }
}

/// The kind of the mapping at this number of bytes after the start of an area.
fn behind(kind: &Kind, bytes: u64) -> Kind {
    kind.as_ref().map(|backing| Backing {
        offset: backing.offset + bytes,
        present: backing.present.saturating_sub(bytes),
        ..backing.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_out_leaves_both_sides() {
        let mut areas = Areas::default();
        let backing = Backing {
            file: Arc::new(tempfile::tempfile().unwrap()),
            offset: 100,
            present: 15,
            writable: true,
            protection: Protection::READ,
        };
        areas.add(10..50, Some(backing));
        areas.add(50..60, None);
        assert!(areas.cover(&(10..60)) && !areas.cover(&(9..12)) && !areas.cover(&(55..61)));
        let removed = areas.remove(&(20..30));
        let offset = |kind: &Kind| kind.as_ref().map(|backing| backing.offset);
        assert_eq!(removed.len(), 1);
        assert_eq!((removed[0].0.clone(), offset(&removed[0].1)), (20..30, Some(110)));
        let left: Vec<_> = areas.overlapping(&(0..100));
        let left: Vec<_> = left
            .iter()
            .map(|(area, kind)| (area.clone(), offset(kind)))
            .collect();
        assert_eq!(left, [(10..20, Some(100)), (30..50, Some(120)), (50..60, None)]);
        assert!(!areas.cover(&(10..40)));
        let changed = areas.protect(&(32..55), Protection::READ_WRITE);
        let changed: Vec<_> = changed
            .into_iter()
            .map(|(part, backing)| (part, backing.offset, backing.protection))
            .collect();
        assert_eq!(changed, [(32..50, 122, Protection::READ_WRITE)]);
        let left = areas.overlapping(&(30..60));
        let starts: Vec<_> = left.iter().map(|(area, _)| area.start).collect();
        assert_eq!(starts, [30, 32, 50]);
    }
}
