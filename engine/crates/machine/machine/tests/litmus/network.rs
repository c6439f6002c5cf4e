//! The same programs on harts whose data is behind a network that returns `Later`: each load and each store is a packet to
//! the bank and one back, and only the hart that has sent it stalls. The network is the mesh, by its model or in RTL, or
//! the crossbar in RTL; harts are modelled ones, or Rocket in RTL.

use super::{
    addi, designs, entry, generator, load, memory, put_delays, put_programs, rocket, store, Outcome, BASE,
    DATA, DATA_BYTES, FENCE, FIRST, ONE, RESULTS, SECOND, STRIDE, X_AT, Y_AT,
};
use rackwright_contract::{Answer, Ticket};
use rackwright_cpu::{DeviceAccess, ExecutionEnvironment, Functional, Hart, Stop, Timing};
use rackwright_device::{Bus, Map, ACCESS_LATENCY};
use rackwright_machine::{Hardware, Machine, Pause, Processor, Turn, Window, Workload};
use rackwright_memory::{
    AccessKind, GuestMemory, HierarchyParameters, Interconnect, RequesterId, Route, Traffic,
};
use rackwright_noc::{Bank, Model, Network, NetworkMemory, Rtl, Shape};
use rackwright_time::{Clock, Cycle, Cycles};
use rackwright_unit::{Core, RocketCores, Stall, UnitError};
use std::collections::BTreeSet;

/// The data behind the network, at addresses of devices, which the caches of Rocket in RTL do not keep.
const BEHIND: u64 = 0x1200_0000;
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
/// In the middle of the mesh's upper row; serving an access takes longer than the next one is away.
pub(super) const BANK: Bank = Bank {
    endpoint: 1,
    latency: 20,
    busy: 5,
    delivery: 6,
};

/// Memory behind a network, on the clock of harts.
pub(super) fn behind<N: Network>(network: N) -> NetworkMemory<N> {
    NetworkMemory::new(network, Clock::new(2_000_000_000).unwrap(), BANK).unwrap()
}

pub(super) fn crossbar() -> Rtl {
    Rtl::crossbar(&designs::CROSSBAR).unwrap()
}

fn mesh() -> Model {
    Model::new(SHAPE).unwrap()
}

/// What runs on harts with their data behind a network.
struct BehindNetwork<N> {
    network: NetworkMemory<N>,
    ports: Vec<RequesterId>,
    data: GuestMemory,
    /// By hart: the access without a response.
    asked: Vec<Option<(Ticket, DeviceAccess)>>,
    /// The harts that have stored their last results.
    ended: Vec<bool>,
    now: Cycle,
    end: Cycle,
    /// No response comes sooner, so that harts run as far at once.
    window: Cycles,
}

impl<N: Network> BehindNetwork<N> {
    fn new(network: N, data: GuestMemory, harts: usize) -> BehindNetwork<N> {
        let mut network = behind(network);
        let link = network.attach_link(&Route::default(), BEAT);
        let ports: Vec<_> = (0..harts)
            .map(|_| network.attach_port(link, Traffic::Stream))
            .collect();
        BehindNetwork {
            window: network.minimum_latency(ports[0]),
            network,
            ports,
            data,
            asked: vec![None; harts],
            ended: vec![false; harts],
            now: Cycle::ZERO,
            end: Cycle::ZERO,
        }
    }

    /// Passes the responses that have arrived to harts, in the order of their cycles.
    fn answer<C: Processor>(&mut self, hardware: &mut Hardware<C>) {
        let mut come = Vec::new();
        for (hart, port) in self.ports.iter().enumerate() {
            while let Some((ticket, at)) = self.network.answered(*port) {
                come.push((at, hart, ticket));
            }
        }
        come.sort_by_key(|(at, hart, _)| (*at, *hart));
        for (at, hart, ticket) in come {
            let (asked, access) = self.asked[hart].take().expect("one access at a time");
            assert_eq!(asked, ticket);
            let value = self.perform(access);
            hardware.answer(hart, at, value);
            let last = BEHIND + RESULTS + hart as u64 * STRIDE + 4;
            self.ended[hart] |= access.write.is_some() && access.address == last;
        }
    }

    fn perform(&mut self, access: DeviceAccess) -> u64 {
        let mut value = access.write.unwrap_or_default().to_le_bytes();
        let bytes = &mut value[..access.bytes.into()];
        match access.write {
            Some(_) => self.data.write(access.address, bytes).unwrap(),
            None => self.data.read(access.address, bytes).unwrap(),
        }
        u64::from_le_bytes(value)
    }
}

impl<C: Processor, N: Network> Workload<C> for BehindNetwork<N> {
    type Time = Cycle;
    type Error = UnitError;

    fn open(&mut self, hardware: &mut Hardware<C>, until: Cycle) -> Result<Option<Pause>, UnitError> {
        self.answer(hardware);
        if self.ended.iter().all(|ended| *ended) {
            return Ok(Some(Pause::Idle));
        }
        self.end = self.now + self.window;
        Ok((self.now >= until).then_some(Pause::Reached))
    }

    fn limit(&mut self, hardware: &mut Hardware<C>, hart: usize, _until: Cycle) -> Option<Cycle> {
        let core = &hardware.cores[hart];
        let runs = core.stalled().is_none() && core.cycle() < self.end;
        runs.then_some(self.end)
    }

    fn stopped(
        &mut self,
        hardware: &mut Hardware<C>,
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
                let Answer::Later(ticket) = self.network.ask(core.cycle(), access.address, kind, port) else {
                    panic!("a network knows no response before it has run");
                };
                core.stall(Stall::Access(ticket));
                self.asked[window.turn] = Some((ticket, access));
            }
            other => panic!("{other:?}"),
        }
        Ok(Turn::On)
    }

    fn close(&mut self, _hardware: &mut Hardware<C>, _until: Cycle) {
        self.network.advance(self.end);
        self.network.check().unwrap();
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

impl Left {
    /// The words of which each hart has its own.
    fn words(&self) -> &[u8] {
        &self.data[..256]
    }
}

/// Harts at the starts of their programs.
fn modelled<T: Timing>(timings: Vec<T>) -> Vec<Core<T>> {
    let start = |(index, timing)| {
        let mut hart = Hart::new(index, ExecutionEnvironment::BareMetal, timing);
        hart.state_mut().set_pc(entry(index));
        Core::alone(hart)
    };
    (0..).zip(timings).map(start).collect()
}

/// The same of Rocket in RTL: a design for each, whose instructions are in memory behind a hierarchy.
fn rocket_rtl(count: usize) -> Vec<RocketCores> {
    let hierarchy = super::hierarchy();
    let start = |index| {
        let mut cores = RocketCores::new(&designs::ROCKET, 1, ACCESS_LATENCY, hierarchy.clone(), BASE..BASE);
        cores.start_all_at(entry(index as u64));
        cores
    };
    (0..count).map(start).collect()
}

/// Runs programs to their ends, after their delays.
fn run<C: Processor>(network: impl Network, bodies: &[&[u32]], cores: Vec<C>, delays: &[u32]) -> Left {
    let harts = cores.len();
    let (mut code, mut data) = (memory(BASE..DATA), memory(BEHIND..BEHIND + DATA_BYTES));
    put_programs(&mut code, bodies, BEHIND);
    put_delays(&mut data, delays, BEHIND);
    let bus = Bus::new(Map::NOTHING, harts, HierarchyParameters::server().tick);
    let hardware = Hardware::new(cores, code, bus);
    let mut machine = Machine::with(hardware, BehindNetwork::new(network, data, harts));
    assert_eq!(machine.run(Cycle::new(1_000_000)).unwrap(), Pause::Idle);
    let mut left = vec![0; DATA_BYTES as usize];
    let data = &machine.workload().data;
    data.read(BEHIND, &mut left).unwrap();
    Left {
        outcome: Outcome::of(data, harts, BEHIND),
        data: left,
        cycle: machine.hardware().cycle(),
    }
}

/// What a litmus test leaves on harts of the model `rocket`, behind the model of the mesh.
pub(super) fn on_mesh(bodies: &[&[u32]], delays: &[u32]) -> Outcome {
    run(mesh(), bodies, modelled(rocket(bodies.len())), delays).outcome
}

/// The same behind the crossbar in RTL.
pub(super) fn on_crossbar(bodies: &[&[u32]], delays: &[u32]) -> Outcome {
    run(crossbar(), bodies, modelled(rocket(bodies.len())), delays).outcome
}

/// The same on harts of Rocket in RTL.
pub(super) fn in_rtl(bodies: &[&[u32]], delays: &[u32]) -> Outcome {
    run(crossbar(), bodies, rocket_rtl(bodies.len()), delays).outcome
}

/// A store at an offset of up to 12 bits.
const fn store_far(value: u32, at: u32, offset: u32) -> u32 {
    store(value, at, offset & 31) | (offset >> 5) << 25
}

/// Each hart stores to words that are nobody else's, in one line with those of others, and loads all.
pub(super) fn random_programs(seed: u64) -> Vec<Vec<u32>> {
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
    let mut left = vec![0; 256];
    let memory = super::run(bodies, rocket(bodies.len()), delays);
    memory.read(DATA, &mut left).unwrap();
    left
}

/// Random programs of four harts and their delays, for each seed.
fn for_each_seed(seeds: u64, check: impl Fn(&[&[u32]], &[u32], &[u8])) {
    for seed in 1..=seeds {
        let programs = random_programs(seed);
        let bodies: Vec<&[u32]> = programs.iter().map(Vec::as_slice).collect();
        let mut random = generator(seed);
        let delays: Vec<u32> = bodies.iter().map(|_| random(100)).collect();
        let caches = on_hierarchy(&bodies, &delays);
        assert!(caches.iter().any(|byte| *byte != 0), "{seed}");
        check(&bodies, &delays, &caches);
    }
}

/// The words of which each hart has its own, and what a hart found in its delay, are the same; which values of others a
/// hart has loaded depends on who came first, and nothing stores them.
#[test]
fn random_programs_leave_the_same_memory_behind_networks_and_behind_caches() {
    for_each_seed(20, |bodies, delays, caches| {
        let functional = || modelled(vec![Functional::default(); 4]);
        let timed = || modelled(rocket(4));
        assert_eq!(run(mesh(), bodies, timed(), delays).words(), caches);
        assert_eq!(run(mesh(), bodies, functional(), delays).words(), caches);
        assert_eq!(run(crossbar(), bodies, timed(), delays).words(), caches);
        assert_eq!(run(crossbar(), bodies, functional(), delays).words(), caches);
    });
}

#[test]
fn random_programs_on_harts_in_rtl_leave_the_same_memory() {
    for_each_seed(2, |bodies, delays, caches| {
        assert_eq!(run(crossbar(), bodies, rocket_rtl(4), delays).words(), caches);
    });
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_on_harts_in_rtl_leave_the_same_memory() {
    for_each_seed(200, |bodies, delays, caches| {
        assert_eq!(run(crossbar(), bodies, rocket_rtl(4), delays).words(), caches);
    });
}

/// To the cycle, and all that programs have loaded: those of litmus tests with two and four harts, and random ones.
#[test]
fn the_mesh_in_rtl_answers_harts_as_its_model_does() {
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
            let harts = || modelled(rocket(bodies.len()));
            let rtl = run(Rtl::mesh(&designs::MESH).unwrap(), bodies, harts(), &delays);
            assert_eq!(rtl, run(mesh(), bodies, harts(), &delays), "{delays:?}");
            seen.insert(rtl.outcome);
        }
    }
    assert!(seen.len() > 4, "nothing was interleaved: {seen:?}");
}
