use super::Collector;
use crate::guest::Mapped;
use crate::kernel::KERNEL;
use crate::known::{Known, PLACES};
use crate::names::Place;
use crate::sight::Sight;
use rackwright_cpu::{Privilege, View};

/// What is at an address.
impl Collector {
    pub(super) fn place(&mut self, pc: u64, view: View<'_>) -> Place {
        self.place_of(pc, view.privilege(), view)
    }

    /// The place of a function that is called.
    pub(super) fn called_place(&mut self, pc: u64, view: View<'_>) -> Place {
        self.find_place(pc, view.privilege(), view, pc < KERNEL)
    }

    pub(super) fn place_of(&mut self, pc: u64, privilege: Privilege, view: View<'_>) -> Place {
        self.find_place(pc, privilege, view, false)
    }

    pub(super) fn find_place(
        &mut self,
        pc: u64,
        privilege: Privilege,
        view: View<'_>,
        called: bool,
    ) -> Place {
        let (slot, space) = self.slot(pc, privilege);
        if let Some(known) = self.places[slot] {
            if known.pc == pc && known.space == space && (known.called || !called) {
                return known.place;
            }
        }
        let place = self.common.lock().place(self.sight(privilege, view), pc, called);
        self.places[slot] = Some(Known {
            pc,
            space,
            place,
            called,
        });
        place
    }

    /// Where the place of `pc` is kept, and what tells it from others with the same address.
    pub(super) fn slot(&self, pc: u64, privilege: Privilege) -> (usize, u64) {
        let space = if pc >= KERNEL {
            KERNEL
        } else {
            self.memory ^ (privilege as u64) << 62
        };
        ((pc >> 1 ^ pc >> 13) as usize % PLACES, space)
    }

    pub(super) fn sight<'a>(&self, privilege: Privilege, view: View<'a>) -> Sight<'a> {
        Sight {
            guest: Mapped::of(view),
            privilege,
            memory: self.memory,
        }
    }
}
