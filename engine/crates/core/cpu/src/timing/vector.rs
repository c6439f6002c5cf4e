//! The timing of vector instructions: a unit beside the core, which operates independently once it has an instruction.
//!
//! The structure is that of Saturn (Zhao et al., "The Saturn Microarchitecture Manual", UCB/EECS-2024-215): after
//! commit, instructions wait in a queue; arithmetic, loads and stores are each in order among themselves and may pass
//! each other; results are chained. The numbers are parameters, not measured on its RTL. Loads and stores access the L1
//! data cache of the core's model; a missing line does not delay the request for the next one.

use crate::vector::Word;
use rackwright_memory::Named;
use rackwright_state::state;

/// The numbers of the vector unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorParameters {
    /// Bytes of elements that arithmetic works on in a cycle.
    pub datapath_bytes: u32,
    /// Bytes, one after the other, that loads and stores together move in a cycle; of others, they move an element.
    pub memory_bytes: u32,
    /// Instructions that the unit holds before the core waits for it.
    pub queue: usize,
    /// Lines that it waits for at once.
    pub outstanding_lines: usize,
    /// From the core's commit to the first elements, and from the last one to a register of the core.
    pub transfer: u32,
    /// From elements to results that are chained: additions, logic, shifts, masks, moves.
    pub integer: u32,
    /// The same of multiplications, and of all floating point.
    pub multiply: u32,
    /// The same of loads that hit.
    pub load: u32,
    /// Bits of a quotient or root in a cycle; the unit divides one element at a time.
    pub divide_bits: u32,
}

impl VectorParameters {
    /// A datapath and a memory port of 128 bits each, the width of a register.
    pub fn usual() -> VectorParameters {
        VectorParameters {
            datapath_bytes: 16,
            memory_bytes: 16,
            queue: 8,
            outstanding_lines: 8,
            transfer: 2,
            integer: 2,
            multiply: 4,
            load: 4,
            divide_bits: 1,
        }
    }
}

impl VectorParameters {
    /// Its numbers.
    pub(super) fn named(&mut self) -> Vec<Named<'_>> {
        vec![
            Named::new("datapath-bytes", 1..=128, &mut self.datapath_bytes),
            Named::new("memory-bytes", 1..=128, &mut self.memory_bytes),
            Named::new("queue", 1..=64, &mut self.queue),
            Named::new("outstanding-lines", 1..=64, &mut self.outstanding_lines),
            Named::new("transfer", 0..=200, &mut self.transfer),
            Named::new("integer", 1..=200, &mut self.integer),
            Named::new("multiply", 1..=200, &mut self.multiply),
            Named::new("load", 1..=200, &mut self.load),
            Named::new("divide-bits", 1..=64, &mut self.divide_bits),
        ]
    }
}

/// The properties that the time of a vector instruction depends on, as recorded for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VectorRun {
    /// Elements, of all fields of segments.
    pub elements: u16,
    /// Width of an element, as the power of two of its bytes.
    pub width: u8,
    /// Registers of a group, or of all fields.
    pub registers: u8,
    /// Lines of memory, whose addresses follow as values.
    pub lines: u16,
    /// Whether elements lie one after the other in memory.
    pub contiguous: bool,
    /// The offset of the first one within a line.
    pub offset: u8,
}

impl VectorRun {
    /// As a value of [`super::BlockRun::values`].
    #[inline]
    pub(crate) const fn pack(self) -> u64 {
        self.elements as u64
            | (self.lines as u64) << 16
            | (self.width as u64) << 32
            | (self.registers as u64) << 36
            | (self.contiguous as u64) << 40
            | (self.offset as u64) << 48
    }

    /// From a value of [`super::BlockRun::values`].
    #[inline]
    pub const fn unpack(value: u64) -> VectorRun {
        VectorRun {
            elements: value as u16,
            lines: (value >> 16) as u16,
            width: (value >> 32 & 3) as u8,
            registers: (value >> 36 & 15) as u8,
            contiguous: value >> 40 & 1 != 0,
            offset: (value >> 48) as u8,
        }
    }

    const fn bytes(self) -> u64 {
        (self.elements as u64) << self.width
    }
}

/// Times at which the elements of a register are ready: the first ones, and all.
#[derive(Clone, Copy, Default)]
struct Ready {
    first: u64,
    all: u64,
}

impl Ready {
    fn and(self, other: Ready) -> Ready {
        Ready {
            first: self.first.max(other.first),
            all: self.all.max(other.all),
        }
    }
}

/// The timing of an instruction that the core issues to the unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    /// When the unit takes it.
    pub(super) taken: u64,
    /// When a register of the core has its result, if it has one.
    pub(super) result: u64,
}

/// The unit of one hart.
pub(super) struct VectorUnit {
    parameters: VectorParameters,
    registers: [Ready; 32],
    /// Time at which each kind of instruction can start the next one.
    arithmetic: u64,
    loads: u64,
    stores: u64,
    /// Time until which the memory port is occupied.
    memory: u64,
    /// Times at which the places of the queue are free, and the next place.
    queue: Box<[u64]>,
    place: usize,
    /// The same of the lines that are waited for.
    lines: Box<[u64]>,
    line: usize,
    /// Time at which all lines requested so far are present.
    quiet: u64,
}

impl VectorUnit {
    /// An idle unit.
    ///
    /// # Panics
    /// When a parameter is zero that must not be.
    pub(super) fn new(parameters: &VectorParameters) -> VectorUnit {
        let VectorParameters {
            datapath_bytes,
            memory_bytes,
            queue,
            outstanding_lines,
            divide_bits,
            ..
        } = *parameters;
        let positive =
            datapath_bytes.min(memory_bytes).min(divide_bits) > 0 && queue.min(outstanding_lines) > 0;
        assert!(positive, "a vector unit of width or size zero: {parameters:?}");
        VectorUnit {
            parameters: parameters.clone(),
            registers: [Ready::default(); 32],
            arithmetic: 0,
            loads: 0,
            stores: 0,
            memory: 0,
            queue: vec![0; queue].into(),
            place: 0,
            lines: vec![0; outstanding_lines].into(),
            line: 0,
            quiet: 0,
        }
    }

    /// Time at which all lines requested so far are present.
    #[inline(always)]
    pub(super) fn quiet(&self) -> u64 {
        self.quiet
    }

    /// When there is room for an instruction that the core would give at `at`.
    fn take(&self, at: u64) -> u64 {
        at.max(self.queue[self.place])
    }

    /// Holds a place of the queue until `until`.
    fn hold(&mut self, until: u64) {
        self.queue[self.place] = until;
        self.place = (self.place + 1) % self.queue.len();
    }

    /// A register-to-register instruction, issued at `at`.
    pub(super) fn arithmetic(&mut self, at: u64, word: u32, run: VectorRun) -> Given {
        let (word, shape) = (Word(word), Arithmetic::of(word));
        let taken = self.take(at);
        let begins = (taken + u64::from(self.parameters.transfer)).max(self.arithmetic);
        let sources = self.sources(word, &shape, run);
        let start = begins.max(sources.first);
        let end = (start + self.beats(&shape, run)).max(sources.all + 1);
        let latency = u64::from(if shape.multiplies {
            self.parameters.multiply
        } else {
            self.parameters.integer
        });
        self.arithmetic = end;
        self.hold(end);
        let ready = Ready {
            first: start + latency,
            // An instruction that reduces all elements to one has the result at the end.
            all: end - 1 + latency,
        };
        let first = if shape.serial { ready.all } else { ready.first };
        if !shape.leaves {
            self.set(word.vd(), run.registers << shape.widens, Ready { first, ..ready });
        }
        Given {
            taken,
            result: ready.all + u64::from(self.parameters.transfer),
        }
    }

    fn sources(&self, word: Word, shape: &Arithmetic, run: VectorRun) -> Ready {
        let mut ready = self.group(word.vs2(), run.registers << shape.narrows);
        if shape.vectors {
            ready = ready.and(self.group(word.vs1(), run.registers));
        }
        if !shape.leaves {
            ready = ready.and(self.group(word.vd(), run.registers << shape.widens));
        }
        if word.masked() {
            ready = ready.and(self.registers[0]);
        }
        ready
    }

    /// Cycles in which the datapath accepts no other instruction.
    fn beats(&self, shape: &Arithmetic, run: VectorRun) -> u64 {
        let elements = u64::from(run.elements);
        let beats = if shape.divides {
            elements * u64::from((8u32 << run.width).div_ceil(self.parameters.divide_bits))
        } else if shape.serial {
            elements
        } else {
            (run.bytes() << (shape.widens | shape.narrows)).div_ceil(self.parameters.datapath_bytes.into())
        };
        beats.max(1)
    }

    fn group(&self, register: u8, count: u8) -> Ready {
        let first = usize::from(register);
        let end = (first + usize::from(count.max(1))).min(32);
        self.registers[first..end]
            .iter()
            .fold(Ready::default(), |ready, register| ready.and(*register))
    }

    fn set(&mut self, register: u8, count: u8, ready: Ready) {
        let first = usize::from(register);
        let end = (first + usize::from(count.max(1))).min(32);
        self.registers[first..end].fill(ready);
    }

    /// A load or a `store`, issued at `at`, of lines whose addresses are `addresses`. `line` looks up a line in L1 in a
    /// cycle, and returns the time at which it is present, which is that cycle on a hit. Returns when the unit takes
    /// it.
    pub(super) fn access(
        &mut self,
        at: u64,
        word: u32,
        run: VectorRun,
        store: bool,
        addresses: impl Iterator<Item = u64>,
        mut line: impl FnMut(u64, u64) -> u64,
    ) -> u64 {
        let word = Word(word);
        let taken = self.take(at);
        let beats = self.access_beats(run);
        let port = self.memory.max(taken + u64::from(self.parameters.transfer));
        self.memory = port + beats;
        let data = self.access_sources(word, run, store);
        let before = if store { self.stores } else { self.loads };
        let start = port.max(before).max(data.first);
        let mut there = Ready {
            first: u64::MAX,
            all: start,
        };
        for (index, address) in addresses.enumerate() {
            let turn = start + beats * index as u64 / u64::from(run.lines.max(1));
            let ready = self.look(turn, address, &mut line);
            there.first = there.first.min(ready);
            there.all = there.all.max(ready);
        }
        let end = (start + beats).max(data.all + 1);
        self.quiet = self.quiet.max(there.all);
        if store {
            self.stores = end;
            self.hold(end.max(there.all));
        } else {
            self.loads = end;
            self.hold(end);
            let latency = u64::from(self.parameters.load);
            let ready = Ready {
                first: there.first.min(there.all) + latency,
                all: there.all.max(end - 1) + latency,
            };
            self.set(word.vd(), run.registers, ready);
        }
        taken
    }

    /// Looks up a line in L1 in `turn`, or when there is one outstanding line fewer; returns the time at which it is
    /// present.
    fn look(&mut self, turn: u64, address: u64, line: &mut impl FnMut(u64, u64) -> u64) -> u64 {
        let turn = turn.max(self.lines[self.line]);
        let ready = line(turn, address);
        if ready > turn {
            self.lines[self.line] = ready;
            self.line = (self.line + 1) % self.lines.len();
        }
        ready
    }

    fn access_beats(&self, run: VectorRun) -> u64 {
        let width = u64::from(self.parameters.memory_bytes);
        let beats = if run.contiguous {
            (u64::from(run.offset) % width + run.bytes()).div_ceil(width)
        } else {
            u64::from(run.elements)
        };
        beats.max(1)
    }

    fn access_sources(&self, word: Word, run: VectorRun, store: bool) -> Ready {
        let mut ready = Ready::default();
        if store {
            ready = ready.and(self.group(word.vd(), run.registers));
        }
        // Indices; the addresses of the first elements can be sent as soon as these are ready.
        if word.addressing() & 1 != 0 {
            ready = ready.and(self.group(word.vs2(), run.registers));
        }
        if word.masked() {
            ready = ready.and(self.registers[0]);
        }
        ready
    }
}

/// The properties of a register-to-register instruction that its time depends on.
#[derive(Clone, Copy, Debug)]
struct Arithmetic {
    /// Whether the second operand is a vector.
    vectors: bool,
    /// Whether the result is twice as wide, as a power of two.
    widens: u8,
    /// Whether the first operand is.
    narrows: u8,
    multiplies: bool,
    divides: bool,
    /// Element by element: gathers, compressions, reductions.
    serial: bool,
    /// Whether the result is sent to the core.
    leaves: bool,
}

impl Arithmetic {
    fn of(word: u32) -> Arithmetic {
        let word = Word(word);
        let (form, number) = (word.funct3(), word.funct6());
        let float = matches!(form, 1 | 5);
        let mixed = matches!(form, 2 | 6);
        let general = !float && !mixed;
        let vectors = form < 3;
        let converts = float && number == 0b010010;
        let reduces = vectors
            && match form {
                0 => matches!(number, 0b110000 | 0b110001),
                1 => matches!(number, 1 | 3 | 5 | 7 | 0b110001 | 0b110011),
                _ => number < 8,
            };
        Arithmetic {
            vectors,
            widens: u8::from(
                (float || mixed) && number >= 0b110000 && !reduces || converts && word.vs1() >> 3 == 1,
            ),
            narrows: u8::from(general && number >> 2 == 0b1011 || converts && word.vs1() >> 3 == 2),
            multiplies: float || mixed && number >= 0b100100,
            divides: mixed && number >> 2 == 0b1000
                || float && (number >> 1 == 0b10000 || number == 0b010011 && word.vs1() == 0),
            serial: reduces
                || general && matches!(number, 0b001100 | 0b001110)
                || mixed && number == 0b010111,
            leaves: vectors && !general && number == 0b010000,
        }
    }
}

state!(Ready { first, all });
state!(VectorUnit {
    registers,
    arithmetic,
    loads,
    stores,
    memory,
    queue,
    place,
    lines,
    line,
    quiet
});

#[cfg(test)]
mod tests {
    use super::*;

    /// `vadd.vv`, `vdiv.vv`, and `vmv.x.s`.
    const fn add(vd: u32, vs2: u32, vs1: u32) -> u32 {
        1 << 25 | vs2 << 20 | vs1 << 15 | vd << 7 | 0x57
    }
    const fn divide(vd: u32, vs2: u32, vs1: u32) -> u32 {
        0b100001 << 26 | 2 << 12 | add(vd, vs2, vs1)
    }
    const TO_SCALAR: u32 = 0b010000 << 26 | 2 << 12 | add(10, 8, 0);

    /// All bytes of eight registers.
    const FULL: VectorRun = VectorRun {
        elements: 128,
        width: 0,
        registers: 8,
        lines: 2,
        contiguous: true,
        offset: 0,
    };

    fn unit() -> VectorUnit {
        VectorUnit::new(&VectorParameters::usual())
    }

    #[test]
    fn runs_are_kept_as_values() {
        let odd = VectorRun {
            elements: 77,
            width: 3,
            registers: 5,
            lines: 256,
            contiguous: false,
            offset: 63,
        };
        assert_eq!(VectorRun::unpack(odd.pack()), odd);
        assert_eq!(VectorRun::unpack(FULL.pack()), FULL);
    }

    #[test]
    fn results_are_chained() {
        let mut unit = unit();
        unit.arithmetic(100, add(8, 0, 0), FULL);
        let chained = unit.arithmetic(101, TO_SCALAR, VectorRun { elements: 1, ..FULL });
        // Eight beats from 102 on; the reading instruction needs all of them, and its own result comes two and two
        // later.
        assert_eq!(chained.result, 102 + 7 + 2 + 2 + 2);
        let mut alone = self::unit();
        let whole = alone.arithmetic(100, add(8, 0, 0), FULL);
        let after = alone.arithmetic(101, add(16, 8, 8), FULL);
        assert_eq!(after.result - whole.result, 8);
    }

    #[test]
    fn a_division_takes_a_cycle_for_each_bit() {
        let mut unit = unit();
        let long = VectorRun {
            elements: 2,
            width: 3,
            registers: 1,
            ..FULL
        };
        let first = unit.arithmetic(0, divide(8, 1, 2), long).result;
        let second = unit.arithmetic(1, divide(9, 1, 2), long).result;
        assert_eq!(second - first, 128);
    }

    #[test]
    fn the_core_waits_for_room() {
        let mut unit = unit();
        let taken: Vec<u64> = (0..10)
            .map(|_| unit.arithmetic(0, add(8, 0, 0), FULL).taken)
            .collect();
        assert_eq!(taken[..8], [0; 8]);
        assert_eq!(taken[8..], [10, 18]);
    }

    #[test]
    fn copies_move_as_many_bytes_as_the_way_to_memory_has() {
        let mut unit = unit();
        let mut at = 0;
        for _ in 0..100 {
            for store in [false, true] {
                at = unit.access(at, 8 << 7, FULL, store, [0, 64].into_iter(), |at, _| at);
            }
        }
        // Eight beats for a load and eight for a store.
        assert!((1500..=1600).contains(&at), "{at}");
    }

    #[test]
    fn only_so_many_lines_are_waited_for() {
        let run = VectorRun { lines: 10, ..FULL };
        let mut asked = Vec::new();
        unit().access(0, 8 << 7, run, false, (0..10).map(|line| line * 64), |at, _| {
            asked.push(at);
            at + 100
        });
        assert!(asked[..8].iter().all(|at| *at < 20));
        assert_eq!(asked[8], asked[0] + 100);
    }

    #[test]
    fn a_later_load_passes_a_store_that_waits_for_its_data() {
        let mut unit = unit();
        let lines = || [0, 64].into_iter();
        unit.access(0, 8 << 7, FULL, false, lines(), |at, _| at + 300);
        unit.access(1, 8 << 7, FULL, true, lines(), |at, _| at);
        let mut asked = 0;
        unit.access(2, 16 << 7, FULL, false, lines(), |at, _| {
            asked = at;
            at
        });
        assert!(asked < 40, "{asked}");
        assert!(unit.quiet() > 300);
    }

    #[test]
    #[should_panic(expected = "of width or size zero")]
    fn a_unit_without_room_cannot_be() {
        VectorUnit::new(&VectorParameters {
            queue: 0,
            ..VectorParameters::usual()
        });
    }
}
