//! Bare-metal programs that check traps and address translation themselves: on the hart, and on QEMU, which
//! vouches for what they check.

use crate::support;
use rackwright_process::Arguments;
use rackwright_server::CpuModel;
use rackwright_time::Cycle;
use std::path::{Path, PathBuf};
use std::process::Command;

const FLAGS: [&str; 10] = [
    "-O2",
    "-march=rv64gc",
    "-mabi=lp64d",
    "-mcmodel=medany",
    "-fno-pic",
    "-no-pie",
    "-nostdlib",
    "-static",
    "-ffreestanding",
    "-Wl,--build-id=none",
];

fn build(folder: &Path, name: &str, more: &[&str]) -> PathBuf {
    let tests = support::sources();
    let bare_metal = tests.join("../bare-metal");
    let script = bare_metal.join("link.ld");
    let mut flags = FLAGS.to_vec();
    flags.extend(["-T", script.to_str().unwrap()]);
    flags.extend(more);
    let sources = [
        bare_metal.join("crt.S"),
        tests.join("privileged.S"),
        tests.join(format!("{name}.c")),
    ];
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    support::build(folder, name, "riscv64-linux-gnu-gcc", &flags, &sources)
}

fn run_here(elf: &Path, cpu: CpuModel) -> i32 {
    let limit = Cycle::new(100_000_000);
    support::run_until(elf, cpu, 0x9000_0000, &Arguments::default(), limit).status
}

fn run_on_qemu(elf: &Path) -> i32 {
    let machine = ["-machine", "virt", "-m", "256", "-bios", "none"];
    let cpu = ["-cpu", "rv64,svinval=true"];
    let quiet = ["-display", "none", "-monitor", "none", "-serial", "none"];
    let status = Command::new("timeout")
        .args(["20", "qemu-system-riscv64"])
        .args(machine)
        .args(cpu)
        .args(quiet)
        .arg("-kernel")
        .arg(elf)
        .status()
        .expect("this test needs qemu-system-riscv64: install it, `./rw doctor` says how");
    status.code().unwrap_or(-1)
}

fn check(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let elf = build(folder.path(), name, &[]);
    for cpu in CpuModel::ALL {
        assert_eq!(
            run_here(&elf, cpu),
            0,
            "line of {name}.c that fails on {}",
            cpu.name()
        );
    }
    let elf = build(folder.path(), name, &["-DQEMU"]);
    assert_eq!(run_on_qemu(&elf), 0, "line of {name}.c that fails on QEMU");
}

#[test]
fn traps_and_interrupts() {
    check("traps");
}

#[test]
fn address_translation() {
    check("translation");
}

#[test]
fn physical_memory_protection() {
    check("protection");
}
