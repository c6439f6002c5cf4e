//! The state of an attached unit, for checkpoints.

use crate::wait::Asked;
use crate::{AttachedUnit, Core, Stall};
use rackwright_cpu::Timing;
use rackwright_state::{Pass, State, StateError};
use rackwright_time::Cycle;

/// Its RTL, and what is under way at its ports. What is only kept for messages about long waits is not in it.
impl State for AttachedUnit {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        if let Some(reason) = self.unsaved() {
            let name = self.observation().name();
            return Err(StateError::Unsaved(format!(
                "unit `{name}` cannot be saved: {reason}"
            )));
        }
        self.pins.instance.pass(by)?;
        self.pins.activity.pass_idle(by)?;
        self.pins.record.digest.pass(by)?;
        by.optional(&mut self.pins.record.asked, || (Cycle::ZERO, Asked::Interrupt))?;
        self.commands.pass(by)?;
        self.registers.pass_answers(by)?;
        self.memory.pass(by)?;
        self.sent.pass(by)?;
        self.interrupts.pass(by)
    }
}

impl AttachedUnit {
    fn unsaved(&self) -> Option<&'static str> {
        if self.pins.activity.is_broken() {
            Some("it has stopped")
        } else if self.memory.is_under_way() {
            Some("its memory requests are not answered at once")
        } else {
            None
        }
    }
}

/// The hart, what it is stalled for, and the units beside it.
impl<T: Timing> State for Core<T> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.optional(&mut self.stall, || Stall::Start)?;
        if let Some(Stall::Unit(awaited)) = self.stall {
            if awaited.unit >= self.units.len() {
                return Err(StateError::Damaged);
            }
        }
        self.hart.pass(by)?;
        by.each(self.units.iter_mut())?;
        self.commands.pass(by)
    }
}
