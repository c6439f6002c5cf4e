use crate::{Admission, Egress, Forwarding, Frame, OutputPort, Policy, Route};
use rackwright_state::{Pass, StateError};
use rackwright_time::network::Cycle;

/// Sends each frame through the one of several equal ports that is free first. It evens out load better
/// than a hash of the flow does, but frames of one flow may overtake each other.
pub struct LeastQueued {
    forwarding: Forwarding,
}

impl LeastQueued {
    /// The policy, with the tables of an ordinary switch.
    pub fn new(forwarding: Forwarding) -> LeastQueued {
        LeastQueued { forwarding }
    }
}

impl Policy for LeastQueued {
    fn route(&mut self, at: Cycle, ingress: usize, frame: &Frame, ports: &[OutputPort], egress: &mut Egress) {
        let route = frame
            .destination()
            .map(|destination| self.forwarding.table.route(destination));
        let Some(Route::OneOf(candidates)) = route else {
            return self.forwarding.route(at, ingress, frame, ports, egress);
        };
        // The first of equally busy ports, so that the choice depends on nothing else.
        let freest = candidates
            .iter()
            .min_by_key(|port| ports[usize::from(**port)].backlog(at));
        egress.add(*freest.expect("several ports are not none"));
    }

    fn admit(&mut self, at: Cycle, frame: &Frame, port: &OutputPort) -> Admission {
        self.forwarding.admit(at, frame, port)
    }

    /// There is none.
    fn pass_state(&mut self, _: &mut Pass<'_>) -> Result<(), StateError> {
        Ok(())
    }
}
