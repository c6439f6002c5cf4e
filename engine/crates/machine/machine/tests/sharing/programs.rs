//! Runs the programs of `validation/coherence` on harts of every model, and reads what they report.

use rackwright_boot::Entry;
use rackwright_cpu::{Boom, BoomParameters, Functional, Rocket, RocketParameters, Timing};
use rackwright_device::Map;
use rackwright_machine::{Machine, Pause, Privileged};
use rackwright_memory::{GuestMemory, Hierarchy, HierarchyParameters, Protection, SharedHierarchy};
use rackwright_stats::Digest;
use rackwright_time::{Cycle, Cycles};
use rackwright_unit::Core;
use std::path::{Path, PathBuf};

pub const BASE: u64 = Map::SERVER.memory;
const BYTES: u64 = 1 << 20;
/// Where the number of harts stands, the address of a device that reads results, and results: as in `link.ld` of the programs.
pub const HARTS_TAKING_PART: u64 = BASE + 0x1_0000;
pub const READER: u64 = HARTS_TAKING_PART + 8;
const RESULTS: u64 = BASE + 0x1_1000;
const RESULT_BYTES: u64 = 64;
pub const LIMIT: Cycle = Cycle::new(100_000_000);

/// What a hart reports of its second call of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    pub cycles: u64,
    pub value: u64,
}

/// What all harts report, and the digest of the machine at the end.
#[derive(PartialEq, Eq, Debug)]
pub struct Outcome {
    pub reports: Vec<Report>,
    digest: u128,
}

impl Outcome {
    pub fn values(&self) -> Vec<u64> {
        self.reports.iter().map(|report| report.value).collect()
    }

    /// Cycles until the last hart was done.
    pub fn cycles(&self) -> u64 {
        slowest(&self.reports)
    }
}

/// Cycles until the last hart was done.
pub fn slowest(reports: &[Report]) -> u64 {
    reports.iter().map(|report| report.cycles).max().unwrap()
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../validation/coherence")
}

/// Memory with a program of the folder in it, for so many harts.
pub fn memory(kernel: &str, harts: usize) -> GuestMemory {
    load(
        &folder().join("programs").join(kernel).with_extension("bin"),
        harts,
    )
}

/// Memory with an image in it, for so many harts.
pub fn load(image: &Path, harts: usize) -> GuestMemory {
    let image = std::fs::read(image).expect("an image");
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

/// Runs a program to its end, in slices.
fn finish<T: Timing>(memory: GuestMemory, timings: Vec<T>, slice: Cycles) -> Machine<Core<T>, Privileged> {
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
    let mut until = Cycle::ZERO;
    loop {
        until += slice;
        match machine.run(until).unwrap() {
            Pause::Idle => break,
            Pause::Reached => assert!(until < LIMIT, "it does not end"),
            other => panic!("{other:?}"),
        }
    }
    machine
}

/// What a program of the folder reports.
fn run_on<T: Timing>(kernel: &str, timings: Vec<T>, slice: Cycles) -> Outcome {
    let harts = timings.len();
    let machine = finish(memory(kernel, harts), timings, slice);
    let report = |hart: u64| Report {
        cycles: number(&machine.hardware().memory, RESULTS + hart * RESULT_BYTES),
        value: number(&machine.hardware().memory, RESULTS + hart * RESULT_BYTES + 8),
    };
    let mut digest = Digest::new();
    machine.digest(&mut digest);
    Outcome {
        reports: (0..harts as u64).map(report).collect(),
        digest: digest.value(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    Functional,
    Rocket,
    Boom,
}

pub const MODELS: [Model; 3] = [Model::Functional, Model::Rocket, Model::Boom];

fn rockets(harts: usize) -> Vec<Rocket> {
    let hierarchy = SharedHierarchy::new(Hierarchy::new(HierarchyParameters::server()).unwrap());
    let rocket = |_| Rocket::new(RocketParameters::measured(), &hierarchy);
    (0..harts).map(rocket).collect()
}

fn booms(harts: usize) -> Vec<Boom> {
    let hierarchy = SharedHierarchy::new(Hierarchy::new(HierarchyParameters::server()).unwrap());
    let boom = |_| Boom::new(BoomParameters::large(), &hierarchy);
    (0..harts).map(boom).collect()
}

pub fn run(kernel: &str, model: Model, harts: usize, slice: Cycles) -> Outcome {
    match model {
        Model::Functional => run_on(kernel, vec![Functional::default(); harts], slice),
        Model::Rocket => run_on(kernel, rockets(harts), slice),
        Model::Boom => run_on(kernel, booms(harts), slice),
    }
}

/// Runs what is in memory to its end; returns what `read` finds there.
pub fn afterwards<R>(
    memory: GuestMemory,
    model: Model,
    harts: usize,
    read: impl FnOnce(&GuestMemory) -> R,
) -> R {
    let whole = Cycles::new(LIMIT.0);
    match model {
        Model::Functional => {
            let harts = vec![Functional::default(); harts];
            read(&finish(memory, harts, whole).hardware().memory)
        }
        Model::Rocket => read(&finish(memory, rockets(harts), whole).hardware().memory),
        Model::Boom => read(&finish(memory, booms(harts), whole).hardware().memory),
    }
}

pub fn whole(kernel: &str, model: Model, harts: usize) -> Outcome {
    run(kernel, model, harts, Cycles::new(LIMIT.0))
}
