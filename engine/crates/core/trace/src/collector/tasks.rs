use super::{Collector, Redirect, STACK_POINTER};
use crate::guest::Mapped;
use crate::kernel::{task_on, KERNEL, THREAD_POINTER};
use crate::linux::Task;
use crate::names::Extent;
use crate::shared::{Parked, Shared};
use rackwright_cpu::{Privilege, Registers, View};

/// The state of the hart's task under a simulated kernel.
#[derive(Default)]
pub(super) struct KernelTask {
    /// Whether there is such a kernel.
    pub(super) has_kernel: bool,
    /// The address of the current task's description, its number, and the address of the description of its memory.
    address: u64,
    number: u64,
    pub(super) memory: u64,
}

impl KernelTask {
    /// No task is known yet.
    pub(super) fn unknown(has_kernel: bool) -> KernelTask {
        KernelTask {
            has_kernel,
            ..KernelTask::default()
        }
    }
}

/// Which thread runs: of an emulated kernel, or of one that runs itself.
impl Collector {
    /// An emulated kernel has set other registers in the hart: those of another thread, of a signal's handler, or of
    /// the code that it had interrupted. The next block that is observed shows it.
    pub(crate) fn redirected(&mut self, before: &Registers, after: &Registers, now: u64) {
        let pointers = [STACK_POINTER, THREAD_POINTER].map(usize::from);
        let same = before.pc == after.pc
            && pointers
                .iter()
                .all(|number| before.x[*number] == after.x[*number]);
        if self.task.has_kernel || (same && !self.is_idle) {
            return;
        }
        self.account(now);
        let [stack, thread] = pointers;
        let was_idle = std::mem::take(&mut self.is_idle);
        if was_idle || before.x[thread] != after.x[thread] {
            // The stack of a thread that left an idle hart is stored already.
            if !was_idle {
                self.park(before.x[thread]);
            }
            self.take_thread(after.x[thread]);
        } else if !self.frames.is_empty() {
            self.announced.redirects.push(Redirect {
                from: before.pc,
                pointer: before.x[stack],
                to: (after.pc, after.x[stack]),
                begin: now,
            });
        }
        self.near = Extent::default();
    }

    /// An emulated kernel takes the thread with these registers off the hart.
    pub(crate) fn idle(&mut self, registers: &Registers, now: u64) {
        if self.task.has_kernel {
            return;
        }
        self.account(now);
        self.park(registers.x[usize::from(THREAD_POINTER)]);
        self.record.turns.end(now);
        self.is_idle = true;
        self.near = Extent::default();
    }

    /// Stores the stack of the thread with this thread pointer.
    pub(super) fn park(&mut self, pointer: u64) {
        if self.is_idle {
            return;
        }
        let frames = std::mem::take(&mut self.frames);
        let number = u64::from(self.thread);
        let parked = Parked { number, frames };
        self.common.lock().parked.insert(pointer, parked);
    }

    /// Continues with the thread of a thread pointer.
    pub(super) fn take_thread(&mut self, pointer: u64) {
        let common = self.common.clone();
        let mut shared = common.lock();
        match shared.parked.remove(&pointer) {
            Some(known) => {
                self.thread = known.number as u32;
                self.frames = known.frames;
            }
            None => self.thread = shared.new_thread(),
        }
        self.hang();
    }

    /// A kernel has another task's registers: its stack is another one.
    pub(super) fn follow_task(&mut self, pc: u64, view: View<'_>) {
        let task = view.register(THREAD_POINTER);
        if !self.task.has_kernel || pc < KERNEL || task < KERNEL || task == self.task.address {
            return;
        }
        if view.privilege() != Privilege::Supervisor {
            return;
        }
        let common = self.common.clone();
        let mut shared = common.lock();
        let Some(found) = shared
            .linux()
            .and_then(|linux| linux.task(Mapped::of(view), task))
        else {
            return;
        };
        let parked = Parked {
            number: self.task.number,
            frames: std::mem::take(&mut self.frames),
        };
        // Execution before the first task continues as that task.
        let begun = self.task.address == 0;
        shared.parked.insert(self.task.address, parked);
        let known = shared.parked.remove(&if begun { 0 } else { task });
        match known {
            Some(known) if begun || known.number == found.thread.number => self.frames = known.frames,
            // A new task: its memory may differ from the known one.
            _ => self.places.forget(),
        }
        self.task.address = task;
        self.become_task(&found, &mut shared);
    }

    /// Finds out which task a kernel has on the hart.
    pub(crate) fn find_task(&mut self, view: View<'_>) {
        let task = task_on(view);
        if !self.task.has_kernel || task < KERNEL {
            return;
        }
        let common = self.common.clone();
        let mut shared = common.lock();
        let found = shared
            .linux()
            .and_then(|linux| linux.task(Mapped::of(view), task));
        if let Some(found) = found {
            self.places.forget();
            self.task.address = task;
            self.become_task(&found, &mut shared);
        }
    }

    /// Updates the identity of a program's memory; returns whether it belongs to another program now.
    pub(super) fn refresh_task(&mut self, view: View<'_>) -> bool {
        if self.task.address == 0 {
            return false;
        }
        let common = self.common.clone();
        let mut shared = common.lock();
        let Some(linux) = shared.linux() else { return false };
        let guest = Mapped::of(view);
        if linux.memory_of(guest, self.task.address) == Some(self.task.memory) {
            return false;
        }
        let Some(found) = linux.task(guest, self.task.address) else {
            return false;
        };
        self.places.forget();
        self.become_task(&found, &mut shared);
        true
    }

    /// The task that runs is `found`.
    pub(super) fn become_task(&mut self, found: &Task, shared: &mut Shared) {
        self.task.number = found.thread.number;
        self.task.memory = found.memory;
        self.thread = shared.thread(&found.thread);
        self.hang();
    }
}
