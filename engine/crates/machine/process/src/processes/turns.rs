//! Which process has the harts.

use super::Processes;
use crate::family::{ProcessId, FIRST};
use rackwright_memory::GuestMemory;
use rackwright_time::Cycle;
use std::ops::Bound;

impl Processes {
    /// The process that gets the harts from `now` on, if it is not the current one; `memory` is the machine's.
    pub fn next(&mut self, now: Cycle, memory: &mut GuestMemory) -> Option<ProcessId> {
        let resident = self.resident();
        let stays = !resident.is_idle() && !resident.lends_memory();
        if stays && now < self.slice_end {
            return None;
        }
        let next = self
            .others()
            .into_iter()
            .find(|id| self.could_run(*id, now, memory));
        if next.is_none() {
            self.slice_end = now + self.slice;
        }
        next
    }

    /// The others, starting with those after the resident.
    fn others(&self) -> Vec<ProcessId> {
        let behind = (Bound::Excluded(self.resident), Bound::Unbounded);
        let behind = self.members.range(behind);
        let all = behind.chain(self.members.range(..self.resident));
        all.map(|(id, _)| *id).collect()
    }

    fn could_run(&mut self, id: ProcessId, now: Cycle, memory: &mut GuestMemory) -> bool {
        let Some(member) = self.members.get_mut(&id) else {
            return false;
        };
        let memory = self.aside.get_mut(&member.space).unwrap_or(memory);
        member.threads.wake(now, memory);
        member.threads.retry(now, memory);
        member.threads.is_ready() && !member.threads.lends_memory()
    }

    /// Assigns the harts, which are idle, to process `next`, and exchanges the machine's `memory` for its own.
    pub fn switch(&mut self, next: ProcessId, memory: &mut GuestMemory, now: Cycle) {
        let before = std::mem::replace(&mut self.resident, next);
        let (old, new) = (self.members[&before].space, self.members[&next].space);
        if old == new {
            self.hand_over_layout(before, next);
        } else if let Some(incoming) = self.aside.remove(&new) {
            let outgoing = std::mem::replace(memory, incoming);
            self.aside.insert(old, outgoing);
        }
        if self.members[&before].threads.is_dissolved() {
            self.bury(before);
        }
        self.resident_mut().forget_seats();
        self.slice_end = if self.is_several() {
            now + self.slice
        } else {
            Cycle::NEVER
        };
    }

    /// A child that is lent its parent's memory finds it as the parent has left it.
    fn hand_over_layout(&mut self, parent: ProcessId, child: ProcessId) {
        if self.members[&child]
            .awaited_by
            .is_none_or(|(lender, _)| lender != parent)
        {
            return;
        }
        let layout = self.members[&parent].threads.process().layout.clone();
        self.resident_mut().lay_out(layout);
    }

    /// Removes a process that has ended, and unused memory.
    fn bury(&mut self, id: ProcessId) {
        if let Some(member) = self.members.remove(&id).filter(|_| id == FIRST) {
            self.first = Some(member.threads);
        }
        let members = &self.members;
        self.aside
            .retain(|space, _| members.values().any(|member| member.space == *space));
    }

    /// The earliest time for which a thread of any process waits; [`Cycle::NEVER`] if there is none.
    pub fn next_wake(&self) -> Cycle {
        let members = self.members.values().map(|member| &member.threads);
        let waking = members.filter(|threads| !threads.lends_memory());
        let first = waking.map(|threads| threads.next_wake()).min();
        first.unwrap_or(Cycle::NEVER)
    }

    /// Until when the resident may have the harts; [`Cycle::NEVER`] while it is alone.
    pub fn slice_end(&self) -> Cycle {
        if self.is_several() {
            self.slice_end
        } else {
            Cycle::NEVER
        }
    }

    /// Ends the run if the first process has ended and no event will continue the remaining ones. False when the first
    /// one waits itself.
    pub fn give_up(&mut self) -> bool {
        self.is_stuck = self.outcome.is_some();
        self.is_stuck
    }
}
