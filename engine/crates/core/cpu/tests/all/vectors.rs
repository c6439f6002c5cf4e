//! Random programs of vector instructions leave the same state here and on QEMU.

use crate::generate;
use crate::generate_vectors::Vectors;
use crate::support;
use rackwright_server::CpuModel;
use std::collections::BTreeSet;
use std::path::Path;

const FLAGS: [&str; 4] = ["-static", "-nostdlib", "-march=rv64gcv", "-mabi=lp64d"];
/// Programs of the usual run; the environment variable asks for another number.
const PROGRAMS: u64 = 6;
const MORE: &str = "RACKWRIGHT_RANDOM_PROGRAMS";
/// Times that each instruction is tried in a program.
const ROUNDS: usize = 6;

fn place(index: usize) -> String {
    let behind = 65 + generate::DATA_BYTES / 8;
    match index {
        0..=31 => format!("x{index}"),
        32..=63 => format!("f{}", index - 32),
        64 => "fcsr".to_string(),
        _ if index < behind => format!("data + {}", (index - 65) * 8),
        _ if index < behind + 64 => format!("v{}[{}]", (index - behind) / 2, (index - behind) % 2),
        _ => ["vl", "vtype", "vcsr", "vstart", "vlenb"][index - behind - 64].to_string(),
    }
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
        .collect()
}

fn compare(folder: &Path, seed: u64, rounds: usize) -> BTreeSet<String> {
    let mut vectors = Vectors::new(seed);
    let name = format!("vectors-{seed}");
    let source = folder.join(format!("{name}.S"));
    std::fs::write(&source, vectors.program(rounds)).unwrap();
    let elf = support::build(folder, &name, "riscv64-linux-gnu-gcc", &FLAGS, &[&source]);
    let (here, there) = (support::run_here(&elf), support::run_on_qemu(&elf));
    assert_eq!(there.status, 0, "seed {seed} fails on QEMU");
    let (here, there) = (words(&here.output), words(&there.output));
    assert_eq!(here.len(), there.len());
    let differences: String = (here.iter().zip(&there).enumerate())
        .filter(|(_, (here, there))| here != there)
        .map(|(index, (here, there))| format!("{}: {here:#x}, on QEMU {there:#x}\n", place(index)))
        .collect();
    assert!(differences.is_empty(), "seed {seed}:\n{differences}");
    vectors.written
}

/// Not compared: QEMU 7.2 ends with a fault on them.
#[test]
fn conversions_that_truncate_are_those_that_round_toward_zero() {
    let folder = tempfile::tempdir().unwrap();
    let body: String = [
        ("e32, m1", "vfcvt.xu.f.v", "vfcvt.rtz.xu.f.v"),
        ("e64, m1", "vfcvt.x.f.v", "vfcvt.rtz.x.f.v"),
        ("e32, mf2", "vfwcvt.x.f.v", "vfwcvt.rtz.x.f.v"),
        ("e32, mf2", "vfncvt.xu.f.w", "vfncvt.rtz.xu.f.w"),
    ]
    .iter()
    .map(|(kind, rounds, truncates)| {
        format!(
            "vsetvli t0, x0, {kind}, ta, ma
             vl1re8.v v8, (a1)
             fsrmi 1
             {rounds} v9, v8
             fsrmi 3
             {truncates} v10, v8
             vmsne.vv v11, v9, v10
             vcpop.m t1, v11
             or a0, a0, t1\n"
        )
    })
    .collect();
    let text = format!(
        ".globl _start
        _start: lla a1, data
                li a0, 0
                {body}
                li a7, 93
                ecall
        .data
        .balign 16
        data:   .dword 0x4004cccc4004cccc, 0xc0266666c0266666"
    );
    let source = folder.path().join("truncate.S");
    std::fs::write(&source, text).unwrap();
    let elf = support::build(
        folder.path(),
        "truncate",
        "riscv64-linux-gnu-gcc",
        &FLAGS,
        &[&source],
    );
    assert_eq!(support::run_here(&elf).status, 0);
}

#[test]
fn random_programs_end_as_on_qemu() {
    let folder = tempfile::tempdir().unwrap();
    let programs = std::env::var(MORE).map_or(PROGRAMS, |count| count.parse().unwrap());
    let mut written = BTreeSet::new();
    for seed in 1..=programs {
        written.extend(compare(folder.path(), seed, ROUNDS));
    }
    let missing: Vec<_> = Vectors::names()
        .into_iter()
        .filter(|name| !written.contains(*name))
        .collect();
    assert!(missing.is_empty(), "not tried: {missing:?}");
}

#[test]
fn timed_harts_compute_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("timed.S");
    std::fs::write(&source, Vectors::new(1).program(2)).unwrap();
    let elf = support::build(
        folder.path(),
        "timed",
        "riscv64-linux-gnu-gcc",
        &FLAGS,
        &[&source],
    );
    let functional = support::run_here(&elf);
    for cpu in [CpuModel::Rocket, CpuModel::Boom] {
        assert_eq!(support::run_on(&elf, cpu), functional, "{}", cpu.name());
    }
}

#[test]
fn signals_and_threads_keep_their_vectors_apart() {
    let folder = tempfile::tempdir().unwrap();
    let source = support::sources().join("vector_state.c");
    let flags = ["-static", "-O1", "-march=rv64gcv", "-mabi=lp64d"];
    let elf = support::build(
        folder.path(),
        "state",
        "riscv64-linux-gnu-gcc",
        &flags,
        &[&source],
    );
    assert_eq!(support::run_here(&elf).status, 0);
}
