//! The state of a card in a checkpoint.

use super::{write, Card};
use rackwright_state::{Pass, State, StateError};
use rackwright_time::unit::Cycle;

/// The card's RTL, the memory hierarchy that it shares with harts, and what is on its way between both and the link.
impl State for Card {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let mut state = self.state();
        if state.host.is_some() {
            let reason = "an interface to the network of the host cannot be saved";
            return Err(StateError::Unsaved(reason.to_string()));
        }
        if !state.registers.reads.is_empty() {
            return Err(StateError::Busy);
        }
        state.unit.pass(by)?;
        state.hierarchy.lock().pass(by)?;
        state.arrivals.pass(by)?;
        by.queue(&mut state.registers.accesses, || write(Cycle::ZERO, 0, 0))?;
        state.registers.given.pass(by)?;
        state.registers.values.pass(by)?;
        state.raised.pass(by)?;
        state.changed.pass(by)?;
        state.idle.pass(by)?;
        state.known.pass(by)
    }
}
