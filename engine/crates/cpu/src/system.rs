//! Instructions that concern the hart as a whole, traps, and accesses to devices.

use crate::address::Privilege;
use crate::block::Block;
use crate::control::{number, status, NoAccess, TrapRegisters};
use crate::device::DeviceAccess;
use crate::hart::{Environment, Hart, PendingAccess};
use crate::operation::{Class, Operation};
use crate::stop::{CustomCommand, Stop};
use crate::timing::Timing;
use crate::trap::{Cause, Exception, Interrupt};
use crate::Instruction;
use rackwright_time::Cycles;

/// What follows from a system instruction.
enum Outcome {
    /// On to the next instruction.
    Next,
    /// On to the address in the program counter.
    Jump,
    /// On to the next instruction, after a stop.
    Stop(Stop),
    Raise(Exception),
}

impl<T: Timing> Hart<T> {
    /// Executes the only instruction of `block`.
    pub(crate) fn system(&mut self, block: &Block<T::Block>) -> Option<Stop> {
        let at = block.instructions[0];
        let next = at.pc.wrapping_add(at.instruction.length.into());
        self.state.pc = at.pc;
        let outcome = self.outcome(&at.instruction);
        match outcome {
            Outcome::Raise(exception) => {
                self.retire(block, 0, false, at.pc);
                return self.raise(exception);
            }
            Outcome::Jump => {
                let target = self.state.pc;
                self.retire(block, 1, true, target);
            }
            Outcome::Next | Outcome::Stop(_) => {
                self.state.pc = next;
                self.retire(block, 1, false, next);
            }
        }
        if let Outcome::Stop(stop) = outcome {
            return Some(stop);
        }
        // Only now: the block must live until it is retired.
        if at.instruction.operation == Operation::FenceI {
            self.forget_code();
        }
        if self.take_interrupt() {
            self.timing.trap();
        }
        None
    }

    fn outcome(&mut self, instruction: &Instruction) -> Outcome {
        let illegal = Outcome::Raise(Exception::illegal(instruction.word));
        match instruction.operation {
            Operation::Custom => Outcome::Stop(Stop::Custom(self.custom(instruction))),
            Operation::FenceI => Outcome::Next,
            Operation::Ecall => self.environment_call(),
            Operation::Ebreak => Outcome::Raise(Exception {
                cause: Cause::Breakpoint,
                value: self.state.pc,
            }),
            Operation::Mret => self.return_from_machine().map_or(illegal, |()| Outcome::Jump),
            Operation::Sret => self.return_from_supervisor().map_or(illegal, |()| Outcome::Jump),
            Operation::Wfi => self.wait().unwrap_or(illegal),
            Operation::SfenceVma => self.fence_translations().map_or(illegal, |()| Outcome::Next),
            _ if instruction.class() == Class::Control => {
                self.control_access(instruction).map_or(illegal, |()| Outcome::Next)
            }
            _ => illegal,
        }
    }

    fn custom(&self, instruction: &Instruction) -> CustomCommand {
        let word = instruction.word;
        let source = |bit: u32, number| if word >> bit & 1 != 0 { self.register(number) } else { 0 };
        CustomCommand {
            // The four custom opcodes differ in bits 5 and 6.
            opcode: (word >> 5 & 3) as u8,
            funct: (word >> 25) as u8,
            rs1: source(13, instruction.rs1),
            rs2: source(12, instruction.rs2),
            rd: instruction.rd,
            xd: word >> 14 & 1 != 0,
        }
    }

    fn environment_call(&self) -> Outcome {
        if self.environment == Environment::Program {
            return Outcome::Stop(Stop::EnvironmentCall);
        }
        let cause = match self.control.privilege {
            Privilege::User => Cause::CallFromUser,
            Privilege::Supervisor => Cause::CallFromSupervisor,
            Privilege::Machine => Cause::CallFromMachine,
        };
        Outcome::Raise(Exception { cause, value: 0 })
    }

    fn at_least(&self, privilege: Privilege, guard: u64) -> Option<()> {
        let guarded = self.control.privilege == Privilege::Supervisor && self.control.status & guard != 0;
        (self.control.privilege >= privilege && !guarded).then_some(())
    }

    fn return_from_machine(&mut self) -> Option<()> {
        self.at_least(Privilege::Machine, 0)?;
        let control = &mut self.control;
        control.privilege = Privilege::from_bits(control.status >> 11);
        let enable = if control.status & status::MPIE != 0 { status::MIE } else { 0 };
        control.status = control.status & !(status::MIE | status::MPP) | enable | status::MPIE;
        self.state.pc = control.machine.pc;
        self.end_return();
        Some(())
    }

    fn return_from_supervisor(&mut self) -> Option<()> {
        self.at_least(Privilege::Supervisor, status::TSR)?;
        let control = &mut self.control;
        control.privilege = Privilege::from_bits(control.status >> 8 & 1);
        let enable = if control.status & status::SPIE != 0 { status::SIE } else { 0 };
        control.status = control.status & !(status::SIE | status::SPP) | enable | status::SPIE;
        self.state.pc = control.supervisor.pc;
        self.end_return();
        Some(())
    }

    fn end_return(&mut self) {
        if self.control.privilege != Privilege::Machine {
            self.control.status &= !status::MPRV;
        }
        self.refresh_context();
    }

    fn wait(&self) -> Option<Outcome> {
        self.at_least(Privilege::Supervisor, status::TW)?;
        Some(if self.is_interrupted() {
            Outcome::Next
        } else {
            Outcome::Stop(Stop::WaitForInterrupt)
        })
    }

    fn fence_translations(&mut self) -> Option<()> {
        self.at_least(Privilege::Supervisor, status::TVM)?;
        self.state.forget_translations();
        self.new_epoch();
        Some(())
    }

    fn control_access(&mut self, instruction: &Instruction) -> Option<()> {
        let number = instruction.immediate as u16;
        let operand = match instruction.operation {
            Operation::Csrrw | Operation::Csrrs | Operation::Csrrc => self.register(instruction.rs1),
            _ => instruction.rs1.into(),
        };
        let replaces = matches!(instruction.operation, Operation::Csrrw | Operation::Csrrwi);
        let writes = replaces || instruction.rs1 != 0;
        self.control.check(number, writes).ok()?;
        let old = self.read_control(number).ok()?;
        if writes {
            let new = match instruction.operation {
                Operation::Csrrs | Operation::Csrrsi => old | operand,
                Operation::Csrrc | Operation::Csrrci => old & !operand,
                _ => operand,
            };
            self.write_control(number, new).ok()?;
        }
        self.write_register(instruction.rd, old);
        Some(())
    }

    fn read_control(&self, number: u16) -> Result<u64, NoAccess> {
        Ok(match number {
            number::FFLAGS => self.state.fflags.into(),
            number::FRM => self.state.frm.into(),
            number::FCSR => u64::from(self.state.frm) << 5 | u64::from(self.state.fflags),
            number::CYCLE | number::MCYCLE => self.cycle().0.wrapping_add(self.cycle_offset),
            number::INSTRET | number::MINSTRET => self.retired.wrapping_add(self.retired_offset),
            number::TIME => self.cycle().0 / self.cycles_per_tick,
            _ => return self.control.read(number),
        })
    }

    fn write_control(&mut self, number: u16, value: u64) -> Result<(), NoAccess> {
        match number {
            number::FFLAGS => self.state.fflags = value as u8 & 31,
            number::FRM => self.state.frm = value as u8 & 7,
            number::FCSR => {
                self.state.fflags = value as u8 & 31;
                self.state.frm = (value >> 5) as u8 & 7;
            }
            number::MCYCLE => self.cycle_offset = value.wrapping_sub(self.cycle().0),
            // The writing instruction itself is not counted.
            number::MINSTRET => self.retired_offset = value.wrapping_sub(self.retired + 1),
            _ => {
                self.control.write(number, value)?;
                self.refresh_context();
            }
        }
        self.state.refresh_float();
        Ok(())
    }

    /// Takes the trap of `exception`, or stops a program.
    pub(crate) fn raise(&mut self, exception: Exception) -> Option<Stop> {
        if self.environment == Environment::Program {
            return Some(Stop::Fault(exception));
        }
        let cause = exception.cause as u64;
        let delegated = self.control.exception_delegation >> cause & 1 != 0;
        self.enter_trap(cause, exception.value, delegated);
        self.timing.trap();
        None
    }

    /// Takes the pending interrupt of highest priority that is enabled, if any.
    pub(crate) fn take_interrupt(&mut self) -> bool {
        let ready = self.control.pending & self.control.enabled;
        if ready == 0 || self.environment == Environment::Program {
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
            let enabled = if control.status & status::SIE != 0 { status::SPIE } else { 0 };
            let previous = if from == Privilege::Supervisor { status::SPP } else { 0 };
            control.status &= !(status::SIE | status::SPIE | status::SPP);
            control.status |= enabled | previous;
            control.privilege = Privilege::Supervisor;
            &mut control.supervisor
        } else {
            let enabled = if control.status & status::MIE != 0 { status::MPIE } else { 0 };
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
    }

    pub(crate) fn stop_for_device(&mut self, instruction: Instruction, access: DeviceAccess) -> Option<Stop> {
        if self.environment == Environment::Program {
            let cause = access_fault(access.write.is_some());
            let value = self.access_address(&instruction);
            return self.raise(Exception { cause, value });
        }
        let address = self.access_address(&instruction);
        self.pending_access = Some(PendingAccess { instruction, address });
        Some(Stop::Device(access))
    }

    fn access_address(&self, instruction: &Instruction) -> u64 {
        self.register(instruction.rs1)
            .wrapping_add(instruction.immediate as u64)
    }

    /// Ends the access of [`Stop::Device`]; `value` is what a load reads, in the low bytes.
    ///
    /// # Panics
    /// When no access is waited for.
    pub fn finish_access(&mut self, value: u64) {
        let PendingAccess { instruction, .. } = self.pending_access.take().expect("an access is waited for");
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
        self.state.pc += u64::from(instruction.length);
        self.retired += 1;
        let next = self.cycle() + Cycles(1);
        self.advance_to(next);
    }

    /// Ends the access of [`Stop::Device`] with an access fault: there is nothing at that address.
    ///
    /// # Panics
    /// When no access is waited for.
    pub fn refuse_access(&mut self) {
        let PendingAccess { instruction, address } =
            self.pending_access.take().expect("an access is waited for");
        let cause = access_fault(instruction.class() == Class::Store);
        self.raise(Exception { cause, value: address });
    }
}

fn access_fault(store: bool) -> Cause {
    if store {
        Cause::StoreAccessFault
    } else {
        Cause::LoadAccessFault
    }
}
