//! The `rocket` model against the Rocket core in RTL, on the programs of `validation/rocket`.
//!
//! The model is always compared with the cycles that the RTL took (`reference.csv`). The long test runs the RTL
//! again; with `RACKWRIGHT_UPDATE_REFERENCE` set it writes the file.

use crate::support::{folder, program, run_on_harts, run_on_model, Measurement};
use rackwright_rtl::rocket::{RocketDesign, RocketSystem};
use rackwright_rtl::{Cache, Toolchain};
use rackwright_server::CpuModel;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The bar for the mean of the absolute errors, and for each of them, in percent. DEVIATIONS.md has the
/// reasons for what is left.
const MEAN_ERROR: f64 = 0.5;
const LARGEST_ERROR: f64 = 3.0;

/// Name and measurement of each line of the reference.
fn reference() -> Vec<(String, Measurement)> {
    let text = std::fs::read_to_string(folder("rocket").join("reference.csv")).expect("reference.csv");
    let rows = text.lines().skip(1).map(|line| {
        let (name, numbers) = line.split_once(',').expect("a name and numbers");
        (name.to_owned(), Measurement::parse(numbers))
    });
    rows.collect()
}

fn run_on_rtl(design: &RocketDesign, file: &[u8]) -> Measurement {
    run_on_harts(CpuModel::Rocket, Some(design), file)
}

#[test]
fn cycles_of_the_model_are_those_of_the_rtl() {
    let mut table = format!("{:20}{:>10}{:>10}{:>9}\n", "kernel", "RTL", "model", "error");
    let (mut sum, mut largest) = (0.0, 0.0f64);
    let reference = reference();
    for (name, rtl) in &reference {
        let model = run_on_model(CpuModel::Rocket, &program("rocket", name));
        assert_eq!(
            (model.instructions, model.result),
            (rtl.instructions, rtl.result),
            "{name}: the hart computes something else"
        );
        let error = (model.cycles as f64 / rtl.cycles as f64 - 1.0) * 100.0;
        let cycles = format!("{:>10}{:>10}", rtl.cycles, model.cycles);
        writeln!(table, "{name:20}{cycles}{error:>+8.2}%").unwrap();
        sum += error.abs();
        largest = largest.max(error.abs());
    }
    let mean = sum / reference.len() as f64;
    writeln!(table, "mean {mean:.2} %, largest {largest:.2} %").unwrap();
    println!("{table}");
    assert!(reference.len() >= 14, "{} kernels", reference.len());
    assert!(mean <= MEAN_ERROR && largest <= LARGEST_ERROR, "\n{table}");
}

#[test]
fn a_run_of_the_model_can_be_repeated() {
    let file = program("rocket", "sort");
    assert_eq!(
        run_on_model(CpuModel::Rocket, &file),
        run_on_model(CpuModel::Rocket, &file)
    );
}

/// Where the tools and the core's Verilog are, as `./rw test --long` sets it.
fn from_environment(name: &str) -> PathBuf {
    std::env::var_os(name)
        .unwrap_or_else(|| panic!("{name} is not set; run this through ./rw test --long"))
        .into()
}

fn rtl_design() -> RocketDesign {
    let root = from_environment("RACKWRIGHT_VERILATOR_ROOT");
    let compiler = std::env::var_os("RACKWRIGHT_CXX").unwrap_or_else(|| "g++".into());
    let tools = Toolchain {
        verilator: root.join("bin/verilator_bin"),
        root,
        compiler: compiler.into(),
    };
    let cache = Cache::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("designs"));
    let verilog = from_environment("RACKWRIGHT_ROCKET_VERILOG");
    tools.build_rocket(RocketSystem::One, &verilog, &cache).unwrap()
}

fn all_programs() -> Vec<String> {
    let folder = std::fs::read_dir(folder("rocket").join("programs")).expect("the folder of programs");
    let name = |entry: std::fs::DirEntry| {
        let path = entry.path();
        path.file_stem().expect("a name").to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = folder.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

#[test]
#[ignore = "compiles the Rocket core and runs it for a minute"]
fn the_reference_is_what_the_rtl_does() {
    let design = rtl_design();
    let measured: Vec<(String, Measurement)> = all_programs()
        .into_iter()
        .map(|name| {
            let measurement = run_on_rtl(&design, &program("rocket", &name));
            (name, measurement)
        })
        .collect();
    if std::env::var_os("RACKWRIGHT_UPDATE_REFERENCE").is_some() {
        write_reference(&measured);
    }
    assert_eq!(measured, reference());
}

fn write_reference(measured: &[(String, Measurement)]) {
    let mut text = String::from("kernel,cycles,instructions,result\n");
    for (name, row) in measured {
        writeln!(text, "{name},{},{},{}", row.cycles, row.instructions, row.result).unwrap();
    }
    std::fs::write(folder("rocket").join("reference.csv"), text).unwrap();
}
