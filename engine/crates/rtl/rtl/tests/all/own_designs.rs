//! Designs as people write them: of packages, included files, lists, parameters, files of data, arguments and C.
//!
//! The tools come from the environment, as `./rw test` sets it: `RACKWRIGHT_VERILATOR_ROOT` and
//! `RACKWRIGHT_CXX`.

use rackwright_contract::Command;
use rackwright_rtl::{Broken, BuildOptions, Cache, Design, Instance, Manifest, RtlError, Toolchain};
use rackwright_time::unit::Cycle;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn toolchain() -> Toolchain {
    let root = std::env::var_os("RACKWRIGHT_VERILATOR_ROOT")
        .expect("RACKWRIGHT_VERILATOR_ROOT names Verilator's root folder; run the tests through ./rw test");
    let root = PathBuf::from(root);
    let compiler = std::env::var_os("RACKWRIGHT_CXX").unwrap_or_else(|| "g++".into());
    Toolchain {
        verilator: root.join("bin/verilator_bin"),
        root,
        compiler: compiler.into(),
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

/// A copy of the design `gathered`, whose files a test may change.
fn gathered() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = fixture("gathered");
    for file in [
        "manifest.json",
        "weight.c",
        "rom.hex",
        "headers/term.svh",
        "headers/weight.h",
        "rtl/files.f",
        "rtl/gathered_pkg.sv",
        "rtl/Gathered.sv",
        "rtl/include/terms.svh",
    ] {
        let to = folder.path().join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from.join(file), to).unwrap();
    }
    folder
}

/// The cache of these tests.
fn designs() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("designs")
}

/// The files in a folder whose names end so.
fn ending(folder: &Path, end: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.to_string_lossy().ends_with(end))
        .collect()
}

fn build(folder: &Path) -> Result<Design, RtlError> {
    let cache = Cache::new(designs());
    let manifest = Manifest::read(&folder.join("manifest.json"))?;
    toolchain().build(manifest, BuildOptions::default(), &cache)
}

/// What the unit answers to 1.
fn sum(design: &Design) -> Result<u64, RtlError> {
    let mut unit = Instance::new(design, None)?;
    let command = Command {
        opcode: 1,
        funct: 0,
        rs1: 1,
        rs2: 0,
        rd: 7,
        xd: true,
    };
    unit.command(Cycle::new(10), command);
    let step = unit.step(Cycle::new(100));
    Ok(step.command_responses[0].data)
}

/// Of the base, the parameter, C, the second word of the file, and the term.
const SUM: u64 = 1000 + 5 + 100 + 0x22 + 20;

#[test]
fn a_design_is_made_of_all_that_it_names() {
    let folder = gathered();
    let mut design = build(folder.path()).unwrap();
    assert_eq!(sum(&design).unwrap(), SUM);
    design.plusargs = vec!["ARGUMENT=70000".into()];
    assert_eq!(sum(&design).unwrap(), SUM + 70000);
}

#[test]
fn whatever_changes_the_old_design_is_not_used() {
    let folder = gathered();
    let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
    let answer = || sum(&build(folder.path()).unwrap()).unwrap();
    assert_eq!(answer(), SUM);
    write("headers/term.svh", "`define TERM 64'd11 * `GATHERED_SCALE\n");
    assert_eq!(answer(), SUM + 2);
    write("headers/weight.h", "#define WEIGHT 300\n");
    assert_eq!(answer(), SUM + 2 + 200);
    // It is found before the one in `headers`.
    write("term.svh", "`define TERM 64'd0\n");
    assert_eq!(answer(), SUM - 20 + 200);
    // Data is read when the run begins.
    write("rom.hex", "0\n0\n");
    assert_eq!(answer(), SUM - 20 + 200 - 0x22);
}

#[test]
fn headers_that_have_changed_since_they_were_compiled_are_read_again() {
    let (folder, kept) = (gathered(), tempfile::tempdir().unwrap());
    let cache = Cache::new(kept.path());
    build(folder.path()).unwrap();
    for object in ending(&designs(), ".o") {
        fs::copy(&object, kept.path().join(object.file_name().unwrap())).unwrap();
    }
    let answer = || {
        let manifest = Manifest::read(&folder.path().join("manifest.json")).unwrap();
        let design = toolchain().build(manifest, BuildOptions::default(), &cache);
        sum(&design.unwrap()).unwrap()
    };
    assert_eq!(answer(), SUM);
    assert_eq!(ending(kept.path(), ".h.gch").len(), 1);
    let header = ending(kept.path(), ".h").remove(0);
    let text = fs::read_to_string(&header).unwrap();
    fs::write(&header, format!("{text}\n")).unwrap();
    fs::write(folder.path().join("headers/weight.h"), "#define WEIGHT 300\n").unwrap();
    assert_eq!(answer(), SUM + 200);
    // g++ does not look whether headers have changed.
    let looks = toolchain().compiler.to_string_lossy().contains("clang");
    assert_eq!(ending(kept.path(), ".h.gch").is_empty(), looks);
}

#[test]
fn files_that_are_missing_or_wrong_end_the_run_and_not_the_process() {
    let folder = gathered();
    let rom = folder.path().join("rom.hex");
    let stopped = || match sum(&build(folder.path()).unwrap()) {
        Err(RtlError::Stopped { unit, cycle, reason }) => {
            assert_eq!((unit.as_str(), cycle), ("gathered", Cycle::ZERO));
            reason
        }
        other => panic!("it did not stop: {other:?}"),
    };
    fs::write(&rom, "11\nhello\n").unwrap();
    assert_eq!(stopped(), "rom.hex:2: $readmem file syntax error");
    fs::remove_file(&rom).unwrap();
    let said = stopped();
    assert!(
        said.starts_with("rom.hex: No such file or directory in /"),
        "{said}"
    );
    fs::write(&rom, "11\n22\n33\n44\n").unwrap();
    assert_eq!(sum(&build(folder.path()).unwrap()).unwrap(), SUM);
}

#[test]
fn a_parameter_that_the_top_module_does_not_have_is_refused() {
    let folder = gathered();
    let manifest = folder.path().join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"EXTRA\"", "\"EXTRAS\"")).unwrap();
    let error = build(folder.path()).err().unwrap().to_string();
    assert!(error.contains("EXTRAS"), "{error}");
}

#[test]
fn logic_that_does_not_settle_stops_the_unit() {
    let mut unit = Instance::new(&build(&fixture("loop")).unwrap(), None).unwrap();
    let step = unit.step(Cycle::new(1000));
    let Some(Broken::Stopped(cycle, reason)) = step.broken else {
        panic!("it did not stop")
    };
    // With the edge at its end, the count is 100.
    assert_eq!(cycle, Cycle::new(99));
    assert!(
        reason.starts_with("Loop.sv:2: ") && reason.contains("converge"),
        "{reason}"
    );
}
