//! What of a hart is kept in a checkpoint: everything that programs can see, and its time.

use crate::control::Control;
use crate::hart::Hart;
use crate::timing::Timing;
use rackwright_time::Cycle;
use serde::{Deserialize, Serialize};

/// The state of a hart, for another one of any timing model.
///
/// Caches, predictors and pipelines are not in it: a timing model that has some starts with empty ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedHart {
    registers: [u64; 32],
    float_registers: [u64; 32],
    pc: u64,
    fflags: u8,
    frm: u8,
    control: Control,
    retired: u64,
    cycle_offset: u64,
    retired_offset: u64,
    cycle: u64,
}

impl<T: Timing> Hart<T> {
    /// The state between two runs.
    ///
    /// # Panics
    /// When an access to a device is waited for.
    pub fn save(&self) -> SavedHart {
        assert!(self.pending_access.is_none(), "the access to a device has ended");
        SavedHart {
            registers: std::array::from_fn(|number| self.register(number as u8)),
            float_registers: self.state.f,
            pc: self.state.pc,
            fflags: self.state.fflags,
            frm: self.state.frm,
            control: self.control.clone(),
            retired: self.retired,
            cycle_offset: self.cycle_offset,
            retired_offset: self.retired_offset,
            cycle: self.cycle().0,
        }
    }

    /// Goes on from a state that [`Hart::save`] gave.
    pub fn restore(&mut self, saved: &SavedHart) {
        self.state.x[..32].copy_from_slice(&saved.registers);
        self.state.f = saved.float_registers;
        self.state.pc = saved.pc;
        self.state.fflags = saved.fflags;
        self.state.frm = saved.frm;
        self.state.reservation = None;
        self.state.refresh_float();
        self.control = saved.control.clone();
        self.retired = saved.retired;
        self.cycle_offset = saved.cycle_offset;
        self.retired_offset = saved.retired_offset;
        self.advance_to(Cycle(saved.cycle));
        self.refresh_context();
    }

    /// Forgets what is not saved. A restored hart has no reservation, and knows no translations: page tables may tell when
    /// they are looked at.
    pub fn forget_unsaved(&mut self) {
        self.state.reservation = None;
        self.contexts.clear_data();
        self.contexts.clear_fetch();
        self.renew_context();
    }
}
