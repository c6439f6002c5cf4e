use std::ops::Range;

/// The bytes that a unit may access: exactly those of its buffers.
///
/// The memory model refuses other accesses with a fault and counts them, so that a test can show that a unit stays
/// inside its buffers.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    readable: Vec<Range<u64>>,
    writable: Vec<Range<u64>>,
    faulting: Vec<Range<u64>>,
    enabled: bool,
    violations: u64,
}

impl Guard {
    /// Everything is allowed until the first range is set.
    pub fn new() -> Guard {
        Guard::default()
    }

    /// Allows reads of a range, and refuses accesses to ranges that are not allowed from now on.
    pub fn allow_read(&mut self, range: Range<u64>) {
        self.enabled = true;
        self.readable.push(range);
    }

    /// Allows writes to a range, and refuses accesses to ranges that are not allowed from now on.
    pub fn allow_write(&mut self, range: Range<u64>) {
        self.enabled = true;
        self.writable.push(range);
    }

    /// Revokes all ranges.
    pub fn forbid_all(&mut self) {
        self.readable.clear();
        self.writable.clear();
        self.faulting.clear();
        self.enabled = true;
    }

    /// Injects a fault: accesses there are refused, without counting as a violation.
    pub fn fault(&mut self, range: Range<u64>) {
        self.faulting.push(range);
    }

    /// Number of refused accesses.
    pub fn violations(&self) -> u64 {
        self.violations
    }

    /// Whether a beat may be read. One readable byte is sufficient: a port moves whole beats.
    pub fn may_read(&mut self, beat: Range<u64>) -> bool {
        if overlaps(&self.faulting, &beat) {
            return false;
        }
        let allowed = !self.enabled || overlaps(&self.readable, &beat);
        self.violations += u64::from(!allowed);
        allowed
    }

    /// Whether the bytes of a beat that `mask` selects may be written; each of them must be writable.
    pub fn may_write(&mut self, address: u64, mask: u32) -> bool {
        if !self.enabled && self.faulting.is_empty() {
            return true;
        }
        if mask == 0 {
            return true;
        }
        let first = address.wrapping_add(u64::from(mask.trailing_zeros()));
        let last = address.wrapping_add(u64::from(mask.ilog2()));
        if overlaps(&self.faulting, &(first..last + 1)) {
            return false;
        }
        // The masked bytes of one beat are not always contiguous, but buffers are: a beat whose first and last masked
        // bytes are in one buffer is completely in it.
        let allowed = !self.enabled
            || self
                .writable
                .iter()
                .any(|range| range.contains(&first) && range.contains(&last));
        self.violations += u64::from(!allowed);
        allowed
    }
}

fn overlaps(ranges: &[Range<u64>], beat: &Range<u64>) -> bool {
    ranges
        .iter()
        .any(|range| range.start < beat.end && beat.start < range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_allowed_by_the_beat_and_writes_by_the_byte() {
        let mut guard = Guard::new();
        guard.allow_read(0x105..0x106);
        guard.allow_write(0x204..0x208);
        assert!(guard.may_read(0x100..0x120));
        assert!(!guard.may_read(0x120..0x140));
        assert!(guard.may_write(0x200, 0b1111_0000));
        assert!(!guard.may_write(0x200, 0b1_1111_0000));
        assert_eq!(guard.violations(), 2);
    }

    #[test]
    fn injected_faults_are_not_violations() {
        let mut guard = Guard::new();
        guard.fault(0x100..0x101);
        assert!(!guard.may_read(0x100..0x110));
        assert!(!guard.may_write(0x100, 1));
        assert!(guard.may_write(0x100, 2));
        assert_eq!(guard.violations(), 0);
    }
}
