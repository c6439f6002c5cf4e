use crate::wait::Asked;
use rackwright_contract::Ticket;

/// The cause of a hart's stall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stall {
    /// Its software interrupt: it has not started yet.
    Start,
    /// An interrupt that it has enabled.
    Interrupt,
    /// A unit beside it, for which [`Core::run`](crate::Core::run) waits.
    Unit(Awaited),
    /// The answer of a device to its load or store.
    Access(Ticket),
    /// The answer to a command of a unit that is not one of its own, for the register with this number.
    Command(u8),
    /// A remote page, for its walk.
    Page,
}

/// The response of a unit that a hart waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Awaited {
    /// Which of its units.
    pub(crate) unit: usize,
    /// The request to the unit.
    pub(crate) asked: Asked,
    /// Whether the hart has been stalled for a cycle already.
    pub(crate) stood: bool,
}
