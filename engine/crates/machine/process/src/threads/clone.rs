//! Start and end of threads.

use super::thread::{Thread, FIRST_ARGUMENT, STACK_POINTER, THREAD_POINTER};
use super::{Next, ThreadId, Threads};
use crate::calls::{number, refuse, Call};
use crate::family::Outcome;
use crate::gather;
use rackwright_cpu::{Registers, VectorRegisters};
use std::io;

/// The resources that a thread shares with its creator. Without all of them it would be another process.
const SHARED: i32 =
    libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_SIGHAND | libc::CLONE_THREAD;

/// The most threads of a program.
const MOST_THREADS: usize = 4096;

impl Thread {
    /// A thread that continues at the caller's position, with the arguments of `clone`.
    pub(super) fn offspring(&self, registers: &Registers, call: &Call<'_>) -> Thread {
        let [flags, stack, _, thread_pointer, child_id, _] = call.arguments;
        let has = |flag: i32| flags as i32 & flag != 0;
        let mut own = registers.clone();
        own.x[FIRST_ARGUMENT] = 0;
        // The contents of vector registers are not inherited, as in Linux.
        own.vector = VectorRegisters::default();
        if stack != 0 {
            own.x[STACK_POINTER] = stack;
        }
        if has(libc::CLONE_SETTLS) {
            own.x[THREAD_POINTER] = thread_pointer;
        }
        let mut thread = Thread::new(own, self.affinity, call.now);
        thread.masked = self.masked;
        if has(libc::CLONE_CHILD_CLEARTID) {
            thread.clear_at_exit = child_id;
        }
        thread
    }
}

impl Threads {
    /// `clone(flags, stack, parent_tid, tls, child_tid)`: another thread, which also continues after the call.
    pub(super) fn clone_thread(
        &mut self,
        caller: ThreadId,
        registers: &Registers,
        call: &mut Call<'_>,
    ) -> io::Result<u64> {
        let [flags, _, parent_id, _, child_id, _] = call.arguments;
        let has = |flag: i32| flags as i32 & flag != 0;
        if flags as i32 & SHARED != SHARED {
            // With fewer shared resources it is a process, which is created elsewhere, or unsupported.
            return self.process.unknown(number::CLONE);
        }
        if self.threads.len() >= MOST_THREADS {
            return refuse(libc::EAGAIN);
        }
        let id = self.process.family.number();
        for address in [
            (libc::CLONE_PARENT_SETTID, parent_id),
            (libc::CLONE_CHILD_SETTID, child_id),
        ]
        .into_iter()
        .filter_map(|(flag, address)| has(flag).then_some(address))
        {
            let bytes = (id as u32).to_le_bytes();
            call.memory.write(address, &bytes).map_err(gather::fault)?;
        }
        let thread = self.thread(caller).offspring(registers, call);
        self.threads.insert(id, thread);
        self.make_ready(id, call.now);
        Ok(id)
    }

    /// `exit`: the calling thread ends, and the program with its last one.
    pub(super) fn exit_thread(&mut self, hart: usize, registers: &Registers, call: &mut Call<'_>) -> Next {
        let status = call.arguments[0] as i32 & 0xff;
        let id = self.leave(hart, registers);
        let thread = self.threads.remove(&id).expect("the thread lives");
        if self.threads.is_empty() {
            self.ended = Some(Outcome::Exited(status));
            return Next::Other;
        }
        let address = thread.clear_at_exit;
        if address != 0 && call.memory.write(address, &[0; 4]).is_ok() {
            self.wake_waiters(address, 1, u32::MAX, call.now);
        }
        Next::Other
    }
}
