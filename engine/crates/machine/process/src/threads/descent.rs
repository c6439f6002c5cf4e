//! Processes out of processes.

use super::information::Information;
use super::signals::{check_signal, given};
use super::thread::{Ended, Reason, Thread, Wait};
use super::timers::Timers;
use super::{start, Next, Seat, ThreadId, Threads};
use crate::calls::{number, Call, SharedPlace};
use crate::family::ProcessId;
use crate::files::Files;
use crate::layout::Layout;
use crate::process::{LoadError, Program};
use rackwright_cpu::Registers;
use rackwright_memory::GuestMemory;
use rackwright_time::Cycle;
use std::collections::{BTreeMap, VecDeque};
use std::io;

/// A signal for other processes.
pub(crate) type Sent = (Vec<ProcessId>, Information);

/// The threads that a `futex` call wakes in other processes: their place, number and bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedWake {
    place: SharedPlace,
    most: u64,
    bits: u32,
}

impl Threads {
    /// A child with a copy of the thread on `hart`, which is also ready after the call.
    pub(crate) fn fork(&self, hart: usize, registers: &Registers, call: &Call<'_>) -> Threads {
        let parent = &self.threads[&self.on(hart)];
        let id = self.process.family.add(self.process.id);
        let mut thread = parent.offspring(registers, call);
        thread.alternate = parent.alternate;
        Threads {
            process: self.process.fork(id),
            threads: BTreeMap::from([(id, thread)]),
            ready: VecDeque::from([id]),
            seats: vec![Seat::default(); self.seats.len()],
            switch: self.switch,
            slice: self.slice,
            actions: self.actions.fork(),
            timers: Timers::default(),
            next_wake: Cycle::NEVER,
            waits: 0,
            attention: false,
            ended: None,
        }
    }

    /// Puts the thread on `hart` to sleep until a child returns the memory that it uses.
    pub(crate) fn lend(&mut self, hart: usize, registers: &Registers) -> (ThreadId, Next) {
        let reason = Reason::Child;
        let wait = Wait {
            reason,
            until: Cycle::NEVER,
        };
        let id = self.on(hart);
        (id, self.block(hart, registers, wait))
    }

    /// Continues the thread that has lent memory to `child`, with the child's mappings.
    pub(crate) fn take_back(
        &mut self,
        lender: ThreadId,
        child: ProcessId,
        layout: Option<Layout>,
        now: Cycle,
    ) {
        if let Some(layout) = layout {
            self.process.layout = layout;
        }
        if self.threads.get(&lender).is_some_and(Thread::lends_memory) {
            self.end_wait(lender, Ended::Woken(child), now);
        }
    }

    /// Whether a child uses the memory.
    pub(crate) fn lends_memory(&self) -> bool {
        self.threads.values().any(Thread::lends_memory)
    }

    /// Whether no thread runs or could.
    pub(crate) fn is_idle(&self) -> bool {
        self.ready.is_empty() && self.seats.iter().all(|seat| seat.runs.is_none())
    }

    /// Whether a thread could run.
    pub(crate) fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Takes note that other processes have had the harts.
    pub(crate) fn forget_seats(&mut self) {
        self.seats.fill(Seat::default());
    }

    /// Ends all threads of a process that has ended, and closes its descriptors.
    pub(crate) fn dissolve(&mut self) {
        self.threads.clear();
        self.ready.clear();
        self.forget_seats();
        self.timers = Timers::default();
        self.next_wake = Cycle::NEVER;
        self.process.closing(Files::close_all);
        self.process.shared.attached.clear();
    }

    /// Starts the new program of the process: the thread on `hart` continues with it, as the first one, and all others
    /// have ended.
    pub(crate) fn begin_anew(&mut self, hart: usize, now: Cycle) {
        let caller = self.threads.remove(&self.on(hart));
        let caller = caller.expect("the thread lives");
        let first = Thread {
            masked: caller.masked,
            pending: caller.pending,
            ..Thread::new(start(&self.process), caller.affinity, now)
        };
        let id = self.process.id;
        self.threads = BTreeMap::from([(id, first)]);
        self.ready = VecDeque::from([id]);
        self.forget_seats();
        self.actions.begin_anew();
        self.timers.begin_anew();
        self.attention = false;
        self.refresh_next_wake(now);
    }

    /// Whether it has ended and all is closed.
    pub(crate) fn is_dissolved(&self) -> bool {
        self.ended.is_some() && self.threads.is_empty()
    }

    /// Replaces the process's program by another one, in `memory`.
    ///
    /// # Errors
    /// [`LoadError`] when it is none for this machine, or does not fit.
    pub(crate) fn execute(&mut self, program: &Program, memory: &mut GuestMemory) -> Result<(), LoadError> {
        self.process.execute(program, memory)
    }

    /// Restores the sharing with files in a copy of the parent's memory.
    pub(crate) fn share_again(&mut self, memory: &mut GuestMemory) -> io::Result<()> {
        self.process.share_again(memory)
    }

    /// Sets the layout of memory that another process has left.
    pub(crate) fn lay_out(&mut self, layout: Layout) {
        self.process.layout = layout;
    }

    /// Whether the ends of children are not reported, and children are not awaited.
    pub(crate) fn ignores_children(&self) -> bool {
        self.actions.ignores_children()
    }

    /// The signal that a call sends to other processes, if it may.
    pub(crate) fn sends(&self, number: u64, call: &Call<'_>) -> Option<Sent> {
        let [process, signal, information, ..] = call.arguments;
        let information = match number {
            number::KILL => check_signal(signal)
                .ok()?
                .then(|| Information::sent(signal, self.process.id)),
            number::RT_SIGQUEUEINFO => given(call.memory, signal, information).ok()?,
            _ => None,
        };
        let mut targets = self.process.targets(process as i32).ok()?;
        targets.retain(|target| *target != self.process.id);
        Some((targets, information?))
    }

    /// The threads that a call wakes in other processes: those that wait for the same place of a file.
    pub(crate) fn wakes(&self, number: u64, call: &Call<'_>) -> Option<SharedWake> {
        let [address, operation, count, _, _, bits] = call.arguments;
        let bits = match operation as i32 & !libc::FUTEX_CLOCK_REALTIME {
            libc::FUTEX_WAKE => u32::MAX,
            libc::FUTEX_WAKE_BITSET => bits as u32,
            _ => return None,
        };
        (number == number::FUTEX).then_some(())?;
        let place = self.process.shared_place(address)?;
        let most = count as u32 as u64;
        Some(SharedWake { place, most, bits })
    }

    /// Wakes threads of this process that wait there, and subtracts their number.
    pub(crate) fn wake_shared(&mut self, wake: &mut SharedWake, now: Cycle) {
        let mut addresses: Vec<u64> = self
            .threads
            .values()
            .filter_map(|thread| Some(thread.waiter()?.address))
            .collect();
        addresses.sort_unstable();
        addresses.dedup();
        for address in addresses {
            if self.process.shared_place(address) == Some(wake.place) {
                wake.most -= self.wake_waiters(address, wake.most as usize, wake.bits, now);
            }
        }
    }
}

impl SharedWake {
    /// Subtracts threads that have been woken already; returns the rest, if any.
    pub(crate) fn after(self, woken: u64) -> Option<SharedWake> {
        let most = self.most.checked_sub(woken).filter(|most| *most > 0)?;
        Some(SharedWake { most, ..self })
    }

    /// Maximum number of further threads to wake.
    pub(crate) fn left(&self) -> u64 {
        self.most
    }
}
