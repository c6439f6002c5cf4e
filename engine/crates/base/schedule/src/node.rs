use crate::cost::Cost;
use crate::model::Incoming;
use crate::tap::Tap;
use crate::{Envelope, Model, Outbox};
use rackwright_link::{Cycle, Inbox, Item, Latency, Order, Portable, Trail};
use rackwright_state::{Pass, State, StateError};
use rackwright_time::Domain;
use std::ops::Range;

/// The port at the other end of a link.
#[derive(Clone, Copy)]
pub(crate) struct Peer<C: Domain> {
    pub(crate) node: u32,
    pub(crate) port: u32,
    pub(crate) latency: Latency<C>,
    /// Whether the model there takes flits one by one.
    pub(crate) cut_through: bool,
}

/// The sending side of a port.
#[derive(Clone, Copy)]
pub(crate) struct Sender<C: Domain> {
    pub(crate) peer: Option<Peer<C>>,
    /// The first cycle in which nothing is being sent.
    pub(crate) free: rackwright_time::Cycle<C>,
    pub(crate) trail: Trail,
}

/// A model and the scheduler's data about it.
pub(crate) struct Node<M: Model> {
    pub(crate) name: String,
    pub(crate) model: M,
    pub(crate) ports: Vec<Sender<<M::Item as Item>::Clock>>,
    pub(crate) inbox: Inbox<M::Item>,
    pub(crate) tap: Option<Tap<M::Item>>,
    /// Time of its next visit.
    pub(crate) wake: Cycle<M::Item>,
    pub(crate) cost: Cost,
}

impl<M: Model> Node<M> {
    pub(crate) fn new(name: String, model: M) -> Node<M> {
        let ports = model.ports();
        let port = Sender {
            peer: None,
            free: Cycle::<M::Item>::ZERO,
            trail: Trail::new(),
        };
        Node {
            name,
            ports: vec![port; ports],
            inbox: Inbox::new(ports),
            tap: None,
            wake: model.next_event(),
            cost: Cost::default(),
            model,
        }
    }

    /// Whether all models to which it has links are among these.
    pub(crate) fn has_peers_only_in(&self, models: &Range<usize>) -> bool {
        let is_among = |peer: &Peer<_>| models.contains(&(peer.node as usize));
        self.ports
            .iter()
            .all(|port| port.peer.as_ref().is_none_or(is_among))
    }

    /// Passes the arrivals of the window to the model, and appends the items that it sends to `sent`.
    pub(crate) fn visit(
        &mut self,
        from: Cycle<M::Item>,
        until: Cycle<M::Item>,
        order: &mut Order,
        sent: &mut Vec<Envelope<M::Item>>,
    ) {
        // Both directions may be recorded by one listener: arrivals are recorded separately.
        let mut heard_in = self.tap.as_mut().map(Tap::fork);
        let mut incoming = Incoming {
            arrivals: self.inbox.before(until, order),
            tap: heard_in.as_mut(),
        };
        let mut outbox = Outbox {
            ports: &mut self.ports,
            sent,
            tap: self.tap.as_mut(),
            from,
            until,
        };
        self.model.advance(until, &mut incoming, &mut outbox);
        incoming.arrivals.finish();
        if let (Some(tap), Some(heard)) = (&mut self.tap, heard_in) {
            tap.join(heard);
        }
        self.cost.visit();
        self.wake = self.model.next_event().min(self.inbox.next());
    }
}

impl<C: Domain> State for Sender<C> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.free.pass(by)?;
        self.trail.pass(by)
    }
}

impl<M: Model + State> State for Node<M>
where
    M::Item: Portable,
{
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let named = |error| match error {
            StateError::Unsaved(reason) => StateError::Unsaved(format!("`{}`: {reason}", self.name)),
            other => other,
        };
        self.model.pass(by).map_err(named)?;
        by.each(self.ports.iter_mut())?;
        self.inbox.pass(by)?;
        self.wake.pass(by)
    }
}
