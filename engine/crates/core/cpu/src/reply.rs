use crate::cause::{Cause, Exception};
use crate::hart::{Hart, PendingAccess};
use crate::operation::{Class, Operation};
use crate::stop::{CustomInstruction, Stop};
use crate::timing::Timing;
use rackwright_time::Cycles;

/// Bytes of a custom instruction.
const CUSTOM_BYTES: u64 = 4;

/// The caller's answer to a [`Stop`] of a hart.
pub struct Reply<'a, T: Timing> {
    pub(crate) hart: &'a mut Hart<T>,
}

impl<T: Timing> Reply<'_, T> {
    /// Ends the access of [`Stop::Device`]; `value` is the result of a load, in the low bytes.
    ///
    /// # Panics
    /// When no access is waited for.
    pub fn finish_access(&mut self, value: u64) {
        let PendingAccess { instruction, .. } =
            self.hart.pending.access.take().expect("an access is waited for");
        let loaded = match instruction.operation {
            Operation::Lb => value as i8 as u64,
            Operation::Lbu => value as u8 as u64,
            Operation::Lh => value as i16 as u64,
            Operation::Lhu => value as u16 as u64,
            Operation::Lw => value as i32 as u64,
            Operation::Lwu => value as u32 as u64,
            _ => value,
        };
        match instruction.operation {
            Operation::Flw => self.hart.state.f[usize::from(instruction.rd)] = value | 0xffff_ffff << 32,
            Operation::Fld => self.hart.state.f[usize::from(instruction.rd)] = value,
            _ if instruction.class() == Class::Load => self.hart.state.write_register(instruction.rd, loaded),
            _ => {}
        }
        let pc = self.hart.state.pc;
        self.hart.state.pc += u64::from(instruction.length);
        self.hart.counters.retire(1);
        let next = self.hart.cycle() + Cycles::new(1);
        self.hart.advance_to(next);
        self.hart.timing.observe_access(pc, &instruction);
    }

    /// Ends the access of [`Stop::Device`] with an access fault: there is no device at that address. For a program, the
    /// stop is returned.
    ///
    /// # Panics
    /// When no access is waited for.
    pub fn refuse_access(&mut self) -> Option<Stop> {
        let PendingAccess { instruction, address } =
            self.hart.pending.access.take().expect("an access is waited for");
        let cause = access_fault(instruction.class() == Class::Store);
        self.hart.raise(Exception {
            cause,
            value: address,
        })
    }

    /// Ends a [`Stop::Custom`] that no unit answers to: the instruction is illegal. Without an operating system it
    /// traps; otherwise the program cannot continue, and the stop is returned.
    pub fn refuse_command(&mut self, instruction: &CustomInstruction) -> Option<Stop> {
        // The hart is after the instruction, which is never compressed.
        self.hart.state.pc -= CUSTOM_BYTES;
        self.hart.counters.take_back();
        self.hart.raise(Exception::illegal(instruction.word))
    }

    /// Ends [`Stop::RemotePage`]: if the page has `arrived`, the instruction is executed again, otherwise it takes the
    /// page fault that it would have been.
    ///
    /// # Panics
    /// When no page is waited for.
    pub fn end_walk(&mut self, arrived: bool) {
        let exception = self.hart.pending.walk.take().expect("a page is waited for");
        if !arrived {
            self.hart.take_exception(exception);
        }
    }
}

pub(crate) fn access_fault(store: bool) -> Cause {
    if store {
        Cause::StoreAccessFault
    } else {
        Cause::LoadAccessFault
    }
}
