//! Random programs leave the same state here and on QEMU.

use crate::generate::Generator;
use crate::support;
use rackwright_cpu::{decode, Class, Operation};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FLAGS: [&str; 4] = ["-static", "-nostdlib", "-march=rv64gc", "-mabi=lp64d"];
/// Programs of the usual run; the environment variable asks for another number.
const PROGRAMS: u64 = 12;
const MORE: &str = "RACKWRIGHT_RANDOM_PROGRAMS";

fn assemble(folder: &Path, name: &str, text: &str) -> PathBuf {
    let source = folder.join(format!("{name}.S"));
    std::fs::write(&source, text).unwrap();
    support::build(folder, name, "riscv64-linux-gnu-gcc", &FLAGS, &[&source])
}

/// Where the results of two runs first differ.
fn difference(here: &[u8], there: &[u8]) -> String {
    let words = |bytes: &[u8]| -> Vec<u64> {
        bytes
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
            .collect()
    };
    let (here, there) = (words(here), words(there));
    let place = |index: usize| match index {
        0..=31 => format!("x{index}"),
        32..=63 => format!("f{}", index - 32),
        64 => "fcsr".to_string(),
        _ => format!("data + {}", (index - 65) * 8),
    };
    here.iter()
        .zip(&there)
        .enumerate()
        .filter(|(_, (here, there))| here != there)
        .map(|(index, (here, there))| format!("{}: {here:#x}, on QEMU {there:#x}\n", place(index)))
        .collect()
}

fn compare(folder: &Path, seed: u64, rounds: usize, count: usize) -> PathBuf {
    let text = Generator::new(seed).program(rounds, count);
    let elf = assemble(folder, &format!("random-{seed}"), &text);
    let (here, there) = (support::run_here(&elf), support::run_on_qemu(&elf));
    assert_eq!(there.status, 0, "seed {seed} fails on QEMU");
    assert_eq!(here.output.len(), there.output.len());
    let difference = difference(&here.output, &there.output);
    assert!(difference.is_empty(), "seed {seed}:\n{difference}");
    elf
}

#[test]
fn random_programs_end_as_on_qemu() {
    let folder = tempfile::tempdir().unwrap();
    let programs = std::env::var(MORE).map_or(PROGRAMS, |count| count.parse().unwrap());
    for seed in 1..=programs {
        compare(folder.path(), seed, 0, 1500);
    }
}

/// Not compared: QEMU 7.2 stores the word, but reports that it did not.
#[test]
fn a_word_is_stored_where_a_doubleword_was_reserved() {
    let folder = tempfile::tempdir().unwrap();
    let text = "
        .globl _start
        _start: lla a1, data
                li a2, 5
                lr.d a3, (a1)
                sc.w a0, a2, (a1)
                lw a4, 0(a1)
                xori a4, a4, 5
                or a0, a0, a4
                li a7, 93
                ecall
        .data
        .balign 8
        data:   .dword 0x123456789abcdef
    ";
    assert_eq!(
        support::run_here(&assemble(folder.path(), "narrow", text)).status,
        0
    );
}

/// The operations in the executable part of a program.
fn operations(elf: &Path) -> BTreeSet<Operation> {
    let listing = std::process::Command::new("riscv64-linux-gnu-objcopy")
        .args(["-O", "binary", "--only-section=.text"])
        .args([elf, &elf.with_extension("text")])
        .status()
        .expect("this test needs riscv64-linux-gnu-objcopy");
    assert!(listing.success());
    let text = std::fs::read(elf.with_extension("text")).unwrap();
    let mut found = BTreeSet::new();
    let mut offset = 0;
    while offset < text.len() {
        let mut word = [0; 4];
        let end = text.len().min(offset + 4);
        word[..end - offset].copy_from_slice(&text[offset..end]);
        let instruction = decode(u32::from_le_bytes(word));
        found.insert(instruction.operation);
        offset += usize::from(instruction.length);
    }
    found
}

#[test]
fn every_instruction_of_a_program_runs_as_on_qemu() {
    let folder = tempfile::tempdir().unwrap();
    // Enough rounds that every width and format of an instruction occurs.
    let elf = compare(folder.path(), 0, 80, 0);
    let covered = operations(&elf);
    let missing: Vec<_> = Operation::ALL
        .iter()
        .filter(|operation| !matches!(operation.class(), Class::System | Class::Custom))
        .filter(|operation| !operation.class().is_vector())
        .filter(|operation| !covered.contains(operation))
        .collect();
    assert!(missing.is_empty(), "not covered: {missing:?}");
    assert!(!covered.contains(&Operation::Illegal));
}
