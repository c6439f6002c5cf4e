use crate::hart::Hart;
use crate::saved::Registers;
use crate::timing::Timing;
use rackwright_state::{Pass, StateError};

/// The thread on a hart, for a system that moves threads from one hart to another.
pub struct Thread<'a, T: Timing> {
    pub(crate) hart: &'a mut Hart<T>,
}

impl<T: Timing> Thread<'_, T> {
    /// Continues with other registers.
    pub fn set_registers(&mut self, registers: &Registers) {
        self.hart
            .timing
            .observe_registers(&self.hart.registers(), registers);
        self.hart.state.x[..32].copy_from_slice(&registers.x);
        self.hart.state.x[0] = 0;
        self.hart.state.f = registers.f;
        self.hart.state.pc = registers.pc;
        self.hart.state.float.flags = registers.fflags;
        self.hart.state.float.mode = registers.frm;
        self.hart.state.vector.set_registers(&registers.vector);
        self.hart.state.float.refresh();
    }

    /// The thread on this hart continues elsewhere or later; this hart is idle until it receives registers.
    pub fn set_idle(&mut self) {
        self.hart.timing.observe_idle(&self.hart.registers());
    }

    /// Passes the state of the timing model alone: what the times of later instructions depend on.
    ///
    /// # Errors
    /// As of [`Timing::pass_state`].
    pub fn pass_timing(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.hart.timing.pass_state(by)
    }

    /// Forgets a reservation, as a kernel does when it switches from one thread to another.
    pub fn forget_reservation(&mut self) {
        self.hart.state.reservation = None;
    }
}
