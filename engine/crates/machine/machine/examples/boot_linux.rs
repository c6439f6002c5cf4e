//! Boots Linux, runs a command and prints the simulation speed: FIRMWARE KERNEL FILES CPU HARTS COMMAND.

use rackwright_boot::Software;
use rackwright_machine::{Extras, Guest, MachineParameters, Progress, Request};
use rackwright_time::Cycles;
use std::io::Write;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [firmware, kernel, files, cpu, harts, command] = words.as_slice() else {
        return Err("usage: boot_linux FIRMWARE KERNEL FILES CPU HARTS COMMAND".into());
    };
    let parameters = MachineParameters {
        cpu: cpu.parse()?,
        harts: harts.parse()?,
        memory_bytes: 1 << 30,
        seed: 1,
        vector: false,
    };
    let (firmware, kernel, files) = (
        std::fs::read(firmware)?,
        std::fs::read(kernel)?,
        std::fs::read(files)?,
    );
    let software = Software {
        firmware: &firmware,
        kernel: &kernel,
        initial_files: &files,
        command_line: "console=ttyS0 earlycon=sbi",
    };
    #[expect(clippy::disallowed_methods, reason = "the speed of the simulation is shown")]
    let began = Instant::now();
    let mut guest = Guest::start(&parameters, &software, Extras::default())?;
    let mut shown = [0; 4];
    loop {
        let progress = guest.run(guest.cycle() + Cycles::new(100_000_000));
        for uart in rackwright_machine::SHOWN {
            std::io::stdout().write_all(&guest.output(uart)[shown[uart]..])?;
            shown[uart] = guest.output(uart).len();
        }
        let tell = |what: &str| {
            let (seconds, instructions) = (began.elapsed().as_secs_f64(), guest.instructions());
            let cycles = guest.cycle().0;
            let rate = instructions as f64 / seconds / 1e6;
            println!(
                "{what}: {seconds:.2} s, {instructions} instructions, {cycles} cycles, {rate:.1} million/s"
            );
        };
        match progress? {
            Progress::Running => {}
            Progress::Idle => return Err("the guest waits for input".into()),
            Progress::Ready => {
                tell("ready");
                guest.request(&Request::Run(command.clone().into_bytes()));
            }
            Progress::Off(status) => {
                tell(&format!("off with {status}, digest {}", guest.digest()));
                return Ok(());
            }
        }
    }
}
