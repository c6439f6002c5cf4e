use crate::error::UnitError;
use rackwright_rtl::{Broken, Step};
use rackwright_time::unit;

/// Whether anything moves in a unit.
pub(crate) struct Activity {
    /// Nothing happens before something reaches it.
    idle: bool,
    /// Whether it is found when it says so although it is not.
    pub(crate) is_watched: bool,
    broken: Option<Broken>,
}

impl Activity {
    /// A unit that has just left reset.
    pub(crate) fn at_reset() -> Activity {
        Activity {
            idle: true,
            is_watched: false,
            broken: None,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.idle
    }

    /// Whether it stays where it is.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Something reaches it.
    pub(crate) fn disturb(&mut self) {
        self.idle = false;
    }

    /// Takes what it says in a step, after which memory owes it answers or not.
    pub(crate) fn take(&mut self, step: &Step<'_>) {
        self.idle = step.idle;
        self.broken = step.broken.clone();
    }

    /// It has done in `cycle` what is against the rules.
    pub(crate) fn stop(&mut self, cycle: unit::Cycle, reason: String) {
        self.broken.get_or_insert(Broken::Stopped(cycle, reason));
    }

    /// Refuses to go on with the unit `name` if it broke its promise to be idle, or one of its assertions failed.
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
