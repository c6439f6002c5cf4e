//! The process and the machine: identity, limits, random numbers.

use super::{number, probe, refuse, Call};
use crate::gather;
use crate::limits::Limit;
use crate::process::{Process, LONGEST_NAME};
use rackwright_memory::GuestMemory;
use rand_chacha::rand_core::RngCore;
use std::io;

/// Bytes of each field of the kernel's `struct new_utsname`.
const NAME_BYTES: usize = 65;
/// Words of the kernel's `struct sysinfo`.
const SYSINFO_WORDS: usize = 14;

/// The flag of `riscv_flush_icache` for the calling thread only.
const LOCAL_FLUSH: u64 = 1;
/// `PR_RISCV_SET_ICACHE_FLUSH_CTX`: a `fence.i` always applies to the harts to which a thread moves.
const PR_SET_ICACHE_FLUSH: i32 = 71;
/// Gives a name to memory, without an effect.
const PR_SET_VMA: i32 = 0x5356_4d41;
/// What `membarrier` offers.
const MEMORY_BARRIERS: i32 = libc::MEMBARRIER_CMD_GLOBAL
    | libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED
    | libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED
    | libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED
    | libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;

impl Process {
    pub(super) fn machine_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [first, second, third, fourth, ..] = call.arguments;
        match number {
            number::GETUID..=number::GETEGID | number::GETGROUPS => Ok(0),
            number::GETRESUID | number::GETRESGID => {
                for place in [first, second, third] {
                    call.memory.write(place, &[0; 4]).map_err(gather::fault)?;
                }
                Ok(0)
            }
            number::PERSONALITY => self.personality(first as u32),
            number::SET_ROBUST_LIST => Ok(0),
            number::UMASK => {
                let before = std::mem::replace(&mut self.files.mask, first as u32 & 0o777);
                Ok(before.into())
            }
            number::UNAME => name(call),
            number::SYSINFO => {
                let mut words = [0; SYSINFO_WORDS];
                words[0] = self.uptime(call.now).0;
                words[4] = self.layout.memory_bytes();
                words[5] = self.layout.memory_bytes();
                words[13] = 1; // bytes in a unit of memory
                gather::store_words(call.memory, first, &words)?;
                Ok(0)
            }
            number::PRLIMIT64 if self.one_of_us(first) == self.id => {
                self.limit(call.memory, second, third, fourth)
            }
            number::PRLIMIT64 => refuse(libc::ESRCH),
            number::GETRLIMIT => self.limit(call.memory, first, 0, second),
            number::SETRLIMIT => self.limit(call.memory, first, second, 0),
            number::GETRANDOM => {
                let mut bytes = gather::buffer(second);
                self.random.fill_bytes(&mut bytes);
                call.memory.write(first, &bytes).map_err(gather::fault)?;
                Ok(bytes.len() as u64)
            }
            number::RISCV_FLUSH_ICACHE => {
                if third & !LOCAL_FLUSH != 0 {
                    return refuse(libc::EINVAL);
                }
                call.memory.code_changed();
                Ok(0)
            }
            number::RISCV_HWPROBE => probe::probe(call),
            number::PRCTL => self.control_process(call),
            number::MEMBARRIER => self.order_memory(first as i32),
            // C libraries try these and can replace them, as on older kernels, and in the user mode of QEMU.
            number::RSEQ | number::CLONE3 => refuse(libc::ENOSYS),
            _ => self.schedule_call(number, call),
        }
    }

    /// Priorities: all threads have the same one, which is the value reported.
    fn schedule_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [_, second, third, ..] = call.arguments;
        match number {
            // 20 less the priority, which is zero.
            number::GETPRIORITY => Ok(20),
            number::SETPRIORITY if third as i32 == 0 => Ok(0),
            number::SETPRIORITY => refuse(libc::EPERM),
            number::SCHED_GETSCHEDULER => Ok(libc::SCHED_OTHER as u64),
            number::SCHED_GETPARAM => {
                call.memory.write(second, &[0; 4]).map_err(gather::fault)?;
                Ok(0)
            }
            number::SCHED_SETSCHEDULER if second as i32 == libc::SCHED_OTHER => Ok(0),
            number::SCHED_SETSCHEDULER => refuse(libc::EPERM),
            number::SCHED_GET_PRIORITY_MAX | number::SCHED_GET_PRIORITY_MIN => {
                let is_real_time = [libc::SCHED_FIFO, libc::SCHED_RR].contains(&(call.arguments[0] as i32));
                let (most, least) = if is_real_time { (99, 1) } else { (0, 0) };
                Ok(if number == number::SCHED_GET_PRIORITY_MAX {
                    most
                } else {
                    least
                })
            }
            _ => self.unknown(number),
        }
    }

    /// `personality(kind)`: that of Linux, with addresses that are not random.
    fn personality(&mut self, kind: u32) -> io::Result<u64> {
        const FIXED_ADDRESSES: u32 = libc::ADDR_NO_RANDOMIZE as u32;
        /// Asks and changes nothing.
        const ASKS: u32 = u32::MAX;
        if kind & !FIXED_ADDRESSES != 0 && kind != ASKS {
            self.unknown.record(number::PERSONALITY);
            return refuse(libc::EINVAL);
        }
        Ok(FIXED_ADDRESSES.into())
    }

    /// `prctl(option, argument)`: the name of the program, and options without an effect here.
    fn control_process(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [option, argument, ..] = call.arguments;
        match option as i32 {
            libc::PR_SET_NAME => {
                let name = gather::name(call.memory, argument, LONGEST_NAME)?;
                self.own.name = name;
                Ok(0)
            }
            libc::PR_GET_NAME => {
                let mut name = self.own.name.clone();
                name.resize(LONGEST_NAME + 1, 0);
                call.memory.write(argument, &name).map_err(gather::fault)?;
                Ok(0)
            }
            libc::PR_GET_DUMPABLE | libc::PR_SET_DUMPABLE => {
                Ok(1 - u64::from(option as i32 == libc::PR_SET_DUMPABLE))
            }
            libc::PR_SET_PDEATHSIG
            | libc::PR_SET_NO_NEW_PRIVS
            | libc::PR_SET_TIMERSLACK
            | PR_SET_ICACHE_FLUSH => Ok(0),
            PR_SET_VMA => Ok(0),
            _ => {
                self.unknown.record(number::PRCTL);
                refuse(libc::EINVAL)
            }
        }
    }

    /// `prlimit64(process, resource, new, old)`: limits that a program sets are reported to it, and limit its
    /// descriptors.
    fn limit(&mut self, memory: &mut GuestMemory, resource: u64, new: u64, old: u64) -> io::Result<u64> {
        let limit = self.files.limits.get(resource)?;
        let before = *limit;
        if new != 0 {
            let soft = gather::word(memory, new)?;
            let hard = gather::word(memory, new.wrapping_add(8))?;
            if soft > hard {
                return refuse(libc::EINVAL);
            }
            if hard > before.hard {
                return refuse(libc::EPERM);
            }
            *limit = Limit { soft, hard };
        }
        if old != 0 {
            gather::store_words(memory, old, &[before.soft, before.hard])?;
        }
        Ok(0)
    }

    /// `membarrier(command)`: a system call is a barrier for all, as harts take turns.
    fn order_memory(&mut self, command: i32) -> io::Result<u64> {
        match command {
            libc::MEMBARRIER_CMD_QUERY => Ok(MEMORY_BARRIERS as u64),
            _ if command.count_ones() == 1 && command & MEMORY_BARRIERS != 0 => Ok(0),
            _ => refuse(libc::EINVAL),
        }
    }
}

fn name(call: &mut Call<'_>) -> io::Result<u64> {
    let fields = ["Linux", "rackwright", "6.1.0", "#1", "riscv64", ""];
    let mut bytes = Vec::with_capacity(fields.len() * NAME_BYTES);
    for field in fields {
        bytes.extend_from_slice(field.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(NAME_BYTES), 0);
    }
    bytes.resize(fields.len() * NAME_BYTES, 0);
    call.memory
        .write(call.arguments[0], &bytes)
        .map_err(gather::fault)?;
    Ok(0)
}
