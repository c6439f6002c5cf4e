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

/// The models that a part has offered to other threads.
struct Offered<'a, M: Model> {
    lent: Vec<Lent<'a, M>>,
    /// The number of missing models.
    away: usize,
    /// The number of visits that others have returned.
    returned: u64,
}

/// The models of one thread or process: neighbours in the order in which they were added.
pub(crate) struct Part<'t, 'a, M: Model> {
    index: usize,
    /// The first model of every part, and the number of models.
    starts: &'a [usize],
    /// Missing models are in the table, or another thread visits them.
    nodes: Vec<Option<&'a mut Node<M>>>,
    /// Which models have links to models of this part only: nothing arrives there from other parts.
    interior: Vec<bool>,
    /// The tables in which threads offer long visits; none if there are no other threads.
    tables: Option<&'t Tables<'a, M>>,
    agenda: Agenda,
    /// The models due in the window being simulated.
    due: Vec<u32>,
    /// The models of the next window whose visits need nothing from other parts.
    ahead: Vec<u32>,
    order: Order,
    sent: Vec<Envelope<M::Item>>,
    outgoing: Vec<Vec<Envelope<M::Item>>>,
    mail: Vec<Envelope<M::Item>>,
    /// The items in flight to missing models.
    kept: Vec<Envelope<M::Item>>,
    offered: Offered<'a, M>,
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
        let own = starts[index]..starts[index + 1];
        let interior = nodes.iter().map(|node| node.has_peers_only_in(&own)).collect();
        Part {
            index,
            starts,
            nodes: nodes.iter_mut().map(Some).collect(),
            interior,
            tables,
            agenda,
            due: Vec::new(),
            ahead: Vec::new(),
            order: Order::default(),
            sent: Vec::new(),
            outgoing: (1..starts.len()).map(|_| Vec::new()).collect(),
            mail: Vec::new(),
            kept: Vec::new(),
            offered: Offered {
                lent: Vec::new(),
                away: 0,
                returned: 0,
            },
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
        let mut next = self.exchange(*from, pace, meeting)?;
        while *from < pace.until && (next < pace.until || !pace.skip_idle) {
            if pace.skip_idle {
                *from = (*from).max(next);
            }
            let end = self.window_end(*from, pace);
            self.step(*from, end, pace.skip_idle);
            *from = end;
            self.window += 1;
            next = self.exchange(*from, pace, meeting)?;
        }
        Ok(())
    }

    fn window_end(&self, from: Cycle<M::Item>, pace: Pace<M::Item>) -> Cycle<M::Item> {
        let length = pace.window.0;
        Cycle::<M::Item>::new((from.0 / length).saturating_add(1).saturating_mul(length)).min(pace.until)
    }

    /// Visits every model with an event before `end` that has not been visited ahead.
    fn step(&mut self, from: Cycle<M::Item>, end: Cycle<M::Item>, skip_idle: bool) {
        let mut due = std::mem::take(&mut self.due);
        due.append(&mut self.ahead);
        self.agenda.take(from, &mut due);
        if !skip_idle {
            due.extend(0..self.nodes.len() as u32);
        }
        // One that was noted for later is not due, and one that was noted twice is so until it has been visited.
        let wakes = |node: &Node<M>| node.wake < end || !skip_idle;
        self.offer(&due, from, end, wakes);
        for local in due.drain(..) {
            if let Some(node) = self.nodes[local as usize].take_if(|node| wakes(node)) {
                self.visit_own(local, node, from, end);
            }
        }
        self.due = due;
        if let Some(tables) = self.tables {
            while self.make_offered(tables) {}
            while self.offered.away > 0 {
                let back = tables.take_back(self.index, self.offered.returned, || self.help(tables));
                back.into_iter().for_each(|lent| self.receive(lent));
            }
            let mut kept = std::mem::take(&mut self.kept);
            kept.drain(..).for_each(|envelope| self.deliver(envelope));
            self.kept = kept;
        }
    }

    /// Offers the long visits among those due to all threads.
    fn offer(
        &mut self,
        due: &[u32],
        from: Cycle<M::Item>,
        end: Cycle<M::Item>,
        wakes: impl Fn(&Node<M>) -> bool,
    ) {
        let Some(tables) = self.tables else {
            return;
        };
        for local in due {
            let is_long = |node: &mut &mut Node<M>| wakes(node) && node.cost.of_visit() >= LONG_VISIT;
            let node = self.nodes[*local as usize].take_if(is_long);
            self.offered.lent.extend(node.map(|node| Lent {
                local: *local,
                node,
                from,
                end,
                sent: Vec::new(),
            }));
        }
        self.offered.away += self.offered.lent.len();
        tables.lay(self.index, &mut self.offered.lent);
    }

    /// Makes one of the visits that this part has offered; returns whether there was any.
    fn make_offered(&mut self, tables: &Tables<'a, M>) -> bool {
        let lent = tables.take(self.index);
        lent.map(|lent| {
            self.offered.away -= 1;
            self.visit_own(lent.local, lent.node, lent.from, lent.end);
        })
        .is_some()
    }

    /// Makes one of the visits that other parts have offered; returns whether there was any.
    fn help(&mut self, tables: &Tables<'a, M>) -> bool {
        let parts = self.starts.len() - 1;
        for owner in (self.index + 1..parts).chain(0..self.index) {
            if let Some(mut lent) = tables.take(owner) {
                self.visit(lent.node, lent.from, lent.end, &mut lent.sent);
                tables.give_back(owner, lent);
                return true;
            }
        }
        false
    }

    /// Takes back a model that another thread has visited.
    fn receive(&mut self, mut lent: Lent<'a, M>) {
        self.offered.away -= 1;
        self.offered.returned += 1;
        self.dispatch(&mut lent.sent);
        self.settle(lent.local, lent.node);
    }

    /// Begins the window from `from` to `end` with the models that depend on this part alone: offers their long visits,
    /// and leaves the short ones in `ahead`, the models of all others in `due`.
    fn begin_ahead(&mut self, from: Cycle<M::Item>, end: Cycle<M::Item>) {
        let mut all = std::mem::take(&mut self.ahead);
        self.agenda.take(from, &mut all);
        let (interior, due) = (&self.interior, &mut self.due);
        all.retain(|local| {
            let is_interior = interior[*local as usize];
            if !is_interior {
                due.push(*local);
            }
            is_interior
        });
        self.offer(&all, from, end, |node| node.wake < end);
        self.ahead = all;
    }

    /// Makes one visit that does not depend on what other parts have not finished; returns whether there was any.
    /// Visits of others come first, because their parts may need them before they can finish their window.
    fn work_ahead(&mut self, tables: &Tables<'a, M>, from: Cycle<M::Item>, end: Cycle<M::Item>) -> bool {
        if self.help(tables) {
            return true;
        }
        while let Some(local) = self.ahead.pop() {
            if let Some(node) = self.nodes[local as usize].take_if(|node| node.wake < end) {
                self.visit_own(local, node, from, end);
                return true;
            }
        }
        self.make_offered(tables)
    }

    /// Visits a model of this part, delivers the items that it sends, and returns it to its place.
    fn visit_own(&mut self, local: u32, node: &'a mut Node<M>, from: Cycle<M::Item>, end: Cycle<M::Item>) {
        let mut sent = std::mem::take(&mut self.sent);
        self.visit(node, from, end, &mut sent);
        self.dispatch(&mut sent);
        self.sent = sent;
        self.settle(local, node);
    }

    fn visit(
        &mut self,
        node: &mut Node<M>,
        from: Cycle<M::Item>,
        end: Cycle<M::Item>,
        sent: &mut Vec<Envelope<M::Item>>,
    ) {
        let is_timed = self.window % TIMED_WINDOWS == 0 || node.cost.is_unknown();
        #[expect(
            clippy::disallowed_methods,
            reason = "what a node costs decides where it runs, not what it does"
        )]
        let started = is_timed.then(Instant::now);
        node.visit(from, end, &mut self.order, sent);
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

    /// Delivers the items sent in a visit, and leaves `sent` empty.
    fn dispatch(&mut self, sent: &mut Vec<Envelope<M::Item>>) {
        let own = self.starts[self.index]..self.starts[self.index + 1];
        for envelope in sent.drain(..) {
            let node = envelope.node as usize;
            if own.contains(&node) {
                self.deliver(envelope);
            } else {
                let owner = self.starts.partition_point(|start| *start <= node) - 1;
                self.outgoing[owner].push(envelope);
            }
        }
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

    /// Exchanges items with the other parts, and agrees on the next window. Until the others are ready, threads go ahead
    /// with the models of the window from `from` that depend on no other part: most models do, so that a thread seldom
    /// waits for one whose share of a single window is larger.
    fn exchange(
        &mut self,
        from: Cycle<M::Item>,
        pace: Pace<M::Item>,
        meeting: &mut impl Meeting<M::Item>,
    ) -> Result<Cycle<M::Item>, Apart> {
        let own_next = self.agenda.next();
        let wake = (self.outgoing.iter().flatten())
            .map(|envelope| envelope.arrival.cycle)
            .fold(own_next, Cycle::<M::Item>::min);
        let end = self.window_end(from, pace);
        // The next window is this one only if something is due in it; a later one may still change.
        let mut is_known = pace.skip_idle && from < end && own_next < end;
        let (mut outgoing, mut mail) = (std::mem::take(&mut self.outgoing), std::mem::take(&mut self.mail));
        let next = meeting.meet(wake, &mut outgoing, &mut mail, || {
            let Some(tables) = self.tables else {
                return false;
            };
            if std::mem::take(&mut is_known) {
                self.begin_ahead(from, end);
            }
            self.work_ahead(tables, from, end)
        });
        self.outgoing = outgoing;
        mail.drain(..).for_each(|envelope| self.deliver(envelope));
        self.mail = mail;
        next
    }
}
