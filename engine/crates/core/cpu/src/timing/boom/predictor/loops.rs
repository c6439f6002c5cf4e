//! The loop predictor: it counts how often a branch takes one direction before the other, and predicts when this
//! happens again.

use rackwright_state::state;

/// Entries: 16 sets in each of two banks, of four places.
const ENTRIES: usize = 2 * 16 * 4;
/// Agreeing lengths before an entry is believed, and the greatest age.
const SURE: u8 = 7;
const OLDEST: u8 = 7;

#[derive(Clone, Copy, Default)]
struct Loop {
    tag: u16,
    confidence: u8,
    age: u8,
    /// The length that is expected.
    length: u16,
    /// Passes since the last end.
    count: u16,
}

pub(super) struct Loops {
    entries: [Loop; ENTRIES],
    /// Passes at the time of the latest prediction of the branch.
    count: u16,
}

#[inline(always)]
fn tag(site: u64) -> u16 {
    (site >> 8) as u16 & 0x3ff
}

/// Lengths have ten bits.
const LENGTHS: u16 = 0x3ff;

impl Loops {
    pub(super) fn new() -> Loops {
        Loops {
            entries: [Loop::default(); ENTRIES],
            count: 0,
        }
    }

    #[inline(always)]
    fn entry(&mut self, site: u64) -> &mut Loop {
        &mut self.entries[(site >> 1) as usize % ENTRIES]
    }

    /// Turns the other predictors' guess when the loop ends now.
    #[inline(always)]
    pub(super) fn predict(&mut self, site: u64, taken: bool) -> bool {
        let entry = self.entry(site);
        let count = entry.count;
        let mut ends = false;
        if entry.tag == tag(site) {
            ends = count == entry.length && entry.confidence == SURE;
            entry.age = if ends { OLDEST } else { (entry.age + 1).min(OLDEST) };
            entry.count = if ends { 0 } else { (count + 1) & LENGTHS };
        }
        self.count = count;
        taken != ends
    }

    /// The branch that was just predicted took the other direction.
    pub(super) fn mispredicted(&mut self, site: u64) {
        let count = self.count;
        let entry = self.entry(site);
        let known = entry.tag == tag(site);
        let same = entry.length == count;
        match (entry.confidence, known) {
            (SURE, false) => return,
            (SURE, true) => entry.confidence = 0,
            (0, true) if same => (entry.confidence, entry.age) = (1, OLDEST),
            (0, true) => (entry.length, entry.age) = (count, OLDEST),
            (0, false) => *entry = Loop::begun(site, count, OLDEST),
            (_, true) if same => entry.confidence += 1,
            (_, true) => (entry.confidence, entry.length) = (0, count),
            (_, false) if entry.age == 0 => *entry = Loop::begun(site, count, 0),
            (_, false) => {
                entry.age -= 1;
                return;
            }
        }
        entry.count = 0;
    }
}

impl Loop {
    fn begun(site: u64, length: u16, age: u8) -> Loop {
        Loop {
            tag: tag(site),
            confidence: 1,
            age,
            length,
            count: 0,
        }
    }
}

state!(Loop {
    tag,
    confidence,
    age,
    length,
    count
});
state!(Loops { entries, count });
