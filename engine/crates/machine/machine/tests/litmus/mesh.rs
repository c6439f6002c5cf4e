//! The same programs on harts whose data lies behind a mesh that says `Later`: each load and each store is a packet to the
//! bank and one back, and only the hart that asked stalls. By the model of the mesh, or by its RTL.

use super::{
    addi, generator, load, memory, put_delays, put_programs, rocket, store, Outcome, BASE, END, FENCE, FIRST,
    HART, ONE, SECOND, X, X_AT, Y_AT,
};
use rackwright_contract::{Answer, Ticket};
use rackwright_cpu::{DeviceAccess, ExecutionEnvironment, Functional, Hart, Stop, Timing};
use rackwright_device::{Bus, Map};
use rackwright_machine::{Hardware, Machine, Pause, Turn, Window, Workload};
use rackwright_memory::{
    AccessKind, GuestMemory, HierarchyParameters, Interconnect, RequesterId, Route, Traffic,
};
use rackwright_noc::{Bank, MeshMemory, Model, Network, Rtl, Shape};
use rackwright_rtl::{BuildOptions, Cache, Design, Manifest, Toolchain};
use rackwright_time::{Clock, Cycle, Cycles};
use rackwright_unit::{Core, Stall, UnitError};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Where the data begins that lies behind the mesh: variables, results and delays.
const DATA: u64 = X;
/// What a random program adds to and stores.
const LOADED: u32 = 12;
const BEAT: u32 = 16;

/// The mesh of the test of RTL and model (`python/tests/test_mesh.py`).
const SHAPE: Shape = Shape {
    width: 3,
    height: 2,
    rows_first: false,
    depth: 3,
    stages: 1,
};
/// In the middle of the upper row; serving an access takes longer than the next one is away.
const BANK: Bank = Bank {
    tile: 1,
    latency: 20,
    busy: 5,
    delivery: 6,
};

/// What runs on harts with their data behind a mesh.
struct OnMesh<N> {
    mesh: MeshMemory<N>,
    ports: Vec<RequesterId>,
    data: GuestMemory,
    /// By hart: what it has asked for.
    asked: Vec<Option<(Ticket, DeviceAccess)>>,
    now: Cycle,
    end: Cycle,
    /// No answer comes sooner, so that harts run as far at once.
    window: Cycles,
}

impl<N: Network> OnMesh<N> {
    fn new(mesh: N, data: GuestMemory, harts: usize) -> OnMesh<N> {
        let clock = Clock::new(2_000_000_000).unwrap();
        let mut mesh = MeshMemory::new(mesh, clock, BANK).unwrap();
        let link = mesh.attach_link(&Route::default(), BEAT);
        let ports: Vec<_> = (0..harts)
            .map(|_| mesh.attach_port(link, Traffic::Stream))
            .collect();
        let window = ports
            .iter()
            .map(|port| mesh.minimum_latency(*port))
            .min()
            .unwrap();
        OnMesh {
            mesh,
            ports,
            data,
            asked: vec![None; harts],
            now: Cycle::ZERO,
            end: Cycle::ZERO,
            window,
        }
    }

    /// Gives harts the answers that have come, in the order in which they have.
    fn answer<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>) {
        let mut come = Vec::new();
        for (hart, port) in self.ports.iter().enumerate() {
            while let Some((ticket, at)) = self.mesh.answered(*port) {
                come.push((at, hart, ticket));
            }
        }
        come.sort_by_key(|(at, hart, _)| (*at, *hart));
        for (at, hart, ticket) in come {
            let (asked, access) = self.asked[hart].take().expect("one access at a time");
            assert_eq!(asked, ticket);
            let mut bytes = [0; 8];
            let bytes = &mut bytes[..access.bytes.into()];
            match access.write {
                Some(value) => {
                    bytes.copy_from_slice(&value.to_le_bytes()[..access.bytes.into()]);
                    self.data.write(access.address, bytes).unwrap();
                }
                None => self.data.read(access.address, bytes).unwrap(),
            }
            let mut value = [0; 8];
            value[..bytes.len()].copy_from_slice(bytes);
            hardware.answer(hart, at, u64::from_le_bytes(value));
        }
    }
}

impl<T: Timing, N: Network> Workload<Core<T>> for OnMesh<N> {
    type Time = Cycle;
    type Error = UnitError;

    fn open(&mut self, hardware: &mut Hardware<Core<T>>, until: Cycle) -> Result<Option<Pause>, UnitError> {
        self.answer(hardware);
        let mut cores = hardware.cores.iter();
        if cores.all(|core| core.stalled() == Some(Stall::Interrupt)) {
            return Ok(Some(Pause::Idle));
        }
        self.end = self.now + self.window;
        Ok((self.now >= until).then_some(Pause::Reached))
    }

    fn limit(&mut self, hardware: &mut Hardware<Core<T>>, hart: usize, _until: Cycle) -> Option<Cycle> {
        let core = &hardware.cores[hart];
        let runs = core.stalled().is_none() && core.hart.cycle() < self.end;
        runs.then_some(self.end)
    }

    fn stopped(
        &mut self,
        hardware: &mut Hardware<Core<T>>,
        window: &mut Window,
        stop: Result<Stop, UnitError>,
    ) -> Result<Turn, UnitError> {
        let core = &mut hardware.cores[window.turn];
        match stop? {
            Stop::Budget => {}
            Stop::WaitForInterrupt => core.stall(Stall::Interrupt),
            Stop::Device(access) => {
                let kind = match access.write {
                    Some(_) => AccessKind::Write,
                    None => AccessKind::Read,
                };
                let port = self.ports[window.turn];
                let Answer::Later(ticket) = self.mesh.ask(core.hart.cycle(), access.address, kind, port)
                else {
                    panic!("a mesh knows no answer before it has run");
                };
                core.stall(Stall::Access(ticket));
                self.asked[window.turn] = Some((ticket, access));
            }
            other => panic!("{other:?}"),
        }
        Ok(Turn::On)
    }

    fn close(&mut self, _hardware: &mut Hardware<Core<T>>, _until: Cycle) {
        self.mesh.advance(self.end);
        self.mesh.check().unwrap();
        self.now = self.end;
    }
}

/// What a run leaves, and the cycle in which all harts had ended.
#[derive(PartialEq, Eq, Debug)]
struct Left {
    outcome: Outcome,
    data: Vec<u8>,
    cycle: Cycle,
}

/// Runs programs to their ends, after their delays.
fn run<T: Timing>(mesh: impl Network, bodies: &[&[u32]], timings: Vec<T>, delays: &[u32]) -> Left {
    let harts = timings.len();
    let (mut code, mut data) = (memory(DATA), memory(END));
    put_programs(&mut code, bodies);
    put_delays(&mut data, delays);
    let start = |(index, timing)| {
        let mut hart = Hart::new(index, ExecutionEnvironment::BareMetal, timing);
        hart.state_mut().set_pc(BASE);
        hart.state_mut().write_register(HART as u8, index);
        Core::alone(hart)
    };
    let cores = (0..).zip(timings).map(start).collect();
    let bus = Bus::new(Map::NOTHING, harts, HierarchyParameters::server().tick);
    let hardware = Hardware::new(cores, code, bus);
    let mut machine = Machine::with(hardware, OnMesh::new(mesh, data, harts));
    assert_eq!(machine.run(Cycle::new(1_000_000)).unwrap(), Pause::Idle);
    let mut left = vec![0; (END - DATA) as usize];
    machine.workload().data.read(DATA, &mut left).unwrap();
    Left {
        outcome: Outcome::of(&machine.workload().data, harts),
        data: left,
        cycle: machine.hardware().cycle(),
    }
}

/// What a litmus test leaves on harts of the model `rocket`, behind the model of the mesh.
pub(super) fn outcome(bodies: &[&[u32]], delays: &[u32]) -> Outcome {
    run(Model::new(SHAPE).unwrap(), bodies, rocket(bodies.len()), delays).outcome
}

/// A store at an offset of up to 12 bits.
const fn store_far(value: u32, at: u32, offset: u32) -> u32 {
    store(value, at, offset & 31) | (offset >> 5) << 25
}

/// Each hart stores to words that are nobody else's, in one line with those of others, and loads all.
fn random_programs(seed: u64) -> Vec<Vec<u32>> {
    let mut random = generator(seed);
    let mut body = |hart: u32| {
        let step = |_| match random(3) {
            1 => store_far(LOADED, X_AT, 4 * (4 * random(8) + hart)),
            2 => addi(LOADED, LOADED, random(1000) as i32),
            _ => load(SECOND, X_AT) | (4 * random(32)) << 20,
        };
        (0..24).map(step).collect()
    };
    (0..4).map(&mut body).collect()
}

/// What the same programs leave on harts whose data is in memory behind the hierarchy of caches.
fn on_hierarchy(bodies: &[&[u32]], delays: &[u32]) -> Vec<u8> {
    let mut left = vec![0; (END - DATA) as usize];
    let memory = super::run(bodies, rocket(bodies.len()), delays);
    memory.read(DATA, &mut left).unwrap();
    left
}

/// The words of which each hart has its own, and what a hart found in its delay, are the same; which values of others a hart
/// has loaded depends on who came first, and nothing stores them.
#[test]
fn random_programs_leave_the_same_memory_behind_the_mesh_and_behind_caches() {
    for seed in 1..=20 {
        let programs = random_programs(seed);
        let bodies: Vec<&[u32]> = programs.iter().map(Vec::as_slice).collect();
        let mut random = generator(seed);
        let delays: Vec<u32> = bodies.iter().map(|_| random(100)).collect();
        let words = |left: &[u8]| left[..256].to_vec();
        let mesh = run(Model::new(SHAPE).unwrap(), &bodies, rocket(4), &delays);
        let caches = words(&on_hierarchy(&bodies, &delays));
        assert_eq!(words(&mesh.data), caches, "{seed}");
        assert!(caches.iter().any(|byte| *byte != 0), "{seed}");
        let functional = vec![Functional::default(); 4];
        let again = run(Model::new(SHAPE).unwrap(), &bodies, functional, &delays);
        assert_eq!(words(&again.data), caches, "{seed}");
    }
}

/// The mesh in RTL, as `./rw test` has elaborated it; what the test of Python has compiled is taken from its cache.
fn design() -> Design {
    let folder = |name: &str| -> PathBuf {
        let found = std::env::var_os(name);
        found
            .unwrap_or_else(|| panic!("{name} is not set; run this through ./rw test"))
            .into()
    };
    let root = folder("RACKWRIGHT_VERILATOR_ROOT");
    let tools = Toolchain {
        verilator: root.join("bin/verilator_bin"),
        root,
        compiler: folder("RACKWRIGHT_CXX"),
    };
    let manifest = Manifest::read(&folder("RACKWRIGHT_MESH")).unwrap();
    let cache = Cache::new(folder("RACKWRIGHT_DESIGNS"));
    tools.build(manifest, BuildOptions::default(), &cache).unwrap()
}

/// To the cycle, and all that programs have loaded: those of litmus tests with two and four harts, and random ones.
#[test]
fn the_mesh_in_rtl_answers_harts_as_its_model_does() {
    let design = design();
    let litmus: [&[&[u32]]; 2] = [
        &[
            &[store(ONE, X_AT, 0), FENCE, store(ONE, Y_AT, 0)],
            &[load(FIRST, Y_AT), FENCE, load(SECOND, X_AT)],
        ],
        &[
            &[store(ONE, X_AT, 0)],
            &[store(ONE, Y_AT, 0)],
            &[load(FIRST, X_AT), FENCE, load(SECOND, Y_AT)],
            &[load(FIRST, Y_AT), FENCE, load(SECOND, X_AT)],
        ],
    ];
    let programs = random_programs(7);
    let random: Vec<&[u32]> = programs.iter().map(Vec::as_slice).collect();
    let mut delay = generator(1);
    let mut seen = BTreeSet::new();
    for bodies in litmus.into_iter().chain([random.as_slice()]) {
        for _ in 0..10 {
            let delays: Vec<u32> = bodies.iter().map(|_| delay(100)).collect();
            let rtl = run(Rtl::new(&design).unwrap(), bodies, rocket(bodies.len()), &delays);
            let model = run(Model::new(SHAPE).unwrap(), bodies, rocket(bodies.len()), &delays);
            assert_eq!(rtl, model, "{delays:?}");
            seen.insert(rtl.outcome);
        }
    }
    assert!(seen.len() > 4, "nothing was interleaved: {seen:?}");
}
