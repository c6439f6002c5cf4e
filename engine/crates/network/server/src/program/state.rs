//! The state of a program on its machine, for checkpoints.

use super::{Program, ProgramRun};
use rackwright_cpu::Timing;
use rackwright_state::{Pass, State, StateError};

impl State for Program {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.processes.pass(by)?;
        by.each(self.busy.iter_mut())?;
        self.now.pass(by)?;
        self.end.pass(by)?;
        self.alone.pass(by)?;
        by.each(self.fences.iter_mut())
    }
}

impl<T: Timing> State for ProgramRun<T> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let hardware = self.machine.hardware_mut();
        // The program has chosen the protection of its pages.
        hardware.memory.mapping().pass_protection(by)?;
        let hierarchy = hardware.cores[0].hierarchy();
        hierarchy.expect("its harts have one").lock().pass(by)?;
        self.machine.pass(by)
    }
}
