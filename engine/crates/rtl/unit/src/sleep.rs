//! A hart that waits for an interrupt of the units beside it.

use crate::attached::AttachedUnit;
use crate::core::Core;
use rackwright_cpu::Timing;
use rackwright_memory::GuestMemory;
use rackwright_time::Cycle;

/// When the interrupt line of one of `units` has risen, in cycles of their hart, if one is high.
pub fn raised(units: &[AttachedUnit]) -> Option<Cycle> {
    units.iter().filter_map(AttachedUnit::raised).min()
}

/// A hart that waits, and the units beside it.
pub struct Sleeper<'a, T: Timing>(pub &'a mut Core<T>);

impl<T: Timing> Sleeper<'_, T> {
    /// Whether a unit of this hart alone interrupts it at its cycle `now`.
    pub fn is_raised_by_own(&self, now: Cycle) -> bool {
        !self.0.shares_units && raised(&self.0.units).is_some_and(|at| at <= now)
    }

    /// Whether an interrupt line of the units that it shares with other harts is high at `cycle`; `None` if none of them
    /// has one.
    pub fn shared_line(&self, cycle: Cycle) -> Option<bool> {
        let mut units = self.0.units.iter();
        let has_line = self.0.shares_units && units.any(AttachedUnit::has_interrupt);
        has_line.then(|| raised(&self.0.units).is_some_and(|at| at <= cycle))
    }

    /// Whether a unit may raise its interrupt line for the waiting hart before anybody else acts: it is active, or
    /// receives now a write that it watches.
    pub fn expects_interrupt(&mut self, memory: &mut GuestMemory) -> bool {
        self.next_active(memory).is_some()
    }

    /// Advances units while the hart waits, until an interrupt line is high, at which time the hart continues; returns
    /// whether one is. It ends also when all units are idle, or have reached the cycle `limit`.
    pub fn await_units(&mut self, memory: &mut GuestMemory, limit: Cycle) -> bool {
        if self.0.shares_units || !self.listens() {
            return false;
        }
        loop {
            if let Some(at) = raised(&self.0.units) {
                self.0.hart.advance_to(at);
                return true;
            }
            let Some(index) = self.next_active(memory) else {
                return false;
            };
            let unit = &self.0.units[index];
            if unit.reached() >= limit {
                return false;
            }
            let until = unit.cycle() + unit.observation().clock().window();
            self.0.advance_unit_itself(memory, index, until);
        }
    }

    /// Whether the hart waits for interrupts of its units, and has any that raise some: those that it shares with others
    /// interrupt through devices.
    fn listens(&self) -> bool {
        if self.0.shares_units {
            return self.0.units.iter().any(AttachedUnit::has_interrupt);
        }
        let mut reaches = self.0.units.iter().map(|unit| unit.reach());
        self.0.hart.control().takes_external() && reaches.any(|reach| reach.interrupt.is_some())
    }

    /// The active unit that is behind all others, after all have received the writes that they watch.
    fn next_active(&mut self, memory: &mut GuestMemory) -> Option<usize> {
        if !self.listens() {
            return None;
        }
        let now = self.0.hart.cycle();
        for index in 0..self.0.units.len() {
            if self.0.units[index].watches() {
                self.0
                    .with_unit(memory, index, |unit, surroundings| unit.tell(now, surroundings));
            }
        }
        let units = self.0.units.iter().enumerate();
        let active = units.filter(|(_, unit)| !unit.is_idle());
        let first = active.min_by_key(|(_, unit)| unit.reached());
        first.map(|(index, _)| index)
    }
}
