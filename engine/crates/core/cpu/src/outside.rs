//! A hart as its owner sees it between runs: registers, time, interrupt lines, accesses to devices.

use crate::cause::{Cause, Exception, Interrupt};
use crate::counters::Counters;
use crate::device::DeviceAccess;
use crate::hart::{ExecutionEnvironment, Hart, PendingAccess};
use crate::operation::{Class, Operation};
use crate::stop::{CustomInstruction, Stop};
use crate::timing::Timing;
use crate::Instruction;
use rackwright_contract::{CommandContext, Level};
use rackwright_time::{Cycle, Cycles};

impl<T: Timing> Hart<T> {
    /// The value of integer register `number`, 0 to 31.
    pub fn register(&self, number: u8) -> u64 {
        self.state.x[usize::from(number & 31)]
    }

    /// Sets integer register `number`, 0 to 31; `x0` stays zero.
    pub fn write_register(&mut self, number: u8, value: u64) {
        if number & 31 != 0 {
            self.state.x[usize::from(number & 31)] = value;
        }
    }

    /// Whether it has a vector unit.
    pub fn has_vector(&self) -> bool {
        self.control.offers_vector
    }

    /// Address of the next instruction.
    pub fn pc(&self) -> u64 {
        self.state.pc
    }

    /// Sets the address of the next instruction.
    pub fn set_pc(&mut self, pc: u64) {
        self.state.pc = pc;
    }

    /// The cycle in which the next instruction may start.
    pub fn cycle(&self) -> Cycle {
        self.timing.cycle()
    }

    /// Advances time to `cycle`, for example when a response arrives.
    pub fn advance_to(&mut self, cycle: Cycle) {
        self.timing.advance_to(cycle);
    }

    /// The timing model.
    pub fn timing(&self) -> &T {
        &self.timing
    }

    /// Its counters, and the time that it reads.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The same, to be changed.
    pub fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }

    /// The state that currently determines how the addresses of commands are translated.
    pub fn command_context(&self) -> CommandContext {
        let space = &self.state.space;
        CommandContext {
            satp: space.satp,
            privilege: space.data as u8,
            user_memory: space.user_memory,
            executable_readable: space.executable_readable,
        }
    }

    /// Time at which the supervisor's own timer (Sstc) is raised, until another time is set; `None` if the firmware has
    /// not provided one.
    pub fn supervisor_timer(&self) -> Option<Cycle> {
        let at = self.counters.cycle_of(self.control.timer);
        self.control.has_supervisor_timer().then_some(at)
    }

    /// Other harts may have written since the last run: drops a reservation unless the cache shows that its line has
    /// not been written.
    pub fn check_reservation(&mut self) {
        let Some(reservation) = self.state.reservation else {
            return;
        };
        if !self.timing.holds(reservation.address) {
            self.state.reservation = None;
        }
    }

    /// Number of `fence.i` instructions that it has executed.
    pub fn code_fences(&self) -> u64 {
        self.code_fences
    }

    /// Makes it compare memory before it executes decoded code again.
    pub fn fence_code(&mut self) {
        self.fence_instructions();
    }

    /// A message-signalled interrupt has arrived for a level of privilege; it has no effect without a controller
    /// ([`Feature::Messages`](crate::Feature)), or if the controller does not have the identity.
    pub fn receive(&mut self, level: Level, identity: u32) {
        self.control.receive(level, identity);
    }

    /// Raises or lowers an interrupt line. A controller of message-signalled interrupts has the place of those for
    /// external interrupts, which then have no effect.
    pub fn set_interrupt(&mut self, interrupt: Interrupt, raised: bool) {
        if self.control.imsic.is_some() && interrupt.is_external() {
            return;
        }
        if raised {
            self.control.pending |= interrupt.bit();
        } else {
            self.control.pending &= !interrupt.bit();
        }
    }

    /// Whether an enabled interrupt is pending, so that a wait ends.
    pub fn is_interrupted(&self) -> bool {
        self.control.pending & self.control.enabled != 0
    }

    pub(crate) fn stop_for_device(&mut self, instruction: Instruction, access: DeviceAccess) -> Option<Stop> {
        if self.environment == ExecutionEnvironment::Program && !self.devices.contains(&access.address) {
            let cause = access_fault(access.write.is_some());
            let value = self.access_address(&instruction);
            return self.raise(Exception { cause, value });
        }
        let address = self.access_address(&instruction);
        self.pending.access = Some(PendingAccess { instruction, address });
        Some(Stop::Device(access))
    }

    fn access_address(&self, instruction: &Instruction) -> u64 {
        self.register(instruction.rs1)
            .wrapping_add(instruction.immediate as u64)
    }

    /// Ends the access of [`Stop::Device`]; `value` is the result of a load, in the low bytes.
    ///
    /// # Panics
    /// When no access is waited for.
    pub fn finish_access(&mut self, value: u64) {
        let PendingAccess { instruction, .. } = self.pending.access.take().expect("an access is waited for");
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
            Operation::Flw => self.state.f[usize::from(instruction.rd)] = value | 0xffff_ffff << 32,
            Operation::Fld => self.state.f[usize::from(instruction.rd)] = value,
            _ if instruction.class() == Class::Load => self.write_register(instruction.rd, loaded),
            _ => {}
        }
        let pc = self.state.pc;
        self.state.pc += u64::from(instruction.length);
        self.counters.retire(1);
        let next = self.cycle() + Cycles::new(1);
        self.advance_to(next);
        self.timing.observe_access(pc, &instruction);
    }

    /// Ends the access of [`Stop::Device`] with an access fault: there is no device at that address. For a program, the
    /// stop is returned.
    ///
    /// # Panics
    /// When no access is waited for.
    pub fn refuse_access(&mut self) -> Option<Stop> {
        let PendingAccess { instruction, address } =
            self.pending.access.take().expect("an access is waited for");
        let cause = access_fault(instruction.class() == Class::Store);
        self.raise(Exception {
            cause,
            value: address,
        })
    }
}

impl<T: Timing> Hart<T> {
    /// Ends a [`Stop::Custom`] that no unit answers to: the instruction is illegal. Without an operating system it
    /// traps; otherwise the program cannot continue, and the stop is returned.
    pub fn refuse_command(&mut self, instruction: &CustomInstruction) -> Option<Stop> {
        // The hart is after the instruction, which is never compressed.
        self.state.pc -= CUSTOM_BYTES;
        self.counters.take_back();
        self.raise(Exception::illegal(instruction.word))
    }
}

/// Bytes of a custom instruction.
const CUSTOM_BYTES: u64 = 4;

fn access_fault(store: bool) -> Cause {
    if store {
        Cause::StoreAccessFault
    } else {
        Cause::LoadAccessFault
    }
}
