use crate::exchange::Exchange;
use crate::node::{Envelope, Node};
use crate::Model;
use rackwright_link::Order;
use rackwright_time::{Cycle, Cycles};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How a thread goes through its share of a run.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) until: Cycle,
    pub(crate) window: Cycles,
    /// Whether models without anything to do are left alone.
    pub(crate) skip_idle: bool,
}

/// The models of one thread: neighbours in the order in which they were added.
pub(crate) struct Part<'a, M: Model> {
    index: usize,
    /// The first model of every part, and the number of models.
    starts: &'a [usize],
    nodes: &'a mut [Node<M>],
    /// When models are to be visited. An entry counts if it is its model's wake.
    agenda: BinaryHeap<Reverse<(Cycle, u32)>>,
    order: Order,
    sent: Vec<Envelope<M::Item>>,
    outgoing: Vec<Vec<Envelope<M::Item>>>,
}

impl<'a, M: Model> Part<'a, M> {
    pub(crate) fn new(index: usize, starts: &'a [usize], nodes: &'a mut [Node<M>]) -> Part<'a, M> {
        let agenda = nodes
            .iter()
            .enumerate()
            .map(|(local, node)| Reverse((node.wake, local as u32)));
        Part {
            index,
            starts,
            agenda: agenda.filter(|Reverse((wake, _))| *wake < Cycle::NEVER).collect(),
            nodes,
            order: Order::default(),
            sent: Vec::new(),
            outgoing: (1..starts.len()).map(|_| Vec::new()).collect(),
        }
    }

    /// Advances to the end of the run; returns when something happens next after it.
    pub(crate) fn run(&mut self, first: Cycle, pace: Pace, exchange: &Exchange<M::Item>) -> Cycle {
        let _guard = exchange.guard();
        let mut next = exchange.agree(1, self.index, self.next_wake());
        let mut from = first;
        let mut window = 0;
        while from < pace.until && (next < pace.until || !pace.skip_idle) {
            if pace.skip_idle {
                from = next;
            }
            let end = (from + pace.window).min(pace.until);
            self.step(from, end, pace.skip_idle);
            next = self.exchange(window, exchange);
            from = end;
            window += 1;
        }
        next
    }

    /// Visits every model that has something to do before `end`.
    fn step(&mut self, from: Cycle, end: Cycle, skip_idle: bool) {
        if !skip_idle {
            for local in 0..self.nodes.len() {
                self.visit(local, from, end);
            }
        }
        while let Some(Reverse((wake, local))) = self.agenda.peek().copied() {
            if wake >= end {
                return;
            }
            self.agenda.pop();
            if self.nodes[local as usize].wake == wake {
                self.visit(local as usize, from, end);
            }
        }
    }

    fn visit(&mut self, local: usize, from: Cycle, end: Cycle) {
        let node = &mut self.nodes[local];
        let mut sent = std::mem::take(&mut self.sent);
        node.visit(from, end, &mut self.order, &mut sent);
        assert!(
            node.wake >= end,
            "`{}` leaves something undone at {}",
            node.name,
            node.wake
        );
        if node.wake < Cycle::NEVER {
            self.agenda.push(Reverse((node.wake, local as u32)));
        }
        sent.drain(..).for_each(|envelope| self.dispatch(envelope));
        self.sent = sent;
    }

    fn dispatch(&mut self, envelope: Envelope<M::Item>) {
        let node = envelope.node as usize;
        if node >= self.starts[self.index] && node < self.starts[self.index + 1] {
            self.deliver(envelope);
        } else {
            let owner = self.starts.partition_point(|start| *start <= node) - 1;
            self.outgoing[owner].push(envelope);
        }
    }

    fn deliver(&mut self, envelope: Envelope<M::Item>) {
        let local = envelope.node as usize - self.starts[self.index];
        let node = &mut self.nodes[local];
        let cycle = envelope.arrival.cycle;
        node.inbox.push(envelope.port, envelope.arrival);
        if cycle < node.wake {
            node.wake = cycle;
            self.agenda.push(Reverse((cycle, local as u32)));
        }
    }

    /// Gives away what goes to other threads, takes what they give, and agrees on what is next.
    fn exchange(&mut self, window: usize, exchange: &Exchange<M::Item>) -> Cycle {
        let mut wake = self.next_wake();
        for to in 0..self.outgoing.len() {
            let envelopes = &mut self.outgoing[to];
            if !envelopes.is_empty() {
                wake = envelopes
                    .iter()
                    .map(|envelope| envelope.arrival.cycle)
                    .fold(wake, Cycle::min);
                exchange.post(window, self.index, to, envelopes);
            }
        }
        let next = exchange.agree(window, self.index, wake);
        exchange.collect(window, self.index, |envelope| self.deliver(envelope));
        next
    }

    fn next_wake(&mut self) -> Cycle {
        while let Some(Reverse((wake, local))) = self.agenda.peek().copied() {
            if self.nodes[local as usize].wake == wake {
                return wake;
            }
            self.agenda.pop();
        }
        Cycle::NEVER
    }
}
