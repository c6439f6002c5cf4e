//! Units in RTL on an interconnect that answers later: a bank that serves one access at a time, in the order in which they
//! reach it. Its tools come from the environment, as `./rw test` sets it.

use rackwright_contract::{Answer, Command, Ticket, Tickets};
use rackwright_memory::{AccessKind, GuestMemory, Interconnect, LinkId, RequesterId, Route, Traffic};
use rackwright_rtl::{BuildOptions, Cache, Design, Manifest, Toolchain};
use rackwright_time::{unit, Clock, Cycle, Cycles};
use rackwright_unit::{AttachedUnit, Guard, Surroundings};
use std::path::{Path, PathBuf};

/// How long an access takes, and for how long the bank serves no other.
const LATENCY: Cycles = Cycles::new(30);
const BUSY: Cycles = Cycles::new(9);

/// An access that the bank has not served.
struct Asked {
    at: Cycle,
    requester: RequesterId,
    ticket: Ticket,
}

struct Bank {
    /// Whether it answers at once, as it may for one port alone.
    at_once: bool,
    ports: u16,
    free: Cycle,
    tickets: Tickets,
    asked: Vec<Asked>,
    answered: Vec<(RequesterId, Ticket, Cycle)>,
}

impl Bank {
    fn new(at_once: bool) -> Bank {
        Bank {
            at_once,
            ports: 0,
            free: Cycle::ZERO,
            tickets: Tickets::default(),
            asked: Vec::new(),
            answered: Vec::new(),
        }
    }

    fn serve(&mut self, at: Cycle) -> Cycle {
        let start = self.free.max(at);
        self.free = start + BUSY;
        start + LATENCY
    }
}

impl Interconnect for Bank {
    fn clock(&self) -> Clock {
        Clock::new(2_000_000_000).unwrap()
    }

    fn attach_link(&mut self, _route: &Route, _beat_bytes: u32) -> LinkId {
        LinkId(0)
    }

    fn attach_port(&mut self, _link: LinkId, _traffic: Traffic) -> RequesterId {
        self.ports += 1;
        RequesterId(self.ports - 1)
    }

    fn minimum_latency(&self, _requester: RequesterId) -> Cycles {
        LATENCY
    }

    fn ask(&mut self, at: Cycle, _address: u64, _kind: AccessKind, requester: RequesterId) -> Answer {
        if self.at_once {
            return Answer::At(self.serve(at), ());
        }
        let ticket = self.tickets.next_ticket();
        self.asked.push(Asked {
            at,
            requester,
            ticket,
        });
        Answer::Later(ticket)
    }

    fn advance(&mut self, now: Cycle) {
        self.asked.sort_by_key(|asked| (asked.at, asked.requester.0));
        let known = self.asked.partition_point(|asked| asked.at < now);
        for asked in self.asked.drain(..known).collect::<Vec<_>>() {
            let done = self.serve(asked.at);
            self.answered.push((asked.requester, asked.ticket, done));
        }
    }

    fn answered(&mut self, requester: RequesterId) -> Option<(Ticket, Cycle)> {
        let mut answered = self.answered.iter();
        let first = answered.position(|(other, ..)| *other == requester)?;
        let (_, ticket, done) = self.answered.remove(first);
        Some((ticket, done))
    }
}

/// A fixture of the host's tests.
fn design(manifest: &str) -> Design {
    let root = std::env::var_os("RACKWRIGHT_VERILATOR_ROOT").expect("run the tests through ./rw test");
    let root = PathBuf::from(root);
    let compiler = std::env::var_os("RACKWRIGHT_CXX").unwrap_or_else(|| "g++".into());
    let tools = Toolchain {
        verilator: root.join("bin/verilator_bin"),
        root,
        compiler: compiler.into(),
    };
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtl/tests/fixtures");
    let cache = Cache::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("designs"));
    let manifest = Manifest::read(&fixtures.join(manifest)).unwrap();
    tools.build(manifest, BuildOptions::default(), &cache).unwrap()
}

/// Memory in which each doubleword holds ten times its address.
fn memory() -> GuestMemory {
    let mut memory = GuestMemory::new(1 << 16).unwrap();
    memory.allow_all();
    for address in (0..1 << 14).step_by(8) {
        memory.write(address, &(10 * address).to_le_bytes()).unwrap();
    }
    memory
}

fn command(funct: u8, rs1: u64, rs2: u64) -> Command {
    Command {
        opcode: 0,
        funct,
        rs1,
        rs2,
        rd: 1,
        xd: true,
    }
}

/// Runs `units` in turn to the cycle `until`, so many cycles at once.
fn run(units: &mut [AttachedUnit], bank: &mut Bank, memory: &mut GuestMemory, step: u64, until: u64) {
    let mut guard = Guard::new();
    for end in (0..=until).step_by(step as usize) {
        let mut surroundings = Surroundings {
            memory,
            interconnect: bank,
            guard: &mut guard,
        };
        for unit in &mut *units {
            unit.advance_window(unit::Cycle::new(end), &mut surroundings);
        }
        bank.advance(Cycle::new(end));
    }
}

#[test]
fn what_is_told_later_is_what_would_have_been_told_at_once() {
    let design = design("bursts/manifest.json");
    let outcome = |at_once| {
        let (mut bank, mut memory) = (Bank::new(at_once), memory());
        let mut unit = AttachedUnit::new(&design, &Route::default(), &mut bank, None).unwrap();
        let shape = 15 | 4 << 8 | 1 << 11;
        for (funct, address) in [(0, 0x1000), (1, 0x2000), (0, 0x2000)] {
            let command = Command {
                xd: false,
                ..command(funct, address, shape)
            };
            unit.commands().send(Cycle::ZERO, command);
        }
        let mut guard = Guard::new();
        let mut surroundings = Surroundings {
            memory: &mut memory,
            interconnect: &mut bank,
            guard: &mut guard,
        };
        unit.advance(unit::Cycle::new(4000), &mut surroundings);
        let count = command(2, 0, 0);
        unit.commands().send(Cycle::new(4000), count);
        unit.advance(unit::Cycle::new(4100), &mut surroundings);
        let beats = unit.commands().take_response().unwrap().0.data;
        let mut written = [0; 256];
        memory.read(0x2000, &mut written).unwrap();
        (beats, written, unit.observation().digest().value())
    };
    let (beats, written, digest) = outcome(false);
    assert_eq!(beats, 32);
    assert_ne!(written[..16], written[16..32]);
    assert_eq!((beats, written, digest), outcome(true));
}

#[test]
fn units_that_share_a_bank_are_served_in_turn_whatever_the_windows() {
    let design = design("manifest.json");
    let outcome = |step| {
        let (mut bank, mut memory) = (Bank::new(false), memory());
        let mut units: Vec<AttachedUnit> = (0..3)
            .map(|_| AttachedUnit::new(&design, &Route::default(), &mut bank, None).unwrap())
            .collect();
        for (unit, address) in units.iter_mut().zip([0x100, 0x200, 0x300]) {
            unit.commands().send(Cycle::new(10), command(0, address, 0));
        }
        run(&mut units, &mut bank, &mut memory, step, 200);
        let answers: Vec<(u64, Cycle)> = units
            .iter_mut()
            .map(|unit| {
                unit.commands()
                    .take_response()
                    .map(|(answer, at)| (answer.data, at))
                    .unwrap()
            })
            .collect();
        let digests: Vec<u128> = units
            .iter()
            .map(|unit| unit.observation().digest().value())
            .collect();
        (answers, digests)
    };
    let (answers, digests) = outcome(1);
    let values: Vec<u64> = answers.iter().map(|(value, _)| *value).collect();
    assert_eq!(values, [0x100, 0x200, 0x300].map(|address| 10 * address));
    assert_eq!(answers[1].1, answers[0].1 + BUSY);
    assert_eq!(answers[2].1, answers[1].1 + BUSY);
    for step in [7, LATENCY.0] {
        assert_eq!(
            outcome(step),
            (answers.clone(), digests.clone()),
            "windows of {step}"
        );
    }
}
