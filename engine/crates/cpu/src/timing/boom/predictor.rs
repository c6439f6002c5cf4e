//! Branch prediction of the class of BOOM's: a bimodal table, four tagged tables with longer and longer history (TAGE), targets of
//! indirect jumps by history, and a return stack.

const BIMODAL: usize = 4096;
const TABLES: usize = 4;
const ENTRIES: usize = 1024;
const INDEX_BITS: u32 = 10;
const TAG_BITS: u32 = 9;
const HISTORIES: [u32; TABLES] = [6, 14, 30, 64];
const INDIRECT: usize = 512;
const RETURNS: usize = 32;
/// Taken when the three-bit counter is at or above this.
const WEAKLY_TAKEN: u8 = 4;

#[derive(Clone, Copy, Default)]
struct Entry {
    tag: u16,
    counter: u8,
    useful: u8,
}

/// Outcomes of conditional branches.
pub(super) struct Directions {
    bimodal: Box<[u8; BIMODAL]>,
    tables: Box<[[Entry; ENTRIES]; TABLES]>,
    history: u64,
    /// Decides, without randomness, which table a new branch goes to first.
    allocations: u32,
}

impl Directions {
    pub(super) fn new() -> Directions {
        Directions {
            bimodal: Box::new([1; BIMODAL]),
            tables: Box::new([[Entry::default(); ENTRIES]; TABLES]),
            history: 0,
            allocations: 0,
        }
    }

    pub(super) fn history(&self) -> u64 {
        self.history
    }

    /// Predicts the branch at `pc` and returns whether that was right; if not, [`Directions::learn`] is to follow.
    #[inline(always)]
    pub(super) fn predict(&mut self, pc: u64, taken: bool) -> bool {
        let key = pc >> 1;
        let guess = match self.provider(key) {
            Some((table, index)) => {
                let entry = &mut self.tables[table][index];
                let guess = entry.counter >= WEAKLY_TAKEN;
                entry.counter = moved(entry.counter, taken, 7);
                entry.useful = moved(entry.useful, guess == taken, 3);
                guess
            }
            None => {
                let counter = &mut self.bimodal[key as usize % BIMODAL];
                let guess = *counter >= 2;
                *counter = moved(*counter, taken, 3);
                guess
            }
        };
        if guess == taken {
            self.history = self.history << 1 | u64::from(taken);
        }
        guess == taken
    }

    /// The entry with the longest history that knows the branch: it provides the prediction.
    #[inline(always)]
    fn provider(&self, key: u64) -> Option<(usize, usize)> {
        (0..TABLES).rev().find_map(|table| {
            let (index, tag) = self.place(table, key);
            (self.tables[table][index].tag == tag).then_some((table, index))
        })
    }

    /// Learns the outcome of a branch that was predicted wrongly.
    pub(super) fn learn(&mut self, pc: u64, taken: bool) {
        let key = pc >> 1;
        let longer = self.provider(key).map_or(0, |(table, _)| table + 1);
        self.allocate(longer, key, taken);
        self.history = self.history << 1 | u64::from(taken);
    }

    /// Index and tag of a branch in a table. Tags are never zero, so that an empty entry does not match.
    #[inline(always)]
    fn place(&self, table: usize, key: u64) -> (usize, u16) {
        let recent = self.history & (u64::MAX >> (64 - HISTORIES[table]));
        let mixed = (recent ^ key << 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ key;
        let index = (mixed >> (64 - INDEX_BITS)) as usize;
        let tag = (mixed >> 20 & ((1 << TAG_BITS) - 1)) as u16 | 1 << TAG_BITS;
        (index, tag)
    }

    /// Gives a mispredicted branch an entry with a longer history.
    fn allocate(&mut self, from: usize, key: u64, taken: bool) {
        self.allocations = self.allocations.wrapping_add(1);
        let skip = usize::from(self.allocations % 4 == 0 && from + 1 < TABLES);
        for table in from + skip..TABLES {
            let (index, tag) = self.place(table, key);
            let entry = &mut self.tables[table][index];
            if entry.useful == 0 {
                *entry = Entry {
                    tag,
                    counter: if taken { WEAKLY_TAKEN } else { WEAKLY_TAKEN - 1 },
                    useful: 0,
                };
                return;
            }
            entry.useful -= 1;
        }
    }
}

/// A saturating counter one step up or down.
#[inline]
fn moved(counter: u8, up: bool, most: u8) -> u8 {
    if up {
        (counter + 1).min(most)
    } else {
        counter.saturating_sub(1)
    }
}

/// Targets of jumps to registers.
pub(super) struct Targets {
    indirect: Box<[u64; INDIRECT]>,
    returns: [u64; RETURNS],
    top: usize,
}

impl Targets {
    pub(super) fn new() -> Targets {
        Targets {
            indirect: Box::new([0; INDIRECT]),
            returns: [0; RETURNS],
            top: 0,
        }
    }

    pub(super) fn call(&mut self, return_address: u64) {
        self.top = (self.top + 1) % RETURNS;
        self.returns[self.top] = return_address;
    }

    /// Whether a return to `target` was expected.
    pub(super) fn ret(&mut self, target: u64) -> bool {
        let expected = self.returns[self.top];
        self.top = (self.top + RETURNS - 1) % RETURNS;
        expected == target
    }

    /// Whether the jump at `pc` was expected to go to `target`; learns that it does.
    pub(super) fn jump(&mut self, pc: u64, history: u64, target: u64) -> bool {
        let recent = history & 0xff;
        let index = ((pc >> 1) ^ recent.wrapping_mul(0x35)) as usize % INDIRECT;
        let expected = std::mem::replace(&mut self.indirect[index], target);
        expected == target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong_guesses(outcome: impl Fn(u32) -> bool) -> u32 {
        let mut directions = Directions::new();
        let mut wrong = 0;
        for step in 0..4000 {
            if !directions.predict(0x1000, outcome(step)) {
                directions.learn(0x1000, outcome(step));
                wrong += u32::from(step >= 2000);
            }
        }
        wrong
    }

    #[test]
    fn patterns_are_learnt() {
        assert_eq!(wrong_guesses(|_| true), 0);
        assert!(wrong_guesses(|step| step % 2 == 0) < 20);
        assert!(wrong_guesses(|step| step % 7 == 0) < 40);
    }

    #[test]
    fn noise_is_not() {
        let noise = |step: u32| step.wrapping_mul(0x9e37_79b9).wrapping_mul(step ^ 0x55) >> 17 & 1 == 1;
        assert!(wrong_guesses(noise) > 600);
    }

    #[test]
    fn returns_nest() {
        let mut targets = Targets::new();
        targets.call(4);
        targets.call(8);
        assert!(targets.ret(8) && targets.ret(4) && !targets.ret(4));
    }
}
