//! The state of a hart in a checkpoint: everything that is visible to programs, and its time.

use crate::control::Control;
use crate::counters::SavedCounters;
use crate::decode::decode;
use crate::feature::Feature;
use crate::hart::{Hart, PendingAccess};
use crate::protection::Regions;
use crate::state::Reservation;
use crate::timing::Timing;
use crate::vector::VectorRegisters;
use rackwright_state::{state, Pass, State, StateError};
use rackwright_time::Cycle;
use serde::{Deserialize, Serialize};

/// The state of a program in a hart, which moves with it to another hart.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
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

state!(VectorRegisters {
    registers,
    length,
    kind,
    start,
    rounding,
    saturated
});
state!(Registers {
    x,
    f,
    pc,
    fflags,
    frm,
    vector
});

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

/// Its registers, what it waits for, and the state of its timing model. What it keeps of translations is not in it: they
/// are made again.
impl<T: Timing> State for Hart<T> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        if self.pending.walk.is_some() {
            return Err(StateError::Busy);
        }
        let access = self.pending.access.take();
        let mut hart = Vec::new();
        if !by.restores() {
            let saved = SavedHart::of(self);
            hart = postcard::to_stdvec(&saved).expect("plain data can always be written to memory");
        }
        let mut waited_for = access.map(|access| (access.instruction.word, access.address));
        self.pending.access = access;
        hart.pass(by)?;
        waited_for.pass(by)?;
        if by.restores() {
            let saved: SavedHart = postcard::from_bytes(&hart).map_err(|_| StateError::Damaged)?;
            saved.restore(self);
            self.pending.access = waited_for.map(|(word, address)| PendingAccess {
                instruction: decode(word),
                address,
            });
        }
        self.code_fences.pass(by)?;
        self.timing.pass_state(by)
    }
}
