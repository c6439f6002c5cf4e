use rackwright_contract::{Ticket, Tickets};
use rackwright_cpu::DeviceAccess;
use rackwright_state::{Pass, State, StateError};
use rackwright_time::network::Cycle;

/// The accesses of harts to the NIC, which performs one at a time.
#[derive(Default)]
pub(super) struct Accesses {
    begun: Vec<Begun>,
    tickets: Tickets,
    /// The hart whose access the NIC has not answered.
    performed: Option<usize>,
}

/// An access that has left its hart.
struct Begun {
    hart: usize,
    access: DeviceAccess,
    /// The cycle of the link in which it reaches the NIC.
    at: Cycle,
}

impl Accesses {
    /// A hart starts an access that reaches the NIC in the cycle `at`; returns its ticket.
    pub(super) fn begin(&mut self, hart: usize, access: DeviceAccess, at: Cycle) -> Ticket {
        self.begun.push(Begun { hart, access, at });
        self.tickets.next_ticket()
    }

    /// The access that the NIC, at its cycle `now`, performs next, if that is before `end`: it is in progress from then
    /// on.
    pub(super) fn next(&mut self, now: Cycle, end: Cycle) -> Option<(Cycle, DeviceAccess)> {
        if self.performed.is_some() {
            return None;
        }
        let at = |begun: &Begun| (now.max(begun.at), begun.hart);
        let first = (0..self.begun.len()).min_by_key(|index| at(&self.begun[*index]))?;
        let (cycle, hart) = at(&self.begun[first]);
        if cycle >= end {
            return None;
        }
        self.performed = Some(hart);
        Some((cycle, self.begun.swap_remove(first).access))
    }

    /// The hart whose access has been answered, if it waits for that still.
    pub(super) fn answered(&mut self) -> Option<usize> {
        self.performed.take()
    }
}

impl State for Accesses {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.list(&mut self.begun, || Begun {
            hart: 0,
            access: DeviceAccess {
                address: 0,
                bytes: 0,
                write: None,
            },
            at: Cycle::ZERO,
        })?;
        self.tickets.pass(by)?;
        self.performed.pass(by)
    }
}

impl State for Begun {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.hart.pass(by)?;
        self.access.address.pass(by)?;
        self.access.bytes.pass(by)?;
        self.access.write.pass(by)?;
        self.at.pass(by)
    }
}
