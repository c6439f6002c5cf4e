use crate::agenda::Agenda;
use crate::cost::TIMED_WINDOWS;
use crate::node::Node;
use crate::{Apart, Envelope, Meeting, Model};
use rackwright_link::Order;
use rackwright_time::{Cycle, Cycles};
use std::time::Instant;

/// How a part goes through its share of a run.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) until: Cycle,
    pub(crate) window: Cycles,
    /// Whether models without anything to do are left alone.
    pub(crate) skip_idle: bool,
}

/// The models of one thread or process: neighbours in the order in which they were added.
pub(crate) struct Part<'a, M: Model> {
    index: usize,
    /// The first model of every part, and the number of models.
    starts: &'a [usize],
    nodes: &'a mut [Node<M>],
    agenda: Agenda,
    /// The models due in the window being simulated.
    due: Vec<u32>,
    order: Order,
    sent: Vec<Envelope<M::Item>>,
    outgoing: Vec<Vec<Envelope<M::Item>>>,
    /// Whether visits in this window are timed.
    timed: bool,
}

impl<'a, M: Model> Part<'a, M> {
    pub(crate) fn new(
        index: usize,
        starts: &'a [usize],
        nodes: &'a mut [Node<M>],
        first: Cycle,
        window: Cycles,
    ) -> Part<'a, M> {
        let mut agenda = Agenda::new(window, first);
        nodes
            .iter()
            .zip(0..)
            .for_each(|(node, local)| agenda.note(node.wake, local));
        Part {
            index,
            starts,
            nodes,
            agenda,
            due: Vec::new(),
            order: Order::default(),
            sent: Vec::new(),
            outgoing: (1..starts.len()).map(|_| Vec::new()).collect(),
            timed: false,
        }
    }

    /// Advances to the end of the run, and returns the cycle reached: an earlier one with the reason,
    /// when the other parts cannot be met any more.
    pub(crate) fn run(
        &mut self,
        first: Cycle,
        pace: Pace,
        meeting: &mut impl Meeting<M::Item>,
    ) -> (Cycle, Result<(), Apart>) {
        let mut from = first;
        match self.advance(&mut from, pace, meeting) {
            Ok(()) => (pace.until, Ok(())),
            Err(apart) => (from, Err(apart)),
        }
    }

    fn advance(
        &mut self,
        from: &mut Cycle,
        pace: Pace,
        meeting: &mut impl Meeting<M::Item>,
    ) -> Result<(), Apart> {
        let mut next = self.exchange(meeting)?;
        let mut window = 0;
        while *from < pace.until && (next < pace.until || !pace.skip_idle) {
            if pace.skip_idle {
                *from = (*from).max(next);
            }
            let end = self.window_end(*from, pace);
            self.timed = window % TIMED_WINDOWS == 0;
            self.step(*from, end, pace.skip_idle);
            *from = end;
            window += 1;
            next = self.exchange(meeting)?;
        }
        Ok(())
    }

    fn window_end(&self, from: Cycle, pace: Pace) -> Cycle {
        let length = pace.window.0;
        Cycle((from.0 / length).saturating_add(1).saturating_mul(length)).min(pace.until)
    }

    /// Visits every model that has something to do before `end`.
    fn step(&mut self, from: Cycle, end: Cycle, skip_idle: bool) {
        let mut due = std::mem::take(&mut self.due);
        self.agenda.take(from, &mut due);
        if !skip_idle {
            due.extend(0..self.nodes.len() as u32);
        }
        for local in due.drain(..) {
            // One that was noted twice has been visited, and one that was noted for later is not due.
            if self.nodes[local as usize].wake < end || !skip_idle {
                self.visit(local, from, end);
            }
        }
        self.due = due;
    }

    fn visit(&mut self, local: u32, from: Cycle, end: Cycle) {
        let node = &mut self.nodes[local as usize];
        let mut sent = std::mem::take(&mut self.sent);
        let started = self.timed.then(Instant::now);
        node.visit(from, end, &mut self.order, &mut sent);
        if let Some(started) = started {
            node.cost.time(started.elapsed().as_nanos() as f64);
        }
        assert!(
            node.wake >= end,
            "`{}` leaves something undone at {}",
            node.name,
            node.wake
        );
        self.agenda.note(node.wake, local);
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
            self.agenda.note(cycle, local as u32);
        }
    }

    /// Gives away what goes to other parts, takes what they give, and agrees on what is next.
    fn exchange(&mut self, meeting: &mut impl Meeting<M::Item>) -> Result<Cycle, Apart> {
        let leaving = self.outgoing.iter().flatten();
        let wake = leaving
            .map(|envelope| envelope.arrival.cycle)
            .fold(self.agenda.next(), Cycle::min);
        let mut mail = std::mem::take(&mut self.sent);
        let next = meeting.meet(wake, &mut self.outgoing, &mut mail);
        mail.drain(..).for_each(|envelope| self.deliver(envelope));
        self.sent = mail;
        next
    }
}
