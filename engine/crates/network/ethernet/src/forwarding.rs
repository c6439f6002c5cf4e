use crate::{Admission, Egress, Frame, OutputPort, Policy, Route, Table};
use rackwright_state::{Pass, StateError};
use rackwright_time::network::Cycle;

/// The policy of an ordinary switch: a static table, broadcast along a tree, several equal ports shared by flows, and
/// optional congestion marks when a buffer fills.
#[derive(Clone, Debug)]
pub struct Forwarding {
    /// The routes to each destination.
    pub table: Table,
    /// The ports that a broadcast leaves through. They are part of a tree that spans the network, so
    /// that it ends in any topology.
    pub broadcast: Vec<u16>,
    /// Which of several equal ports a flow takes follows from this and from the flow.
    pub seed: u64,
    /// Number of bytes in a buffer from which on frames get a congestion mark.
    pub mark_bytes: Option<u64>,
}

impl Forwarding {
    /// The port through which a frame for one receiver leaves.
    pub fn port(&self, frame: &Frame) -> Option<u16> {
        match self.table.route(frame.destination()?) {
            Route::Unknown => None,
            Route::Port(port) => Some(*port),
            Route::OneOf(ports) => Some(self.choose(frame, ports)),
        }
    }

    /// One of several ports for a flow: the upper half of a product spreads evenly over any number.
    fn choose(&self, frame: &Frame, ports: &[u16]) -> u16 {
        let hash = u128::from(frame.flow(self.seed));
        ports[((hash * ports.len() as u128) >> 64) as usize]
    }
}

impl Policy for Forwarding {
    #[inline]
    fn route(&mut self, _: Cycle, _: usize, frame: &Frame, _: &[OutputPort], egress: &mut Egress) {
        let Some(destination) = frame.destination() else {
            return;
        };
        if destination.is_group() {
            return egress.extend(&self.broadcast);
        }
        match self.table.route(destination) {
            Route::Unknown => {}
            Route::Port(port) => egress.add(*port),
            Route::OneOf(ports) => egress.add(self.choose(frame, ports)),
        }
    }

    #[inline]
    fn admit(&mut self, _: Cycle, _: &Frame, port: &OutputPort) -> Admission {
        match self.mark_bytes {
            Some(limit) if port.held_bytes() >= limit => Admission::Mark,
            _ => Admission::Take,
        }
    }

    /// There is none.
    fn pass_state(&mut self, _: &mut Pass<'_>) -> Result<(), StateError> {
        Ok(())
    }
}
