use crate::error::FabricError;
use crate::function::{stopped, FIRST_CYCLES};
use rackwright_rtl::{Design, Instance, MemoryRequest, MemoryResponse, RegisterAccess, Step};
use rackwright_time::unit::Cycle;

/// A unit on the clock of its function.
///
/// That of a unit without an `idle` output stands still until software first enables the function's window: the unit
/// would be evaluated in each cycle of the boot of an operating system, in which nothing can reach it.
pub(super) struct Clocked {
    instance: Instance,
    /// Cycles of the function in which the unit's clock has stood still.
    held: u64,
    is_held: bool,
    /// The unit is inactive until it receives input.
    rests: bool,
}

impl Clocked {
    /// A unit that has just left reset.
    ///
    /// # Errors
    /// [`FabricError`] when it stops in its first cycles.
    pub(super) fn new(card: &str, design: &Design) -> Result<Clocked, FabricError> {
        let mut instance = Instance::new(design, None)?;
        let step = instance.step(FIRST_CYCLES);
        let rests = step.idle;
        if let Some(broken) = step.broken {
            return Err(stopped(card, broken));
        }
        let is_held = design.manifest.idle.is_none();
        Ok(Clocked {
            instance,
            held: 0,
            is_held,
            rests: rests || is_held,
        })
    }

    /// The first cycle of the function that it has not simulated.
    pub(super) fn cycle(&self) -> u64 {
        self.outside(self.instance.cycle().0)
    }

    /// The function's cycle that is this one of the unit.
    pub(super) fn outside(&self, cycle: u64) -> u64 {
        cycle + self.held
    }

    /// The unit's cycle that is this one of the function, or its first one.
    fn inside(&self, cycle: u64) -> u64 {
        cycle.saturating_sub(self.held)
    }

    /// Lets its clock run from now on.
    pub(super) fn start(&mut self) {
        if std::mem::take(&mut self.is_held) {
            self.rests = false;
        }
    }

    /// Whether it is inactive until it receives input.
    pub(super) fn rests(&self) -> bool {
        self.rests
    }

    /// Lets the function's time pass up to `until` if the unit's clock stands still; returns whether it does.
    pub(super) fn pass(&mut self, until: u64) -> bool {
        if self.is_held {
            self.held += until.saturating_sub(self.cycle());
        }
        self.is_held
    }

    /// Runs it to the function's cycle `until`, or to the answer of a register. Cycles of the step are its own.
    pub(super) fn step(&mut self, until: u64) -> Step<'_> {
        let until = self.inside(until);
        let step = self.instance.step(Cycle::new(until));
        self.rests = step.idle;
        step
    }

    /// The requests of the last step, in cycles of the function.
    pub(super) fn requests(&self) -> impl Iterator<Item = MemoryRequest> + '_ {
        let requests = self.instance.requests().iter();
        requests.map(|request| MemoryRequest {
            cycle: Cycle::new(self.outside(request.cycle.0)),
            ..*request
        })
    }

    /// Answers a request in a cycle of the function.
    pub(super) fn respond(&mut self, response: &MemoryResponse) {
        let due = Cycle::new(self.inside(response.due.0));
        self.instance.respond(&MemoryResponse { due, ..*response });
        self.rests = false;
    }

    /// Offers an access to its registers from a cycle of the function on.
    pub(super) fn register_access(&mut self, access: RegisterAccess) {
        let due = self.inside(access.due);
        self.instance.register_access(RegisterAccess { due, ..access });
        self.rests = false;
    }

    /// The sums of its events, by name.
    pub(super) fn events(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        let names = self.instance.design().manifest.events().enumerate();
        names.map(|(index, name)| (name.to_string(), self.instance.event(index)))
    }
}
