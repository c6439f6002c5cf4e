//! The scheduler against a model that answers: times, digests, quiet graphs, and errors.

use rackwright_schedule::{
    Direction, Graph, GraphError, Incoming, Model, ModelId, Outbox, PortId, RunOutcome,
};
use rackwright_stats::Digest;
use rackwright_time::network::{Cycle, Cycles};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sends a first item and returns every item that comes, less by one, until it is zero. An answer
/// leaves `THINK` cycles after its question came.
struct Echo {
    ports: usize,
    due: VecDeque<(Cycle, usize, u64)>,
    seen: Vec<u64>,
}

const THINK: Cycles = Cycles::new(7);

impl Echo {
    fn new(ports: usize, first: Option<(Cycle, u64)>) -> Echo {
        let due = first.map(|(cycle, item)| (cycle, 0, item));
        Echo {
            ports,
            due: due.into_iter().collect(),
            seen: Vec::new(),
        }
    }
}

impl Model for Echo {
    type Item = u64;

    fn ports(&self) -> usize {
        self.ports
    }

    fn next_event(&self) -> Cycle {
        self.due.front().map_or(Cycle::NEVER, |(cycle, _, _)| *cycle)
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, u64>, outbox: &mut Outbox<'_, u64>) {
        while let Some((port, arrival)) = arrivals.next() {
            self.seen.push(arrival.cycle.0);
            if arrival.item > 0 {
                self.due
                    .push_back((arrival.cycle + THINK, port, arrival.item - 1));
            }
        }
        while let Some((cycle, port, item)) = self.due.front().copied().filter(|due| due.0 < until) {
            outbox.send(port, cycle, cycle, item);
            self.due.pop_front();
        }
    }

    fn digest(&self, digest: &mut Digest) {
        self.seen.iter().for_each(|cycle| digest.number(*cycle));
    }
}

fn port(model: ModelId, port: usize) -> PortId {
    PortId { model, port }
}

fn pair(latency: u64, turns: u64) -> (Graph<Echo>, [ModelId; 2]) {
    let mut graph = Graph::new();
    let one = graph.add("one", Echo::new(1, Some((Cycle::new(1000), turns))));
    let other = graph.add("other", Echo::new(1, None));
    graph
        .join(port(one, 0), port(other, 0), Cycles::new(latency))
        .unwrap();
    (graph, [one, other])
}

/// A chain in which every model talks to both neighbours at once.
fn chain(threads: usize, window: Option<u64>, skip_idle: bool) -> String {
    let mut graph = Graph::new();
    let ids: Vec<ModelId> = (0..9)
        .map(|index| {
            graph.add(
                format!("m{index}"),
                Echo::new(2, Some((Cycle::new(index * 13), 400))),
            )
        })
        .collect();
    for (here, there) in ids.iter().zip(&ids[1..]) {
        graph
            .join(port(*here, 0), port(*there, 1), Cycles::new(60))
            .unwrap();
    }
    graph.set_threads(threads);
    graph.set_skip_idle(skip_idle);
    if let Some(window) = window {
        graph.set_window(Cycles::new(window)).unwrap();
    }
    graph.run(Cycle::new(5_000));
    graph.run(Cycle::new(17_001));
    graph.digest().to_string()
}

#[test]
fn an_item_goes_there_and_back_at_the_latency_of_the_link() {
    let (mut graph, [one, other]) = pair(100, 1);
    assert_eq!(graph.run(Cycle::new(1250)), RunOutcome::Quiet);
    assert_eq!(graph.model(other).seen, [1100]);
    assert_eq!(graph.model(one).seen, [1207]);
    assert_eq!(graph.cycle(), Cycle::new(1250));
}

#[test]
fn what_is_on_its_way_when_time_is_over_arrives_in_the_next_run() {
    let (mut graph, [one, other]) = pair(100, 1);
    assert_eq!(graph.run(Cycle::new(1050)), RunOutcome::TimeOver);
    assert!(graph.model(other).seen.is_empty());
    graph.run(Cycle::new(2000));
    assert_eq!(graph.model(one).seen, [1207]);
}

#[test]
fn the_digest_depends_on_neither_threads_nor_windows_nor_skipping() {
    let expected = chain(1, None, true);
    for threads in [1, 2, 4, 9] {
        for window in [None, Some(1), Some(7), Some(30), Some(60)] {
            assert_eq!(
                chain(threads, window, true),
                expected,
                "{threads} threads, {window:?}"
            );
        }
        assert_eq!(chain(threads, Some(20), false), expected, "every model visited");
    }
}

#[test]
fn a_long_silence_is_passed_in_one_step() {
    let (mut graph, _) = pair(1, 0);
    assert_eq!(graph.run(Cycle::new(u64::MAX - 1)), RunOutcome::Quiet);
}

#[test]
fn a_tap_hears_both_directions_in_order() {
    let (mut graph, [one, _]) = pair(100, 2);
    graph.tap(port(one, 0)).unwrap();
    graph.run(Cycle::new(2000));
    let heard: Vec<_> = graph
        .take_tapped()
        .iter()
        .map(|heard| (heard.cycle.0, heard.direction, heard.item))
        .collect();
    let expected = [
        (1000, Direction::Out, 2),
        (1207, Direction::In, 1),
        (1214, Direction::Out, 0),
    ];
    assert_eq!(heard, expected);
    assert!(graph.take_tapped().is_empty());
}

#[test]
fn ports_that_do_not_exist_or_are_taken_are_refused_by_name() {
    let (mut graph, [one, other]) = pair(10, 0);
    let missing = graph
        .join(port(one, 1), port(other, 0), Cycles::new(1))
        .unwrap_err();
    assert_eq!(missing.to_string(), "`one` has 1 ports; there is no port 1");
    let taken = graph
        .join(port(one, 0), port(other, 0), Cycles::new(1))
        .unwrap_err();
    assert_eq!(taken.to_string(), "port 0 of `one` is joined already");
}

#[test]
fn windows_longer_than_a_link_are_refused() {
    let (mut graph, _) = pair(10, 0);
    let expected = GraphError::Window {
        window: 11,
        latency: 10,
    };
    assert_eq!(graph.set_window(Cycles::new(11)), Err(expected));
    assert!(graph.set_window(Cycles::new(0)).is_err());
}

/// Claims to have something to do that it never does, or has nothing to do.
struct Claim(Cycle);

impl Model for Claim {
    type Item = u64;

    fn ports(&self) -> usize {
        0
    }

    fn next_event(&self) -> Cycle {
        self.0
    }

    fn advance(&mut self, _: Cycle, _: &mut Incoming<'_, u64>, _: &mut Outbox<'_, u64>) {}

    fn digest(&self, _: &mut Digest) {}
}

#[test]
fn a_model_that_breaks_its_contract_ends_the_run_of_all_threads() {
    for threads in [1, 2, 4] {
        for liar in 0..4 {
            let run = std::panic::catch_unwind(|| {
                let mut graph = Graph::new();
                for model in 0..4 {
                    let due = if model == liar {
                        Cycle::new(5)
                    } else {
                        Cycle::NEVER
                    };
                    graph.add(format!("m{model}"), Claim(due));
                }
                graph.set_threads(threads);
                graph.run(Cycle::new(10))
            });
            assert!(run.is_err(), "{threads} threads, model {liar}");
        }
    }
}

/// Has an event every thousand cycles, and knows only the time of its last visit.
struct Clock(Cycle);

impl Model for Clock {
    type Item = u64;

    fn ports(&self) -> usize {
        0
    }

    fn next_event(&self) -> Cycle {
        Cycle::new(self.0 .0.next_multiple_of(1000))
    }

    fn advance(&mut self, until: Cycle, _: &mut Incoming<'_, u64>, _: &mut Outbox<'_, u64>) {
        self.0 = until;
    }

    fn rest(&mut self, until: Cycle) {
        self.0 = until;
    }

    fn digest(&self, digest: &mut Digest) {
        digest.cycle(self.0);
    }
}

#[test]
fn all_models_know_the_end_of_a_run_wherever_it_was_divided() {
    let run = |ends: &[u64], threads| {
        let mut graph = Graph::new();
        for model in 0..3 {
            graph.add(format!("m{model}"), Clock(Cycle::new(1 + model)));
        }
        graph.set_window(Cycles::new(10)).unwrap();
        graph.set_threads(threads);
        for end in ends {
            graph.run(Cycle::new(*end));
        }
        graph.digest().to_string()
    };
    let whole = run(&[25_500], 1);
    for ends in [&[25_500][..], &[3, 12_345, 25_500], &[24_999, 25_001, 25_500]] {
        for threads in [1, 2] {
            assert_eq!(run(ends, threads), whole, "{ends:?}, {threads} threads");
        }
    }
}

/// How many visits are being made at once, and the most there were.
#[derive(Default)]
struct Crowd {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// Takes long for every visit, of which there is one in each window of 10 cycles: as long as another does too, or, after
/// `patience`, by itself.
struct Slow {
    next: Cycle,
    crowd: Arc<Crowd>,
    patience: Duration,
}

impl Model for Slow {
    type Item = u64;

    fn ports(&self) -> usize {
        1
    }

    fn next_event(&self) -> Cycle {
        self.next
    }

    fn advance(&mut self, until: Cycle, _: &mut Incoming<'_, u64>, _: &mut Outbox<'_, u64>) {
        let crowd = &self.crowd;
        let now = crowd.now.fetch_add(1, Ordering::SeqCst) + 1;
        crowd.most.fetch_max(now, Ordering::SeqCst);
        #[expect(clippy::disallowed_methods, reason = "some nodes take long in real time")]
        let began = Instant::now();
        while crowd.most.load(Ordering::SeqCst) < 2 && began.elapsed() < self.patience {
            std::thread::sleep(Duration::from_millis(1));
        }
        crowd.now.fetch_sub(1, Ordering::SeqCst);
        self.next = until + Cycles::new(1);
    }

    fn digest(&self, _: &mut Digest) {}
}

#[test]
fn a_thread_without_work_takes_over_long_visits_of_another() {
    let crowd = Arc::new(Crowd::default());
    let mut graph = Graph::new();
    for index in 0..4 {
        // Shares are of two models each at first: only the first has anything to do.
        let next = if index < 2 { Cycle::new(0) } else { Cycle::NEVER };
        let (crowd, patience) = (crowd.clone(), Duration::from_millis(20));
        graph.add(
            format!("m{index}"),
            Slow {
                next,
                crowd,
                patience,
            },
        );
    }
    let ends = [0, 1].map(|model| port(ModelId(model), 0));
    graph.join(ends[0], ends[1], Cycles::new(10)).unwrap();
    graph.set_threads(2);
    // Visits are found to take long in the first windows, long before shares are made again.
    graph.run(Cycle::new(200));
    assert_eq!(crowd.most.load(Ordering::SeqCst), 2, "visits at once");
}

/// Echoes that take their time, so that whoever is free visits them.
struct SlowEcho(Echo);

impl Model for SlowEcho {
    type Item = u64;

    fn ports(&self) -> usize {
        self.0.ports()
    }

    fn next_event(&self) -> Cycle {
        self.0.next_event()
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, u64>, outbox: &mut Outbox<'_, u64>) {
        #[expect(clippy::disallowed_methods, reason = "some nodes take long in real time")]
        let began = Instant::now();
        // Some take long, some do not, and some not always.
        let long = self.0.seen.len() as u64 % 5 * 10;
        while began.elapsed() < Duration::from_micros(long) {
            std::hint::spin_loop();
        }
        self.0.advance(until, arrivals, outbox);
    }

    fn digest(&self, digest: &mut Digest) {
        self.0.digest(digest);
    }
}

/// A ring of models that takes longer than several rounds of shares.
fn slow_ring(threads: usize) -> String {
    let mut graph = Graph::new();
    let ids: Vec<ModelId> = (0..7)
        .map(|index| {
            let echo = Echo::new(2, Some((Cycle::new(index * 13), 4000)));
            graph.add(format!("m{index}"), SlowEcho(echo))
        })
        .collect();
    for (index, here) in ids.iter().enumerate() {
        let there = ids[(index + 1) % ids.len()];
        graph
            .join(port(*here, 0), port(there, 1), Cycles::new(60))
            .unwrap();
    }
    graph.set_threads(threads);
    graph.run(Cycle::new(40_000));
    graph.digest().to_string()
}

#[test]
fn who_makes_a_long_visit_changes_nothing() {
    let expected = slow_ring(1);
    for threads in [2, 3, 4, 7] {
        assert_eq!(slow_ring(threads), expected, "{threads} threads");
    }
}
