use rackwright_cpu::DeviceAccess;
use rackwright_time::network::Cycle;

/// What a hart does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Activity {
    /// Has not begun: waits for its software interrupt.
    Parked,
    Runs,
    /// Waits for an interrupt.
    Waits,
    /// Has begun an access to the NIC that reaches it in that cycle of the link.
    Begins(DeviceAccess, Cycle),
    /// Waits for the answer to an access.
    Accesses,
    /// Waits for the answer of the page-fault unit to a command, whose value goes to this register.
    Commands(u8),
    /// Waits for a remote page.
    Walks,
    Off,
}

impl Activity {
    /// Harts behind the first begin when software calls them.
    pub(super) fn at_reset(hart: usize) -> Activity {
        match hart {
            0 => Activity::Runs,
            _ => Activity::Parked,
        }
    }

    /// Whether what the hart does next depends on nothing but itself and the NIC's answer.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self, Activity::Runs | Activity::Begins(..) | Activity::Accesses)
    }

    /// Whether the hart waits for the page-fault unit.
    pub(super) fn awaits_pager(&self) -> bool {
        matches!(self, Activity::Walks | Activity::Commands(_))
    }
}

/// The interrupt lines of a hart.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Lines {
    pub(super) external: bool,
    pub(super) software: bool,
    pub(super) timer: bool,
}
