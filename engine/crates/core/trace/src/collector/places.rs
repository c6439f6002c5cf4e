use super::Collector;
use crate::guest::Mapped;
use crate::kernel::KERNEL;
use crate::known::Address;
use crate::names::Place;
use crate::sight::Sight;
use rackwright_cpu::{Privilege, View};

/// Lookup of the code at an address.
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
        let address = self.address(pc, privilege);
        if let Some(place) = self.places.get(address, called) {
            return place;
        }
        let place = self.common.lock().place(self.sight(privilege, view), pc, called);
        self.places.keep(address, place, called);
        place
    }

    /// The identity of `pc` among equal addresses of other address spaces.
    fn address(&self, pc: u64, privilege: Privilege) -> Address {
        let space = if pc >= KERNEL {
            KERNEL
        } else {
            self.task.memory ^ (privilege as u64) << 62
        };
        Address { pc, space }
    }

    pub(super) fn sight<'a>(&self, privilege: Privilege, view: View<'a>) -> Sight<'a> {
        Sight {
            guest: Mapped::of(view),
            privilege,
            memory: self.task.memory,
        }
    }
}
