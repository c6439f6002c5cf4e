//! The state of a machine between two windows, as a part of a larger checkpoint.

use crate::hardware::Hardware;
use crate::machine::Machine;
use rackwright_cpu::Timing;
use rackwright_device::Bus;
use rackwright_state::{Pass, State, StateError};
use rackwright_unit::Core;

/// Harts with their units, devices, and the pages of memory that may have been written. They are restored into a machine
/// that was built in the same way, whose other pages may be shared with other machines. The hierarchy of caches is passed
/// by its owner.
impl<T: Timing> State for Hardware<Core<T>> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.each(self.cores.iter_mut())?;
        by.each(self.others_ran.iter_mut())?;
        pass_bus(&mut self.bus, by)?;
        self.memory.pass(by)
    }
}

/// The parts, the progress of a window that is open, and the workload.
impl<T: Timing, W: State> State for Machine<Core<T>, W> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.window.turn.pass(by)?;
        self.window.open.pass(by)?;
        self.hardware.pass(by)?;
        self.workload.pass(by)
    }
}

fn pass_bus(bus: &mut Bus, by: &mut Pass<'_>) -> Result<(), StateError> {
    let mut devices = if by.restores() { Vec::new() } else { bus.save() };
    devices.pass(by)?;
    if by.restores() {
        bus.restore(&devices).map_err(|_| StateError::Damaged)?;
    }
    Ok(())
}
