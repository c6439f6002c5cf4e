//! The state of a hart in a checkpoint: everything that is visible to programs, and its time.

use crate::control::Control;
use crate::counters::SavedCounters;
use crate::feature::Feature;
use crate::hart::Hart;
use crate::protection::Regions;
use crate::state::Reservation;
use crate::timing::Timing;
use crate::vector::VectorRegisters;
use rackwright_time::Cycle;
use serde::{Deserialize, Serialize};

/// The state of a program in a hart, which moves with it to another hart.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Registers {
    /// Integer registers; `x0` is zero.
    pub x: [u64; 32],
    /// The bits of floating-point registers.
    pub f: [u64; 32],
    /// Address of the next instruction.
    pub pc: u64,
    /// Accrued floating-point exceptions.
    pub fflags: u8,
    /// Its rounding mode.
    pub frm: u8,
    /// The vector registers, and the control registers beside them.
    pub vector: VectorRegisters,
}

/// The state of a hart, for another one of any timing model.
///
/// Caches, predictors and pipelines are not in it: a timing model that has some starts with empty ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedHart {
    registers: Registers,
    control: Control,
    regions: Regions,
    reservation: Option<Reservation>,
    retired: u64,
    cycle_offset: u64,
    retired_offset: u64,
    cycle: u64,
    latest_time: u64,
}

impl SavedHart {
    /// The state of a hart between two runs.
    ///
    /// # Panics
    /// When an access to a device is waited for.
    pub fn of<T: Timing>(hart: &Hart<T>) -> SavedHart {
        assert!(hart.pending.access.is_none(), "the access to a device has ended");
        let counters = hart.counters.save();
        SavedHart {
            registers: hart.registers(),
            control: hart.control.clone(),
            regions: hart.state.regions.clone(),
            reservation: hart.state.reservation,
            retired: counters.retired,
            cycle_offset: counters.cycle_offset,
            retired_offset: counters.retired_offset,
            cycle: hart.cycle().0,
            latest_time: counters.latest_time,
        }
    }

    /// Has a hart continue from it.
    pub fn restore<T: Timing>(&self, hart: &mut Hart<T>) {
        hart.thread().set_registers(&self.registers);
        hart.state.reservation = self.reservation;
        let offers_custom = hart.control.offers.custom;
        hart.control = self.control.clone();
        hart.control.offers.custom = offers_custom;
        if hart.control.offers.vector {
            hart.offer(Feature::Vector);
        }
        hart.state.regions = self.regions.clone();
        hart.counters.restore(SavedCounters {
            retired: self.retired,
            cycle_offset: self.cycle_offset,
            retired_offset: self.retired_offset,
            latest_time: self.latest_time,
        });
        hart.advance_to(Cycle::new(self.cycle));
        hart.refresh_regions();
    }
}

impl<T: Timing> Hart<T> {
    /// The registers between two runs.
    pub fn registers(&self) -> Registers {
        Registers {
            x: std::array::from_fn(|number| self.state.register(number as u8)),
            f: self.state.f,
            pc: self.state.pc,
            fflags: self.state.float.flags,
            frm: self.state.float.mode,
            vector: self.state.vector.registers(),
        }
    }

    /// Drops its reservation, which another machine's memory does not know, and the state that is not saved. A restored
    /// hart has no cached translations: the times of page-table reads are visible.
    pub fn forget_unsaved(&mut self) {
        self.state.reservation = None;
        self.kept.contexts.clear_data();
        self.kept.contexts.clear_fetch();
        self.renew_context();
    }
}
