//! Runs a static RV64 Linux program, and says on standard error how fast that went:
//! `run [functional|rocket|boom] PROGRAM [ARGUMENT…]`.

use rackwright_cpu::{
    Boom, BoomParameters, Environment as Mode, Functional, Hart, Rocket, RocketParameters, Stop, Timing,
};
use rackwright_linux::{Arguments, CallOutcome, Environment, Input, Process};
use rackwright_memory::{GuestMemory, Hierarchy, HierarchyParameters, SharedHierarchy};
use rackwright_time::{Clock, Cycle};
use std::error::Error;
use std::os::unix::ffi::OsStringExt;
use std::time::Instant;

const GUEST_BYTES: u64 = 4 << 30;
const HERTZ: u64 = 2_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<_> = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    if arguments.len() < 2 {
        return Err("usage: run functional|rocket|boom PROGRAM [ARGUMENT…]".into());
    }
    let hierarchy = SharedHierarchy::new(Hierarchy::new(HierarchyParameters::server())?);
    let status = match arguments.remove(0).as_slice() {
        b"functional" => run(Functional::default(), arguments)?,
        b"rocket" => run(Rocket::new(RocketParameters::measured(), &hierarchy), arguments)?,
        b"boom" => run(Boom::new(BoomParameters::large(), &hierarchy), arguments)?,
        other => return Err(format!("no such core: {}", String::from_utf8_lossy(other)).into()),
    };
    std::process::exit(status)
}

fn run<T: Timing>(timing: T, arguments: Vec<Vec<u8>>) -> Result<i32, Box<dyn Error>> {
    let file = std::fs::read(String::from_utf8_lossy(&arguments[0]).as_ref())?;
    let mut memory = GuestMemory::new(GUEST_BYTES)?;
    let environment = Environment {
        input: Input::default(),
        echo: true,
        write_folder: None,
        clock: Clock::new(HERTZ)?,
    };
    let arguments = Arguments {
        arguments,
        environment: Vec::new(),
    };
    let mut process = Process::load(&file, &mut memory, &arguments, environment)?;
    let mut hart = Hart::new(0, Mode::Program, timing);
    hart.set_pc(process.entry());
    hart.write_register(2, process.stack_pointer());
    let start = Instant::now();
    let status = loop {
        match hart.run(&mut memory, Cycle::NEVER) {
            Stop::EnvironmentCall => {}
            other => return Err(format!("{other:x?} at {:#x}", hart.pc()).into()),
        }
        let operands = std::array::from_fn(|index| hart.register(10 + index as u8));
        match process.call(hart.register(17), operands, &mut memory, hart.cycle()) {
            CallOutcome::Return(value) => hart.write_register(10, value),
            CallOutcome::Sleep(until) => {
                hart.write_register(10, 0);
                hart.advance_to(until);
            }
            CallOutcome::Exit(status) => break status,
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    eprintln!(
        "{} instructions, {}, {seconds:.3} s, {:.1} million instructions/s; unknown calls {:?}",
        hart.instructions_retired(),
        hart.cycle(),
        hart.instructions_retired() as f64 / seconds / 1e6,
        process.unknown_calls(),
    );
    Ok(status)
}
