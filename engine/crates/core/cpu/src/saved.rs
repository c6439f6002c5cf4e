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

impl<T: Timing> Hart<T> {
    /// The registers between two runs.
    pub fn registers(&self) -> Registers {
        Registers {
            x: std::array::from_fn(|number| self.register(number as u8)),
            f: self.state.f,
            pc: self.state.pc,
            fflags: self.state.fflags,
            frm: self.state.frm,
            vector: self.state.vector.registers(),
        }
    }

    /// Continues with other registers.
    pub fn set_registers(&mut self, registers: &Registers) {
        self.timing.observe_registers(&self.registers(), registers);
        self.state.x[..32].copy_from_slice(&registers.x);
        self.state.x[0] = 0;
        self.state.f = registers.f;
        self.state.pc = registers.pc;
        self.state.fflags = registers.fflags;
        self.state.frm = registers.frm;
        self.state.vector.set_registers(&registers.vector);
        self.state.refresh_float();
    }

    /// The thread on this hart continues elsewhere or later; this hart is idle until it receives registers.
    pub fn set_idle(&mut self) {
        self.timing.observe_idle(&self.registers());
    }

    /// Forgets a reservation, as a kernel does when it switches from one thread to another.
    pub fn forget_reservation(&mut self) {
        self.state.reservation = None;
    }

    /// The state between two runs.
    ///
    /// # Panics
    /// When an access to a device is waited for.
    pub fn save(&self) -> SavedHart {
        assert!(self.pending.access.is_none(), "the access to a device has ended");
        let counters = self.counters.save();
        SavedHart {
            registers: self.registers(),
            control: self.control.clone(),
            regions: self.state.regions.clone(),
            reservation: self.state.reservation,
            retired: counters.retired,
            cycle_offset: counters.cycle_offset,
            retired_offset: counters.retired_offset,
            cycle: self.cycle().0,
            latest_time: counters.latest_time,
        }
    }

    /// Continues from a state returned by [`Hart::save`].
    pub fn restore(&mut self, saved: &SavedHart) {
        self.set_registers(&saved.registers);
        self.state.reservation = saved.reservation;
        let offers_custom = self.control.offers_custom;
        self.control = saved.control.clone();
        self.control.offers_custom = offers_custom;
        if self.control.offers_vector {
            self.offer(Feature::Vector);
        }
        self.state.regions = saved.regions.clone();
        self.counters.restore(SavedCounters {
            retired: saved.retired,
            cycle_offset: saved.cycle_offset,
            retired_offset: saved.retired_offset,
            latest_time: saved.latest_time,
        });
        self.advance_to(Cycle::new(saved.cycle));
        self.refresh_regions();
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
