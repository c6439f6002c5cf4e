use crate::wait::Asked;
use rackwright_contract::Ticket;
use rackwright_state::{state, Pass, State, StateError};

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

impl State for Stall {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let mut kind = match self {
            Stall::Start => 0_u8,
            Stall::Interrupt => 1,
            Stall::Unit(_) => 2,
            Stall::Access(_) => 3,
            Stall::Command(_) | Stall::Page => return Err(StateError::Busy),
        };
        kind.pass(by)?;
        if by.restores() {
            *self = match kind {
                0 => Stall::Start,
                1 => Stall::Interrupt,
                2 => Stall::Unit(Awaited {
                    unit: 0,
                    asked: Asked::Interrupt,
                    stood: false,
                }),
                3 => Stall::Access(Ticket::default()),
                _ => return Err(StateError::Damaged),
            };
        }
        match self {
            Stall::Unit(awaited) => awaited.pass(by),
            Stall::Access(ticket) => ticket.pass(by),
            _ => Ok(()),
        }
    }
}

state!(Awaited { unit, asked, stood });
