//! The `rocket` model against harts of Rocket in RTL, on the programs of `validation/coherence`.
//!
//! The model is always compared with the cycles that the RTL took (`reference.csv`). The long test runs the RTL again; with
//! `RACKWRIGHT_UPDATE_REFERENCE` set it writes the file.

use crate::programs::{folder, memory, slowest, whole, Model, Report, BASE, LIMIT, READER};
use rackwright_device::{Bus, Device, Map, Place, RestoreError, ACCESS_LATENCY};
use rackwright_machine::{Hardware, Machine, Pause};
use rackwright_memory::{Hierarchy, HierarchyParameters, SharedHierarchy};
use rackwright_rtl::rocket::{RocketDesign, RocketSystem};
use rackwright_rtl::{Cache, Toolchain};
use rackwright_time::{Cycle, Cycles};
use rackwright_unit::RocketCores;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The device that reads the results of harts.
const PLACE: Place = Place {
    base: 0x1100_0000,
    bytes: 4 * 16,
    source: 0,
};

/// Collects the reports of harts: the value of each in one register, and its cycles in the next.
struct Reader {
    reports: Arc<Mutex<Vec<Report>>>,
}

impl Device for Reader {
    fn read(&mut self, _offset: u64, _bytes: u8, _now: Cycle) -> Option<u64> {
        None
    }

    fn write(&mut self, offset: u64, _bytes: u8, value: u64, _now: Cycle) -> bool {
        let report = &mut self.reports.lock().unwrap()[offset as usize / 16];
        if offset % 16 == 0 {
            report.value = value;
        } else {
            report.cycles = value;
        }
        true
    }

    fn save(&self) -> Vec<u8> {
        unreachable!("the machine is not saved")
    }

    fn restore(&mut self, _state: &[u8]) -> Result<(), RestoreError> {
        unreachable!("the machine is not saved")
    }
}

/// The hub in the RTL keeps the L1 caches coherent; behind it is the hierarchy that the model has, too.
fn run_on_rtl(design: &RocketDesign, kernel: &str, harts: usize) -> Vec<Report> {
    let mut memory = memory(kernel, harts);
    memory.write(READER, &PLACE.base.to_le_bytes()).unwrap();
    let hierarchy = SharedHierarchy::new(Hierarchy::new(HierarchyParameters::server()).unwrap());
    let mut cores = RocketCores::new(design, design.cores(), ACCESS_LATENCY, hierarchy, BASE..BASE);
    cores.start_all_at(BASE);
    let tick = HierarchyParameters::server().tick;
    let mut bus = Bus::new(Map::BARE_METAL, design.cores(), tick);
    let reports = Arc::new(Mutex::new(vec![Report { cycles: 0, value: 0 }; harts]));
    let reader = Reader {
        reports: reports.clone(),
    };
    bus.add("reader", PLACE, Box::new(reader)).unwrap();
    let mut machine = Machine::bare_metal(Hardware::new(vec![cores], memory, bus), tick);
    let mut until = Cycle::ZERO;
    loop {
        until += Cycles::new(10_000);
        assert!(until < LIMIT, "{kernel} does not end on {harts} harts in RTL");
        assert_eq!(machine.run(until).unwrap(), Pause::Reached);
        let reports = reports.lock().unwrap();
        if reports.iter().all(|report| report.cycles != 0) {
            return reports.clone();
        }
    }
}

/// Where the tools and the cores' Verilog are, as `./rw test --long` sets it.
fn from_environment(name: &str) -> PathBuf {
    std::env::var_os(name)
        .unwrap_or_else(|| panic!("{name} is not set; run this through ./rw test --long"))
        .into()
}

fn four_cores() -> RocketDesign {
    let root = from_environment("RACKWRIGHT_VERILATOR_ROOT");
    let tools = Toolchain {
        verilator: root.join("bin/verilator_bin"),
        root,
        compiler: from_environment("RACKWRIGHT_CXX"),
    };
    let cache = Cache::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("designs"));
    let verilog = from_environment("RACKWRIGHT_ROCKET_VERILOG");
    tools.build_rocket(RocketSystem::Four, &verilog, &cache).unwrap()
}

/// The kernels that are compared. The others hold reservations for longer than Rocket does.
const KERNELS: [&str; 7] = [
    "barrier",
    "false-sharing",
    "lock",
    "ping-pong",
    "private-lines",
    "producer-consumer",
    "ticket-lock",
];
/// The bars for the mean of the absolute errors of kernels that share lines, on so many harts, in percent.
const BARS: [(usize, f64); 2] = [(2, 12.0), (4, 22.0)];

/// What a kernel took: cycles until the last of so many harts was done, and the values that all of them report.
#[derive(PartialEq, Eq, Debug)]
struct Row {
    kernel: String,
    harts: usize,
    cycles: u64,
    values: Vec<u64>,
}

impl Row {
    fn new(kernel: &str, harts: usize, reports: &[Report]) -> Row {
        Row {
            kernel: kernel.to_owned(),
            harts,
            cycles: slowest(reports),
            values: reports.iter().map(|report| report.value).collect(),
        }
    }

    fn parse(line: &str) -> Row {
        let cells: Vec<&str> = line.split(',').collect();
        let [kernel, harts, cycles, values] = cells[..] else {
            panic!("four cells, not {line:?}");
        };
        let number = |text: &str| text.parse().expect("a number");
        Row {
            kernel: kernel.to_owned(),
            harts: number(harts) as usize,
            cycles: number(cycles),
            values: values.split(' ').map(number).collect(),
        }
    }

    fn line(&self) -> String {
        let values: Vec<String> = self.values.iter().map(u64::to_string).collect();
        let (kernel, harts, cycles) = (&self.kernel, self.harts, self.cycles);
        format!("{kernel},{harts},{cycles},{}\n", values.join(" "))
    }
}

fn reference_file() -> PathBuf {
    folder().join("reference.csv")
}

fn reference() -> Vec<Row> {
    let text = std::fs::read_to_string(reference_file()).expect("reference.csv");
    text.lines().skip(1).map(Row::parse).collect()
}

#[test]
fn cycles_of_the_model_are_near_those_of_the_rtl() {
    let reference = reference();
    assert_eq!(reference.len(), KERNELS.len() * BARS.len());
    let mut table = String::new();
    for (harts, bar) in BARS {
        let mut errors = Vec::new();
        for rtl in reference.iter().filter(|row| row.harts == harts) {
            let model = whole(&rtl.kernel, Model::Rocket, harts);
            assert_eq!(
                model.values(),
                rtl.values,
                "{} computes something else",
                rtl.kernel
            );
            let error = (model.cycles() as f64 / rtl.cycles as f64 - 1.0) * 100.0;
            let cycles = format!("{:>8}{:>8}", rtl.cycles, model.cycles());
            table += &format!("{:20}{harts:>2}{cycles}{error:>+8.1} %\n", rtl.kernel);
            if rtl.kernel != "private-lines" {
                errors.push(error.abs());
            }
        }
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        table += &format!("mean on {harts} harts {mean:.1} %\n");
        assert!(mean <= bar, "\n{table}");
    }
    println!("{table}");
}

#[test]
#[ignore = "compiles four Rocket cores, which takes minutes"]
fn the_reference_is_what_the_rtl_does() {
    let design = four_cores();
    let run = |(kernel, harts)| Row::new(kernel, harts, &run_on_rtl(&design, kernel, harts));
    let runs = KERNELS
        .into_iter()
        .flat_map(|kernel| BARS.map(|(harts, _)| (kernel, harts)));
    let measured: Vec<Row> = runs.map(run).collect();
    if std::env::var_os("RACKWRIGHT_UPDATE_REFERENCE").is_some() {
        let lines: String = measured.iter().map(Row::line).collect();
        std::fs::write(
            reference_file(),
            "kernel,harts,cycles,values\n".to_owned() + &lines,
        )
        .unwrap();
    }
    assert_eq!(measured, reference());
}
