//! Signals: their receivers, and their effects.

use super::frame::{self, Frame};
use super::information::Information;
use super::queue::Queue;
use super::thread::{Ended, State, FIRST_ARGUMENT, RETURN_ADDRESS, STACK_POINTER};
use super::{ThreadId, Threads};
use crate::calls::{refuse, Call};
use crate::family::Outcome;
use crate::gather;
use crate::log::Missing;
use rackwright_cpu::{Cause, Exception, Registers};
use rackwright_memory::{GuestMemory, Protection, PAGE_BYTES};
use rackwright_state::{state, Pass, StateError};
use rackwright_time::Cycle;
use std::io;

/// The highest signal.
pub(super) const LAST: u64 = 64;
/// Bytes of a set of signals in memory.
pub(super) const SET_BYTES: u64 = 8;

// Special handlers.
const DEFAULT: u64 = 0;
const IGNORE: u64 = 1;

// Codes of exceptions.
const ILLEGAL_OPCODE: i32 = 1;
const BREAKPOINT: i32 = 1;
const MISALIGNED: i32 = 1;
const BEYOND_FILE: i32 = 2;
const NOT_MAPPED: i32 = 1;
const FORBIDDEN: i32 = 2;

/// Signals that are ignored by default.
const IGNORED: [i32; 4] = [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH];

/// Signals that stop a process by default.
const STOPPING: [i32; 4] = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// A set of signals: bit n - 1 stands for signal n.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct SignalSet(pub(super) u64);

impl SignalSet {
    pub(super) fn of(signal: u64) -> u64 {
        1 << (signal - 1)
    }

    pub(super) fn has(self, signal: u64) -> bool {
        self.0 & SignalSet::of(signal) != 0
    }

    /// These cannot be blocked.
    pub(super) fn without_unmaskable(self) -> SignalSet {
        SignalSet(self.0 & !(SignalSet::of(libc::SIGKILL as u64) | SignalSet::of(libc::SIGSTOP as u64)))
    }
}

/// A stack for handlers.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct AlternateStack {
    pub(super) base: u64,
    pub(super) bytes: u64,
}

impl AlternateStack {
    fn holds(self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.bytes
    }
}

/// A program's action on a signal.
#[derive(Clone, Copy, Default, Debug)]
struct Action {
    handler: u64,
    flags: u64,
    /// The signals blocked in the handler.
    mask: SignalSet,
}

impl Action {
    fn has(&self, flag: i32) -> bool {
        self.flags as u32 & flag as u32 != 0
    }

    /// Whether the signal makes no difference.
    fn ignores(&self, signal: u64) -> bool {
        self.handler == IGNORE || self.handler == DEFAULT && IGNORED.contains(&(signal as i32))
    }
}

/// The actions of a program, and the state for running handlers.
#[derive(Clone, Debug)]
pub(super) struct Actions {
    each: [Action; LAST as usize],
    /// Code that a handler returns to; zero until there is a handler.
    trampoline: u64,
    /// For the whole process, while all of its threads block them.
    pub(super) pending: Queue,
}

state!(AlternateStack { base, bytes });
state!(Action { handler, flags, mask });
state!(Actions {
    each,
    trampoline,
    pending
});

impl rackwright_state::State for SignalSet {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.0.pass(by)
    }
}

impl Default for Actions {
    fn default() -> Actions {
        Actions {
            each: [Action::default(); LAST as usize],
            trampoline: 0,
            pending: Queue::default(),
        }
    }
}

impl Actions {
    /// Those of a child: pending signals stay with the parent.
    pub(super) fn fork(&self) -> Actions {
        Actions {
            pending: Queue::default(),
            ..self.clone()
        }
    }

    /// Those of another program of the process: there are no handlers, and ignored signals stay ignored.
    pub(super) fn begin_anew(&mut self) {
        self.trampoline = 0;
        for action in &mut self.each {
            if action.handler != IGNORE {
                *action = Action::default();
            }
        }
    }

    /// Whether the ends of children are not reported, and children are not awaited.
    pub(super) fn ignores_children(&self) -> bool {
        let action = self.of(libc::SIGCHLD as u64);
        action.handler == IGNORE || action.has(libc::SA_NOCLDWAIT)
    }

    fn of(&self, signal: u64) -> &Action {
        &self.each[signal as usize - 1]
    }
}

impl Threads {
    /// `rt_sigaction(signal, new, old, bytes)`.
    pub(super) fn set_action(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [signal, new, old, bytes, ..] = call.arguments;
        if !(1..=LAST).contains(&signal) || bytes != SET_BYTES {
            return refuse(libc::EINVAL);
        }
        let before = *self.actions.of(signal);
        let action = if new == 0 {
            None
        } else {
            let word = |index: u64| gather::word(call.memory, new.wrapping_add(index * 8));
            let mask = SignalSet(word(2)?).without_unmaskable();
            Some(Action {
                handler: word(0)?,
                flags: word(1)?,
                mask,
            })
        };
        if action.is_some() && [libc::SIGKILL, libc::SIGSTOP].contains(&(signal as i32)) {
            return refuse(libc::EINVAL);
        }
        if old != 0 {
            gather::store_words(call.memory, old, &[before.handler, before.flags, before.mask.0])?;
        }
        let Some(action) = action else {
            return Ok(0);
        };
        if self.actions.trampoline == 0 && ![DEFAULT, IGNORE].contains(&action.handler) {
            self.actions.trampoline = self.map_trampoline(call.memory)?;
        }
        self.actions.each[signal as usize - 1] = action;
        Ok(0)
    }

    /// Code that returns from handlers, where Linux has its vDSO.
    fn map_trampoline(&mut self, memory: &mut GuestMemory) -> io::Result<u64> {
        let access = Protection::READ.with(Protection::EXECUTE);
        let page = self.process.layout.map(PAGE_BYTES, access, memory);
        let page = page.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        memory.load(page, &frame::RETURN_CODE).map_err(gather::fault)?;
        Ok(page)
    }

    /// `rt_sigprocmask(how, new, old, bytes)`.
    pub(super) fn set_mask(&mut self, caller: ThreadId, call: &mut Call<'_>) -> io::Result<u64> {
        let [how, new, old, bytes, ..] = call.arguments;
        if bytes != SET_BYTES {
            return refuse(libc::EINVAL);
        }
        let before = self.thread(caller).masked.0;
        if new != 0 {
            let given = gather::word(call.memory, new)?;
            let masked = match how as i32 {
                libc::SIG_BLOCK => before | given,
                libc::SIG_UNBLOCK => before & !given,
                libc::SIG_SETMASK => given,
                _ => return refuse(libc::EINVAL),
            };
            self.thread(caller).masked = SignalSet(masked).without_unmaskable();
        }
        if old != 0 {
            gather::store_words(call.memory, old, &[before])?;
        }
        Ok(0)
    }

    /// `sigaltstack(new, old)`.
    pub(super) fn alternate_stack(
        &mut self,
        caller: ThreadId,
        registers: &Registers,
        call: &mut Call<'_>,
    ) -> io::Result<u64> {
        let [new, old, ..] = call.arguments;
        let before = self.thread(caller).alternate;
        let in_use = before.holds(registers.x[STACK_POINTER]);
        if old != 0 {
            let flags = frame::stack_flags(before, in_use);
            gather::store_words(call.memory, old, &[before.base, flags, before.bytes])?;
        }
        if new == 0 {
            return Ok(0);
        }
        if in_use {
            return refuse(libc::EPERM);
        }
        let word = |index: u64| gather::word(call.memory, new.wrapping_add(index * 8));
        let (base, flags, bytes) = (word(0)?, word(1)? as i32, word(2)?);
        self.thread(caller).alternate = if flags & libc::SS_DISABLE != 0 {
            AlternateStack::default()
        } else {
            AlternateStack { base, bytes }
        };
        Ok(0)
    }

    /// `kill(process, signal)`.
    pub(super) fn kill(&mut self, caller: ThreadId, call: &mut Call<'_>) -> io::Result<u64> {
        let [process, signal, ..] = call.arguments;
        // Others are sent to elsewhere.
        let targets = self.process.targets(process as i32)?;
        if check_signal(signal)? && targets.contains(&self.process.id) {
            let information = Information::sent(signal, self.process.id);
            self.send_to_process(Some(caller), information, call.now, call.memory);
        }
        Ok(0)
    }

    /// `rt_sigqueueinfo(process, signal, information)`.
    pub(super) fn queue_signal(&mut self, caller: ThreadId, call: &mut Call<'_>) -> io::Result<u64> {
        let [process, signal, information, ..] = call.arguments;
        let targets = self.process.targets(process as i32)?;
        let information = given(call.memory, signal, information)?;
        if let Some(information) = information.filter(|_| targets.contains(&self.process.id)) {
            self.send_to_process(Some(caller), information, call.now, call.memory);
        }
        Ok(0)
    }

    /// `rt_tgsigqueueinfo(process, thread, signal, information)`.
    pub(super) fn queue_signal_to_thread(
        &mut self,
        caller: ThreadId,
        call: &mut Call<'_>,
    ) -> io::Result<u64> {
        let [process, thread, signal, information, ..] = call.arguments;
        if process != self.process.id || !self.threads.contains_key(&thread) {
            return refuse(libc::ESRCH);
        }
        if let Some(information) = given(call.memory, signal, information)? {
            self.send(Some(caller), thread, information, call.now, call.memory);
        }
        Ok(0)
    }

    /// Sends a signal to any thread that does not hold it back, the caller first.
    pub(crate) fn send_to_process(
        &mut self,
        caller: Option<ThreadId>,
        information: Information,
        now: Cycle,
        memory: &mut GuestMemory,
    ) {
        let takes = |id: &ThreadId| !self.threads[id].masked.has(information.signal);
        let candidates = caller.iter().chain(self.threads.keys());
        match candidates.copied().find(takes) {
            Some(id) => self.send(caller, id, information, now, memory),
            None => {
                self.actions.pending.add(information);
                self.note_signal();
            }
        }
    }

    /// `tkill` and `tgkill`: for that thread.
    pub(super) fn signal_thread(
        &mut self,
        caller: ThreadId,
        thread: u64,
        signal: u64,
        call: &mut Call<'_>,
    ) -> io::Result<u64> {
        if !self.threads.contains_key(&thread) {
            return refuse(libc::ESRCH);
        }
        if check_signal(signal)? {
            let information = Information::sent_to_thread(signal, self.process.id);
            self.send(Some(caller), thread, information, call.now, call.memory);
        }
        Ok(0)
    }

    /// Sends a signal to thread `id`; the caller takes its own when its call ends.
    pub(super) fn send(
        &mut self,
        caller: Option<ThreadId>,
        id: ThreadId,
        information: Information,
        now: Cycle,
        memory: &mut GuestMemory,
    ) {
        let signal = information.signal;
        let ignored = self.actions.of(signal).ignores(signal);
        let thread = self.thread(id);
        let awaited = thread.awaits_signal(signal);
        if ignored && !awaited && !thread.masked.has(signal) {
            return;
        }
        thread.pending.add(information);
        self.note_signal();
        let thread = &self.threads[&id];
        if awaited || thread.masked.has(signal) {
            return;
        }
        match thread.state {
            State::Waits(_) => self.interrupt_wait(id, now, memory),
            State::Runs if Some(id) != caller => self.attention = true,
            _ => {}
        }
    }

    /// Has threads that wait for signals look again.
    fn note_signal(&self) {
        self.process.signals.note();
        self.process.activity.note();
    }

    /// The signals that thread `id` has to handle now.
    fn deliverable(&self, id: ThreadId) -> SignalSet {
        let thread = &self.threads[&id];
        SignalSet((thread.pending.set().0 | self.actions.pending.set().0) & !thread.masked.0)
    }

    /// The first signal for thread `id` to take that makes a difference.
    pub(super) fn interruption(&self, id: ThreadId) -> Option<u64> {
        let deliverable = self.deliverable(id);
        (1..=LAST).find(|&signal| deliverable.has(signal) && !self.actions.of(signal).ignores(signal))
    }

    /// Ends the wait of a thread if there is a signal for it to take.
    pub(super) fn interrupt_wait(&mut self, id: ThreadId, now: Cycle, memory: &mut GuestMemory) {
        let Some(signal) = self
            .interruption(id)
            .filter(|_| !self.threads[&id].lends_memory())
        else {
            return;
        };
        let restarts = self.actions.of(signal).has(libc::SA_RESTART);
        self.store_remainder(id, now, memory);
        self.end_wait(id, Ended::Signal { restarts }, now);
    }

    /// Delivers pending signals to thread `id` with these registers: handlers are entered, the last one of which runs
    /// first.
    pub(super) fn deliver(&mut self, id: ThreadId, registers: &mut Registers, memory: &mut GuestMemory) {
        while self.ended.is_none() {
            let deliverable = self.deliverable(id);
            let Some(information) = self.dequeue(id, deliverable) else {
                break;
            };
            self.take_signal(id, &information, registers, memory);
        }
        // A call that held back other signals has ended.
        let thread = self.thread(id);
        if let Some(before) = thread.restored_mask.take() {
            thread.masked = before;
        }
    }

    /// Takes a signal of `wanted` from those of thread `id`, or else from those of the process.
    pub(super) fn dequeue(&mut self, id: ThreadId, wanted: SignalSet) -> Option<Information> {
        let own = self.thread(id).pending.take(wanted);
        own.or_else(|| self.actions.pending.take(wanted))
    }

    /// Delivers an exception to the thread on `hart` as its signal. False if there is no handler, or if the signal is
    /// blocked: then it cannot continue.
    pub fn fault(
        &mut self,
        hart: usize,
        exception: &Exception,
        registers: &mut Registers,
        memory: &mut GuestMemory,
    ) -> bool {
        let information = self.information_of(exception, registers.pc);
        let signal = information.signal;
        let id = self.on(hart);
        let handled = ![DEFAULT, IGNORE].contains(&self.actions.of(signal).handler);
        if !handled || self.threads[&id].masked.has(signal) {
            return false;
        }
        self.take_signal(id, &information, registers, memory);
        true
    }

    /// Ends the process by the signal of an exception.
    pub(crate) fn end_by(&mut self, exception: &Exception) {
        let signal = self.information_of(exception, 0).signal;
        self.ended = Some(Outcome::Killed(signal as i32));
    }

    /// Linux' information about an exception of the instruction at `pc`.
    fn information_of(&self, exception: &Exception, pc: u64) -> Information {
        let (signal, code, address) = match exception.cause {
            Cause::IllegalInstruction => (libc::SIGILL, ILLEGAL_OPCODE, pc),
            Cause::Breakpoint => (libc::SIGTRAP, BREAKPOINT, pc),
            // Only atomic instructions have this exception, for which Linux reports their own address.
            Cause::FetchMisaligned | Cause::LoadMisaligned | Cause::StoreMisaligned => {
                (libc::SIGBUS, MISALIGNED, pc)
            }
            cause if self.process.is_beyond_file(exception.value, access_of(cause)) => {
                (libc::SIGBUS, BEYOND_FILE, exception.value)
            }
            _ => {
                let address = exception.value;
                let code = if self.process.layout.is_mapped(address) {
                    FORBIDDEN
                } else {
                    NOT_MAPPED
                };
                (libc::SIGSEGV, code, address)
            }
        };
        Information::fault(signal as u64, code, address)
    }

    fn take_signal(
        &mut self,
        id: ThreadId,
        information: &Information,
        registers: &mut Registers,
        memory: &mut GuestMemory,
    ) {
        let signal = information.signal;
        let action = *self.actions.of(signal);
        if action.ignores(signal) {
            return;
        }
        if action.handler == DEFAULT {
            if STOPPING.contains(&(signal as i32)) {
                self.process.unknown.record_part(Missing::Stops);
            }
            self.ended = Some(Outcome::Killed(signal as i32));
            return;
        }
        let thread = self.thread(id);
        let (masked, alternate) = (thread.masked, thread.alternate);
        // The mask after the return of the handler.
        let restored = thread.restored_mask.take().unwrap_or(masked);
        let stack_pointer = registers.x[STACK_POINTER];
        let on_alternate = alternate.holds(stack_pointer);
        let switches = action.has(libc::SA_ONSTACK) && alternate.bytes > 0 && !on_alternate;
        let top = if switches {
            alternate.base + alternate.bytes
        } else {
            stack_pointer
        };
        let place = Frame::below(top, registers);
        let frame = Frame {
            registers,
            masked: restored,
            alternate,
            on_alternate,
        };
        if frame.store(place, information, memory).is_err() {
            // As in Linux, a thread without stack space for a handler is ended.
            self.ended = Some(Outcome::Killed(libc::SIGSEGV));
            return;
        }
        registers.x[RETURN_ADDRESS] = self.actions.trampoline;
        registers.x[STACK_POINTER] = place;
        registers.x[FIRST_ARGUMENT] = signal;
        registers.x[FIRST_ARGUMENT + 1] = frame::information_at(place);
        registers.x[FIRST_ARGUMENT + 2] = frame::context_at(place);
        registers.pc = action.handler;
        let own = if action.has(libc::SA_NODEFER) {
            0
        } else {
            SignalSet::of(signal)
        };
        self.thread(id).masked = SignalSet(masked.0 | action.mask.0 | own);
        if action.has(libc::SA_RESETHAND) {
            self.actions.each[signal as usize - 1].handler = DEFAULT;
        }
    }

    /// `rt_sigreturn`: continues with the state in the handler's frame. A program that has damaged the frame is ended.
    pub(super) fn return_from_signal(
        &mut self,
        hart: usize,
        registers: &mut Registers,
        memory: &mut GuestMemory,
    ) {
        let id = self.on(hart);
        match frame::load(registers.x[STACK_POINTER], memory) {
            Ok((before, masked)) => {
                *registers = before;
                self.thread(id).masked = masked.without_unmaskable();
                self.deliver(id, registers, memory);
            }
            Err(_) => self.ended = Some(Outcome::Killed(libc::SIGSEGV)),
        }
    }
}

/// The access to memory that was refused to an instruction.
fn access_of(cause: Cause) -> Protection {
    match cause {
        Cause::FetchAccessFault | Cause::FetchPageFault => Protection::EXECUTE,
        Cause::StoreAccessFault | Cause::StorePageFault => Protection::WRITE,
        _ => Protection::READ,
    }
}

/// Whether there is a signal to send; zero only checks that the receiver exists.
pub(super) fn check_signal(signal: u64) -> io::Result<bool> {
    if signal > LAST {
        return refuse(libc::EINVAL);
    }
    Ok(signal != 0)
}

/// The information of a signal sent by a program; none for signal zero.
pub(super) fn given(memory: &GuestMemory, signal: u64, address: u64) -> io::Result<Option<Information>> {
    if !check_signal(signal)? {
        return Ok(None);
    }
    let mut words = [0; 4];
    for (index, word) in words.iter_mut().enumerate() {
        *word = gather::word(memory, address.wrapping_add(index as u64 * 8))?;
    }
    let information = Information::given(signal, words);
    if !information.is_of_program() {
        return refuse(libc::EPERM);
    }
    Ok(Some(information))
}
