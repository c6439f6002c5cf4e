//! A hart as its owner sees it between runs: registers, time, interrupt lines, accesses to devices.

use crate::cause::Exception;
use crate::control::Control;
use crate::counters::Counters;
use crate::device::DeviceAccess;
use crate::hart::{ExecutionEnvironment, Hart, PendingAccess};
use crate::reply::{access_fault, Reply};
use crate::sharing::Sharing;
use crate::state::State;
use crate::stop::Stop;
use crate::thread::Thread;
use crate::timing::Timing;
use crate::Instruction;
use rackwright_contract::CommandContext;
use rackwright_time::Cycle;

impl<T: Timing> Hart<T> {
    /// The cycle in which the next instruction may start.
    pub fn cycle(&self) -> Cycle {
        self.timing.cycle()
    }

    /// Advances time to `cycle`, for example when a response arrives.
    pub fn advance_to(&mut self, cycle: Cycle) {
        self.timing.advance_to(cycle);
    }

    /// What instructions use.
    #[inline]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The same, to be changed.
    #[inline]
    pub fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// Control registers and interrupts.
    #[inline]
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The same, to be changed.
    #[inline]
    pub fn control_mut(&mut self) -> &mut Control {
        &mut self.control
    }

    /// The answer to its last [`Stop`].
    #[inline]
    pub fn reply(&mut self) -> Reply<'_, T> {
        Reply { hart: self }
    }

    /// The thread that it runs, for a system that moves threads.
    pub fn thread(&mut self) -> Thread<'_, T> {
        Thread { hart: self }
    }

    /// What it has in common with other harts.
    #[inline]
    pub fn sharing(&mut self) -> Sharing<'_, T> {
        Sharing { hart: self }
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
        self.state
            .register(instruction.rs1)
            .wrapping_add(instruction.immediate as u64)
    }
}
