use rackwright_time::{hart, network};

/// Events between a hart, its NIC and the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The hart begins to read the register at this offset.
    Reads(u32),
    /// The hart begins to write it.
    Writes(u32),
    /// An access reaches the register.
    Reached(u32),
    /// The NIC has answered an access.
    Answered,
    /// The hart continues after an access.
    GoesOn,
    /// The hart begins to wait for an interrupt.
    Waits,
    /// The hart continues because of an interrupt.
    Wakes,
    /// The hart's walk begins to wait for a remote page.
    Asks,
    /// The hart continues with it.
    Resumes,
    /// The page-fault unit sees that.
    Asked,
    /// It has answered.
    Served,
    /// The hart takes a page fault.
    Faults,
    /// The hart leaves the supervisor.
    Leaves,
    /// The NIC's interrupt line has become 1 or 0.
    Line(bool),
    /// The first flit of a frame arrives.
    FirstIn,
    /// The last one does.
    LastIn,
    /// The first flit of a frame leaves.
    FirstOut,
    /// The last one does.
    LastOut,
}

impl Event {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Event::Reads(_) => "reads",
            Event::Writes(_) => "writes",
            Event::Reached(_) => "reached",
            Event::Answered => "answered",
            Event::GoesOn => "goes on",
            Event::Waits => "waits",
            Event::Wakes => "wakes",
            Event::Asks => "asks",
            Event::Resumes => "resumes",
            Event::Asked => "asked",
            Event::Served => "served",
            Event::Faults => "faults",
            Event::Leaves => "leaves",
            Event::Line(true) => "line up",
            Event::Line(false) => "line down",
            Event::FirstIn => "first in",
            Event::LastIn => "last in",
            Event::FirstOut => "first out",
            Event::LastOut => "last out",
        }
    }

    /// The offset of the register that it is about.
    pub fn register(self) -> Option<u32> {
        match self {
            Event::Reads(register) | Event::Writes(register) | Event::Reached(register) => Some(register),
            _ => None,
        }
    }
}

/// The time of an event, by the clock of its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// In a hart.
    Hart(hart::Cycle),
    /// In the NIC, the page-fault unit or on the link, in cycles of the link.
    Link(network::Cycle),
}

impl From<hart::Cycle> for Moment {
    fn from(cycle: hart::Cycle) -> Moment {
        Moment::Hart(cycle)
    }
}

impl From<network::Cycle> for Moment {
    fn from(cycle: network::Cycle) -> Moment {
        Moment::Link(cycle)
    }
}

/// An event, the cycle in which it happened, and the instructions that the hart had executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    /// When it happened.
    pub at: Moment,
    /// What happened.
    pub event: Event,
    /// Executed when it was noted.
    pub instructions: u64,
}

/// The stamps of a server, if they are recorded.
#[derive(Default)]
pub(crate) struct Stamps {
    kept: Option<Vec<Stamp>>,
}

impl Stamps {
    /// Keeps stamps from now on.
    pub(crate) fn keep(&mut self) {
        self.kept.get_or_insert_default();
    }

    /// Whether stamps are recorded.
    pub(crate) fn are_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// The stamps so far, in the order of recording.
    pub(crate) fn all(&self) -> &[Stamp] {
        self.kept.as_deref().unwrap_or_default()
    }

    /// Notes an event.
    #[inline]
    pub(crate) fn note(&mut self, at: impl Into<Moment>, event: Event, instructions: u64) {
        if let Some(kept) = &mut self.kept {
            kept.push(Stamp {
                at: at.into(),
                event,
                instructions,
            });
        }
    }
}
