use crate::wait::Asked;
use rackwright_contract::Ticket;

/// What a hart is stalled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stall {
    /// Its software interrupt: it has not begun yet.
    Start,
    /// An interrupt that it has enabled.
    Interrupt,
    /// A unit beside it, which [`Core::run`](crate::Core::run) awaits by itself.
    Unit(Awaited),
    /// The answer of a device to its load or store.
    Access(Ticket),
    /// The answer to a command of a unit that is not one of its own, for the register with this number.
    Command(u8),
    /// A remote page, for its walk.
    Page,
}

/// What a unit beside a hart is awaited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Awaited {
    /// Which of its units.
    pub(crate) unit: usize,
    /// What the unit was asked.
    pub(crate) asked: Asked,
    /// Whether the hart has been stalled for a cycle already.
    pub(crate) stood: bool,
}
