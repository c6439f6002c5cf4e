//! Building guest programs and running them, here and on the reference simulator.
#![allow(dead_code)] // every test file uses its own part

use rackwright_process::{Arguments, Environment, Input};
use rackwright_server::{CpuModel, DecodedPrograms, Progress, Server, ServerConfig, ServerParameters};
use rackwright_time::{Clock, Cycle};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a program leaves.
#[derive(PartialEq, Eq, Debug)]
pub struct Result {
    pub status: i32,
    pub output: Vec<u8>,
}

/// Programs of the tests, in the folder of the repository.
pub fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../software/tests")
}

/// Runs a tool that the tests cannot do without.
fn tool(name: &str, arguments: &[&str]) -> std::process::Output {
    Command::new(name)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| {
            panic!("this test needs `{name}` ({error}): install it, `./rw doctor` says how")
        })
}

/// Compiles and links `sources` with `flags` into `folder`.
pub fn build(folder: &Path, name: &str, compiler: &str, flags: &[&str], sources: &[&Path]) -> PathBuf {
    let elf = folder.join(format!("{name}.elf"));
    let mut arguments = flags.to_vec();
    arguments.extend(sources.iter().map(|source| source.to_str().unwrap()));
    arguments.extend(["-o", elf.to_str().unwrap()]);
    let output = tool(compiler, &arguments);
    assert!(
        output.status.success(),
        "{name}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    elf
}

/// Runs a program on the reference simulator.
pub fn run_on_qemu(elf: &Path) -> Result {
    let cpu = "rv64,v=true,vlen=128,elen=64";
    let output = tool("qemu-riscv64", &["-cpu", cpu, elf.to_str().unwrap()]);
    Result {
        status: output.status.code().unwrap_or(-1),
        output: output.stdout,
    }
}

/// Runs a program on a functional hart.
pub fn run_here(elf: &Path) -> Result {
    run_on(elf, CpuModel::Functional)
}

/// Runs a program on a hart of a model.
pub fn run_on(elf: &Path, cpu: CpuModel) -> Result {
    let arguments = Arguments {
        arguments: vec![b"program".to_vec()],
        environment: Vec::new(),
    };
    run_until(elf, cpu, 1 << 30, &arguments, Cycle::new(10_000_000_000))
}

/// Runs a program to its end, which comes before `limit`, on a hart of a model with so much memory.
pub fn run_until(elf: &Path, cpu: CpuModel, guest_bytes: u64, arguments: &Arguments, limit: Cycle) -> Result {
    let file = std::fs::read(elf).unwrap();
    let config = ServerConfig {
        cpu,
        rtl: None,
        harts: 1,
        parameters: &ServerParameters::server(),
        units: &[],
        guest_bytes,
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
    let alone = (None, &DecodedPrograms::default());
    let mut server = Server::start(&config, &file, arguments, environment, alone).unwrap();
    match server.run(limit).unwrap() {
        Progress::Exited(status) => Result {
            status,
            output: server.output(),
        },
        Progress::Running => panic!("{} does not end", elf.display()),
    }
}
