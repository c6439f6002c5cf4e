use crate::error::UnitError;
use rackwright_rtl::{Broken, Step};
use rackwright_state::{Pass, State, StateError};
use rackwright_time::unit;

/// Whether a unit is active.
pub(crate) struct Activity {
    /// The unit is inactive until it receives input.
    idle: bool,
    broken: Option<Broken>,
}

impl Activity {
    /// A unit that has just left reset.
    pub(crate) fn at_reset() -> Activity {
        Activity {
            idle: true,
            broken: None,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.idle
    }

    /// Whether the unit has stopped.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Something reaches it.
    pub(crate) fn disturb(&mut self) {
        self.idle = false;
    }

    /// Takes the state after a step, after which responses of memory are pending or not.
    pub(crate) fn take(&mut self, step: &Step<'_>) {
        self.idle = step.idle;
        self.broken = step.broken.clone();
    }

    /// It has violated a rule in `cycle`.
    pub(crate) fn stop(&mut self, cycle: unit::Cycle, reason: String) {
        self.broken.get_or_insert(Broken::Stopped(cycle, reason));
    }

    /// Passes whether it is idle.
    pub(crate) fn pass_idle(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.idle.pass(by)
    }

    /// Returns an error if the unit `name` broke its promise to be idle, or if one of its assertions failed.
    pub(crate) fn check(&self, name: &str) -> Result<(), UnitError> {
        let unit = || name.to_string();
        match &self.broken {
            None => Ok(()),
            Some(Broken::Idle(cycle)) => Err(UnitError::IdleBroken {
                unit: unit(),
                cycle: *cycle,
            }),
            Some(Broken::Stopped(cycle, reason)) => Err(UnitError::Stopped {
                unit: unit(),
                cycle: *cycle,
                reason: reason.clone(),
            }),
        }
    }
}
