//! Follows `docs/add-a-device.md`: a device of one's own, in a file of its own, on the bus of a machine, and a program that
//! waits for its interrupt.

mod checksum;

use checksum::Checksum;
use rackwright_boot::Entry;
use rackwright_cpu::{Functional, Rocket, RocketParameters, Timing};
use rackwright_device::{Bus, Map, Place};
use rackwright_machine::{Machine, Pause, Privileged};
use rackwright_memory::{GuestMemory, Hierarchy, HierarchyParameters, Protection, SharedHierarchy};
use rackwright_time::{Cycle, Cycles};
use rackwright_unit::Core;

const BASE: u64 = Map::SERVER.memory;
const MEMORY_BYTES: u64 = 1 << 20;
const DATA: u64 = BASE + 0x4000;
const DATA_BYTES: u64 = 5000;
/// Where the program finds what it is to use, and where it leaves the interrupt's number and the sum.
const CONSTANTS: u64 = BASE + 0x100;
const RESULTS: u64 = BASE + 0x200;

/// Far more than the program takes, and than the longest window.
const LIMIT: Cycle = Cycle::new(10_000_000);

const PLACE: Place = Place {
    base: 0x1100_0000,
    bytes: 24,
    source: 5,
};

const fn load(rd: u32, at: u32, offset: u32, double: bool) -> u32 {
    offset << 20 | at << 15 | (if double { 3 } else { 2 }) << 12 | rd << 7 | 0x03
}

const fn store(value: u32, at: u32, offset: u32, double: bool) -> u32 {
    offset >> 5 << 25
        | value << 20
        | at << 15
        | (if double { 3 } else { 2 }) << 12
        | (offset & 31) << 7
        | 0x23
}

/// Registers of the program; those from the device's address to the bit of external interrupts come from its constants.
const HERE: u32 = 5;
const DEVICE: u32 = 6;
const START: u32 = 7;
const COUNT: u32 = 8;
const PRIORITY: u32 = 9;
const ENABLE: u32 = 10;
const CLAIM: u32 = 11;
const BIT: u32 = 12;
const EXTERNAL: u32 = 13;
const ONE: u32 = 14;
const NUMBER: u32 = 15;
const SUM: u32 = 16;

/// Enables the interrupt at the PLIC and in the hart, has the device sum, waits, and stores what it finds.
fn program() -> Vec<u32> {
    const HERE_IS: u32 = HERE << 7 | 0x17;
    const ONE_IS: u32 = 1 << 20 | ONE << 7 | 0x13;
    const ENABLE_EXTERNAL: u32 = 0x304 << 20 | EXTERNAL << 15 | 2 << 12 | 0x73;
    const WAIT: u32 = 0x1050_0073;
    const JUMP_BACK: u32 = 0xffdf_f06f;
    let constants = (DEVICE..=EXTERNAL).zip(0..);
    let mut words = vec![HERE_IS];
    words.extend(constants.map(|(register, number)| load(register, HERE, 0x100 + 8 * number, true)));
    words.extend([
        ONE_IS,
        store(ONE, PRIORITY, 0, false),
        store(BIT, ENABLE, 0, false),
        ENABLE_EXTERNAL,
        store(START, DEVICE, 0, true),
        store(COUNT, DEVICE, 8, true),
        WAIT,
        load(NUMBER, CLAIM, 0, false),
        load(SUM, DEVICE, 16, true),
        store(NUMBER, HERE, 0x200, true),
        store(SUM, HERE, 0x208, true),
        store(NUMBER, CLAIM, 0, false),
        WAIT,
        JUMP_BACK,
    ]);
    words
}

fn data() -> Vec<u8> {
    (0..DATA_BYTES).map(|index| (index * 7 % 251) as u8).collect()
}

fn machine<T: Timing>(timing: T) -> Machine<Core<T>, Privileged> {
    let mut memory = GuestMemory::new(BASE + MEMORY_BYTES).unwrap();
    memory.protect(BASE, MEMORY_BYTES, Protection::ALL).unwrap();
    let plic = Map::SERVER.plic.base;
    let source = u64::from(PLACE.source);
    let constants = [
        PLACE.base,
        DATA,
        DATA_BYTES,
        plic + 4 * source,
        plic + 0x2000,
        plic + 0x20_0004,
        1 << source,
        1 << 11,
    ];
    for (index, word) in program().into_iter().enumerate() {
        memory
            .write(BASE + 4 * index as u64, &word.to_le_bytes())
            .unwrap();
    }
    for (index, constant) in (0..).zip(constants) {
        memory
            .write(CONSTANTS + 8 * index, &constant.to_le_bytes())
            .unwrap();
    }
    memory.write(DATA, &data()).unwrap();
    let entry = Entry {
        pc: BASE,
        device_tree: 0,
        information: 0,
    };
    let tick = HierarchyParameters::server().tick;
    let mut machine = Machine::new(vec![timing], memory, Map::SERVER, &entry, tick);
    let bus = &mut machine.hardware_mut().bus;
    bus.add("checksum", PLACE, Box::new(Checksum::default())).unwrap();
    machine
}

fn number<T: Timing>(machine: &Machine<Core<T>, Privileged>, address: u64) -> u64 {
    let mut bytes = [0; 8];
    machine.hardware().memory.read(address, &mut bytes).unwrap();
    u64::from_le_bytes(bytes)
}

/// Runs a machine until its hart waits for nothing that comes; gives the cycle.
fn finish<T: Timing>(mut machine: Machine<Core<T>, Privileged>) -> Cycle {
    assert_eq!(machine.run(LIMIT).unwrap(), Pause::Idle);
    assert_eq!(number(&machine, RESULTS), u64::from(PLACE.source));
    let sum: u64 = data().iter().map(|byte| u64::from(*byte)).sum();
    assert_eq!(number(&machine, RESULTS + 8), sum);
    machine.hardware().cycle()
}

#[test]
fn a_program_waits_for_the_interrupt_of_a_device_that_reads_memory() {
    finish(machine(Functional::default()));
    let hierarchy = SharedHierarchy::new(Hierarchy::new(HierarchyParameters::server()).unwrap());
    let rocket = Rocket::new(RocketParameters::measured(), &hierarchy);
    let cycles = finish(machine(rocket)).0;
    // The time of the sum itself, and of the program around it.
    assert!((100 + 5000 / 16..3000).contains(&cycles), "{cycles}");
}

#[test]
fn a_sum_under_way_comes_back_with_the_state_of_the_bus() {
    let bus = || {
        let mut bus = Bus::new(Map::SERVER, 1, Cycles::new(1000));
        bus.add("checksum", PLACE, Box::new(Checksum::default())).unwrap();
        bus
    };
    let (mut one, mut other) = (bus(), bus());
    assert!(one.write(PLACE.base, 8, DATA, Cycle::ZERO));
    assert!(one.write(PLACE.base + 8, 8, 64, Cycle::ZERO));
    other.restore(&one.save()).unwrap();
    assert_eq!(other.next_event(), Cycle::new(104));
    assert_eq!(other.save(), one.save());
    assert!(Bus::new(Map::SERVER, 1, Cycles::new(1000))
        .restore(&one.save())
        .is_err());
}

#[test]
fn a_device_in_the_place_of_another_part_or_on_its_interrupt_is_refused_with_both_names() {
    let refused = |base: u64, source: u32| {
        let mut bus = Bus::new(Map::SERVER, 1, Cycles::new(1000));
        let first = Place {
            base: 0x1200_0000,
            bytes: 24,
            source: 6,
        };
        bus.add("first", first, Box::new(Checksum::default())).unwrap();
        let place = Place {
            base,
            bytes: 24,
            source,
        };
        bus.add("checksum", place, Box::new(Checksum::default()))
            .unwrap_err()
            .to_string()
    };
    for (base, source, with) in [
        (
            0x1000_00f0,
            5,
            "`uart console` is at 0x10000000 to 0x100000ff, and `checksum`",
        ),
        (
            0x1200_0010,
            5,
            "`first` is at 0x12000000 to 0x12000017, and `checksum`",
        ),
        (BASE + 0x1000, 5, "`memory` is at 0x80000000"),
        (1 << 40, 5, "`registers of units`"),
        (PLACE.base, 6, "`first` and `checksum` both have the interrupt 6"),
        (
            PLACE.base,
            21,
            "`PCI interrupt B` and `checksum` both have the interrupt 21",
        ),
        (
            PLACE.base,
            32,
            "`checksum` has the interrupt 32; there are 1 to 31",
        ),
    ] {
        let told = refused(base, source);
        assert!(told.contains(with), "{told}");
    }
}
