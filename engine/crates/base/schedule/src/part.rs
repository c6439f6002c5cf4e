use crate::agenda::Agenda;
use crate::cost::TIMED_WINDOWS;
use crate::node::Node;
use crate::table::{Lent, Tables};
use crate::{Apart, Envelope, Meeting, Model};
use rackwright_link::{Cycle, Cycles, Item, Order};
use std::time::Instant;

/// The settings by which a part executes its share of a run.
pub(crate) struct Pace<T: Item> {
    pub(crate) until: Cycle<T>,
    pub(crate) window: Cycles<T>,
    /// Whether models without events are skipped.
    pub(crate) skip_idle: bool,
}

impl<T: Item> Clone for Pace<T> {
    fn clone(&self) -> Pace<T> {
        *self
    }
}

impl<T: Item> Copy for Pace<T> {}

/// A model whose visits take at least this number of nanoseconds is offered to all threads. Offering it, and moving the
/// model's state to another processor's caches, costs a tenth of that.
const LONG_VISIT: u64 = 10_000;

/// The models of one thread or process: neighbours in the order in which they were added.
pub(crate) struct Part<'t, 'a, M: Model> {
    index: usize,
    /// The first model of every part, and the number of models.
    starts: &'a [usize],
    /// Missing models are in the table, or another thread visits them.
    nodes: Vec<Option<&'a mut Node<M>>>,
    /// The tables in which threads offer long visits; none if there are no other threads.
    tables: Option<&'t Tables<'a, M>>,
    agenda: Agenda,
    /// The models due in the window being simulated.
    due: Vec<u32>,
    order: Order,
    sent: Vec<Envelope<M::Item>>,
    outgoing: Vec<Vec<Envelope<M::Item>>>,
    /// The items in flight to missing models.
    kept: Vec<Envelope<M::Item>>,
    lent: Vec<Lent<'a, M>>,
    /// Time of the next event of other parts' models that were visited here.
    others_wake: Cycle<M::Item>,
    /// Windows simulated.
    window: u64,
}

impl<'t, 'a, M: Model> Part<'t, 'a, M> {
    pub(crate) fn new(
        index: usize,
        starts: &'a [usize],
        nodes: &'a mut [Node<M>],
        tables: Option<&'t Tables<'a, M>>,
        first: Cycle<M::Item>,
        window: Cycles<M::Item>,
    ) -> Part<'t, 'a, M> {
        let mut agenda = Agenda::new(window, first);
        nodes
            .iter()
            .zip(0..)
            .for_each(|(node, local)| agenda.note(node.wake, local));
        Part {
            index,
            starts,
            nodes: nodes.iter_mut().map(Some).collect(),
            tables,
            agenda,
            due: Vec::new(),
            order: Order::default(),
            sent: Vec::new(),
            outgoing: (1..starts.len()).map(|_| Vec::new()).collect(),
            kept: Vec::new(),
            lent: Vec::new(),
            others_wake: Cycle::<M::Item>::NEVER,
            window: 0,
        }
    }

    /// Advances to the end of the run, and returns the cycle reached; if synchronisation with the other parts fails,
    /// this cycle is earlier, and the reason is returned too.
    pub(crate) fn run(
        &mut self,
        first: Cycle<M::Item>,
        pace: Pace<M::Item>,
        meeting: &mut impl Meeting<M::Item>,
    ) -> (Cycle<M::Item>, Result<(), Apart>) {
        let mut from = first;
        match self.advance(&mut from, pace, meeting) {
            Ok(()) => (pace.until, Ok(())),
            Err(apart) => (from, Err(apart)),
        }
    }

    fn advance(
        &mut self,
        from: &mut Cycle<M::Item>,
        pace: Pace<M::Item>,
        meeting: &mut impl Meeting<M::Item>,
    ) -> Result<(), Apart> {
        let mut next = self.exchange(meeting)?;
        while *from < pace.until && (next < pace.until || !pace.skip_idle) {
            if pace.skip_idle {
                *from = (*from).max(next);
            }
            let end = self.window_end(*from, pace);
            self.step(*from, end, pace.skip_idle);
            *from = end;
            self.window += 1;
            next = self.exchange(meeting)?;
        }
        Ok(())
    }

    fn window_end(&self, from: Cycle<M::Item>, pace: Pace<M::Item>) -> Cycle<M::Item> {
        let length = pace.window.0;
        Cycle::<M::Item>::new((from.0 / length).saturating_add(1).saturating_mul(length)).min(pace.until)
    }

    /// Visits every model with an event before `end`, and unclaimed models of other parts.
    fn step(&mut self, from: Cycle<M::Item>, end: Cycle<M::Item>, skip_idle: bool) {
        let mut due = std::mem::take(&mut self.due);
        self.agenda.take(from, &mut due);
        if !skip_idle {
            due.extend(0..self.nodes.len() as u32);
        }
        // One that was noted for later is not due, and one that was noted twice is so until it has been visited.
        let wakes = |node: &Node<M>| node.wake < end || !skip_idle;
        if let Some(tables) = self.tables {
            for local in &due {
                let place = &mut self.nodes[*local as usize];
                let is_long = |node: &mut &mut Node<M>| wakes(node) && node.cost.of_visit() >= LONG_VISIT;
                let node = place.take_if(is_long);
                self.lent.extend(node.map(|node| Lent { local: *local, node }));
            }
            tables.lay(self.index, self.window, &mut self.lent);
        }
        for local in due.drain(..) {
            if let Some(node) = self.nodes[local as usize].take_if(|node| wakes(node)) {
                self.visit(node, from, end);
                self.settle(local, node);
            }
        }
        self.due = due;
        if let Some(tables) = self.tables {
            self.help(tables, from, end);
        }
    }

    /// Makes the visits offered in the tables, starting with those of this part.
    fn help(&mut self, tables: &Tables<'a, M>, from: Cycle<M::Item>, end: Cycle<M::Item>) {
        for owner in (self.index..self.outgoing.len()).chain(0..self.index) {
            while let Some(lent) = tables.take(owner, self.window) {
                self.visit(lent.node, from, end);
                if owner == self.index {
                    self.settle(lent.local, lent.node);
                } else {
                    self.others_wake = self.others_wake.min(lent.node.wake);
                    tables.give_back(owner, lent);
                }
            }
        }
    }

    fn visit(&mut self, node: &mut Node<M>, from: Cycle<M::Item>, end: Cycle<M::Item>) {
        let is_timed = self.window % TIMED_WINDOWS == 0 || node.cost.is_unknown();
        #[expect(
            clippy::disallowed_methods,
            reason = "what a node costs decides where it runs, not what it does"
        )]
        let started = is_timed.then(Instant::now);
        node.visit(from, end, &mut self.order, &mut self.sent);
        self.dispatch();
        if let Some(started) = started {
            node.cost.time(started.elapsed().as_nanos() as f64);
        }
        assert!(
            node.wake >= end,
            "`{}` leaves something undone at {}",
            node.name,
            node.wake
        );
    }

    /// Returns a model to its place.
    fn settle(&mut self, local: u32, node: &'a mut Node<M>) {
        self.agenda.note(node.wake, local);
        self.nodes[local as usize] = Some(node);
    }

    /// Delivers the items sent in a visit.
    fn dispatch(&mut self) {
        let own = self.starts[self.index]..self.starts[self.index + 1];
        let mut sent = std::mem::take(&mut self.sent);
        for envelope in sent.drain(..) {
            let node = envelope.node as usize;
            if own.contains(&node) {
                self.deliver(envelope);
            } else {
                let owner = self.starts.partition_point(|start| *start <= node) - 1;
                self.outgoing[owner].push(envelope);
            }
        }
        self.sent = sent;
    }

    fn deliver(&mut self, envelope: Envelope<M::Item>) {
        let local = envelope.node as usize - self.starts[self.index];
        let Some(node) = &mut self.nodes[local] else {
            self.kept.push(envelope);
            return;
        };
        let cycle = envelope.arrival.cycle;
        node.inbox.push(envelope.port, envelope.arrival);
        if cycle < node.wake {
            node.wake = cycle;
            self.agenda.note(cycle, local as u32);
        }
    }

    /// Exchanges items with the other parts, and agrees on the next window.
    fn exchange(&mut self, meeting: &mut impl Meeting<M::Item>) -> Result<Cycle<M::Item>, Apart> {
        let under_way = self.outgoing.iter().flatten().chain(&self.kept);
        let wake = under_way
            .map(|envelope| envelope.arrival.cycle)
            .fold(self.agenda.next().min(self.others_wake), Cycle::<M::Item>::min);
        self.others_wake = Cycle::<M::Item>::NEVER;
        let mut mail = std::mem::take(&mut self.sent);
        let next = meeting.meet(wake, &mut self.outgoing, &mut mail);
        let back = self.tables.map(|tables| tables.take_back(self.index));
        for lent in back.into_iter().flatten() {
            self.settle(lent.local, lent.node);
        }
        mail.append(&mut self.kept);
        mail.drain(..).for_each(|envelope| self.deliver(envelope));
        self.sent = mail;
        next
    }
}
