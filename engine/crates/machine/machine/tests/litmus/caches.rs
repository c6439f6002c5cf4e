//! The caches of a hart of Rocket in RTL, and a unit in RTL, on one interconnect: the crossbar in RTL, or the hierarchy.

use super::network::{behind, crossbar, random_programs};
use super::{
    addi, address, designs, entry, load, memory, put_delays, put_programs, store, BASE, DATA, END, ONE, X_AT,
};
use rackwright_contract::Command;
use rackwright_cpu::Stop;
use rackwright_device::{Bus, Map, ACCESS_LATENCY};
use rackwright_machine::{Hardware, Machine, Pause, Turn, Window, Workload};
use rackwright_memory::{Hierarchy, HierarchyParameters, Interconnect, Route, Shared};
use rackwright_time::{Cycle, Cycles};
use rackwright_unit::{AttachedUnit, Guard, RocketCores, Surroundings, UnitError};

/// Where a hart stores when it has ended.
const REPORT: u64 = 0x1200_0000;
/// Bytes of the data cache for each of its ways, in which so many lines have the data that is compared.
const WAY_BYTES: i32 = 4096;
const LINES: u32 = 4;
/// Lines that are loaded for each, so that random replacement removes all of them.
const LOADED: i32 = 16;
const PASSES: i32 = 2;
/// What the unit reads, and writes.
const READ: u64 = DATA + 0x4000;
const WRITTEN: u64 = DATA + 0x5000;
const BURST_BYTES: u64 = 256;
/// When both have ended.
const ENOUGH: Cycle = Cycle::new(20_000);

const fn add(rd: u32, one: u32, other: u32) -> u32 {
    other << 20 | one << 15 | rd << 7 | 0x33
}

/// A branch by `bytes` if a register is not zero.
const fn branch(register: u32, bytes: i32) -> u32 {
    let bytes = bytes as u32;
    let (sign, high) = (bytes >> 12 & 1, bytes >> 5 & 0x3f);
    let (low, middle) = (bytes >> 1 & 15, bytes >> 11 & 1);
    sign << 31 | high << 25 | register << 15 | 1 << 12 | low << 8 | middle << 7 | 0x63
}

/// Has the data cache write what it has changed of the data to memory: other lines take its place.
fn evict() -> Vec<u32> {
    const AT: u32 = 13;
    const LEFT: u32 = 14;
    const PASS: u32 = 15;
    const STEP: u32 = 16;
    const DROPPED: u32 = 17;
    let mut inner: Vec<u32> = (0..LINES)
        .map(|line| load(DROPPED, AT) | 64 * line << 20)
        .collect();
    inner.extend([add(AT, AT, STEP), addi(LEFT, LEFT, -1)]);
    inner.push(branch(LEFT, -4 * inner.len() as i32));
    let mut outer = [&address(AT, BASE)[..], &[addi(LEFT, 0, LOADED)], &inner].concat();
    outer.push(addi(PASS, PASS, -1));
    outer.push(branch(PASS, -4 * outer.len() as i32));
    // `lui` of one page.
    let step = (WAY_BYTES as u32) | STEP << 7 | 0x37;
    [&[addi(PASS, 0, PASSES), step], &outer[..]].concat()
}

/// A hart and a unit that is beside none, which advance by windows.
struct Beside<I> {
    interconnect: Shared<I>,
    unit: AttachedUnit,
    guard: Guard,
    window: Cycles,
    now: Cycle,
    end: Cycle,
    reported: Option<Cycle>,
}

impl<I: Interconnect> Workload<RocketCores<I>> for Beside<I> {
    type Time = Cycle;
    type Error = UnitError;

    fn open(&mut self, _: &mut Hardware<RocketCores<I>>, until: Cycle) -> Result<Option<Pause>, UnitError> {
        self.end = self.now + self.window;
        Ok((self.now >= until).then_some(Pause::Reached))
    }

    fn limit(&mut self, hardware: &mut Hardware<RocketCores<I>>, hart: usize, _: Cycle) -> Option<Cycle> {
        (hardware.cores[hart].cycle() < self.end).then_some(self.end)
    }

    fn stopped(
        &mut self,
        hardware: &mut Hardware<RocketCores<I>>,
        window: &mut Window,
        stop: Result<Stop, UnitError>,
    ) -> Result<Turn, UnitError> {
        if let Stop::Device(access) = stop? {
            assert_eq!((access.address, access.write), (REPORT, Some(1)));
            let core = &mut hardware.cores[window.turn];
            let at = core.cycle();
            self.reported = Some(at);
            core.finish_access(at + ACCESS_LATENCY, 0);
        }
        Ok(Turn::On)
    }

    fn close(&mut self, hardware: &mut Hardware<RocketCores<I>>, _until: Cycle) {
        let mut interconnect = self.interconnect.lock();
        let mut surroundings = Surroundings {
            memory: &mut hardware.memory,
            interconnect: &mut *interconnect,
            guard: &mut self.guard,
        };
        let end = self.unit.observation().clock().seen_by_unit(self.end);
        self.unit.advance_window(end, &mut surroundings);
        interconnect.advance(self.end);
        self.now = self.end;
    }
}

/// A burst of 16 beats of 16 bytes.
fn burst(funct: u8, address: u64) -> Command {
    Command {
        opcode: 0,
        funct,
        rs1: address,
        rs2: 15 | 4 << 8 | 1 << 11,
        rd: 0,
        xd: false,
    }
}

/// The hart runs `body`, while the unit does `bursts`; returns when the hart has ended, its words, and what the unit has
/// written. Windows have `window` cycles.
fn run<I: Interconnect>(
    interconnect: I,
    body: &[u32],
    bursts: &[Command],
    window: u64,
) -> (Cycle, Vec<u8>, Vec<u8>) {
    let interconnect = Shared::new(interconnect);
    let mut cores = RocketCores::new(
        &designs::ROCKET,
        1,
        ACCESS_LATENCY,
        interconnect.clone(),
        BASE..BASE,
    );
    cores.start_all_at(entry(0));
    let unit = AttachedUnit::new(
        &designs::BURSTS,
        &Route::default(),
        &mut *interconnect.lock(),
        None,
    );
    let mut unit = unit.unwrap();
    for burst in bursts {
        unit.commands().send(Cycle::ZERO, *burst);
    }
    let mut memory = memory(BASE..END);
    let report = address(X_AT, REPORT);
    let body: Vec<u32> = [body, &evict(), &report, &[store(ONE, X_AT, 0)]].concat();
    put_programs(&mut memory, &[&body], DATA);
    put_delays(&mut memory, &[1], DATA);
    let bus = Bus::new(Map::NOTHING, 1, HierarchyParameters::server().tick);
    let beside = Beside {
        interconnect,
        unit,
        guard: Guard::new(),
        window: Cycles::new(window),
        now: Cycle::ZERO,
        end: Cycle::ZERO,
        reported: None,
    };
    let mut machine = Machine::with(Hardware::new(vec![cores], memory, bus), beside);
    assert_eq!(machine.run(ENOUGH).unwrap(), Pause::Reached);
    let read = |at| {
        let mut bytes = vec![0; BURST_BYTES as usize];
        machine.hardware().memory.read(at, &mut bytes).unwrap();
        bytes
    };
    let (words, written) = (read(DATA), read(WRITTEN));
    (machine.workload().reported.unwrap(), words, written)
}

/// The bytes are those that they leave behind the hierarchy; the cycles show that they wait for each other, and do not
/// depend on the windows.
#[test]
fn the_caches_of_a_hart_in_rtl_share_the_crossbar_with_a_unit() {
    let mut bursts = vec![burst(0, READ); 40];
    bursts.push(burst(1, WRITTEN));
    let body = &random_programs(1)[0];
    let hierarchy = Hierarchy::new(HierarchyParameters::server()).unwrap();
    let (on_hierarchy, words, written) = run(hierarchy, body, &bursts, 6);
    assert!(
        words.iter().any(|byte| *byte != 0),
        "the caches keep what the hart has stored"
    );
    assert!(written.iter().any(|byte| *byte != 0), "the unit has not written");
    let (alone, ..) = run(behind(crossbar()), body, &[], 6);
    let beside_unit = run(behind(crossbar()), body, &bursts, 6);
    assert_eq!((&beside_unit.1, &beside_unit.2), (&words, &written));
    assert!(beside_unit.0 > alone && alone != on_hierarchy);
    assert_eq!(run(behind(crossbar()), body, &bursts, 5), beside_unit);
}
