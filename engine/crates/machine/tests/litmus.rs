//! What harts may see of each other's writes: litmus tests (RISC-V unprivileged manual, appendix A.3) with random delays.
//! Outcomes that RVWMO forbids with fences never come; those that show that harts really interleave do.

use rackwright_boot::Entry;
use rackwright_cpu::Functional;
use rackwright_device::Map;
use rackwright_machine::{Machine, Pause};
use rackwright_memory::{GuestMemory, Protection};
use rackwright_time::Cycle;
use std::collections::BTreeSet;

const BASE: u64 = Map::SERVER.memory;
const X: u64 = BASE + 0x2000;
const Y: u64 = BASE + 0x2040;
const RESULTS: u64 = BASE + 0x3000;
const DELAYS: u64 = BASE + 0x4000;
/// Bytes between the code of two harts, and between what they store.
const STRIDE: u64 = 0x100;
const RUNS: u64 = 1500;

/// Registers: the variables' addresses, this hart's results and delay, what was loaded, and a constant one.
const X_AT: u32 = 5;
const Y_AT: u32 = 6;
const RESULT_AT: u32 = 7;
const DELAY: u32 = 28;
const FIRST: u32 = 29;
const SECOND: u32 = 30;
const ONE: u32 = 31;
const HART: u32 = 10;

const FENCE: u32 = 0x0ff0_000f;
const WAIT: u32 = 0x1050_0073;
const JUMP_BACK: u32 = 0xffdf_f06f;

const fn addi(rd: u32, rs: u32, value: i32) -> u32 {
    (value as u32) << 20 | rs << 15 | rd << 7 | 0x13
}

/// The upper bits of an address in memory, which is above 2 GiB: sign-extended, then shifted clean.
const fn lui(rd: u32, address: u64) -> u32 {
    address as u32 & 0xffff_f000 | rd << 7 | 0x37
}

const fn shift(rd: u32, rs: u32, left: bool, by: u32) -> u32 {
    by << 20 | rs << 15 | (if left { 1 } else { 5 }) << 12 | rd << 7 | 0x13
}

const fn load(rd: u32, at: u32) -> u32 {
    at << 15 | 2 << 12 | rd << 7 | 0x03
}

const fn store(value: u32, at: u32, offset: u32) -> u32 {
    value << 20 | at << 15 | 2 << 12 | offset << 7 | 0x23
}

const fn swap(rd: u32, value: u32, at: u32) -> u32 {
    1 << 27 | value << 20 | at << 15 | 2 << 12 | rd << 7 | 0x2f
}

/// Puts `address` into a register.
fn address(rd: u32, address: u64) -> [u32; 4] {
    let low = addi(rd, rd, (address & 0xfff) as i32);
    [
        lui(rd, address),
        low,
        shift(rd, rd, true, 32),
        shift(rd, rd, false, 32),
    ]
}

/// The program of hart `index`: it finds its places, waits for its delay, does `body` and stores what it loaded.
fn program(index: u64, body: &[u32]) -> Vec<u32> {
    let mut code = Vec::new();
    for (register, place) in [
        (X_AT, X),
        (Y_AT, Y),
        (RESULT_AT, RESULTS + index * STRIDE),
        (DELAY, DELAYS + index * 8),
    ] {
        code.extend(address(register, place));
    }
    let decrement = addi(DELAY, DELAY, -1);
    // bnez DELAY, -4
    let again = 0xfe00_0ee3 | DELAY << 15 | 1 << 12;
    code.extend([load(DELAY, DELAY), addi(ONE, 0, 1), decrement, again]);
    code.extend(body);
    code.extend([
        store(FIRST, RESULT_AT, 0),
        store(SECOND, RESULT_AT, 4),
        WAIT,
        JUMP_BACK,
    ]);
    code
}

/// Where all harts start: each goes to its own program.
fn dispatch() -> Vec<u32> {
    let mut code = vec![addi(HART, HART, 1), shift(HART, HART, true, 8)];
    code.extend(address(X_AT, BASE));
    // add HART, HART, X_AT; jr HART
    code.extend([X_AT << 20 | HART << 15 | HART << 7 | 0x33, HART << 15 | 0x67]);
    code
}

fn put(memory: &mut GuestMemory, at: u64, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(at, &bytes).unwrap();
}

/// What the harts loaded in each of many runs with other delays.
fn outcomes(bodies: &[&[u32]]) -> BTreeSet<Vec<u32>> {
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % 4000 + 1
    };
    let run = |_| {
        let mut memory = GuestMemory::new(BASE + 0x1_0000).unwrap();
        memory.protect(BASE, 0x1_0000, Protection::ALL).unwrap();
        put(&mut memory, BASE, &dispatch());
        for (index, body) in (0..).zip(bodies) {
            put(&mut memory, BASE + (index + 1) * STRIDE, &program(index, body));
            put(&mut memory, DELAYS + 8 * index, &[random()]);
        }
        let entry = Entry {
            pc: BASE,
            device_tree: 0,
            information: 0,
        };
        let timings = vec![Functional::default(); bodies.len()];
        let mut machine = Machine::new(timings, memory, Map::SERVER, &entry);
        assert_eq!(machine.run(Cycle(50_000)), Pause::Idle);
        let loaded = |index: u64| {
            let mut bytes = [0; 8];
            machine
                .memory()
                .read(RESULTS + index * STRIDE, &mut bytes)
                .unwrap();
            let (first, second) = bytes.split_at(4);
            [first, second].map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        };
        (0..bodies.len() as u64).flat_map(loaded).collect()
    };
    (0..RUNS).map(run).collect()
}

#[test]
fn store_buffering_is_forbidden_with_fences_and_with_atomics() {
    let fenced = outcomes(&[
        &[store(ONE, X_AT, 0), FENCE, load(FIRST, Y_AT)],
        &[store(ONE, Y_AT, 0), FENCE, load(FIRST, X_AT)],
    ]);
    let atomic = outcomes(&[
        &[swap(0, ONE, X_AT), swap(FIRST, 0, Y_AT)],
        &[swap(0, ONE, Y_AT), swap(FIRST, 0, X_AT)],
    ]);
    for seen in [fenced, atomic] {
        assert!(!seen.contains(&vec![0, 0, 0, 0]), "{seen:?}");
        assert!(
            seen.contains(&vec![0, 0, 1, 0]) && seen.contains(&vec![1, 0, 0, 0]),
            "{seen:?}"
        );
    }
}

#[test]
fn a_message_is_there_when_its_flag_is() {
    let seen = outcomes(&[
        &[store(ONE, X_AT, 0), FENCE, store(ONE, Y_AT, 0)],
        &[load(FIRST, Y_AT), FENCE, load(SECOND, X_AT)],
    ]);
    assert!(!seen.contains(&vec![0, 0, 1, 0]), "{seen:?}");
    assert!(
        seen.contains(&vec![0, 0, 1, 1]) && seen.contains(&vec![0, 0, 0, 0]),
        "{seen:?}"
    );
}

#[test]
fn loads_do_not_see_stores_that_follow_them() {
    let seen = outcomes(&[
        &[load(FIRST, X_AT), FENCE, store(ONE, Y_AT, 0)],
        &[load(FIRST, Y_AT), FENCE, store(ONE, X_AT, 0)],
    ]);
    assert!(!seen.contains(&vec![1, 0, 1, 0]), "{seen:?}");
    assert!(
        seen.contains(&vec![0, 0, 1, 0]) && seen.contains(&vec![1, 0, 0, 0]),
        "{seen:?}"
    );
}

#[test]
fn all_harts_see_independent_writes_in_one_order() {
    let seen = outcomes(&[
        &[store(ONE, X_AT, 0)],
        &[store(ONE, Y_AT, 0)],
        &[load(FIRST, X_AT), FENCE, load(SECOND, Y_AT)],
        &[load(FIRST, Y_AT), FENCE, load(SECOND, X_AT)],
    ]);
    assert!(!seen.contains(&vec![0, 0, 0, 0, 1, 0, 1, 0]), "{seen:?}");
    assert!(seen.len() > 3, "{seen:?}");
}

#[test]
fn a_variable_never_goes_back() {
    let seen = outcomes(&[&[store(ONE, X_AT, 0)], &[load(FIRST, X_AT), load(SECOND, X_AT)]]);
    assert!(!seen.contains(&vec![0, 0, 1, 0]), "{seen:?}");
    assert!(
        seen.contains(&vec![0, 0, 1, 1]) && seen.contains(&vec![0, 0, 0, 0]),
        "{seen:?}"
    );
}
