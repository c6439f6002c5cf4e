//! All processes of a program.

mod making;
mod turns;

use crate::calls::{encode, number, Call};
use crate::family::{Family, Outcome, ProcessId, FIRST};
use crate::process::{Environment, LoadError, Process};
use crate::threads::{Information, Next, Sent, SharedWake, ThreadId, Threads};
use crate::Arguments;
use rackwright_cpu::{Exception, Registers};
use rackwright_memory::GuestMemory;
use rackwright_state::{Pass, State, StateError};
use rackwright_time::{Cycle, Cycles, Picosecond};
use std::collections::BTreeMap;

/// Time for which a process has the harts while others wait: the time slice of a thread.
const SLICE: Picosecond = Picosecond(4_000_000_000);

/// A process.
struct Member {
    threads: Threads,
    /// Whose memory it uses: its own, or that of the parent which has lent it.
    space: ProcessId,
    /// The thread of the parent that waits until the child has a program of its own, or has ended.
    awaited_by: Option<(ProcessId, ThreadId)>,
}

/// The processes of a program: initially one, and those that it creates by `fork`, `vfork` and `execve`.
///
/// Each has memory of its own. One of them, the resident, has all harts, and its memory is that of the machine; the
/// others' lie aside. They take turns: when no thread of the resident can run, or after a time slice, the next one that
/// can run becomes the resident. Deterministic: it depends only on the calls made here, in their order.
pub struct Processes {
    members: BTreeMap<ProcessId, Member>,
    resident: ProcessId,
    /// The memories of the others, by process number.
    aside: BTreeMap<ProcessId, GuestMemory>,
    family: Family,
    slice: Cycles,
    slice_end: Cycle,
    /// The outcome of the first process.
    outcome: Option<Outcome>,
    /// Whether the remaining processes wait for events that never occur.
    is_stuck: bool,
    /// The first process once it has ended and others continue: its input and output remain available.
    first: Option<Threads>,
}

/// Programs with a single process have their state saved.
impl State for Processes {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let is_single = self.members.len() == 1 && self.resident == FIRST && !self.family.is_several();
        if !is_single || self.first.is_some() {
            let reason = "a program with several processes cannot be saved";
            return Err(StateError::Unsaved(reason.to_string()));
        }
        self.resident_mut().pass(by)?;
        self.slice_end.pass(by)?;
        self.outcome.pass(by)?;
        self.is_stuck.pass(by)
    }
}

impl Processes {
    /// Loads a static program into memory; its first thread is ready for one of `harts` harts.
    ///
    /// # Errors
    /// [`LoadError`] describes an error in the file, or insufficient memory.
    pub fn load(
        file: &[u8],
        memory: &mut GuestMemory,
        arguments: &Arguments,
        environment: Environment<'_>,
        harts: usize,
    ) -> Result<Processes, LoadError> {
        let slice = environment.clock.cycles_of(SLICE);
        let threads = Threads::load(file, memory, arguments, environment, harts)?;
        let family = threads.process().family.clone();
        let first = Member {
            threads,
            space: FIRST,
            awaited_by: None,
        };
        Ok(Processes {
            members: BTreeMap::from([(FIRST, first)]),
            resident: FIRST,
            aside: BTreeMap::new(),
            family,
            slice,
            slice_end: Cycle::NEVER,
            outcome: None,
            is_stuck: false,
            first: None,
        })
    }

    /// The threads of the process that has the harts.
    pub fn resident(&self) -> &Threads {
        &self.members[&self.resident].threads
    }

    /// The same, mutable.
    pub fn resident_mut(&mut self) -> &mut Threads {
        &mut self.resident_member().threads
    }

    fn resident_member(&mut self) -> &mut Member {
        self.members
            .get_mut(&self.resident)
            .expect("the resident is a member")
    }

    /// The first process, whose input and output are those of all.
    pub fn process(&self) -> &Process {
        let gone = self.first.as_ref();
        gone.unwrap_or_else(|| &self.members[&FIRST].threads).process()
    }

    /// The program's exit status, as a shell shows it: that of the first process, once all have ended, or wait for
    /// events that never occur.
    pub fn exit(&self) -> Option<i32> {
        let alive = self
            .members
            .values()
            .any(|member| member.threads.ended().is_none());
        let outcome = self.outcome.or_else(|| self.members.get(&FIRST)?.threads.ended());
        outcome.filter(|_| !alive || self.is_stuck).map(Outcome::shown)
    }

    /// Number of threads of all processes.
    pub fn count(&self) -> usize {
        self.members.values().map(|member| member.threads.count()).sum()
    }

    /// Executes the environment call of the thread on `hart`, which is after it.
    pub fn call(
        &mut self,
        hart: usize,
        registers: &mut Registers,
        memory: &mut GuestMemory,
        now: Cycle,
    ) -> Next {
        let mut call = Call::of(registers, memory, now);
        let number = Call::number(registers);
        let made = match number {
            number::CLONE if making::is_process(&call) => self.fork(hart, registers, &mut call),
            number::EXECVE | number::EXECVEAT => self.execute(hart, number, &mut call),
            _ if self.is_several() => return self.call_among_others(hart, registers, (number, memory, now)),
            _ => return self.resident_mut().call(hart, registers, memory, now),
        };
        made.unwrap_or_else(|error| {
            Call::give(registers, encode(Err(error)));
            Next::Same
        })
    }

    /// A call that may be about other processes as well.
    fn call_among_others(
        &mut self,
        hart: usize,
        registers: &mut Registers,
        (number, memory, now): (u64, &mut GuestMemory, Cycle),
    ) -> Next {
        let behind = registers.pc;
        let call = Call::of(registers, memory, now);
        let threads = self.resident_mut();
        let (sent, wake) = (threads.sends(number, &call), threads.wakes(number, &call));
        let next = threads.call(hart, registers, memory, now);
        if let Some(sent) = sent {
            self.send(sent, memory, now);
        }
        // Unless a handler has been entered, which has other values in the registers.
        if let Some(wake) = wake.filter(|_| registers.pc == behind) {
            self.wake(wake, registers, now);
        }
        next
    }

    fn send(&mut self, (targets, information): Sent, memory: &mut GuestMemory, now: Cycle) {
        for target in targets {
            self.tell(target, information, memory, now);
        }
    }

    /// Sends a signal to a process that is not the resident.
    fn tell(&mut self, target: ProcessId, information: Information, memory: &mut GuestMemory, now: Cycle) {
        let Some(member) = self.members.get_mut(&target) else {
            return;
        };
        let memory = self.aside.get_mut(&member.space).unwrap_or(memory);
        // The event that it waits for may have occurred before.
        member.threads.retry(now, memory);
        member.threads.send_to_process(None, information, now, memory);
    }

    /// Wakes threads in other processes that wait for the same place, if the caller has not woken the requested number
    /// yet.
    fn wake(&mut self, wake: SharedWake, registers: &mut Registers, now: Cycle) {
        let woken = Call::value(registers);
        let Some(mut wake) = wake.after(woken) else {
            return;
        };
        let most = wake.left();
        let resident = self.resident;
        for (_, member) in self.members.iter_mut().filter(|(id, _)| **id != resident) {
            member.threads.wake_shared(&mut wake, now);
        }
        Call::give(registers, woken + most - wake.left());
    }

    /// Delivers an exception to the thread on `hart` as its signal. False if the program cannot continue; a process
    /// created by another one is ended by the signal, and its parent is notified.
    pub fn fault(
        &mut self,
        hart: usize,
        exception: &Exception,
        registers: &mut Registers,
        memory: &mut GuestMemory,
    ) -> bool {
        let is_first = self.resident == FIRST;
        let threads = self.resident_mut();
        if threads.fault(hart, exception, registers, memory) {
            return true;
        }
        if !is_first {
            threads.end_by(exception);
        }
        !is_first
    }

    /// Whether others may have the harts, too.
    pub fn is_several(&self) -> bool {
        self.members.len() > 1
    }
}
