//! The `rocket` model against harts of Rocket in RTL, on the programs of `validation/coherence`.
//!
//! The model is always compared with the cycles that the RTL took (`reference.csv`). The long test runs the RTL again; with
//! `RACKWRIGHT_UPDATE_REFERENCE` set it writes the file.

use crate::programs::{folder, memory, slowest, whole, Model, Report, BASE, LIMIT, READER};
use rackwright_device::ACCESS_LATENCY;
use rackwright_memory::{AccessKind, GuestMemory, Hierarchy, HierarchyParameters, RequesterId};
use rackwright_rtl::rocket::{boot_code, RocketBus, RocketDesign, RocketSystem, DEVICES_BASE, MEMORY_BASE};
use rackwright_rtl::{Cache, Toolchain};
use rackwright_time::Cycle;
use std::path::{Path, PathBuf};

/// Where harts leave their results: beyond the boot code.
const READER_AT: u64 = DEVICES_BASE + 0x1000;

/// What lies behind the caches of the RTL: the same hierarchy that the model has, memory, and what reads the results.
struct System {
    memory: GuestMemory,
    hierarchy: Hierarchy,
    port: RequesterId,
    boot: [u8; 24],
    reports: Vec<Report>,
}

impl System {
    fn new(kernel: &str, harts: usize) -> System {
        let mut memory = memory(kernel, harts);
        memory.write(READER, &READER_AT.to_le_bytes()).unwrap();
        let mut hierarchy = Hierarchy::new(HierarchyParameters::server()).unwrap();
        let port = hierarchy.attach_hart();
        System {
            memory,
            hierarchy,
            port,
            boot: boot_code(BASE),
            reports: vec![Report { cycles: 0, value: 0 }; harts],
        }
    }

    fn report(&mut self, offset: u64, value: u64) {
        let report = &mut self.reports[offset as usize / 16];
        if offset % 16 == 0 {
            report.value = value;
        } else {
            report.cycles = value;
        }
    }
}

impl RocketBus for System {
    fn read(&mut self, at: Cycle, address: u64, data: &mut [u8]) -> Cycle {
        data.fill(0);
        if address < MEMORY_BASE {
            for (address, byte) in (address..).zip(data) {
                let known = self.boot.get((address - DEVICES_BASE) as usize);
                *byte = known.copied().unwrap_or(0);
            }
            return at + ACCESS_LATENCY;
        }
        // Cores may fetch ahead beyond memory; such bytes are never executed.
        if self.memory.read(address, data).is_err() {
            data.fill(0);
        }
        // The hub in the RTL keeps the L1 caches coherent, so that what they hold is not tracked here.
        self.hierarchy.access(at, address, AccessKind::Fetch, self.port)
    }

    fn write(&mut self, at: Cycle, address: u64, data: &[u8]) -> Cycle {
        if address < MEMORY_BASE {
            let value = data.try_into().expect("a doubleword");
            self.report(address - READER_AT, u64::from_le_bytes(value));
            return at + ACCESS_LATENCY;
        }
        self.memory.write(address, data).unwrap();
        self.hierarchy
            .access(at, address, AccessKind::WriteBack, self.port)
    }

    fn finished(&self) -> bool {
        self.reports.iter().all(|report| report.cycles != 0)
    }
}

fn run_on_rtl(design: &RocketDesign, kernel: &str, harts: usize) -> Vec<Report> {
    let mut system = System::new(kernel, harts);
    design.instantiate().run(&mut system, LIMIT);
    assert!(system.finished(), "{kernel} does not end on {harts} harts in RTL");
    system.reports
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
