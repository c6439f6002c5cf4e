//! Building guest programs and running them, here and on the reference simulator.
#![allow(dead_code)] // every test file uses its own part

use rackwright_cpu::{Environment as Mode, Functional, Hart, Stop};
use rackwright_linux::{Arguments, CallOutcome, Environment, Input, Process};
use rackwright_memory::GuestMemory;
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
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../software/tests")
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
    let output = tool("qemu-riscv64", &[elf.to_str().unwrap()]);
    Result {
        status: output.status.code().unwrap_or(-1),
        output: output.stdout,
    }
}

/// Runs a program on a functional hart.
pub fn run_here(elf: &Path) -> Result {
    let file = std::fs::read(elf).unwrap();
    let mut memory = GuestMemory::new(1 << 30).unwrap();
    let environment = Environment {
        input: Input::default(),
        echo: false,
        write_folder: None,
        clock: Clock::new(2_000_000_000).unwrap(),
    };
    let arguments = Arguments {
        arguments: vec![b"program".to_vec()],
        environment: Vec::new(),
    };
    let mut process = Process::load(&file, &mut memory, &arguments, environment).unwrap();
    let mut hart = Hart::new(0, Mode::Program, Functional::default());
    hart.set_pc(process.entry());
    hart.write_register(2, process.stack_pointer());
    loop {
        match hart.run(&mut memory, Cycle(10_000_000_000)) {
            Stop::EnvironmentCall => {}
            other => panic!("{}: {other:x?} at {:#x}", elf.display(), hart.pc()),
        }
        let operands = std::array::from_fn(|index| hart.register(10 + index as u8));
        match process.call(hart.register(17), operands, &mut memory, hart.cycle()) {
            CallOutcome::Return(value) => hart.write_register(10, value),
            CallOutcome::Sleep(until) => {
                hart.write_register(10, 0);
                hart.advance_to(until);
            }
            CallOutcome::Exit(status) => {
                return Result {
                    status,
                    output: process.output(),
                }
            }
        }
    }
}
