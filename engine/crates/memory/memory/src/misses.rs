use crate::cache::LINE_BYTES;
use rackwright_state::{state, Pass, State, StateError};
use rackwright_time::Cycle;

/// Miss status registers: the outstanding lines of a cache, and the times of their arrival.
///
/// Used at every access, so that neither query searches the registers: the one that becomes free first is the head of a
/// queue, and the pending ones are found through a table indexed by the lowest bits of their lines.
pub(crate) struct Misses {
    registers: Vec<Register>,
    /// When each register is free, and its number: a ring in that order. Lines mostly arrive in the order of their
    /// requests, so that the place of a new one is near the end.
    order: Vec<(Cycle, u8)>,
    first: usize,
    table: Box<[Slot; SLOTS]>,
    latest: Cycle,
}

#[derive(Clone, Copy)]
struct Register {
    line: u64,
    ready: Cycle,
}

/// The registers of lines with equal lowest bits: their number, and the one that was set last.
#[derive(Clone, Copy, Default)]
struct Slot {
    count: u8,
    register: u8,
}

const SLOTS: usize = 256;

/// No line has this number: it would lie beyond the address space.
const NO_LINE: u64 = u64::MAX;

impl Misses {
    /// `registers` registers, all of them free.
    ///
    /// # Panics
    /// If there are more than 255 (parameters are checked when they are created).
    pub(crate) fn new(registers: u32) -> Misses {
        let numbers = u8::try_from(registers).expect("at most 255 miss registers");
        let free = Register {
            line: NO_LINE,
            ready: Cycle::ZERO,
        };
        Misses {
            registers: vec![free; registers as usize],
            order: (0..numbers).map(|number| (Cycle::ZERO, number)).collect(),
            first: 0,
            table: Box::new([Slot::default(); SLOTS]),
            latest: Cycle::ZERO,
        }
    }

    /// Time at which the line of `address`, present in the tags, really arrives, for a lookup that ends at `looked_up`.
    #[inline]
    pub(crate) fn arrival(&self, looked_up: Cycle, address: u64) -> Cycle {
        if looked_up >= self.latest {
            return looked_up;
        }
        let line = address / LINE_BYTES;
        let slot = self.table[line as usize % SLOTS];
        match slot.count {
            0 => looked_up,
            1 => {
                let register = &self.registers[usize::from(slot.register)];
                if register.line == line {
                    looked_up.max(register.ready)
                } else {
                    looked_up
                }
            }
            _ => self.search(looked_up, line),
        }
    }

    #[cold]
    fn search(&self, looked_up: Cycle, line: u64) -> Cycle {
        self.registers
            .iter()
            .filter(|register| register.line == line)
            .map(|register| register.ready)
            .fold(looked_up, Cycle::max)
    }

    /// When a miss at `at` may start: once a register is free.
    #[inline]
    pub(crate) fn start(&self, at: Cycle) -> Cycle {
        at.max(self.order[self.first].0)
    }

    /// Assigns the register that becomes free first to the line of `address`, until `ready`.
    #[inline]
    pub(crate) fn set(&mut self, address: u64, ready: Cycle) {
        let (_, number) = self.order[self.first];
        let old = self.registers[usize::from(number)].line;
        if old != NO_LINE {
            self.forget(old, number);
        }
        let line = address / LINE_BYTES;
        let slot = &mut self.table[line as usize % SLOTS];
        *slot = Slot {
            count: slot.count + 1,
            register: number,
        };
        self.registers[usize::from(number)] = Register { line, ready };
        self.latest = self.latest.max(ready);
        self.enqueue(number, ready);
    }

    /// Takes a register out of its slot. If only one remains, it is searched for: the slot may refer to another one.
    fn forget(&mut self, line: u64, number: u8) {
        let index = line as usize % SLOTS;
        let slot = &mut self.table[index];
        slot.count -= 1;
        if slot.count == 1 {
            let alone = |&other: &u8| {
                let register = &self.registers[usize::from(other)];
                other != number && register.line != NO_LINE && register.line as usize % SLOTS == index
            };
            let found = self.order.iter().map(|entry| entry.1).find(alone);
            slot.register = found.expect("a slot counts its registers");
        }
    }

    /// Inserts a register into the order of `ready`, from the end, after the first has been removed.
    #[inline]
    fn enqueue(&mut self, number: u8, ready: Cycle) {
        let size = self.order.len();
        let mut place = self.first;
        self.first = if place + 1 == size { 0 } else { place + 1 };
        while place != self.first {
            let before = if place == 0 { size - 1 } else { place - 1 };
            if self.order[before].0 <= ready {
                break;
            }
            self.order[place] = self.order[before];
            place = before;
        }
        self.order[place] = (ready, number);
    }
}

state!(Slot { count, register });
state!(Register { line, ready });

impl State for Misses {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.each(self.registers.iter_mut())?;
        by.each(self.order.iter_mut())?;
        self.first.pass(by)?;
        self.table.pass(by)?;
        self.latest.pass(by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_second_miss_of_a_line_waits_for_the_first() {
        let mut misses = Misses::new(2);
        misses.set(128, Cycle::new(50));
        assert_eq!(misses.arrival(Cycle::new(10), 130), Cycle::new(50));
        assert_eq!(misses.arrival(Cycle::new(10), 64), Cycle::new(10));
        assert_eq!(misses.arrival(Cycle::new(60), 130), Cycle::new(60));
    }

    #[test]
    fn a_miss_waits_for_a_free_register() {
        let mut misses = Misses::new(2);
        misses.set(0, Cycle::new(50));
        misses.set(64, Cycle::new(40));
        assert_eq!(misses.start(Cycle::new(10)), Cycle::new(40));
    }

    /// The same by searching all registers.
    struct Searched {
        registers: Vec<(u64, u64)>,
    }

    impl Searched {
        fn first(&self) -> usize {
            (0..self.registers.len())
                .min_by_key(|&register| self.registers[register].1)
                .unwrap()
        }

        fn arrival(&self, looked_up: u64, line: u64) -> u64 {
            self.registers
                .iter()
                .filter(|register| register.0 == line)
                .fold(looked_up, |latest, register| latest.max(register.1))
        }
    }

    proptest! {
        /// Ready times differ, so that it does not matter which of two equal registers is taken.
        #[test]
        fn table_and_queue_answer_as_a_search(
            lines in prop::collection::vec(0u64..600, 1..200),
            spans in prop::collection::vec(1u64..500, 200),
            count in 1u32..48,
        ) {
            let mut misses = Misses::new(count);
            let mut searched = Searched { registers: vec![(u64::MAX, 0); count as usize] };
            for (step, &line) in lines.iter().enumerate() {
                let at = 3 * step as u64;
                for asked in [line, line + 256, line / 2] {
                    prop_assert_eq!(
                        misses.arrival(Cycle::new(at), asked * LINE_BYTES).0,
                        searched.arrival(at, asked)
                    );
                }
                let first = searched.first();
                prop_assert_eq!(misses.start(Cycle::new(at)).0, at.max(searched.registers[first].1));
                let ready = (at + spans[step]) << 8 | step as u64;
                misses.set(line * LINE_BYTES, Cycle::new(ready));
                searched.registers[first] = (line, ready);
            }
        }
    }
}
