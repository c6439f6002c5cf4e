//! Properties of whole fabrics: random trees of modelled cards that all do DMA at the same time.

use crate::bench::{window, Bench, Run, BUFFER, BUFFER_BYTES};
use crate::class::Class;
use crate::clocks::nanoseconds;
use crate::enumeration::Found;
use crate::fabric::Fabric;
use proptest::prelude::*;
use rackwright_memory::HierarchyParameters;
use rackwright_time::fabric::Cycle;
use serde_json::{json, Value};

/// Simulated time within which all runs end.
const PATIENCE_NS: f64 = 20e6;

/// A switch or a card: the switch before it, or the root, and its link.
#[derive(Clone, Debug)]
struct Node {
    above: usize,
    generation: u32,
    lanes: u32,
    /// Credits beyond those that one packet needs.
    spare: u64,
}

/// The transfers of a card.
#[derive(Clone, Debug)]
struct Work {
    kind: u8,
    size_log2: u32,
    outstanding: u32,
}

#[derive(Clone, Debug)]
struct Tree {
    switches: Vec<Node>,
    cards: Vec<(Node, Work)>,
    payload: u32,
}

fn nodes() -> impl Strategy<Value = Node> {
    let lanes = prop::sample::select(vec![1_u32, 2, 4, 8, 16]);
    (0..4_usize, 1..=5_u32, lanes, 0..3_u64).prop_map(|(above, generation, lanes, spare)| Node {
        above,
        generation,
        lanes,
        spare,
    })
}

fn trees() -> impl Strategy<Value = Tree> {
    let work = (0..3_u8, 4..13_u32, 1..40_u32).prop_map(|(kind, size_log2, outstanding)| Work {
        kind,
        size_log2,
        outstanding,
    });
    let switches = prop::collection::vec(nodes(), 0..4);
    let cards = prop::collection::vec((nodes(), work), 1..5);
    let payloads = prop::sample::select(vec![128, 256, 512]);
    (switches, cards, payloads).prop_map(|(switches, cards, payload)| Tree {
        switches,
        cards,
        payload,
    })
}

impl Tree {
    fn description(&self) -> Value {
        let model = json!({"hertz": 2_000_000_000_u64, "tags": 32, "read_bytes": 512, "packets": 2});
        let credits = |node: &Node| {
            let data = u64::from(self.payload) / 16 + node.spare;
            let headers = 1 + node.spare;
            json!({"posted": [headers, data], "non_posted": [headers, headers], "completion": [headers, data]})
        };
        let link = |above: usize, below: String, node: &Node| {
            let above = if above == 0 {
                "root".to_string()
            } else {
                format!("switch{}", above - 1)
            };
            json!({"above": above, "below": below, "generation": node.generation, "lanes": node.lanes,
                "delay_ns": 5.0, "replay_bytes": 4112})
        };
        let switches = self.switches.iter().enumerate();
        let ways = switches
            .clone()
            .map(|(number, node)| link(node.above % (number + 1), format!("switch{number}"), node));
        let cards = self.cards.iter().enumerate();
        let last = cards.clone().map(|(number, (node, _))| {
            link(
                node.above % (self.switches.len() + 1),
                format!("card{number}"),
                node,
            )
        });
        json!({
            "root": {"name": "root", "latency_ns": 10.0, "peer_to_peer": true, "completion_bytes": 128,
                "credits": {"posted": [2, 64], "non_posted": [1, 1], "completion": [0, 0]}},
            "switches": Value::from_iter(switches.map(|(number, node)| json!({
                "name": format!("switch{number}"), "latency_ns": 20.0, "credits": credits(node)}))),
            "cards": Value::from_iter(cards.map(|(number, _)| json!({
                "name": format!("card{number}"), "model": model}))),
            "links": Value::from_iter(ways.chain(last)),
            "payload_bytes": self.payload,
            "read_request_bytes": 512,
        })
    }

    /// The fabric just after its reset.
    fn begin(&self) -> Fabric {
        let system = serde_json::from_value(self.description()).unwrap();
        let memory = BUFFER + BUFFER_BYTES * (self.cards.len() as u64 + 1);
        Fabric::new(system, &[], memory, &HierarchyParameters::server()).unwrap()
    }

    fn build(&self) -> (Fabric, Vec<Found>) {
        let mut fabric = self.begin();
        let mut found = fabric.enumerate().unwrap();
        found.sort_by_key(|found| found.card);
        rest(&mut fabric);
        (fabric, found)
    }
}

/// Advances until all is quiet.
fn rest(fabric: &mut Fabric) {
    let deadline = fabric.now + nanoseconds(PATIENCE_NS);
    assert!(
        fabric.run(deadline, Fabric::is_quiet).unwrap(),
        "the fabric hangs"
    );
}

/// A run of a card in a buffer of its own: reads, writes, or writes into the window of the next card.
fn run_of(fabric: &Fabric, found: &[Found], card: usize, work: &Work, count: u32) -> Run {
    let buffer = BUFFER + BUFFER_BYTES * card as u64;
    let peer = (work.kind == 2 && found.len() > 1).then(|| (card + 1) % found.len());
    let name = |card: usize| fabric.cards[card].name.as_str();
    Run {
        writes: work.kind != 0,
        registers: window(&found[card], 0, name(card)).unwrap(),
        card,
        peer,
        buffer,
        target: peer.map_or(buffer, |peer| window(&found[peer], 1, name(peer)).unwrap()),
        size: 1 << work.size_log2,
        bench: Bench {
            count,
            outstanding: work.outstanding,
            interval: 1,
            copy: 0,
            warm: true,
        },
        outstanding: work.outstanding,
    }
}

/// The credits granted to and consumed by one end of each link are those that the other has granted and received, and
/// all of the room is free.
fn check_credits(fabric: &mut Fabric) {
    for port in &mut fabric.ports.all {
        port.hear(Cycle::NEVER);
        port.receiver.settle(Cycle::NEVER);
    }
    for port in &fabric.ports.all {
        let other = &fabric.ports.all[port.other.index()];
        let (granted, consumed) = port.transmitter.credits();
        let (given, used) = other.receiver.credits();
        for class in Class::ALL {
            let room = other.room[class];
            assert_eq!(consumed[class], used[class], "{} {class:?}", port.name);
            assert_eq!(granted[class], given[class], "{} {class:?}", port.name);
            if room.headers != 0 {
                assert_eq!(
                    given[class].headers - used[class].headers,
                    room.headers,
                    "{}",
                    port.name
                );
            }
            if room.data != 0 {
                assert_eq!(given[class].data - used[class].data, room.data, "{}", port.name);
            }
        }
        assert_eq!(port.overflows, 0, "{}", port.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn all_dma_ends_with_its_data_and_all_credits(tree in trees()) {
        let (mut fabric, found) = tree.build();
        check_credits(&mut fabric);
        let works = tree.cards.iter().enumerate();
        let runs: Vec<Run> = works
            .map(|(card, (_, work))| run_of(&fabric, &found, card, work, 24))
            .collect();
        let counts: Vec<_> = found.iter().map(|found| fabric.peer_counts(found).unwrap()).collect();
        for run in &runs {
            fabric.prepare(run).unwrap();
        }
        for run in &runs {
            fabric.start(run).unwrap();
        }
        rest(&mut fabric);
        check_credits(&mut fabric);
        for run in &runs {
            prop_assert_eq!(fabric.cards[run.card].stamps.len(), 24);
            match run.peer {
                Some(peer) => fabric.check_peer(run, &found[peer], counts[peer]).unwrap(),
                None if run.writes => fabric.check_written(run).unwrap(),
                None => fabric.check_read(run, 24).unwrap(),
            }
        }
        let wrong = ["unsupported_requests", "unexpected_completions", "malformed_packets"];
        for (name, count) in fabric.counters().iter() {
            prop_assert!(!wrong.contains(&name) || count == 0, "{} {}", name, count);
        }
    }
}

/// All bytes of the memory of the host.
fn memory(fabric: &Fabric) -> Vec<u8> {
    let mut all = vec![0; fabric.host.memory.end() as usize];
    fabric.host.memory.read(0, &mut all).unwrap();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_restored_fabric_continues_as_the_one_that_was_saved(tree in trees(), after in 0..30_000_u64) {
        let (mut fabric, found) = tree.build();
        for (card, (_, work)) in tree.cards.iter().enumerate() {
            let run = run_of(&fabric, &found, card, work, 200);
            fabric.prepare(&run).unwrap();
            fabric.start(&run).unwrap();
        }
        fabric.run_until(fabric.now + nanoseconds(after as f64)).unwrap();
        let state = fabric.save().unwrap();
        let mut other = tree.begin();
        other.restore(&state).unwrap();
        prop_assert_eq!(other.save().unwrap(), state.clone());
        other.host.memory.write(0, &memory(&fabric)).unwrap();
        rest(&mut fabric);
        rest(&mut other);
        prop_assert_eq!(other.digest().value(), fabric.digest().value());
        prop_assert_eq!((other.now, other.packet_hops()), (fabric.now, fabric.packet_hops()));
        prop_assert!(memory(&other) == memory(&fabric));
        // A state of another fabric, and a damaged one.
        let mut longer = tree.clone();
        longer.payload = if tree.payload == 128 { 256 } else { 128 };
        prop_assert!(longer.begin().restore(&state).is_err());
        prop_assert!(tree.begin().restore(&state[1..]).is_err());
    }
}

/// Shares of the link to the root of cards that all write at once, below one switch.
fn shares(cards: usize, credits: u64) -> Vec<f64> {
    let node = Node {
        above: 1,
        generation: 3,
        lanes: 8,
        spare: credits,
    };
    let work = Work {
        kind: 1,
        size_log2: 8,
        outstanding: 64,
    };
    let tree = Tree {
        switches: vec![Node {
            above: 0,
            ..node.clone()
        }],
        cards: vec![(node, work.clone()); cards],
        payload: 256,
    };
    let (mut fabric, found) = tree.build();
    let runs: Vec<Run> = (0..cards)
        .map(|card| run_of(&fabric, &found, card, &work, 4000))
        .collect();
    for run in &runs {
        fabric.prepare(run).unwrap();
    }
    for run in &runs {
        fabric.start(run).unwrap();
    }
    let mut sent = |done: usize| -> Vec<u64> {
        let deadline = fabric.now + nanoseconds(PATIENCE_NS);
        let reached = fabric.run(deadline, |fabric| fabric.cards[0].stamps.len() >= done);
        assert!(reached.unwrap(), "the run does not come that far");
        let port = |card: usize| fabric.ports.of_cards[card].index();
        let bytes = |card| fabric.ports.all[port(card)].transmitter.counters.classes[0].payload_bytes;
        (0..cards).map(bytes).collect()
    };
    let (before, after) = (sent(500), sent(3500));
    let sums: Vec<u64> = before
        .iter()
        .zip(after)
        .map(|(before, after)| after - before)
        .collect();
    let all: u64 = sums.iter().sum();
    sums.into_iter().map(|sum| sum as f64 / all as f64).collect()
}

#[test]
fn equal_senders_get_equal_shares() {
    for (cards, credits) in [(2, 0), (2, 60), (3, 4), (5, 60)] {
        for share in shares(cards, credits) {
            let off = share * cards as f64 - 1.0;
            assert!(
                off.abs() <= 0.01,
                "a share of {cards} with {credits} spare: {share}"
            );
        }
    }
}
