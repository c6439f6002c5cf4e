use rackwright_state::{state, Pass, State, StateError};
use rackwright_time::Cycle;

/// The response of a port to a request for a value of type `T`, or, without a value, to a request of which only the
/// completion matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer<T = ()> {
    /// It is known already: the requester receives the value in this cycle.
    At(Cycle, T),
    /// It is not known yet. The port responds later, with this ticket.
    Later(Ticket),
}

/// Identifies a request without a response yet. A port uses each ticket once.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticket(u64);

/// The tickets of a port.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tickets {
    given: u64,
}

impl Tickets {
    /// A ticket that has not been used before.
    pub fn next_ticket(&mut self) -> Ticket {
        self.given += 1;
        Ticket(self.given)
    }
}

impl State for Ticket {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.0.pass(by)
    }
}

state!(Tickets { given });
