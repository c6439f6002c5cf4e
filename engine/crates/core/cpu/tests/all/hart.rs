//! What a hart does at its edges: where it stops, and how it goes on.

use rackwright_contract::Command;
use rackwright_cpu::{
    BlockInstruction, BlockRun, Cause, CustomInstruction, DeviceAccess, Exception, ExecutionEnvironment,
    Feature, Functional, Hart, SharedCode, Stop, Timing,
};
use rackwright_memory::{GuestMemory, Protection};
use rackwright_time::Cycle;
use std::sync::Arc;

const CODE: u64 = 0x1000;
const DEVICE: u64 = 0x10_0000;

fn hart(environment: ExecutionEnvironment, code: &[u32]) -> (Hart<Functional>, GuestMemory) {
    let mut memory = GuestMemory::new(0x1_0000).unwrap();
    memory.protect(CODE, 0x1000, Protection::ALL).unwrap();
    write_code(&mut memory, code);
    let mut hart = Hart::new(0, environment, Functional::default());
    hart.state_mut().set_pc(CODE);
    (hart, memory)
}

fn write_code(memory: &mut GuestMemory, code: &[u32]) {
    let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(CODE, &bytes).unwrap();
}

const fn addi(rd: u32, rs1: u32, value: u32) -> u32 {
    value << 20 | rs1 << 15 | rd << 7 | 0x13
}

const ECALL: u32 = 0x73;
const FENCE_I: u32 = 0x100f;
const JUMP_TO_ITSELF: u32 = 0x6f;

#[test]
fn an_environment_call_stops_behind_itself() {
    let (mut hart, mut memory) = hart(
        ExecutionEnvironment::Program,
        &[addi(10, 0, 5), ECALL, addi(10, 10, 1), ECALL],
    );
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::EnvironmentCall);
    assert_eq!((hart.state().register(10), hart.state().pc()), (5, CODE + 8));
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::EnvironmentCall);
    assert_eq!(
        (hart.state().register(10), hart.counters().instructions()),
        (6, 4)
    );
    assert_eq!(hart.cycle(), Cycle::new(4));
}

#[test]
fn a_custom_instruction_carries_its_operands() {
    // custom-1, funct 5, rd = x12, rs1 = x10, rs2 = x11, all three used; then one without a second source.
    let full = 5 << 25 | 11 << 20 | 10 << 15 | 7 << 12 | 12 << 7 | 0x2b;
    let less = 127 << 25 | 11 << 20 | 10 << 15 | 2 << 12 | 12 << 7 | 0x7b;
    let code = [addi(10, 0, 7), addi(11, 0, 8), full, less];
    let (mut hart, mut memory) = hart(ExecutionEnvironment::Program, &code);
    let expected = CustomInstruction {
        word: full,
        command: Command {
            opcode: 1,
            funct: 5,
            rs1: 7,
            rs2: 8,
            rd: 12,
            xd: true,
        },
    };
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::Custom(expected));
    hart.state_mut().write_register(12, 99);
    hart.advance_to(Cycle::new(1000));
    let expected = CustomInstruction {
        word: less,
        command: Command {
            opcode: 3,
            funct: 127,
            rs1: 7,
            rs2: 0,
            rd: 12,
            xd: false,
        },
    };
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::Custom(expected));
    assert_eq!((hart.state().register(12), hart.cycle()), (99, Cycle::new(1001)));
}

#[test]
fn the_budget_ends_an_endless_loop() {
    let (mut hart, mut memory) = hart(ExecutionEnvironment::Program, &[JUMP_TO_ITSELF]);
    assert_eq!(hart.run(&mut memory, Cycle::new(1000)), Stop::Budget);
    assert_eq!((hart.cycle(), hart.state().pc()), (Cycle::new(1000), CODE));
    assert_eq!(hart.run(&mut memory, Cycle::new(1000)), Stop::Budget);
    assert_eq!(hart.counters().instructions(), 1000);
}

#[test]
fn what_a_hart_stores_is_part_of_what_memory_holds() {
    // sb x10, 0(x5); sb x10, 1(x5): the second finds its page remembered.
    let store = |offset: u32| 10 << 20 | 5 << 15 | offset << 7 | 0x23;
    let code = [addi(10, 0, 7), store(0), store(1), ECALL];
    let (mut hart, mut memory) = hart(ExecutionEnvironment::Program, &code);
    memory.protect(0x4000, 0x1000, Protection::READ_WRITE).unwrap();
    hart.state_mut().write_register(5, 0x4ff0);
    let mut expected = GuestMemory::new(memory.end()).unwrap();
    let mut page = [0; 0x1000];
    memory.read(CODE, &mut page).unwrap();
    expected.load(CODE, &page).unwrap();
    assert_eq!(memory.contents(), expected.contents());
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::EnvironmentCall);
    expected.load(0x4ff0, &[7, 7]).unwrap();
    assert_eq!(memory.contents(), expected.contents());
}

#[test]
fn a_program_that_strays_is_stopped() {
    // lb x10, 0(x0)
    let (mut hart, mut memory) = hart(ExecutionEnvironment::Program, &[addi(0, 0, 0), 10 << 7 | 3]);
    let fault = Exception {
        cause: Cause::LoadAccessFault,
        value: 0,
    };
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::Fault(fault));
    assert_eq!((hart.state().pc(), hart.counters().instructions()), (CODE + 4, 1));
}

#[test]
fn an_access_to_a_device_waits_for_its_answer() {
    // lui x10, 0x100; lb x11, 4(x10); sw x11, 0(x10)
    let code = [
        0x100 << 12 | 10 << 7 | 0x37,
        4 << 20 | 10 << 15 | 11 << 7 | 3,
        11 << 20 | 10 << 15 | 2 << 12 | 0x23,
    ];
    let (mut hart, mut memory) = hart(ExecutionEnvironment::BareMetal, &code);
    let read = DeviceAccess {
        address: DEVICE + 4,
        bytes: 1,
        write: None,
    };
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::Device(read));
    hart.reply().finish_access(0xfe);
    assert_eq!(hart.state().register(11), -2i64 as u64);
    let Stop::Device(write) = hart.run(&mut memory, Cycle::NEVER) else {
        panic!("a store to a device stops")
    };
    assert_eq!((write.address, write.bytes), (DEVICE, 4));
    assert_eq!(write.write.unwrap() as u32, -2i32 as u32);
    hart.reply().finish_access(0);
    assert_eq!(hart.counters().instructions(), 3);
}

#[test]
fn changed_code_runs_after_a_fence() {
    let (mut hart, mut memory) = hart(ExecutionEnvironment::Program, &[addi(10, 0, 1), ECALL]);
    hart.run(&mut memory, Cycle::NEVER);
    write_code(&mut memory, &[addi(10, 0, 2), ECALL]);
    memory.write(CODE + 16, &FENCE_I.to_le_bytes()).unwrap();
    memory.write(CODE + 20, &ECALL.to_le_bytes()).unwrap();
    hart.state_mut().set_pc(CODE + 16);
    hart.run(&mut memory, Cycle::NEVER);
    hart.state_mut().set_pc(CODE);
    hart.run(&mut memory, Cycle::NEVER);
    assert_eq!(hart.state().register(10), 2);
}

#[test]
fn withdrawn_pages_fault_at_once() {
    // lb x10, 0(x11)
    let (mut hart, mut memory) = hart(ExecutionEnvironment::Program, &[11 << 15 | 10 << 7 | 3, ECALL]);
    memory.protect(0x3000, 0x1000, Protection::READ_WRITE).unwrap();
    hart.state_mut().write_register(11, 0x3000);
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::EnvironmentCall);
    memory.protect(0x3000, 0x1000, Protection::NONE).unwrap();
    hart.state_mut().set_pc(CODE);
    assert!(matches!(hart.run(&mut memory, Cycle::NEVER), Stop::Fault(_)));
}

/// Address that the program below has in x11.
const VARIABLE: u64 = 0x3000;

/// lr.d x10, (x11); ecall; sc.d x12, x13, (x11); ecall
const RESERVE_AND_STORE: [u32; 4] = [
    2 << 27 | 11 << 15 | 3 << 12 | 10 << 7 | 0x2f,
    ECALL,
    3 << 27 | 13 << 20 | 11 << 15 | 3 << 12 | 12 << 7 | 0x2f,
    ECALL,
];

/// Whether the store-conditional succeeds when somebody does `between` after the reservation.
fn succeeds(between: impl FnOnce(&mut GuestMemory)) -> bool {
    let (mut hart, mut memory) = hart(ExecutionEnvironment::Program, &RESERVE_AND_STORE);
    memory.protect(VARIABLE, 0x1000, Protection::READ_WRITE).unwrap();
    hart.state_mut().write_register(11, VARIABLE);
    hart.state_mut().write_register(13, 77);
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::EnvironmentCall);
    between(&mut memory);
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::EnvironmentCall);
    let mut stored = [0; 8];
    memory.read(VARIABLE, &mut stored).unwrap();
    let succeeded = hart.state().register(12) == 0;
    assert_eq!(succeeded, u64::from_le_bytes(stored) == 77);
    succeeded
}

#[test]
fn a_reservation_is_lost_when_somebody_writes_even_the_same_value() {
    assert!(succeeds(|_| {}));
    assert!(!succeeds(|memory| memory.write(VARIABLE, &[1]).unwrap()));
    assert!(!succeeds(|memory| {
        memory.write(VARIABLE, &[1]).unwrap();
        memory.write(VARIABLE, &[0]).unwrap();
    }));
    assert!(!succeeds(|memory| memory.write(VARIABLE + 63, &[0]).unwrap()));
    assert!(succeeds(|memory| memory.write(VARIABLE + 64, &[1; 64]).unwrap()));
}

/// Counts the blocks that it is given to compile.
#[derive(Default)]
struct Compiles {
    blocks: usize,
    cycle: Cycle,
}

impl Timing for Compiles {
    type Block = ();
    const RECORDS: bool = false;

    fn compile(&mut self, _: &[BlockInstruction]) {
        self.blocks += 1;
    }

    fn retire(&mut self, (): &(), _: &BlockRun<'_>) {}

    fn cycle(&self) -> Cycle {
        self.cycle
    }

    fn advance_to(&mut self, cycle: Cycle) {
        self.cycle = cycle;
    }
}

/// A hart that shares code: the value that its program leaves in x10, and the blocks that it has compiled.
fn shared_run(code: &Arc<SharedCode<()>>, program: &[u32]) -> (u64, usize) {
    let (_, mut memory) = hart(ExecutionEnvironment::Program, program);
    let mut hart = Hart::new(0, ExecutionEnvironment::Program, Compiles::default());
    hart.sharing().share_code(code.clone());
    hart.state_mut().set_pc(CODE);
    assert_eq!(hart.run(&mut memory, Cycle::NEVER), Stop::EnvironmentCall);
    (hart.state().register(10), hart.timing().blocks)
}

#[test]
fn harts_decode_the_same_code_once_and_other_code_at_its_place_again() {
    let code = Arc::default();
    let blocks = 2;
    assert_eq!(shared_run(&code, &[addi(10, 0, 5), ECALL]), (5, blocks));
    assert_eq!(shared_run(&code, &[addi(10, 0, 5), ECALL]), (5, 0));
    assert_eq!(shared_run(&code, &[addi(10, 0, 6), ECALL]).0, 6);
    assert_eq!(shared_run(&code, &[addi(10, 0, 5), ECALL]), (5, 0));
}

const fn csrw(register: u32, source: u32) -> u32 {
    register << 20 | source << 15 | 1 << 12 | 0x73
}

const fn prefetch(kind: u32, rs1: u32, offset: u32) -> u32 {
    offset << 20 | kind << 20 | rs1 << 15 | 6 << 12 | 0x13
}

const PREFETCH_I: u32 = 0;
const PREFETCH_R: u32 = 1;
const PREFETCH_W: u32 = 3;
const PAGES: u64 = 0x20_0000;
/// The table of the lowest level, which has the entries from [`PAGES`] on.
const TABLE: u64 = 0x6000;
/// Rights and kind of the entry of a remote page of the supervisor.
const REMOTE: u64 = 1 << 8;
const READ: u64 = 2;
const WRITE: u64 = 4;
const EXECUTE: u64 = 8;
const USER: u64 = 16;

/// What a supervisor's prefetch of `address` and the `jal` behind it come to, where the first page of [`PAGES`] has `entry`
/// and the second one is not mapped: the place of the entry that is asked for. The hart may ask for remote pages or not.
fn prefetched(kind: u32, entry: u64, address: u64, asks: bool) -> Option<u64> {
    let code = [
        csrw(0x180, 11), // satp
        csrw(0x341, 12), // mepc
        csrw(0x300, 13), // mstatus
        csrw(0x3b0, 14), // pmpaddr0
        csrw(0x3a0, 15), // pmpcfg0
        0x3020_0073,     // mret
        prefetch(kind, 10, 32),
        JUMP_TO_ITSELF,
    ];
    let (mut hart, mut memory) = hart(ExecutionEnvironment::BareMetal, &code);
    memory.protect(0x4000, 0x3000, Protection::READ_WRITE).unwrap();
    let code_page = 0xcf;
    for (place, entry) in [
        (0x4000, 0x5000 >> 12 << 10 | 1),
        (0x5000, code_page),
        (0x5008, TABLE >> 12 << 10 | 1),
        (TABLE, entry),
    ] {
        memory.write(place, &u64::to_le_bytes(entry)).unwrap();
    }
    let prefetch_at = CODE + 24;
    let supervisor = 1 << 11;
    let registers = [
        address.wrapping_sub(32),
        8 << 60 | 4,
        prefetch_at,
        supervisor,
        u64::MAX,
        0x1f,
    ];
    for (number, value) in (10..).zip(registers) {
        hart.state_mut().write_register(number, value);
    }
    if asks {
        hart.offer(Feature::RemotePages);
    }
    let stop = hart.run(&mut memory, Cycle::new(20));
    assert_eq!(hart.state().pc(), prefetch_at + 4, "no trap is taken");
    match stop {
        Stop::Prefetch(place) => {
            assert_eq!((hart.counters().instructions(), hart.cycle()), (7, Cycle::new(7)));
            assert_eq!(hart.run(&mut memory, Cycle::new(20)), Stop::Budget, "it goes on");
            Some(place)
        }
        other => {
            assert_eq!(other, Stop::Budget);
            None
        }
    }
}

#[test]
fn a_prefetch_asks_for_a_remote_page_and_goes_on() {
    let both = REMOTE | READ | WRITE;
    assert_eq!(prefetched(PREFETCH_R, both, PAGES, true), Some(TABLE));
    assert_eq!(prefetched(PREFETCH_W, both, PAGES + 0xfff, true), Some(TABLE));
    assert_eq!(prefetched(PREFETCH_R, REMOTE | READ, PAGES, true), Some(TABLE));
}

#[test]
fn a_prefetch_is_dropped_without_a_trap_where_an_access_would_fault() {
    let both = REMOTE | READ | WRITE;
    assert_eq!(prefetched(PREFETCH_W, REMOTE | READ, PAGES, true), None);
    assert_eq!(prefetched(PREFETCH_R, both | USER, PAGES, true), None);
    assert_eq!(prefetched(PREFETCH_R, READ | WRITE, PAGES, true), None);
    assert_eq!(prefetched(PREFETCH_R, both, PAGES + 0x1000, true), None);
    assert_eq!(prefetched(PREFETCH_R, both, 0, true), None);
    assert_eq!(prefetched(PREFETCH_R, both, PAGES | 1 << 39, true), None);
    assert_eq!(prefetched(PREFETCH_R, both, u64::MAX, true), None);
}

#[test]
fn pages_of_instructions_are_left_to_software() {
    let all = REMOTE | READ | WRITE | EXECUTE;
    assert_eq!(prefetched(PREFETCH_R, all, PAGES, true), None);
    assert_eq!(prefetched(PREFETCH_I, all, PAGES, true), None);
    assert_eq!(prefetched(PREFETCH_I, REMOTE | READ, PAGES, true), None);
}

#[test]
fn a_hart_that_was_not_told_to_ask_prefetches_nothing() {
    assert_eq!(prefetched(PREFETCH_R, REMOTE | READ | WRITE, PAGES, false), None);
}
