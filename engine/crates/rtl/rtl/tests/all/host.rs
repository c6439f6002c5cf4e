//! Builds a small SystemVerilog unit and drives it through the host.
//!
//! The tools come from the environment, as `./rw test` sets it: `RACKWRIGHT_VERILATOR_ROOT` and
//! `RACKWRIGHT_CXX`.

use rackwright_contract::Command;
use rackwright_rtl::{
    Broken, BuildOptions, Cache, Design, Instance, Manifest, MemoryResponse, RtlError, Toolchain, Waves,
};
use rackwright_time::unit::{Cycle, Cycles};
use std::path::{Path, PathBuf};

pub(crate) fn toolchain() -> Toolchain {
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

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/manifest.json")
}

pub(crate) fn cache() -> Cache {
    Cache::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("designs"))
}

fn design() -> Design {
    let manifest = Manifest::read(&fixture()).unwrap();
    toolchain()
        .build(manifest, BuildOptions::default(), &cache())
        .unwrap()
}

const LATENCY: Cycles = Cycles::new(20);

/// Runs until the unit has answered one command; returns the answer, its cycle and the cycles evaluated.
fn peek(design: &Design, skip: bool) -> (u64, Cycle, u64, u64) {
    let mut unit = Instance::new(design, None).unwrap();
    unit.skip_idle(skip);
    unit.command(
        Cycle::new(1000),
        Command {
            opcode: 0,
            funct: 0,
            rs1: 0x1238,
            rs2: 0,
            rd: 7,
            xd: true,
        },
    );
    loop {
        let step = unit.step(unit.cycle() + Cycles::new(10));
        let answer = step.command_responses.first().copied();
        let requests = unit.requests().to_vec();
        for request in requests {
            assert_eq!(request.address, 0x1230);
            let mut data = [0; 32];
            data[..8].copy_from_slice(&request.address.to_le_bytes());
            let due = request.cycle + LATENCY;
            unit.respond(&MemoryResponse {
                due,
                tag: request.tag,
                port: request.port,
                fault: false,
                data,
            });
        }
        if let Some(answer) = answer {
            assert_eq!(answer.rd, 7);
            return (answer.data, answer.cycle, unit.evaluated_cycles(), unit.event(0));
        }
    }
}

#[test]
fn a_command_is_answered_from_memory_at_the_same_cycle_with_and_without_skipping() {
    let design = design();
    let (value, skipped_at, skipped, skipped_waiting) = peek(&design, true);
    let (_, all_at, all, waiting) = peek(&design, false);
    assert_eq!(value, 0x1230);
    // Taken at 1000, asked at 1001, answered by memory at 1021, by the unit at 1022.
    assert_eq!(skipped_at, Cycle::new(1022));
    assert_eq!(all_at, skipped_at);
    assert_eq!(waiting, LATENCY.0);
    assert_eq!(skipped_waiting, waiting);
    assert!(
        skipped < 20,
        "{skipped} cycles evaluated although the unit was idle"
    );
    assert!(all > 1000);
}

#[test]
fn a_pin_that_is_not_there_is_named() {
    let error = refusal(
        "missing-pin",
        &[("\"name\": \"waiting\"", "\"name\": \"absent\"")],
    );
    assert!(
        matches!(error, RtlError::MissingPin { ref pin, .. } if pin == "event_absent"),
        "{error}"
    );
}

/// The error of building the fixture with another manifest: each of `changes` is a text and its replacement.
fn refusal(folder: &str, changes: &[(&str, &str)]) -> RtlError {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(fixture().with_file_name("Peek.sv"), folder.join("Peek.sv")).unwrap();
    let mut text = std::fs::read_to_string(fixture()).unwrap();
    for (old, new) in changes {
        assert!(text.contains(old));
        text = text.replace(old, new);
    }
    std::fs::write(folder.join("manifest.json"), text).unwrap();
    let manifest = Manifest::read(&folder.join("manifest.json")).unwrap();
    let built = toolchain().build(manifest, BuildOptions::default(), &cache());
    built.err().expect("it is refused")
}

#[test]
fn a_pin_of_another_width_is_named_with_both() {
    design();
    let widths = [
        (
            ("\"bytes\": 16", "\"bytes\": 32"),
            "memory_request_bits_data",
            256,
            128,
        ),
        (
            ("\"tag_bits\": 4", "\"tag_bits\": 5"),
            "memory_request_bits_tag",
            5,
            4,
        ),
        (
            ("\"tag_bits\": 4", "\"tag_bits\": 4, \"address_bits\": 40"),
            "memory_request_bits_address",
            40,
            64,
        ),
        (
            ("\"name\": \"waiting\"", "\"name\": \"waiting\", \"width\": 3"),
            "event_waiting",
            3,
            1,
        ),
    ];
    for (change, name, by_manifest, by_verilog) in widths {
        let error = refusal("widths", &[change]);
        let RtlError::PinWidth {
            pin, promised, found, ..
        } = &error
        else {
            panic!("{error}");
        };
        assert_eq!((pin.as_str(), *promised, *found), (name, by_manifest, by_verilog));
    }
}

#[test]
fn verilog_with_an_error_is_reported_with_the_tools_words() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(fixture(), folder.join("manifest.json")).unwrap();
    std::fs::write(
        folder.join("Peek.sv"),
        "module Peek (input logic clock; endmodule\n",
    )
    .unwrap();
    let manifest = Manifest::read(&folder.join("manifest.json")).unwrap();
    let error = toolchain()
        .build(manifest, BuildOptions::default(), &cache())
        .err()
        .unwrap();
    assert!(error.to_string().contains("Peek.sv:1"), "{error}");
}

#[test]
fn an_idle_output_that_lies_is_found() {
    let broken = |manifest: &Path| {
        let mut unit = instance_of(manifest);
        unit.check_idle();
        unit.step(Cycle::new(1000)).broken
    };
    assert_eq!(broken(&fixture()), None);
    // Its line rises in cycle 100, of its own accord.
    let liar = fixture().with_file_name("liar").join("manifest.json");
    assert_eq!(broken(&liar), Some(Broken::Idle(Cycle::new(100))));
}

#[test]
fn an_assertion_that_fails_is_told_and_stops_the_unit() {
    for (ending, said) in [
        ("Asserts", "Assertion failed in Asserts: the count is 100"),
        ("Fatal", "Assertion failed in Fatal: the count is 100"),
        ("Stop", "$stop"),
    ] {
        let manifest = fixture().with_file_name("stops").join(format!("{ending}.json"));
        let mut unit = instance_of(&manifest);
        unit.skip_idle(false);
        let mut told = [unit.step(Cycle::new(90)).broken, None, None];
        for again in &mut told[1..] {
            *again = unit.step(Cycle::new(1000)).broken;
        }
        let Some(Broken::Stopped(cycle, reason)) = &told[1] else {
            panic!("{ending} was not stopped: {told:?}")
        };
        assert_eq!((told[0].as_ref(), *cycle), (None, Cycle::new(100)));
        assert_eq!(reason, &format!("{ending}.sv:16: {said}"));
        assert_eq!(told[1], told[2]);
        // What it says is of that unit alone.
        assert_eq!(instance_of(&manifest).step(Cycle::new(90)).broken, None);
    }
}

fn instance_of(manifest: &Path) -> Instance {
    let manifest = Manifest::read(manifest).unwrap();
    let design = toolchain()
        .build(manifest, BuildOptions::default(), &cache())
        .unwrap();
    Instance::new(&design, None).unwrap()
}

#[test]
fn waves_are_written_where_asked() {
    let manifest = Manifest::read(&fixture()).unwrap();
    let design = toolchain()
        .build(
            manifest,
            BuildOptions {
                waves: Some(Waves::Fst),
                ..BuildOptions::default()
            },
            &cache(),
        )
        .unwrap();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("peek.fst");
    let mut unit = Instance::new(&design, Some(&path)).unwrap();
    unit.skip_idle(false);
    unit.step(Cycle::new(50));
    drop(unit);
    assert!(std::fs::metadata(&path).unwrap().len() > 100);
}
