//! The system calls that are about threads; the others are the process's.

use super::futex::Asked;
use super::thread::{Reason, Wait};
use super::{Next, Threads};
use crate::calls::{encode, number, Call};
use crate::family::Outcome;
use crate::gather;
use rackwright_cpu::Registers;
use rackwright_memory::GuestMemory;
use rackwright_time::Cycle;
use std::io;

impl Threads {
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
        let caller = self.on(hart);
        let result = match number {
            number::EXIT => return self.exit_thread(hart, registers, &mut call),
            number::EXIT_GROUP => {
                self.ended = Some(Outcome::Exited(call.arguments[0] as i32 & 0xff));
                return Next::Other;
            }
            number::FUTEX => match self.futex(&mut call) {
                Ok(Asked::Wait(wait)) => return self.sleep(hart, registers, wait, &mut call),
                Ok(Asked::Done(value)) => Ok(value),
                Err(error) => Err(error),
            },
            number::NANOSLEEP | number::CLOCK_NANOSLEEP => match self.process.sleep(number, &call) {
                Ok((until, remainder)) => {
                    let reason = Reason::Time { remainder };
                    return self.sleep(hart, registers, Wait { reason, until }, &mut call);
                }
                Err(error) => Err(error),
            },
            number::SCHED_YIELD if self.is_ready_for(hart) => {
                Call::give(registers, 0);
                self.preempt(hart, registers, now);
                return Next::Other;
            }
            number::RT_SIGRETURN => {
                self.return_from_signal(hart, registers, memory);
                return Next::Same;
            }
            _ => self.dispatch(hart, number, registers, &mut call),
        };
        let result = match self.patience(&result, number, &call) {
            Ok(Some(patience)) if patience.until <= now => {
                Ok(self.result_at_end(caller, number, &mut call, &patience))
            }
            Ok(Some(patience)) => {
                let moved = *result.as_ref().unwrap_or(&0);
                return self.wait_in_call(hart, registers, number, &mut call, (moved, patience));
            }
            Ok(None) => result,
            Err(error) => Err(error),
        };
        if self.breaks_pipe(number, &result, &call) {
            self.break_pipe(caller, &mut call);
        }
        Call::give(registers, encode(result));
        self.retry(now, memory);
        self.deliver(caller, registers, memory);
        Next::Same
    }

    fn dispatch(
        &mut self,
        hart: usize,
        number: u64,
        registers: &Registers,
        call: &mut Call<'_>,
    ) -> io::Result<u64> {
        let caller = self.on(hart);
        let [first, second, third, ..] = call.arguments;
        match number {
            number::CLONE => self.clone_thread(caller, registers, call),
            number::SET_TID_ADDRESS => {
                self.thread(caller).clear_at_exit = first;
                Ok(caller)
            }
            number::GETTID => Ok(caller),
            number::GETPID => Ok(self.process.id),
            number::SCHED_YIELD => Ok(0),
            number::GETCPU => {
                let bytes = (hart as u32).to_le_bytes();
                for (address, bytes) in [(first, bytes), (second, [0; 4])] {
                    if address != 0 {
                        call.memory.write(address, &bytes).map_err(gather::fault)?;
                    }
                }
                Ok(0)
            }
            number::SCHED_GETAFFINITY => self.affinity(caller, call),
            number::SCHED_SETAFFINITY => self.set_affinity(caller, call),
            number::KILL => self.kill(caller, call),
            number::TKILL => self.signal_thread(caller, first, second, call),
            number::TGKILL => self.signal_thread(caller, second, third, call),
            number::RT_SIGQUEUEINFO => self.queue_signal(caller, call),
            number::RT_TGSIGQUEUEINFO => self.queue_signal_to_thread(caller, call),
            number::RT_SIGPENDING => self.pending_signals(caller, call),
            number::GETITIMER | number::SETITIMER | number::TIMER_CREATE..=number::TIMER_DELETE => {
                self.timer_call(number, call)
            }
            number::SIGALTSTACK => self.alternate_stack(caller, registers, call),
            number::RT_SIGACTION => self.set_action(call),
            number::RT_SIGPROCMASK => self.set_mask(caller, call),
            _ => self.waiting_call(caller, number, call),
        }
    }
}
