//! The state of an attached unit, for checkpoints.

use crate::AttachedUnit;
use rackwright_state::{Pass, State, StateError};

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
        self.registers.pass_answers(by)?;
        self.memory.pass_answered(by)?;
        self.sent.pass(by)?;
        self.interrupts.pass(by)
    }
}

impl AttachedUnit {
    fn unsaved(&self) -> Option<&'static str> {
        if self.pins.activity.is_broken() {
            Some("it has stopped")
        } else if self.commands.is_used() {
            Some("it has received commands")
        } else if self.memory.is_under_way() {
            Some("its memory requests are not answered at once")
        } else {
            None
        }
    }
}
