//! Processes that start, execute other programs, and end.

use super::{Member, Processes};
use crate::calls::{refuse, Call};
use crate::family::{ProcessId, FIRST};
use crate::layout::Layout;
use crate::log::Missing;
use crate::process::LoadError;
use crate::threads::{Information, Next, ThreadId};
use rackwright_cpu::Registers;
use rackwright_memory::GuestMemory;
use rackwright_time::Cycle;
use std::io;

/// The most processes at a time.
const MOST: usize = 1024;

/// The signal that `clone` has a process send to its parent at its end.
const END_SIGNAL: i32 = 0xff;
/// Further supported flags: their effects are the default for a process.
const KNOWN: i32 = END_SIGNAL
    | libc::CLONE_VM
    | libc::CLONE_VFORK
    | libc::CLONE_PARENT_SETTID
    | libc::CLONE_CHILD_SETTID
    | libc::CLONE_CHILD_CLEARTID
    | libc::CLONE_SETTLS;

/// Whether `clone` requests a process instead of a thread, with supported flags: memory is its own, or lent until it
/// has a program of its own.
pub(super) fn is_process(call: &Call<'_>) -> bool {
    let flags = call.arguments[0] as i32;
    let lends = flags & libc::CLONE_VM != 0;
    flags & !KNOWN == 0 && flags & END_SIGNAL == libc::SIGCHLD && (!lends || flags & libc::CLONE_VFORK != 0)
}

impl Processes {
    /// `clone(flags, stack, parent_tid, tls, child_tid)` of a process.
    pub(super) fn fork(
        &mut self,
        hart: usize,
        registers: &mut Registers,
        call: &mut Call<'_>,
    ) -> io::Result<Next> {
        let [flags, _, parent_id, _, child_id, _] = call.arguments;
        let has = |flag: i32| flags as i32 & flag != 0;
        if self.members.len() >= MOST {
            return refuse(libc::EAGAIN);
        }
        let parent = self.resident;
        let space = self.members[&parent].space;
        let mut own = if has(libc::CLONE_VM) {
            None
        } else {
            let shared = self.resident().process().layout.shared_ranges();
            Some(
                call.memory
                    .mapping()
                    .duplicate(&shared)
                    .or(refuse(libc::EAGAIN))?,
            )
        };
        let mut threads = self.resident().fork(hart, registers, call);
        let child = threads.process().id;
        if let Some(memory) = &mut own {
            threads
                .share_again(memory)
                .inspect_err(|_| self.family.forget(child))?;
        }
        if has(libc::CLONE_PARENT_SETTID) {
            store(call.memory, parent_id, child);
        }
        if has(libc::CLONE_CHILD_SETTID) {
            store(own.as_mut().unwrap_or(call.memory), child_id, child);
        }
        let space = if own.is_some() { child } else { space };
        if let Some(memory) = own {
            self.aside.insert(child, memory);
        }
        let (awaited_by, next) = if has(libc::CLONE_VFORK) {
            let (thread, next) = self.resident_mut().lend(hart, registers);
            (Some((parent, thread)), next)
        } else {
            Call::give(registers, child);
            (None, Next::Same)
        };
        if !self.is_several() {
            self.slice_end = call.now + self.slice;
        }
        let member = Member {
            threads,
            space,
            awaited_by,
        };
        self.members.insert(child, member);
        Ok(next)
    }

    /// `execve` and `execveat`.
    pub(super) fn execute(&mut self, hart: usize, number: u64, call: &mut Call<'_>) -> io::Result<Next> {
        let process = self.resident().process();
        let program = match process.program_at(number, call) {
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
                process.unknown.record(number);
                return Err(error);
            }
            other => other?,
        };
        let mut memory = call
            .memory
            .mapping()
            .another(process.layout.memory_bytes())
            .or(refuse(libc::ENOMEM))?;
        let lent = self.lent_layout();
        let threads = self.resident_mut();
        match threads.execute(&program, &mut memory) {
            Ok(()) => {}
            Err(LoadError::Elf(_)) => {
                threads.process().unknown.record_part(Missing::Program);
                return refuse(libc::ENOEXEC);
            }
            Err(_) => return refuse(libc::E2BIG),
        }
        threads.begin_anew(hart, call.now);
        let before = std::mem::replace(call.memory, memory);
        let resident = self.resident;
        let member = self.resident_member();
        if member.space != resident {
            let lender = std::mem::replace(&mut member.space, resident);
            self.aside.insert(lender, before);
        }
        self.release(resident, lent, call.now);
        Ok(Next::Other)
    }

    /// The resident's layout of memory that is lent to it.
    fn lent_layout(&self) -> Option<Layout> {
        let member = &self.members[&self.resident];
        (member.space != self.resident).then(|| member.threads.process().layout.clone())
    }

    /// Continues the parent's thread that waits for `child`; if memory was lent, it has the layout that the child has
    /// left.
    fn release(&mut self, child: ProcessId, layout: Option<Layout>, now: Cycle) {
        let member = self.members.get_mut(&child);
        let Some((parent, thread)) = member.and_then(|member| member.awaited_by.take()) else {
            return;
        };
        if let Some(lender) = self.members.get_mut(&parent) {
            lender.threads.take_back(thread, child, layout, now);
        }
    }

    /// Has the end of the resident, if it has ended, be known to others that there are.
    pub fn settle(&mut self, memory: &mut GuestMemory, now: Cycle) {
        let id = self.resident;
        let Some(outcome) = self.resident().ended().filter(|_| self.is_several()) else {
            return;
        };
        if self.resident().is_dissolved() {
            return;
        }
        let layout = self.lent_layout();
        self.release(id, layout, now);
        let parent = self.family.parent(id);
        let is_awaited = self
            .members
            .get(&parent)
            .is_some_and(|parent| parent.threads.ended().is_none() && !parent.threads.ignores_children());
        self.family.end(id, outcome, is_awaited);
        let threads = self.resident_mut();
        threads.dissolve();
        threads.process().activity.note();
        if id == FIRST {
            self.outcome = Some(outcome);
        }
        self.tell(parent, Information::of_child(id, outcome), memory, now);
    }
}

/// Stores the number of a child. Bad addresses of the caller are not reported, as in Linux.
fn store(memory: &mut GuestMemory, address: u64, id: ThreadId) {
    let _ = memory.write(address, &(id as u32).to_le_bytes());
}
