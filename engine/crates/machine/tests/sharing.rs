//! Programs of several harts that share memory (`validation/coherence`): what they compute is right on harts of every model,
//! and is done in the same cycles however the run is cut. `--nocapture` prints the cycles.

use rackwright_boot::Entry;
use rackwright_cpu::{Boom, BoomParameters, Functional, Rocket, RocketParameters, Timing};
use rackwright_device::Map;
use rackwright_machine::{Machine, Pause};
use rackwright_memory::{GuestMemory, Hierarchy, HierarchyParameters, Protection, SharedHierarchy};
use rackwright_stats::Digest;
use rackwright_time::{Cycle, Cycles};
use std::path::Path;

const BASE: u64 = Map::SERVER.memory;
const BYTES: u64 = 1 << 20;
/// Where the number of harts stands, and what they report: `link.ld` of the programs has them too.
const HARTS_TAKING_PART: u64 = BASE + 0x1_0000;
const RESULTS: u64 = BASE + 0x1_1000;
const RESULT_BYTES: u64 = 64;
const LIMIT: Cycle = Cycle(100_000_000);

/// What a hart reports of its second call of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Report {
    cycles: u64,
    value: u64,
}

/// What all harts report, and the digest of the machine at the end.
#[derive(PartialEq, Eq, Debug)]
struct Outcome {
    reports: Vec<Report>,
    digest: u128,
}

impl Outcome {
    fn values(&self) -> Vec<u64> {
        self.reports.iter().map(|report| report.value).collect()
    }

    /// Cycles until the last hart was done.
    fn cycles(&self) -> u64 {
        self.reports.iter().map(|report| report.cycles).max().unwrap()
    }
}

fn memory(kernel: &str, harts: usize) -> GuestMemory {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../validation/coherence/programs");
    let image = std::fs::read(folder.join(kernel).with_extension("bin")).expect("a program of the folder");
    let mut memory = GuestMemory::new(BASE + BYTES).unwrap();
    memory.protect(BASE, BYTES, Protection::ALL).unwrap();
    memory.write(BASE, &image).unwrap();
    memory
        .write(HARTS_TAKING_PART, &(harts as u64).to_le_bytes())
        .unwrap();
    memory
}

fn number(memory: &GuestMemory, address: u64) -> u64 {
    let mut bytes = [0; 8];
    memory.read(address, &mut bytes).unwrap();
    u64::from_le_bytes(bytes)
}

/// Runs a kernel to its end, in slices.
fn run_on<T: Timing>(kernel: &str, timings: Vec<T>, slice: Cycles) -> Outcome {
    let harts = timings.len();
    let entry = Entry {
        pc: BASE,
        device_tree: 0,
        information: 0,
    };
    let mut machine = Machine::new(timings, memory(kernel, harts), Map::SERVER, &entry);
    let mut until = Cycle::ZERO;
    loop {
        until += slice;
        match machine.run(until) {
            Pause::Idle => break,
            Pause::Reached => assert!(until < LIMIT, "{kernel} does not end on {harts} harts"),
            other => panic!("{kernel} on {harts} harts: {other:?}"),
        }
    }
    let report = |hart: u64| Report {
        cycles: number(machine.memory(), RESULTS + hart * RESULT_BYTES),
        value: number(machine.memory(), RESULTS + hart * RESULT_BYTES + 8),
    };
    let mut digest = Digest::new();
    machine.digest(&mut digest);
    Outcome {
        reports: (0..harts as u64).map(report).collect(),
        digest: digest.value(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Model {
    Functional,
    Rocket,
    Boom,
}

const MODELS: [Model; 3] = [Model::Functional, Model::Rocket, Model::Boom];

fn run(kernel: &str, model: Model, harts: usize, slice: Cycles) -> Outcome {
    let hierarchy = SharedHierarchy::new(Hierarchy::new(HierarchyParameters::server()).unwrap());
    let rocket = |_| Rocket::new(RocketParameters::measured(), &hierarchy);
    let boom = |_| Boom::new(BoomParameters::large(), &hierarchy);
    match model {
        Model::Functional => run_on(kernel, vec![Functional::default(); harts], slice),
        Model::Rocket => run_on(kernel, (0..harts).map(rocket).collect(), slice),
        Model::Boom => run_on(kernel, (0..harts).map(boom).collect(), slice),
    }
}

fn whole(kernel: &str, model: Model, harts: usize) -> Outcome {
    run(kernel, model, harts, Cycles(LIMIT.0))
}

/// That a kernel reports what `expected` says of so many harts, on all models with two to eight of them.
fn computes(kernel: &str, expected: impl Fn(u64) -> Vec<u64>) {
    for model in MODELS {
        for harts in [2, 3, 4, 8] {
            let outcome = whole(kernel, model, harts);
            assert_eq!(
                outcome.values(),
                expected(harts as u64),
                "{kernel}, {harts} of {model:?}"
            );
        }
    }
}

fn each(harts: u64, value: u64) -> Vec<u64> {
    vec![value; harts as usize]
}

#[test]
fn locks_let_one_in_at_a_time() {
    computes("lock", |harts| each(harts, 2 * 100 * harts));
    computes("ticket-lock", |harts| each(harts, 2 * 100 * harts));
}

#[test]
fn nobody_passes_a_barrier_before_all_have_come() {
    computes("barrier", |harts| each(harts, 0));
}

#[test]
fn a_stack_without_a_lock_loses_and_doubles_nothing() {
    computes("stack", |harts| each(harts, 0));
}

/// All 50 fail where somebody has come between; the one where nobody does is repeated at most for the end of a turn.
#[test]
fn a_reservation_is_lost_when_a_value_comes_back() {
    for model in MODELS {
        for harts in [2, 5] {
            let values = whole("reservation", model, harts).values();
            assert!((5001..=5002).contains(&values[0]), "{model:?}: {values:?}");
        }
    }
}

#[test]
fn what_is_sent_arrives() {
    computes("producer-consumer", |harts| {
        let sum = 3 * (500..1000).sum::<u64>();
        (0..harts).map(|hart| if hart < 2 { sum } else { 0 }).collect()
    });
    computes("ping-pong", |harts| {
        (0..harts).map(|hart| u64::from(hart < 2)).collect()
    });
}

#[test]
fn counters_of_one_line_are_counted_apart() {
    for kernel in ["false-sharing", "private-lines"] {
        computes(kernel, |harts| each(harts, 1000));
    }
}

#[test]
fn runs_are_the_same_however_they_are_cut() {
    for model in MODELS {
        let once = whole("stack", model, 4);
        assert_eq!(whole("stack", model, 4), once, "{model:?}");
        assert_eq!(run("stack", model, 4, Cycles(777)), once, "{model:?}");
    }
}

/// What lines that move between caches cost shows in the cycles.
#[test]
fn sharing_costs_time() {
    let kernels = [
        "private-lines",
        "false-sharing",
        "ping-pong",
        "producer-consumer",
        "lock",
        "ticket-lock",
        "barrier",
        "stack",
    ];
    for model in [Model::Rocket, Model::Boom] {
        for kernel in kernels {
            let cycles = [2, 4, 8].map(|harts| whole(kernel, model, harts).cycles());
            println!("{model:?} {kernel:18} {cycles:?}");
        }
        let cycles = |kernel, harts| whole(kernel, model, harts).cycles();
        let alone = cycles("private-lines", 4);
        let difference = alone.abs_diff(cycles("private-lines", 2));
        assert!(
            difference < 10,
            "{model:?}: lines of one's own cost {difference} more"
        );
        assert!(cycles("false-sharing", 2) > 2 * alone, "{model:?}");
        assert!(
            cycles("false-sharing", 4) > cycles("false-sharing", 2),
            "{model:?}"
        );
        assert!(cycles("lock", 4) > cycles("lock", 2), "{model:?}");
        // A ball crosses from L1 to L1 twice for each of two turns of 200: to be looked at, and to be taken.
        let round = cycles("ping-pong", 2) / 200;
        assert!((100..400).contains(&round), "{model:?}: {round}");
    }
}
