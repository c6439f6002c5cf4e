//! Runs the programs of `validation/rocket` and `validation/boom`, and reads what they print.

use rackwright_process::{Arguments, Environment, Input};
use rackwright_rtl::rocket::RocketDesign;
use rackwright_server::{CpuModel, DecodedPrograms, Progress, Server, ServerConfig, ServerParameters};
use rackwright_time::{Clock, Cycle};
use std::path::{Path, PathBuf};

/// Far more than any of the programs needs.
pub const LIMIT: Cycle = Cycle::new(10_000_000);

/// What a program prints: cycles and instructions of its kernel, and the kernel's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measurement {
    pub cycles: u64,
    pub instructions: u64,
    pub result: u64,
}

impl Measurement {
    pub fn parse(text: &str) -> Measurement {
        let numbers: Vec<u64> = text
            .split([' ', ','])
            .map(|number| number.trim().parse().expect("a number"))
            .collect();
        let [cycles, instructions, result] = numbers[..] else {
            panic!("three numbers, not {text:?}");
        };
        Measurement {
            cycles,
            instructions,
            result,
        }
    }
}

/// Where the programs and references of a core are.
pub fn folder(core: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../../validation")
        .join(core)
}

pub fn program(core: &str, name: &str) -> Vec<u8> {
    let path = folder(core).join("programs").join(name).with_extension("elf");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn run_on_model(cpu: CpuModel, file: &[u8]) -> Measurement {
    run_on_harts(cpu, None, file)
}

/// On a hart of a model, or on one in RTL in place of it.
pub fn run_on_harts(cpu: CpuModel, rtl: Option<&RocketDesign>, file: &[u8]) -> Measurement {
    let config = ServerConfig {
        cpu,
        rtl,
        harts: 1,
        parameters: &ServerParameters::server(),
        units: &[],
        guest_bytes: 4 << 30,
        skip_idle: true,
        check_idle: false,
        waves: None,
        tree: None,
        chip: None,
    };
    let environment = Environment {
        input: Input::default(),
        echo: false,
        write_folder: None,
        clock: Clock::new(2_000_000_000).unwrap(),
    };
    let mut server = Server::start(
        &config,
        file,
        &Arguments::default(),
        environment,
        (None, &DecodedPrograms::default()),
    )
    .unwrap();
    match server.run(LIMIT).unwrap() {
        Progress::Exited(code) => output(Some(code), &server.output()),
        Progress::Running => panic!("not ended by {LIMIT}"),
    }
}

pub fn output(exit_code: Option<i32>, output: &[u8]) -> Measurement {
    assert_eq!(exit_code, Some(0));
    Measurement::parse(std::str::from_utf8(output).expect("text").trim())
}
