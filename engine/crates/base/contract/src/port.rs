use rackwright_time::Cycle;

/// What a port answers when a part asks something of another, for a value of type `T`; nothing for a request of which
/// only the end counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer<T = ()> {
    /// It is known at once: the value is back at who asked in this cycle.
    At(Cycle, T),
    /// It is not known yet. The port tells it later, with this ticket.
    Later(Ticket),
}

/// Names a request whose answer is still to come. A port gives each once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticket(u64);

/// The tickets that a port gives.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tickets {
    given: u64,
}

impl Tickets {
    /// One that was not given before.
    pub fn next_ticket(&mut self) -> Ticket {
        self.given += 1;
        Ticket(self.given)
    }
}
