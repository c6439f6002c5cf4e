//! A port that frames pass flit by flit, and a model that takes them with their first flit.

use rackwright_ethernet::{Frame, OutputPort, PortParameters, Rate};
use rackwright_schedule::{Graph, Incoming, Model, ModelId, Outbox, PortId};
use rackwright_stats::Digest;
use rackwright_time::network::{Cycle, Cycles};
use rackwright_time::Clock;

/// Passes frames on that come to it at given cycles, a flit per cycle, or notes when they come.
struct End {
    frames: Vec<(Cycle, usize)>,
    next: usize,
    output: OutputPort,
    cut_through: bool,
    came: Vec<u64>,
}

impl End {
    fn new(frames: &[(u64, usize)], rate: Rate, cut_through: bool) -> End {
        End {
            frames: frames
                .iter()
                .map(|(cycle, bytes)| (Cycle::new(*cycle), *bytes))
                .collect(),
            next: 0,
            output: OutputPort::new(PortParameters {
                rate,
                buffer_bytes: 2000,
            }),
            cut_through,
            came: Vec::new(),
        }
    }
}

impl Model for End {
    type Item = Frame;

    fn ports(&self) -> usize {
        1
    }

    fn cut_through(&self) -> bool {
        self.cut_through
    }

    fn next_event(&self) -> Cycle {
        let frame = self.frames.get(self.next).map_or(Cycle::NEVER, |frame| frame.0);
        frame.min(self.output.next_departure())
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        self.output.release(until, 0, outbox);
        while let Some((_, arrival)) = arrivals.next() {
            self.came.push(arrival.cycle.0);
        }
        // A frame is passed on once its last flit has come.
        while let Some((last, bytes)) = self
            .frames
            .get(self.next)
            .copied()
            .filter(|frame| frame.0 < until)
        {
            let first = Cycle::new(last.0 + 1 - bytes.div_ceil(8) as u64);
            let frame = Frame::raw(&vec![1; bytes]).unwrap();
            self.output.pass(first, last, frame, until, 0, outbox);
            self.next += 1;
        }
    }

    fn digest(&self, _: &mut Digest) {}
}

const LATENCY: u64 = 100;

fn run(frames: &[(u64, usize)], rate: Rate, cut_through: bool, window: u64) -> (Vec<u64>, u64) {
    let mut graph = Graph::new();
    let sender = graph.add("sender", End::new(frames, rate, false));
    let receiver = graph.add("receiver", End::new(&[], Rate::FULL, cut_through));
    let port = |model: ModelId| PortId { model, port: 0 };
    graph
        .join(port(sender), port(receiver), Cycles::new(LATENCY))
        .unwrap();
    graph.set_window(Cycles::new(window)).unwrap();
    graph.run(Cycle::new(100_000));
    let counters = graph.model(sender).output.counters();
    assert_eq!(counters.offered, counters.sent + counters.dropped);
    (graph.model(receiver).came.clone(), counters.dropped)
}

fn slow() -> Rate {
    Rate::new(102_400_000_000, Clock::new(3_200_000_000).unwrap()).unwrap()
}

#[test]
fn a_port_as_fast_as_its_source_adds_nothing() {
    let frames = [(100, 64), (108, 64), (300, 800)];
    for window in [1, 7, 100] {
        assert_eq!(run(&frames, Rate::FULL, false, window), (vec![200, 208, 400], 0));
    }
}

#[test]
fn a_slower_port_stretches_frames_and_keeps_their_order() {
    // Eight flits of two cycles each from the first flit on, at cycles 93 and 101; the second waits for the first.
    let frames = [(100, 64), (108, 64)];
    for window in [1, 7, 100] {
        assert_eq!(run(&frames, slow(), false, window), (vec![207, 223], 0));
    }
}

#[test]
fn what_does_not_fit_behind_a_slow_port_is_dropped_and_counted() {
    let frames: Vec<(u64, usize)> = (1..=8).map(|index| (100 * index, 800)).collect();
    let (came, dropped) = run(&frames, slow(), false, 100);
    assert!(dropped > 0);
    assert_eq!(came.len() as u64 + dropped, 8);
}

#[test]
fn a_model_that_takes_flits_sees_a_switch_frame_with_its_first() {
    /// A store-and-forward port knows when its first flit leaves.
    struct Sender(OutputPort);
    impl Model for Sender {
        type Item = Frame;
        fn ports(&self) -> usize {
            1
        }
        fn next_event(&self) -> Cycle {
            if self.0.counters().sent == 0 {
                Cycle::new(50)
            } else {
                Cycle::NEVER
            }
        }
        fn advance(&mut self, until: Cycle, _: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
            let frame = Frame::raw(&[0; 80]).unwrap();
            self.0.enqueue(Cycle::new(50), frame, until, 0, outbox);
        }
        fn digest(&self, _: &mut Digest) {}
    }
    enum Either {
        Sender(Sender),
        End(End),
    }
    impl Model for Either {
        type Item = Frame;
        fn ports(&self) -> usize {
            1
        }
        fn cut_through(&self) -> bool {
            matches!(self, Either::End(end) if end.cut_through)
        }
        fn next_event(&self) -> Cycle {
            match self {
                Either::Sender(sender) => sender.next_event(),
                Either::End(end) => end.next_event(),
            }
        }
        fn advance(
            &mut self,
            until: Cycle,
            arrivals: &mut Incoming<'_, Frame>,
            outbox: &mut Outbox<'_, Frame>,
        ) {
            match self {
                Either::Sender(sender) => sender.advance(until, arrivals, outbox),
                Either::End(end) => end.advance(until, arrivals, outbox),
            }
        }
        fn digest(&self, _: &mut Digest) {}
    }
    for (cut_through, seen) in [(true, 150), (false, 159)] {
        let mut graph = Graph::new();
        let sender = graph.add(
            "sender",
            Either::Sender(Sender(OutputPort::new(PortParameters::default()))),
        );
        let receiver = graph.add("receiver", Either::End(End::new(&[], Rate::FULL, cut_through)));
        let port = |model: ModelId| PortId { model, port: 0 };
        graph
            .join(port(sender), port(receiver), Cycles::new(LATENCY))
            .unwrap();
        graph.run(Cycle::new(1000));
        let Either::End(end) = graph.model(receiver) else {
            unreachable!("the second model is an end")
        };
        assert_eq!(end.came, [seen]);
    }
}
