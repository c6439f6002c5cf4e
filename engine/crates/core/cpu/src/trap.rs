//! Taking traps: exceptions and interrupts, delegated or not (privileged manual 20211203, section 3.1.6).

use crate::address::Privilege;
use crate::cause::{Cause, Exception, Fault, Interrupt};
use crate::control::{status, TrapRegisters};
use crate::hart::{ExecutionEnvironment, Hart};
use crate::stop::Stop;
use crate::timing::Timing;
use crate::view::Trap;
use rackwright_time::Cycle;

impl<T: Timing> Hart<T> {
    /// Takes the trap of `exception`, or stops a program.
    pub(crate) fn raise(&mut self, exception: Exception) -> Option<Stop> {
        if self.environment == ExecutionEnvironment::Program {
            return Some(Stop::Fault(exception));
        }
        if let Some(place) = self.remote_page(&exception) {
            self.pending.walk = Some(exception);
            return Some(Stop::RemotePage(place));
        }
        self.take_exception(exception);
        None
    }

    pub(crate) fn take_exception(&mut self, exception: Exception) {
        let cause = exception.cause as u64;
        let delegated = self.control.exception_delegation >> cause & 1 != 0;
        if exception.cause.is_page_fault() {
            self.note_fault(Fault::Taken);
        }
        self.enter_trap(cause, exception.value, delegated);
        self.timing.trap();
    }

    /// The address of the entry of a remote page that `exception` is about, if such pages are requested. Those of
    /// instructions are left to software, which has to execute fences for them.
    fn remote_page(&self, exception: &Exception) -> Option<u64> {
        let asks = self.state.asks_for_remote_pages
            && matches!(exception.cause, Cause::LoadPageFault | Cause::StorePageFault);
        if !asks {
            return None;
        }
        // SAFETY: `begin` set the pointer to the memory that `run` borrows, which nothing else uses here.
        let memory = unsafe { &*self.state.memory };
        self.state.space.remote_entry(memory, exception.value)
    }

    /// Faults since the last call.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        self.faults.as_mut().map(std::mem::take).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn note_fault(&mut self, fault: fn(Cycle) -> Fault) {
        let cycle = self.timing.cycle();
        if let Some(faults) = &mut self.faults {
            faults.push(fault(cycle));
        }
    }

    /// Takes the pending interrupt of highest priority that is enabled, if any.
    pub(crate) fn take_interrupt(&mut self) -> bool {
        let ready = self.control.pending & self.control.enabled;
        if ready == 0 || self.environment == ExecutionEnvironment::Program {
            return false;
        }
        let control = &self.control;
        let delegated = ready & control.interrupt_delegation;
        let machine = control.privilege < Privilege::Machine || control.status & status::MIE != 0;
        let supervisor = control.privilege < Privilege::Supervisor
            || control.privilege == Privilege::Supervisor && control.status & status::SIE != 0;
        let open = if machine { ready & !delegated } else { 0 } | if supervisor { delegated } else { 0 };
        let chosen = Interrupt::BY_PRIORITY
            .into_iter()
            .find(|interrupt| open & interrupt.bit() != 0);
        let Some(interrupt) = chosen else { return false };
        let to_supervisor = delegated & interrupt.bit() != 0;
        self.enter_trap(1 << 63 | interrupt as u64, 0, to_supervisor);
        true
    }

    fn enter_trap(&mut self, cause: u64, value: u64, delegated: bool) {
        let pc = self.state.pc;
        let control = &mut self.control;
        let from = control.privilege;
        let registers = if delegated && from <= Privilege::Supervisor {
            let enabled = if control.status & status::SIE != 0 {
                status::SPIE
            } else {
                0
            };
            let previous = if from == Privilege::Supervisor {
                status::SPP
            } else {
                0
            };
            control.status &= !(status::SIE | status::SPIE | status::SPP);
            control.status |= enabled | previous;
            control.privilege = Privilege::Supervisor;
            &mut control.supervisor
        } else {
            let enabled = if control.status & status::MIE != 0 {
                status::MPIE
            } else {
                0
            };
            control.status &= !(status::MIE | status::MPIE | status::MPP);
            control.status |= enabled | (from as u64) << 11;
            control.privilege = Privilege::Machine;
            &mut control.machine
        };
        *registers = TrapRegisters {
            pc,
            cause,
            value,
            ..*registers
        };
        let vectored = registers.vector & 1 != 0 && cause >> 63 != 0;
        let offset = if vectored { 4 * (cause & 63) } else { 0 };
        self.state.pc = (registers.vector & !3) + offset;
        self.refresh_context();
        let trap = Trap {
            cause,
            pc,
            target: self.state.pc,
            from,
            to: self.control.privilege,
            stack_pointer: self.state.x[2],
        };
        self.timing.observe_trap(&trap);
    }
}
