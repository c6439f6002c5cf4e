//! When vector instructions are illegal, and how they stop and go on where memory ends.

use rackwright_cpu::{Cause, Exception, ExecutionEnvironment, Feature, Functional, Hart, Stop};
use rackwright_memory::{GuestMemory, Protection};
use rackwright_time::Cycle;

const CODE: u64 = 0x1000;
/// The first address behind memory that may be used.
const END: u64 = 0x3000;

fn hart(environment: ExecutionEnvironment, code: &[u32]) -> (Hart<Functional>, GuestMemory) {
    let mut memory = GuestMemory::new(0x1_0000).unwrap();
    memory.protect(CODE, END - CODE, Protection::ALL).unwrap();
    let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(CODE, &bytes).unwrap();
    let mut hart = Hart::new(0, environment, Functional::default());
    hart.state_mut().set_pc(CODE);
    (hart, memory)
}

const ECALL: u32 = 0x73;
const E8_M1: u32 = 0;
const E8_M2: u32 = 1;
const E8_M8: u32 = 3;

/// As many elements as there may be.
const fn vsetvli(kind: u32) -> u32 {
    kind << 20 | 7 << 12 | 5 << 7 | 0x57
}

/// `vadd.vv`, masked by `v0` or not.
const fn vadd(vd: u32, vs2: u32, vs1: u32, masked: bool) -> u32 {
    (!masked as u32) << 25 | vs2 << 20 | vs1 << 15 | vd << 7 | 0x57
}

/// `vle8.v` into `v8` from the address in `x10`, or `vle8ff.v`.
const fn vle8(first_only: bool) -> u32 {
    let form = if first_only { 16 } else { 0 };
    1 << 25 | form << 20 | 10 << 15 | 8 << 7 | 0x07
}

/// `vse8.v` of `v8` to the address in `x10`.
const VSE8: u32 = 1 << 25 | 10 << 15 | 8 << 7 | 0x27;

fn illegal(word: u32) -> Stop {
    Stop::Fault(Exception {
        cause: Cause::IllegalInstruction,
        value: word.into(),
    })
}

#[test]
fn what_is_reserved_is_illegal() {
    let whole_moved = 1 << 25 | 0b100111 << 26 | 8 << 20 | 3 << 12 | 0x57;
    for (kind, word) in [
        (E8_M2, vadd(1, 2, 4, false)),
        (E8_M2, vadd(2, 3, 4, false)),
        (E8_M1, vadd(0, 2, 4, true)),
        // A type that does not exist makes all that depends on it illegal.
        (4, vadd(2, 2, 2, false)),
        (4, whole_moved),
        // Reductions cannot begin in the middle; there are none of 16-bit floating point.
        (1 << 3, 1 << 25 | 1 << 12 | 0x57),
        (E8_M8, vle8(false) | 7 << 29),
    ] {
        let (mut hart, mut memory) = hart(ExecutionEnvironment::Program, &[vsetvli(kind), word]);
        assert_eq!(hart.run(&mut memory, Cycle::NEVER), illegal(word), "{word:#x}");
    }
}

#[test]
fn bare_metal_has_no_vectors_unless_offered_and_turned_on() {
    // auipc x9, 0; addi x9, x9, 36; csrw mtvec, x9: traps lead to the end. Then csrr x6, misa; li x7, VS; csrs mstatus, x7; csrr x8, mstatus; vsetvli; wfi
    let code = [
        9 << 7 | 0x17,
        36 << 20 | 9 << 15 | 9 << 7 | 0x13,
        0x305 << 20 | 9 << 15 | 1 << 12 | 0x73,
        0x301 << 20 | 2 << 12 | 6 << 7 | 0x73,
        3 << 20 | 7 << 7 | 0x13,
        9 << 20 | 7 << 15 | 1 << 12 | 7 << 7 | 0x13,
        0x300 << 20 | 7 << 15 | 2 << 12 | 0x73,
        0x300 << 20 | 2 << 12 | 8 << 7 | 0x73,
        vsetvli(E8_M8),
        0x1050_0073,
    ];
    let run = |offered: bool| {
        let (mut hart, mut memory) = hart(ExecutionEnvironment::BareMetal, &code);
        if offered {
            hart.offer(Feature::Vector);
        }
        assert_eq!(hart.run(&mut memory, Cycle::new(20)), Stop::WaitForInterrupt);
        (
            hart.state().register(6) >> 21 & 1,
            hart.state().register(8) >> 9 & 3,
            hart.state().register(5),
        )
    };
    assert_eq!(run(false), (0, 0, 0));
    assert_eq!(run(true), (1, 3, 128));
}

#[test]
fn a_load_goes_on_where_it_met_a_fault() {
    let (mut hart, mut memory) = hart(
        ExecutionEnvironment::Program,
        &[vsetvli(E8_M8), vle8(false), ECALL],
    );
    hart.state_mut().write_register(10, END - 40);
    memory.write(END - 40, &[1; 40]).unwrap();
    let fault = Exception {
        cause: Cause::LoadAccessFault,
        value: END,
    };
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::Fault(fault));
    assert_eq!((hart.state().pc(), hart.registers().vector.start), (CODE + 4, 40));
    // What was loaded already is not loaded again.
    memory.write(END - 40, &[2; 40]).unwrap();
    memory.protect(END, 0x1000, Protection::ALL).unwrap();
    memory.write(END, &[3; 88]).unwrap();
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::EnvironmentCall);
    let vector = hart.registers().vector;
    let bytes: Vec<u8> = (vector.registers[8..16].as_flattened().iter())
        .flat_map(|word| word.to_le_bytes())
        .collect();
    assert_eq!(vector.start, 0);
    assert_eq!(bytes[..40], [1; 40]);
    assert_eq!(bytes[40..], [3; 88]);
}

#[test]
fn a_store_goes_on_where_it_met_a_fault() {
    let (mut hart, mut memory) = hart(ExecutionEnvironment::Program, &[vsetvli(E8_M8), VSE8, ECALL]);
    let mut registers = hart.registers();
    registers.vector.registers = [[0x0707_0707_0707_0707; 2]; 32];
    hart.thread().set_registers(&registers);
    hart.state_mut().write_register(10, END - 100);
    assert!(matches!(hart.run(&mut memory, Cycle::NEVER), Stop::Fault(_)));
    assert_eq!(hart.registers().vector.start, 100);
    memory.protect(END, 0x1000, Protection::ALL).unwrap();
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::EnvironmentCall);
    let mut stored = [0; 129];
    memory.read(END - 100, &mut stored).unwrap();
    assert_eq!(
        (stored[..128].iter().all(|byte| *byte == 7), stored[128]),
        (true, 0)
    );
}

#[test]
fn a_load_of_the_first_faults_only_shortens_the_vector() {
    let (mut hart, mut memory) = hart(
        ExecutionEnvironment::Program,
        &[vsetvli(E8_M8), vle8(true), ECALL],
    );
    hart.state_mut().write_register(10, END - 3);
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::EnvironmentCall);
    assert_eq!(hart.registers().vector.length, 3);
    hart.state_mut().write_register(10, END);
    hart.state_mut().set_pc(CODE + 4);
    assert!(matches!(hart.run(&mut memory, Cycle::NEVER), Stop::Fault(_)));
}

#[test]
fn registers_that_make_no_sense_are_not_taken() {
    let (mut hart, mut memory) = hart(ExecutionEnvironment::Program, &[vadd(8, 16, 24, false), ECALL]);
    let mut registers = hart.registers();
    registers.vector.kind = 3 << 3 | 3;
    registers.vector.length = u64::MAX;
    registers.vector.start = u64::MAX;
    hart.thread().set_registers(&registers);
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::EnvironmentCall);
    registers.vector.kind = 1 << 40;
    hart.thread().set_registers(&registers);
    hart.state_mut().set_pc(CODE);
    assert!(matches!(hart.run(&mut memory, Cycle::NEVER), Stop::Fault(_)));
}
