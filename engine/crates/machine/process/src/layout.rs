use crate::areas::{Areas, Kind};
use rackwright_memory::{GuestFault, GuestMemory, Protection, PAGE_BYTES};
use rackwright_state::state;
use std::ops::Range;

/// Bytes reserved for the stack, as the usual limit of Linux.
const STACK_BYTES: u64 = 8 << 20;
/// Unmapped bytes around the stack.
const GUARD_BYTES: u64 = 1 << 20;

/// The layout of a process's memory: the program, the heap above it, mappings below the stack.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    heap_start: u64,
    heap_end: u64,
    /// Mappings grow down from the stack; this is the lowest address allocated so far.
    mappings_start: u64,
    /// Freed mappings, by address: (address, length), never adjacent.
    holes: Vec<(u64, u64)>,
    stack_top: u64,
    /// All that is mapped: the program, the heap, mappings, the stack.
    pub(crate) areas: Areas,
}

state!(Layout {
    heap_start,
    heap_end,
    mappings_start,
    holes,
    stack_top,
    areas
});

fn round_up(value: u64) -> u64 {
    value.div_ceil(PAGE_BYTES).saturating_mul(PAGE_BYTES)
}

impl Layout {
    /// The layout around a program that ends at `program_end`, with a mapped stack.
    pub(crate) fn new(program_end: u64, memory: &mut GuestMemory) -> Result<Layout, GuestFault> {
        let stack_top = memory.end() - GUARD_BYTES;
        let stack_bottom = stack_top - STACK_BYTES;
        memory.protect(stack_bottom, STACK_BYTES, Protection::READ_WRITE)?;
        let heap_start = round_up(program_end);
        let mut areas = Areas::default();
        for page in (0..heap_start).step_by(PAGE_BYTES as usize) {
            if memory.protection(page) != Protection::NONE {
                areas.add(page..page + PAGE_BYTES, None);
            }
        }
        areas.add(stack_bottom..stack_top, None);
        Ok(Layout {
            heap_start,
            heap_end: heap_start,
            mappings_start: stack_bottom - GUARD_BYTES,
            holes: Vec::new(),
            stack_top,
            areas,
        })
    }

    /// The address after the stack's first byte; the stack grows down from here.
    pub(crate) fn stack_top(&self) -> u64 {
        self.stack_top
    }

    /// Bytes of memory that the program has, without address space beyond that it has reserved.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.stack_top + GUARD_BYTES
    }

    /// Whether a range with a name of its own begins at `address`.
    pub(crate) fn begins_at(&self, address: u64) -> bool {
        [self.heap_start, self.stack_top - STACK_BYTES].contains(&address)
    }

    /// Linux' name of the range at `address`; empty for most.
    pub(crate) fn name_of(&self, address: u64) -> &'static str {
        if (self.heap_start..self.heap_end).contains(&address) {
            "[heap]"
        } else if (self.stack_top - STACK_BYTES..self.stack_top).contains(&address) {
            "[stack]"
        } else {
            ""
        }
    }

    /// Moves the end of the heap, like `brk`; returns the new end.
    pub(crate) fn set_heap_end(&mut self, wanted: u64, memory: &mut GuestMemory) -> u64 {
        if wanted < self.heap_start || wanted > self.mappings_start {
            return self.heap_end;
        }
        let (old, new) = (round_up(self.heap_end), round_up(wanted));
        let changed = if new >= old {
            if !self.areas.overlapping(&(old..new)).is_empty() {
                return self.heap_end;
            }
            memory.protect(old, new - old, Protection::READ_WRITE)
        } else {
            self.clear(&(new..old), memory)
                .and_then(|()| memory.protect(new, old - new, Protection::NONE))
        };
        if changed.is_ok() {
            self.areas.remove(&(old.min(new)..old.max(new)));
            self.areas.add(old..new.max(old), None);
            self.heap_end = wanted;
        }
        self.heap_end
    }

    /// A free range of `length` bytes, mapped with `protection`; `None` when memory is exhausted.
    pub(crate) fn map(
        &mut self,
        length: u64,
        protection: Protection,
        memory: &mut GuestMemory,
    ) -> Option<u64> {
        let length = round_up(length);
        let address = self.take_hole(length).or_else(|| self.grow(length))?;
        memory.protect(address, length, protection).ok()?;
        self.areas.add(address..address + length, None);
        Some(address)
    }

    /// Address space of `length` bytes that the program only reserves, to use parts of it later: among mappings, or
    /// beyond all memory so far, if there is room.
    pub(crate) fn reserve(&mut self, length: u64, memory: &mut GuestMemory) -> Option<u64> {
        let length = round_up(length);
        if let Some(address) = self.map(length, Protection::NONE, memory) {
            return Some(address);
        }
        let address = memory.mapping().extend(length)?;
        self.areas.add(address..address + length, None);
        Some(address)
    }

    /// Maps exactly at `address`, replacing existing mappings.
    pub(crate) fn map_at(
        &mut self,
        address: u64,
        length: u64,
        protection: Protection,
        memory: &mut GuestMemory,
    ) -> Option<u64> {
        let length = round_up(length);
        if address % PAGE_BYTES != 0 || address == 0 {
            return None;
        }
        let range = address..address.checked_add(length).filter(|end| *end <= memory.end())?;
        self.clear(&range, memory).ok()?;
        memory.protect(address, length, protection).ok()?;
        self.areas.add(range, None);
        self.occupy(address, length);
        Some(address)
    }

    /// Records a range that the program selected, so that it is not allocated.
    fn occupy(&mut self, address: u64, length: u64) {
        let end = address + length;
        // Addresses below are never allocated: they belong to the program and its heap.
        let lowest = round_up(self.heap_end) + GUARD_BYTES;
        if end > lowest && address < self.mappings_start {
            let start = address.max(lowest);
            if end < self.mappings_start {
                self.add_hole(end, self.mappings_start - end);
            }
            self.mappings_start = start;
        }
        let holes = std::mem::take(&mut self.holes);
        for (hole, free) in holes {
            let before = (hole, address.clamp(hole, hole + free));
            let after = (end.clamp(hole, hole + free), hole + free);
            let left = [before, after].into_iter().filter(|(from, to)| from < to);
            self.holes.extend(left.map(|(from, to)| (from, to - from)));
        }
    }

    /// Frees the part of a range that is memory.
    pub(crate) fn unmap(
        &mut self,
        address: u64,
        length: u64,
        memory: &mut GuestMemory,
    ) -> Result<(), GuestFault> {
        let end = address.saturating_add(round_up(length)).min(memory.end());
        if address >= end {
            return Ok(());
        }
        self.clear(&(address..end), memory)?;
        memory.protect(address, end - address, Protection::NONE)?;
        let (start, end) = (address.max(self.mappings_start), end.min(self.mappings_end()));
        if start < end {
            self.add_hole(start, end - start);
        }
        Ok(())
    }

    /// Mappings that the program does not place itself lie below.
    fn mappings_end(&self) -> u64 {
        self.stack_top - STACK_BYTES - GUARD_BYTES
    }

    /// Whether a mapping that ends at `address` can grow by so much.
    pub(crate) fn has_room(&self, address: u64, length: u64) -> bool {
        let ends = address
            .checked_add(length)
            .is_some_and(|end| end <= self.mappings_end());
        ends && !self.overlaps(address, length)
    }

    /// Whether there is a mapping at `address`, with any protection.
    pub(crate) fn is_mapped(&self, address: u64) -> bool {
        self.covers(address, 1)
    }

    /// Whether all of a range is mapped.
    pub(crate) fn covers(&self, address: u64, length: u64) -> bool {
        let end = address.checked_add(length);
        end.is_some_and(|end| self.areas.cover(&(address..end)))
    }

    /// Whether a range contains a mapping.
    pub(crate) fn overlaps(&self, address: u64, length: u64) -> bool {
        let range = address..address.saturating_add(length);
        !self.areas.overlapping(&range).is_empty()
    }

    /// The mapping at `address`, and its start.
    pub(crate) fn area_at(&self, address: u64) -> Option<(Range<u64>, Kind)> {
        let range = address..address.checked_add(1)?;
        self.areas.overlapping(&range).pop()
    }

    /// The ranges of memory shared with files.
    pub(crate) fn shared_ranges(&self) -> Vec<Range<u64>> {
        let areas = self.areas.overlapping(&(0..u64::MAX)).into_iter();
        areas.filter_map(|(range, kind)| kind.map(|_| range)).collect()
    }

    /// Unmaps a range, whose bytes are zero then.
    fn clear(&mut self, range: &Range<u64>, memory: &mut GuestMemory) -> Result<(), GuestFault> {
        for (area, kind) in self.areas.remove(range) {
            let length = area.end - area.start;
            if kind.is_none() {
                memory.mapping().discard(area.start, length)?;
            } else if memory.mapping().unshare(area.start, length).is_err() {
                unreachable!("the host gives zeros for what it has given before");
            }
        }
        Ok(())
    }

    fn take_hole(&mut self, length: u64) -> Option<u64> {
        let index = self.holes.iter().position(|(_, free)| *free >= length)?;
        let (address, free) = self.holes[index];
        if free == length {
            self.holes.remove(index);
        } else {
            self.holes[index] = (address + length, free - length);
        }
        Some(address)
    }

    fn grow(&mut self, length: u64) -> Option<u64> {
        let address = self.mappings_start.checked_sub(length)?;
        if address < round_up(self.heap_end) + GUARD_BYTES {
            return None;
        }
        self.mappings_start = address;
        Some(address)
    }

    fn add_hole(&mut self, address: u64, length: u64) {
        let (mut start, mut end) = (address, address + length);
        self.holes.retain(|&(hole, free)| {
            let touches = hole <= end && start <= hole + free;
            if touches {
                start = start.min(hole);
                end = end.max(hole + free);
            }
            !touches
        });
        let place = self.holes.partition_point(|(hole, _)| *hole < start);
        self.holes.insert(place, (start, end - start));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> (Layout, GuestMemory) {
        let mut memory = GuestMemory::new(64 << 20).unwrap();
        (Layout::new(0x10_0000, &mut memory).unwrap(), memory)
    }

    #[test]
    fn freed_mappings_are_zero_when_they_come_back() {
        let (mut layout, mut memory) = layout();
        let first = layout
            .map(3 * PAGE_BYTES, Protection::READ_WRITE, &mut memory)
            .unwrap();
        let second = layout
            .map(PAGE_BYTES, Protection::READ_WRITE, &mut memory)
            .unwrap();
        memory.write(first, &[1; 16]).unwrap();
        layout.unmap(first, 3 * PAGE_BYTES, &mut memory).unwrap();
        layout.unmap(second, PAGE_BYTES, &mut memory).unwrap();
        assert!(memory.read(first, &mut [0]).is_err());
        let again = layout
            .map(4 * PAGE_BYTES, Protection::READ_WRITE, &mut memory)
            .unwrap();
        assert_eq!(again, second, "the two holes became one");
        let mut bytes = [7; 16];
        memory.read(first, &mut bytes).unwrap();
        assert_eq!(bytes, [0; 16]);
    }

    #[test]
    fn a_place_that_the_program_chose_is_not_given_out() {
        let (mut layout, mut memory) = layout();
        let access = Protection::READ_WRITE;
        let first = layout.map(8 * PAGE_BYTES, access, &mut memory).unwrap();
        layout.unmap(first, 8 * PAGE_BYTES, &mut memory).unwrap();
        let inside = first + 2 * PAGE_BYTES;
        layout.map_at(inside, PAGE_BYTES, access, &mut memory).unwrap();
        let below = first - 16 * PAGE_BYTES;
        layout.map_at(below, PAGE_BYTES, access, &mut memory).unwrap();
        let given: Vec<u64> = (0..40)
            .map(|_| layout.map(PAGE_BYTES, access, &mut memory).unwrap())
            .collect();
        assert!(!given.contains(&inside) && !given.contains(&below), "{given:x?}");
        assert!(given.contains(&first) && given.contains(&(below + PAGE_BYTES)));
    }

    #[test]
    fn the_heap_grows_shrinks_and_stops_at_the_mappings() {
        let (mut layout, mut memory) = layout();
        let start = layout.set_heap_end(0, &mut memory);
        assert_eq!(layout.set_heap_end(start + 10, &mut memory), start + 10);
        memory.write(start, &[1]).unwrap();
        assert_eq!(layout.set_heap_end(start, &mut memory), start);
        assert!(memory.read(start, &mut [0]).is_err());
        assert_eq!(layout.set_heap_end(u64::MAX, &mut memory), start);
    }

    #[test]
    fn what_is_only_reserved_may_lie_beyond_memory() {
        let mut memory = GuestMemory::with_room(64 << 20, 64 << 30).unwrap();
        let mut layout = Layout::new(0x10_0000, &mut memory).unwrap();
        let small = layout.reserve(1 << 20, &mut memory).unwrap();
        assert!(small < 64 << 20);
        assert_eq!(layout.reserve(64 << 30, &mut memory), Some(64 << 20));
        assert_eq!(layout.reserve(64 << 30, &mut memory), None);
        let inside = (64 << 20) + (63 << 30);
        layout
            .map_at(inside, PAGE_BYTES, Protection::READ_WRITE, &mut memory)
            .unwrap();
        memory.write(inside, &[1]).unwrap();
        assert!(memory.write(inside + PAGE_BYTES, &[1]).is_err());
        assert!(layout.covers(64 << 20, 64 << 30));
        layout.unmap(64 << 20, 64 << 30, &mut memory).unwrap();
        assert!(!layout.is_mapped(inside) && memory.read(inside, &mut [0]).is_err());
    }

    #[test]
    fn exhausted_memory_is_not_given_out() {
        let (mut layout, mut memory) = layout();
        assert_eq!(layout.map(1 << 40, Protection::READ_WRITE, &mut memory), None);
        assert_eq!(
            layout.map(u64::MAX - 5, Protection::READ_WRITE, &mut memory),
            None
        );
    }
}
