//! Instructions that concern the whole hart.

use crate::address::Privilege;
use crate::block::Block;
use crate::cause::{Cause, Exception, Fault};
use crate::control::{number, status, NoAccess};
use crate::hart::{ExecutionEnvironment, Hart};
use crate::operation::{Class, Operation};
use crate::stop::{CustomInstruction, Stop};
use crate::timing::Timing;
use crate::translations::Fenced;
use crate::Instruction;
use rackwright_contract::Command;

/// The effect of a system instruction.
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
        let at = block.code.instructions[0];
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
            self.code_fences += 1;
            self.fence_instructions();
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
            // Invalidation takes effect immediately, so that no ordering is needed (Svinval).
            Operation::SfenceWInval | Operation::SfenceInvalIr => self
                .at_least(Privilege::Supervisor, 0)
                .map_or(illegal, |()| Outcome::Next),
            Operation::SfenceVma | Operation::SinvalVma => self
                .fence_translations(instruction)
                .map_or(illegal, |()| self.after_fence()),
            _ if instruction.class() == Class::Control => self
                .control_access(instruction)
                .map_or(illegal, |()| self.after_control(instruction)),
            _ => illegal,
        }
    }

    fn custom(&self, instruction: &Instruction) -> CustomInstruction {
        let word = instruction.word;
        let source = |bit: u32, number| {
            if word >> bit & 1 != 0 {
                self.state().register(number)
            } else {
                0
            }
        };
        let command = Command {
            // The four custom opcodes differ in bits 5 and 6.
            opcode: (word >> 5 & 3) as u8,
            funct: (word >> 25) as u8,
            rs1: source(13, instruction.rs1),
            rs2: source(12, instruction.rs2),
            rd: instruction.rd,
            xd: word >> 14 & 1 != 0,
        };
        CustomInstruction { word, command }
    }

    fn environment_call(&self) -> Outcome {
        if self.environment == ExecutionEnvironment::Program {
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
        let enable = if control.status & status::MPIE != 0 {
            status::MIE
        } else {
            0
        };
        control.status = control.status & !(status::MIE | status::MPP) | enable | status::MPIE;
        self.state.pc = control.machine.pc;
        self.end_return();
        Some(())
    }

    fn return_from_supervisor(&mut self) -> Option<()> {
        self.at_least(Privilege::Supervisor, status::TSR)?;
        self.note_fault(Fault::Left);
        let control = &mut self.control;
        control.privilege = Privilege::from_bits(control.status >> 8 & 1);
        let enable = if control.status & status::SPIE != 0 {
            status::SIE
        } else {
            0
        };
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
        Some(if self.control().is_interrupted() {
            Outcome::Next
        } else {
            Outcome::Stop(Stop::WaitForInterrupt)
        })
    }

    fn fence_translations(&mut self, instruction: &Instruction) -> Option<()> {
        self.at_least(Privilege::Supervisor, status::TVM)?;
        let named = |number| (number != 0).then(|| self.state().register(number));
        let fenced = Fenced {
            address: named(instruction.rs1),
            address_space: named(instruction.rs2).map(|number| number & 0xffff),
        };
        self.kept.contexts.fence(fenced);
        self.renew_context();
        Some(())
    }

    /// Units keep translations too.
    fn after_fence(&self) -> Outcome {
        if self.control.offers.custom {
            Outcome::Stop(Stop::TranslationsFenced)
        } else {
            Outcome::Next
        }
    }

    fn control_access(&mut self, instruction: &Instruction) -> Option<()> {
        let number = instruction.immediate as u16;
        let operand = match instruction.operation {
            Operation::Csrrw | Operation::Csrrs | Operation::Csrrc => self.state().register(instruction.rs1),
            _ => instruction.rs1.into(),
        };
        let replaces = matches!(instruction.operation, Operation::Csrrw | Operation::Csrrwi);
        let writes = replaces || instruction.rs1 != 0;
        self.control.check(number, writes).ok()?;
        let old = self.read_control(number).ok()?;
        if writes {
            let kept = if number == number::MIP {
                self.control.without_signal(old)
            } else {
                old
            };
            let new = match instruction.operation {
                Operation::Csrrs | Operation::Csrrsi => kept | operand,
                Operation::Csrrc | Operation::Csrrci => kept & !operand,
                _ => operand,
            };
            self.write_control(number, new).ok()?;
        }
        self.state_mut().write_register(instruction.rd, old);
        Some(())
    }

    /// The caller must know when the hart is to be interrupted.
    fn after_control(&self, instruction: &Instruction) -> Outcome {
        match instruction.immediate as u16 {
            number::STIMECMP | number::MENVCFG if self.control.offers.timer => Outcome::Stop(Stop::TimerSet),
            _ => Outcome::Next,
        }
    }

    fn read_control(&mut self, number: u16) -> Result<u64, NoAccess> {
        Ok(match number {
            number::FFLAGS => self.state.float.flags.into(),
            number::FRM => self.state.float.mode.into(),
            number::FCSR => u64::from(self.state.float.mode) << 5 | u64::from(self.state.float.flags),
            number if number::is_vector(number) => self.state.vector.read(number),
            number::CYCLE | number::MCYCLE => self.counters.cycles(self.timing.cycle()),
            number::INSTRET | number::MINSTRET => self.counters.counted(),
            number::TIME => self.counters.read_time(self.timing.cycle()),
            _ => match self.state.regions.read(number) {
                Some(value) => value,
                None => return self.control.read(number),
            },
        })
    }

    fn write_control(&mut self, number: u16, value: u64) -> Result<(), NoAccess> {
        match number {
            number::FFLAGS => self.state.float.flags = value as u8 & 31,
            number::FRM => self.state.float.mode = value as u8 & 7,
            number::FCSR => {
                self.state.float.flags = value as u8 & 31;
                self.state.float.mode = (value >> 5) as u8 & 7;
            }
            number if number::is_vector(number) => self.state.vector.write(number, value),
            number::MCYCLE => self.counters.set_cycles(self.timing.cycle(), value),
            number::MINSTRET => self.counters.set_counted(value),
            _ if self.state.regions.write(number, value) => self.refresh_regions(),
            _ => {
                self.control.write(number, value)?;
                self.refresh_context();
            }
        }
        self.state.float.refresh();
        Ok(())
    }
}
