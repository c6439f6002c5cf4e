use crate::code::SharedCode;
use crate::hart::Hart;
use crate::timing::Timing;
use std::sync::Arc;

/// What a hart has in common with the others of its machine: memory, and decoded code.
pub struct Sharing<'a, T: Timing> {
    pub(crate) hart: &'a mut Hart<T>,
}

impl<T: Timing> Sharing<'_, T> {
    /// Other harts may have written since the last run: drops a reservation unless the cache shows that its line has
    /// not been written.
    pub fn check_reservation(&mut self) {
        let Some(reservation) = self.hart.state.reservation else {
            return;
        };
        if !self.hart.timing.holds(reservation.address) {
            self.hart.state.reservation = None;
        }
    }

    /// Number of `fence.i` instructions that it has executed.
    pub fn code_fences(&self) -> u64 {
        self.hart.code_fences
    }

    /// Makes it compare memory before it executes decoded code again.
    pub fn fence_code(&mut self) {
        self.hart.fence_instructions();
    }

    /// Shares decoded code with other harts that have the same timing model and parameters.
    pub fn share_code(&mut self, shared: Arc<SharedCode<T::Block>>) {
        self.hart.shared = Some(shared);
    }
}
