//! Models on a clock of their own, which pass on items of their own: neither is known to the crates.

use rackwright_link::{Item, Trail};
use rackwright_schedule::{Graph, Incoming, Model, ModelId, Outbox, PortId, RunOutcome};
use rackwright_stats::Digest;
use rackwright_time::{Clock, Crossing, Cycle, Cycles, Domain, Hart};
use std::collections::VecDeque;

/// The clock of a chain of serial links.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
struct Serial;

impl Domain for Serial {}

/// What the links carry.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Message {
    text: String,
    hops: u64,
}

impl Item for Message {
    type Clock = Serial;

    fn leave(&self, trail: &mut Trail) {
        trail.bytes(self.text.as_bytes());
        trail.add(self.hops, 0);
    }
}

/// Passes a message on to its next neighbour, one cycle a byte, until it has made so many hops.
struct Relay {
    number: usize,
    most_hops: u64,
    due: VecDeque<(Cycle<Serial>, Message)>,
    free: Cycle<Serial>,
    ended: Vec<(u64, String)>,
}

impl Relay {
    fn new(number: usize, first: Option<&str>) -> Relay {
        let message = |text: &str| Message {
            text: text.to_string(),
            hops: 0,
        };
        let start = Cycle::new(number as u64);
        Relay {
            number,
            most_hops: 25,
            due: first.map(|text| (start, message(text))).into_iter().collect(),
            free: Cycle::ZERO,
            ended: Vec::new(),
        }
    }

    fn next(&self) -> Option<Cycle<Serial>> {
        self.due.front().map(|(cycle, _)| (*cycle).max(self.free))
    }
}

/// The ports of the ring: to the one before, and to the one behind.
const BEFORE: usize = 0;
const BEHIND: usize = 1;

impl Model for Relay {
    type Item = Message;

    fn ports(&self) -> usize {
        2
    }

    fn next_event(&self) -> Cycle<Serial> {
        self.next().unwrap_or(Cycle::NEVER)
    }

    fn advance(
        &mut self,
        until: Cycle<Serial>,
        arrivals: &mut Incoming<'_, Message>,
        outbox: &mut Outbox<'_, Message>,
    ) {
        while let Some((port, arrival)) = arrivals.next() {
            assert_eq!(port, BEFORE, "messages go round one way");
            let mut message = arrival.item;
            message.hops += 1;
            if message.hops == self.most_hops {
                self.ended.push((arrival.cycle.0, message.text));
            } else {
                let think = Cycles::new(3 + self.number as u64);
                self.due.push_back((arrival.cycle + think, message));
            }
        }
        while let Some(first) = self.next().filter(|first| *first < until) {
            let (_, message) = self.due.pop_front().expect("one is due");
            let last = first + Cycles::new(message.text.len() as u64 - 1);
            self.free = last + Cycles::new(1);
            outbox.send(BEHIND, first, last, message);
        }
    }

    fn digest(&self, digest: &mut Digest) {
        for (cycle, text) in &self.ended {
            digest.number(*cycle);
            digest.bytes(text.as_bytes());
        }
    }
}

const RELAYS: usize = 6;
const LATENCY: Cycles<Serial> = Cycles::new(9);

/// A ring of relays, two of which have something to say.
fn ring(threads: usize, window: Option<u64>) -> Graph<Relay> {
    let mut graph = Graph::new();
    graph.set_threads(threads);
    for number in 0..RELAYS {
        let text = [Some("one of eleven"), None, None, Some("a")]
            .get(number)
            .copied();
        graph.add(format!("relay{number}"), Relay::new(number, text.flatten()));
    }
    let port = |model, port| PortId {
        model: ModelId(model),
        port,
    };
    for number in 0..RELAYS {
        let (here, there) = (port(number, BEHIND), port((number + 1) % RELAYS, BEFORE));
        graph.join(here, there, LATENCY).unwrap();
    }
    if let Some(window) = window {
        graph.set_window(Cycles::new(window)).unwrap();
    }
    graph
}

#[test]
fn items_of_ones_own_go_round_whatever_the_threads_and_windows() {
    let outcome = |threads, window| {
        let mut graph = ring(threads, window);
        assert_eq!(graph.run(Cycle::new(100_000)), RunOutcome::Quiet);
        let ended: Vec<_> = (0..RELAYS)
            .flat_map(|number| graph.model(ModelId(number)).ended.clone())
            .collect();
        (ended, graph.digest().value())
    };
    let (ended, digest) = outcome(1, None);
    let mut texts: Vec<&str> = ended.iter().map(|(_, text)| text.as_str()).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["a", "one of eleven"]);
    for (threads, window) in [(3, None), (1, Some(1)), (2, Some(4))] {
        assert_eq!(
            outcome(threads, window),
            (ended.clone(), digest),
            "{threads} threads"
        );
    }
}

#[test]
fn a_clock_of_ones_own_crosses_to_that_of_harts() {
    let [serial, hart] = [1_000_000_000, 2_000_000_000].map(|hertz| Clock::new(hertz).unwrap());
    let crossing: Crossing<Serial, Hart> = Crossing::new(serial, hart);
    assert_eq!(crossing.seen(Cycle::new(10)), Cycle::new(20));
}
