//! What harts may see of each other's writes: litmus tests (RISC-V unprivileged manual, appendix A.3; names as in its herd
//! library) with random delays, on harts of every timing model. Outcomes that RVWMO forbids never come; those that show
//! that harts really interleave do.
//!
//! `cargo test -p rackwright-machine --test litmus -- --ignored` does 100,000 runs of each.

mod caches;
mod designs;
mod network;

use rackwright_boot::Entry;
use rackwright_cpu::{Boom, BoomParameters, Functional, Rocket, RocketParameters, Timing};
use rackwright_device::Map;
use rackwright_machine::{Machine, Pause};
use rackwright_memory::{GuestMemory, Hierarchy, HierarchyParameters, Protection, SharedHierarchy};
use rackwright_time::Cycle;
use std::collections::BTreeSet;
use std::ops::Range;

const BASE: u64 = Map::SERVER.memory;
/// Where memory ends.
const END: u64 = BASE + 0x1_0000;
/// The data in memory.
const DATA: u64 = BASE + 0x2000;
/// The variables, the harts' results and their delays, from the start of data.
const X: u64 = 0;
const Y: u64 = 0x40;
const RESULTS: u64 = 0x1000;
const DELAYS: u64 = 0x2000;
const DATA_BYTES: u64 = 0x3000;
/// Bytes between the code of two harts, and between what they store.
const STRIDE: u64 = 0x100;
/// Runs on each model, usually and when there is time.
const RUNS: u64 = 500;
const MANY_RUNS: u64 = 100_000;

/// Registers: the variables' addresses, this hart's results and delay, what was loaded, and a constant one.
const X_AT: u32 = 5;
const Y_AT: u32 = 6;
const RESULT_AT: u32 = 7;
const DELAY: u32 = 28;
const FIRST: u32 = 29;
const SECOND: u32 = 30;
const ONE: u32 = 31;
const TWO: u32 = 11;
const HART: u32 = 10;

const FENCE: u32 = 0x0ff0_000f;
const WAIT: u32 = 0x1050_0073;
const JUMP_BACK: u32 = 0xffdf_f06f;

const fn addi(rd: u32, rs: u32, value: i32) -> u32 {
    (value as u32) << 20 | rs << 15 | rd << 7 | 0x13
}

/// The upper bits of an address in memory, which is above 2 GiB: sign-extended, then shifted clean.
const fn lui(rd: u32, address: u64) -> u32 {
    address as u32 & 0xffff_f000 | rd << 7 | 0x37
}

const fn shift(rd: u32, rs: u32, left: bool, by: u32) -> u32 {
    by << 20 | rs << 15 | (if left { 1 } else { 5 }) << 12 | rd << 7 | 0x13
}

const fn load(rd: u32, at: u32) -> u32 {
    at << 15 | 2 << 12 | rd << 7 | 0x03
}

const fn store(value: u32, at: u32, offset: u32) -> u32 {
    value << 20 | at << 15 | 2 << 12 | offset << 7 | 0x23
}

/// An atomic operation that orders what is before and behind it.
const fn atomic(function: u32, rd: u32, value: u32, at: u32) -> u32 {
    function << 27 | 3 << 25 | value << 20 | at << 15 | 2 << 12 | rd << 7 | 0x2f
}

/// A store by an exchange.
const fn swap(value: u32, at: u32) -> u32 {
    atomic(1, 0, value, at)
}

/// A load by an addition of zero.
const fn fetch(rd: u32, at: u32) -> u32 {
    atomic(0, rd, 0, at)
}

/// Puts `address` into a register.
fn address(rd: u32, address: u64) -> [u32; 4] {
    let low = addi(rd, rd, (address & 0xfff) as i32);
    [
        lui(rd, address),
        low,
        shift(rd, rd, true, 32),
        shift(rd, rd, false, 32),
    ]
}

/// Where the program of hart `index` begins.
fn entry(index: u64) -> u64 {
    BASE + (index + 1) * STRIDE
}

/// The program of hart `index`, with its data at `data`: it finds its places, waits for its delay, does `body` and
/// stores what it loaded.
fn program(index: u64, body: &[u32], data: u64) -> Vec<u32> {
    let mut code = Vec::new();
    for (register, place) in [
        (X_AT, X),
        (Y_AT, Y),
        (RESULT_AT, RESULTS + index * STRIDE),
        (DELAY, DELAYS + index * 8),
    ] {
        code.extend(address(register, data + place));
    }
    let decrement = addi(DELAY, DELAY, -1);
    // bnez DELAY, -4
    let again = 0xfe00_0ee3 | DELAY << 15 | 1 << 12;
    code.extend([
        load(DELAY, DELAY),
        addi(ONE, 0, 1),
        addi(TWO, 0, 2),
        decrement,
        again,
    ]);
    code.extend(body);
    code.extend([
        store(FIRST, RESULT_AT, 0),
        store(SECOND, RESULT_AT, 4),
        WAIT,
        JUMP_BACK,
    ]);
    code
}

/// Where all harts start: each goes to its own program.
fn dispatch() -> Vec<u32> {
    let mut code = vec![addi(HART, HART, 1), shift(HART, HART, true, 8)];
    code.extend(address(X_AT, BASE));
    // add HART, HART, X_AT; jr HART
    code.extend([X_AT << 20 | HART << 15 | HART << 7 | 0x33, HART << 15 | 0x67]);
    code
}

fn put(memory: &mut GuestMemory, at: u64, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(at, &bytes).unwrap();
}

/// What a run left behind: for each hart the two values that it loaded, and the variables.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Outcome {
    loaded: Vec<[u32; 2]>,
    x: u32,
    y: u32,
}

impl Outcome {
    /// What so many harts have left in memory, in their data at `data`.
    fn of(memory: &GuestMemory, harts: usize, data: u64) -> Outcome {
        let loaded = |index: u64| {
            let at = data + RESULTS + index * STRIDE;
            [word(memory, at), word(memory, at + 4)]
        };
        Outcome {
            loaded: (0..harts as u64).map(loaded).collect(),
            x: word(memory, data + X),
            y: word(memory, data + Y),
        }
    }

    /// The first value that each hart loaded.
    fn first(&self) -> Vec<u32> {
        self.loaded.iter().map(|values| values[0]).collect()
    }
}

/// One test: what each hart does, and what may not come of it.
struct Litmus {
    bodies: &'static [&'static [u32]],
    forbidden: fn(&Outcome) -> bool,
}

impl Litmus {
    fn has_atomics(&self) -> bool {
        const OPCODE: u32 = 0x2f;
        let mut words = self.bodies.iter().copied().flatten();
        words.any(|word| word & 0x7f == OPCODE)
    }
}

fn word(memory: &GuestMemory, address: u64) -> u32 {
    let mut bytes = [0; 4];
    memory.read(address, &mut bytes).unwrap();
    u32::from_le_bytes(bytes)
}

/// Memory with these addresses.
fn memory(addresses: Range<u64>) -> GuestMemory {
    let mut memory = GuestMemory::new(addresses.end).unwrap();
    let bytes = addresses.end - addresses.start;
    memory.protect(addresses.start, bytes, Protection::ALL).unwrap();
    memory
}

/// Puts the programs of all harts, with their data at `data`, into memory.
fn put_programs(memory: &mut GuestMemory, bodies: &[&[u32]], data: u64) {
    put(memory, BASE, &dispatch());
    for (index, body) in (0..).zip(bodies) {
        put(memory, entry(index), &program(index, body, data));
    }
}

/// Puts what each hart waits first into memory, which has the data at `data`.
fn put_delays(memory: &mut GuestMemory, delays: &[u32], data: u64) {
    for (index, delay) in (0..).zip(delays) {
        put(memory, data + DELAYS + 8 * index, &[*delay]);
    }
}

/// Runs programs to their ends, after their delays; gives the memory that they leave.
fn run<T: Timing>(bodies: &[&[u32]], timings: Vec<T>, delays: &[u32]) -> GuestMemory {
    let mut memory = memory(BASE..END);
    put_programs(&mut memory, bodies, DATA);
    put_delays(&mut memory, delays, DATA);
    let entry = Entry {
        pc: BASE,
        device_tree: 0,
        information: 0,
    };
    let mut machine = Machine::new(
        timings,
        memory,
        Map::SERVER,
        &entry,
        HierarchyParameters::server().tick,
    );
    assert_eq!(machine.run(Cycle::new(200_000)).unwrap(), Pause::Idle);
    std::mem::replace(
        &mut machine.hardware_mut().memory,
        GuestMemory::new(0x1000).unwrap(),
    )
}

/// Random numbers of 1 to a most.
fn generator(seed: u64) -> impl FnMut(u32) -> u32 {
    let mut state = seed;
    move |most| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % most + 1
    }
}

/// The outcomes of many runs with other delays, all of the order of `spread` steps.
fn outcomes(
    litmus: &Litmus,
    runs: u64,
    spread: u32,
    run: impl Fn(&[&[u32]], &[u32]) -> Outcome,
) -> BTreeSet<Outcome> {
    let mut random = generator(1);
    let one = |_| {
        let delays: Vec<u32> = litmus.bodies.iter().map(|_| random(spread)).collect();
        run(litmus.bodies, &delays)
    };
    (0..runs).map(one).collect()
}

/// Harts of the model `rocket`.
fn rocket(count: usize) -> Vec<Rocket> {
    let hierarchy = hierarchy();
    let one = |_| Rocket::new(RocketParameters::measured(), &hierarchy);
    (0..count).map(one).collect()
}

fn boom(count: usize) -> Vec<Boom> {
    let hierarchy = hierarchy();
    let one = |_| Boom::new(BoomParameters::large(), &hierarchy);
    (0..count).map(one).collect()
}

fn hierarchy() -> SharedHierarchy {
    SharedHierarchy::new(Hierarchy::new(HierarchyParameters::server()).unwrap())
}

/// Runs a test on all models, and with its data behind networks; none of them shows what is forbidden. Returns what each
/// of many runs shows: few of harts in RTL need not show all.
fn check(litmus: &Litmus, runs: u64) -> Vec<BTreeSet<Outcome>> {
    let outcome = |memory: &GuestMemory| Outcome::of(memory, litmus.bodies.len(), DATA);
    let functional = |count| vec![Functional::default(); count];
    let mut seen = vec![
        outcomes(litmus, runs, 4000, |bodies, delays| {
            outcome(&run(bodies, functional(bodies.len()), delays))
        }),
        outcomes(litmus, runs, 200, |bodies, delays| {
            outcome(&run(bodies, rocket(bodies.len()), delays))
        }),
        outcomes(litmus, runs, 200, |bodies, delays| {
            outcome(&run(bodies, boom(bodies.len()), delays))
        }),
    ];
    // What lies behind devices' addresses knows no atomic operations.
    let mut seen_in_rtl = BTreeSet::new();
    if !litmus.has_atomics() {
        seen.push(outcomes(litmus, runs / 5, 200, network::on_mesh));
        seen.push(outcomes(litmus, runs / 5, 200, network::on_crossbar));
        seen_in_rtl = outcomes(litmus, runs / 50, 200, network::in_rtl);
    }
    for outcomes in &seen {
        assert!(outcomes.len() > 1, "nothing was interleaved: {outcomes:?}");
    }
    for outcomes in seen.iter().chain([&seen_in_rtl]) {
        let forbidden: Vec<_> = outcomes.iter().filter(|seen| (litmus.forbidden)(seen)).collect();
        assert!(forbidden.is_empty(), "{forbidden:?} of {outcomes:?}");
    }
    seen
}

/// That the harts of every model came in each of some orders: the first values they loaded.
fn shows(seen: &[BTreeSet<Outcome>], expected: &[&[u32]]) {
    for outcomes in seen {
        for first in expected {
            assert!(
                outcomes.iter().any(|outcome| outcome.first() == *first),
                "no {first:?} in {outcomes:?}"
            );
        }
    }
}

macro_rules! litmus {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            in_runs::$name(RUNS);
        })*

        mod many {
            $(#[test]
            #[ignore = "takes minutes"]
            fn $name() {
                super::in_runs::$name(super::MANY_RUNS);
            })*
        }
    };
}

litmus! {
    store_buffering
    store_buffering_with_atomics
    message_passing
    message_passing_with_atomics
    load_buffering
    load_buffering_with_atomics
    write_after_read
    write_after_read_with_atomics
    read_after_write
    read_after_write_with_atomics
    two_writes_each
    two_writes_each_with_atomics
    independent_reads
    independent_reads_with_atomics
    coherent_reads
}

mod in_runs {
    use super::*;

    /// SB.
    pub(super) fn store_buffering(runs: u64) {
        const LITMUS: Litmus = Litmus {
            bodies: &[
                &[store(ONE, X_AT, 0), FENCE, load(FIRST, Y_AT)],
                &[store(ONE, Y_AT, 0), FENCE, load(FIRST, X_AT)],
            ],
            forbidden: |seen| seen.first() == [0, 0],
        };
        shows(&check(&LITMUS, runs), &[&[0, 1], &[1, 0]]);
    }

    pub(super) fn store_buffering_with_atomics(runs: u64) {
        const LITMUS: Litmus = Litmus {
            bodies: &[
                &[swap(ONE, X_AT), fetch(FIRST, Y_AT)],
                &[swap(ONE, Y_AT), fetch(FIRST, X_AT)],
            ],
            forbidden: |seen| seen.first() == [0, 0],
        };
        shows(&check(&LITMUS, runs), &[&[0, 1], &[1, 0]]);
    }

    /// MP.
    pub(super) fn message_passing(runs: u64) {
        const LITMUS: Litmus = Litmus {
            bodies: &[
                &[store(ONE, X_AT, 0), FENCE, store(ONE, Y_AT, 0)],
                &[load(FIRST, Y_AT), FENCE, load(SECOND, X_AT)],
            ],
            forbidden: |seen| seen.loaded[1] == [1, 0],
        };
        shows(&check(&LITMUS, runs), &[&[0, 0], &[0, 1]]);
    }

    pub(super) fn message_passing_with_atomics(runs: u64) {
        const LITMUS: Litmus = Litmus {
            bodies: &[
                &[store(ONE, X_AT, 0), swap(ONE, Y_AT)],
                &[fetch(FIRST, Y_AT), load(SECOND, X_AT)],
            ],
            forbidden: |seen| seen.loaded[1] == [1, 0],
        };
        shows(&check(&LITMUS, runs), &[&[0, 0], &[0, 1]]);
    }

    /// LB.
    pub(super) fn load_buffering(runs: u64) {
        const LITMUS: Litmus = Litmus {
            bodies: &[
                &[load(FIRST, X_AT), FENCE, store(ONE, Y_AT, 0)],
                &[load(FIRST, Y_AT), FENCE, store(ONE, X_AT, 0)],
            ],
            forbidden: |seen| seen.first() == [1, 1],
        };
        shows(&check(&LITMUS, runs), &[&[0, 1], &[1, 0]]);
    }

    pub(super) fn load_buffering_with_atomics(runs: u64) {
        const LITMUS: Litmus = Litmus {
            bodies: &[
                &[fetch(FIRST, X_AT), swap(ONE, Y_AT)],
                &[fetch(FIRST, Y_AT), swap(ONE, X_AT)],
            ],
            forbidden: |seen| seen.first() == [1, 1],
        };
        shows(&check(&LITMUS, runs), &[&[0, 1], &[1, 0]]);
    }

    /// S.
    pub(super) fn write_after_read(runs: u64) {
        const LITMUS: Litmus = Litmus {
            bodies: &[
                &[store(TWO, X_AT, 0), FENCE, store(ONE, Y_AT, 0)],
                &[load(FIRST, Y_AT), FENCE, store(ONE, X_AT, 0)],
            ],
            forbidden: |seen| seen.first() == [0, 1] && seen.x == 2,
        };
        shows(&check(&LITMUS, runs), &[&[0, 0], &[0, 1]]);
    }

    pub(super) fn write_after_read_with_atomics(runs: u64) {
        const LITMUS: Litmus = Litmus {
            bodies: &[
                &[swap(TWO, X_AT), swap(ONE, Y_AT)],
                &[fetch(FIRST, Y_AT), swap(ONE, X_AT)],
            ],
            forbidden: |seen| seen.first() == [0, 1] && seen.x == 2,
        };
        shows(&check(&LITMUS, runs), &[&[0, 0], &[0, 1]]);
    }

    /// R.
    pub(super) fn read_after_write(runs: u64) {
        const LITMUS: Litmus = Litmus {
            bodies: &[
                &[store(ONE, X_AT, 0), FENCE, store(ONE, Y_AT, 0)],
                &[store(TWO, Y_AT, 0), FENCE, load(FIRST, X_AT)],
            ],
            forbidden: |seen| seen.first() == [0, 0] && seen.y == 2,
        };
        shows(&check(&LITMUS, runs), &[&[0, 0], &[0, 1]]);
    }

    pub(super) fn read_after_write_with_atomics(runs: u64) {
        const LITMUS: Litmus = Litmus {
            bodies: &[
                &[swap(ONE, X_AT), swap(ONE, Y_AT)],
                &[swap(TWO, Y_AT), fetch(FIRST, X_AT)],
            ],
            forbidden: |seen| seen.first() == [0, 0] && seen.y == 2,
        };
        shows(&check(&LITMUS, runs), &[&[0, 0], &[0, 1]]);
    }

    /// 2+2W.
    pub(super) fn two_writes_each(runs: u64) {
        const LITMUS: Litmus = Litmus {
            bodies: &[
                &[store(ONE, X_AT, 0), FENCE, store(TWO, Y_AT, 0)],
                &[store(ONE, Y_AT, 0), FENCE, store(TWO, X_AT, 0)],
            ],
            forbidden: |seen| (seen.x, seen.y) == (1, 1),
        };
        check(&LITMUS, runs);
    }

    pub(super) fn two_writes_each_with_atomics(runs: u64) {
        const LITMUS: Litmus = Litmus {
            bodies: &[
                &[swap(ONE, X_AT), swap(TWO, Y_AT)],
                &[swap(ONE, Y_AT), swap(TWO, X_AT)],
            ],
            forbidden: |seen| (seen.x, seen.y) == (1, 1),
        };
        check(&LITMUS, runs);
    }

    /// IRIW.
    pub(super) fn independent_reads(runs: u64) {
        const LITMUS: Litmus = Litmus {
            bodies: &[
                &[store(ONE, X_AT, 0)],
                &[store(ONE, Y_AT, 0)],
                &[load(FIRST, X_AT), FENCE, load(SECOND, Y_AT)],
                &[load(FIRST, Y_AT), FENCE, load(SECOND, X_AT)],
            ],
            forbidden: |seen| seen.loaded[2..] == [[1, 0], [1, 0]],
        };
        for outcomes in check(&LITMUS, runs) {
            assert!(outcomes.len() > 3, "{outcomes:?}");
        }
    }

    pub(super) fn independent_reads_with_atomics(runs: u64) {
        const LITMUS: Litmus = Litmus {
            bodies: &[
                &[swap(ONE, X_AT)],
                &[swap(ONE, Y_AT)],
                &[fetch(FIRST, X_AT), fetch(SECOND, Y_AT)],
                &[fetch(FIRST, Y_AT), fetch(SECOND, X_AT)],
            ],
            forbidden: |seen| seen.loaded[2..] == [[1, 0], [1, 0]],
        };
        for outcomes in check(&LITMUS, runs) {
            assert!(outcomes.len() > 3, "{outcomes:?}");
        }
    }

    /// CoRR.
    pub(super) fn coherent_reads(runs: u64) {
        const LITMUS: Litmus = Litmus {
            bodies: &[&[store(ONE, X_AT, 0)], &[load(FIRST, X_AT), load(SECOND, X_AT)]],
            forbidden: |seen| seen.loaded[1] == [1, 0],
        };
        shows(&check(&LITMUS, runs), &[&[0, 0], &[0, 1]]);
    }
}
