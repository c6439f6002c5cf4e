use crate::error::ServerError;
use crate::machine::Machine;
use crate::server::{Observed, Progress, Run};
use rackwright_cpu::{Stop, Timing};
use rackwright_linux::{Arguments, CallOutcome, Environment, Process};
use rackwright_stats::Digest;
use rackwright_time::Cycle;

// Numbers of integer registers by the calling convention.
const STACK_POINTER: u8 = 2;
const FIRST_ARGUMENT: u8 = 10;
const CALL_NUMBER: u8 = 17;

/// A static Linux program on a machine.
pub(crate) struct ProgramRun<T: Timing> {
    machine: Machine<T>,
    process: Process,
    exit: Option<i32>,
}

impl<T: Timing> ProgramRun<T> {
    pub(crate) fn start(
        mut machine: Machine<T>,
        file: &[u8],
        arguments: &Arguments,
        environment: Environment<'_>,
    ) -> Result<ProgramRun<T>, ServerError> {
        let process = Process::load(file, &mut machine.memory, arguments, environment)?;
        machine.hart.set_pc(process.entry());
        machine
            .hart
            .write_register(STACK_POINTER, process.stack_pointer());
        Ok(ProgramRun {
            machine,
            process,
            exit: None,
        })
    }

    fn environment_call(&mut self) {
        let hart = &mut self.machine.hart;
        let arguments = std::array::from_fn(|index| hart.register(FIRST_ARGUMENT + index as u8));
        let number = hart.register(CALL_NUMBER);
        let now = hart.cycle();
        match self
            .process
            .call(number, arguments, &mut self.machine.memory, now)
        {
            CallOutcome::Return(value) => hart.write_register(FIRST_ARGUMENT, value),
            CallOutcome::Sleep(until) => {
                hart.write_register(FIRST_ARGUMENT, 0);
                self.machine.advance_to(until);
            }
            CallOutcome::Exit(status) => self.exit = Some(status),
        }
    }
}

impl<T: Timing + Send> Run for ProgramRun<T>
where
    T::Block: Send + Sync,
{
    fn run(&mut self, limit: Cycle) -> Result<Progress, ServerError> {
        loop {
            if let Some(status) = self.exit {
                return Ok(Progress::Exited(status));
            }
            match self.machine.run(limit)? {
                Stop::EnvironmentCall => self.environment_call(),
                Stop::Budget => return Ok(Progress::Running),
                Stop::Fault(exception) => {
                    return Err(ServerError::Fault {
                        pc: self.machine.hart.pc(),
                        exception,
                        unknown_calls: self.process.unknown_calls().to_vec(),
                    });
                }
                other => unreachable!("a program cannot stop with {other:?}"),
            }
        }
    }

    fn machine(&self) -> &dyn Observed {
        &self.machine
    }

    fn output(&self) -> Vec<u8> {
        self.process.output()
    }

    fn error_output(&self) -> Vec<u8> {
        self.process.error_output()
    }

    fn digest(&self, digest: &mut Digest) {
        self.machine.digest(digest);
        digest.bytes(&self.process.consumed_input());
        digest.bytes(&self.process.output());
        digest.number(self.exit.map_or(u64::MAX, |status| status as u64));
    }
}
