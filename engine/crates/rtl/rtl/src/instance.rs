use crate::compiled::CompiledHost;
use crate::design::Form;
use crate::interface::{
    InterruptChange, MemoryRequest, MemoryResponse, RegisterAccess, RegisterAnswer, StreamFlit,
};
use crate::model::ModelHost;
use crate::{Design, RtlError};
use rackwright_contract::{Command, CommandContext};
use rackwright_state::{state, Pass, State, StateError};
use rackwright_time::unit::Cycle;
use std::path::Path;

/// The registers of the hart as a unit sees them; addresses as in `host/translated.h`.
mod hart_register {
    pub(super) const SATP: u32 = 0;
    pub(super) const MODE: u32 = 8;
    pub(super) const FENCE: u32 = 16;
}

/// The value that a unit returns for the destination register of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandResponse {
    /// When it left the unit.
    pub cycle: Cycle,
    /// Number of the register.
    pub rd: u8,
    /// The value.
    pub data: u64,
}

/// The host's number for a clock that runs while `idle` is checked.
const CHECK_IDLE: u32 = 2;

/// The reason why a unit has stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Broken {
    /// In this cycle, it was active although its `idle` output was high; reported only if this is checked.
    Idle(Cycle),
    /// In this cycle, one of its assertions failed, or it ended the simulation in another way; with its message.
    Stopped(Cycle, String),
}

/// The activity of a unit during one [`Instance::step`].
pub struct Step<'a> {
    /// The first cycle not yet simulated.
    pub cycle: Cycle,
    /// The unit is inactive until a command, a response or a register access arrives.
    pub idle: bool,
    /// Commands taken since the start.
    pub commands_accepted: u64,
    /// When the last of them was taken.
    pub last_accept: Cycle,
    /// The reason why it has stopped, if it has.
    pub broken: Option<Broken>,
    /// Values for registers, in order.
    pub command_responses: &'a [CommandResponse],
    /// Answers to register accesses, in order.
    pub register_answers: &'a [RegisterAnswer],
    /// The flits that left through the stream ports, ordered by (cycle, port).
    pub flits: &'a [StreamFlit],
    /// Changes of the interrupt line, in order.
    pub interrupts: &'a [InterruptChange],
}

/// One simulated copy of a unit, with its own state and clock.
pub struct Instance {
    design: Design,
    host: Host,
    cycle: Cycle,
    checks_idle: bool,
}

/// What simulates it.
enum Host {
    Compiled(CompiledHost),
    Model(Box<ModelHost>),
}

impl Instance {
    /// A copy of `design` that has just left reset, at cycle 0.
    ///
    /// With `waves`, its signals go to that FST file; the design must have been built with waves.
    ///
    /// # Errors
    /// [`RtlError::Text`] for a path or an argument with a zero byte, [`RtlError::Memory`] if memory is exhausted,
    /// [`RtlError::Stopped`] if the unit does not complete its reset.
    pub fn new(design: &Design, waves: Option<&Path>) -> Result<Instance, RtlError> {
        let host = match &design.form {
            Form::Compiled { functions, .. } => Host::Compiled(CompiledHost::new(design, functions, waves)?),
            Form::Model(make) => Host::Model(Box::new(ModelHost::new(make()))),
        };
        let mut instance = Instance {
            design: design.clone(),
            host,
            cycle: Cycle::ZERO,
            checks_idle: false,
        };
        match instance.step(Cycle::ZERO).broken {
            None => Ok(instance),
            Some(Broken::Idle(cycle)) => Err(instance.stopped(cycle, "it was not idle".into())),
            Some(Broken::Stopped(cycle, reason)) => Err(instance.stopped(cycle, reason)),
        }
    }

    fn stopped(&self, cycle: Cycle, reason: String) -> RtlError {
        RtlError::Stopped {
            unit: self.design.manifest.unit.clone(),
            cycle,
            reason,
        }
    }

    /// The design that this is a copy of.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// The first cycle not yet simulated.
    pub fn cycle(&self) -> Cycle {
        self.cycle
    }

    /// Evaluated cycles, without those skipped while the unit was idle.
    pub fn evaluated_cycles(&self) -> u64 {
        match &self.host {
            Host::Compiled(host) => host.evaluated(),
            Host::Model(host) => host.evaluated(),
        }
    }

    /// Whether to stop the clock of the unit while it is idle (on at the start).
    pub fn skip_idle(&mut self, enabled: bool) {
        match &mut self.host {
            Host::Compiled(host) => host.clocking(u32::from(enabled)),
            Host::Model(host) => host.skip_idle(enabled),
        }
    }

    /// Clocks the unit in every cycle, and checks that it is inactive while its `idle` output is high; [`Step::broken`]
    /// has the result. A model is clocked, and believed.
    pub fn check_idle(&mut self) {
        self.checks_idle = true;
        match &mut self.host {
            Host::Compiled(host) => host.clocking(CHECK_IDLE),
            Host::Model(host) => host.skip_idle(false),
        }
    }

    /// Whether it is checked that it is inactive while its `idle` output is high.
    pub fn checks_idle(&self) -> bool {
        self.checks_idle
    }

    /// Offers a command to the unit from cycle `due` on, after earlier commands.
    pub fn command(&mut self, due: Cycle, command: Command) {
        match &mut self.host {
            Host::Compiled(host) => host.command(due, command),
            Host::Model(host) => host.command(due, command),
        }
    }

    /// Offers a register access to the unit.
    pub fn register_access(&mut self, access: RegisterAccess) {
        match &mut self.host {
            Host::Compiled(host) => host.register_access(&access),
            Host::Model(_) => unreachable!("a model has no registers"),
        }
    }

    /// Sets the context of later commands, for units that translate addresses.
    pub fn context(&mut self, context: &CommandContext) {
        let flags = u64::from(context.user_memory) | u64::from(context.executable_readable) << 1;
        self.tell(0, hart_register::SATP, context.satp);
        self.tell(0, hart_register::MODE, u64::from(context.privilege) | flags << 2);
    }

    /// Has a unit that translates addresses forget translations in cycle `due`.
    pub fn fence(&mut self, due: Cycle) {
        self.tell(due.0, hart_register::FENCE, 0);
    }

    fn tell(&mut self, due: u64, address: u32, data: u64) {
        debug_assert!(self.design.manifest.is_translated());
        self.register_access(RegisterAccess {
            due,
            data,
            address,
            write: 1,
        });
    }

    /// Offers a flit to the stream port of its number, after earlier flits.
    pub fn flit(&mut self, flit: StreamFlit) {
        debug_assert!(flit.cycle >= self.cycle.0, "a flit came too late");
        match &mut self.host {
            Host::Compiled(host) => host.flit(&flit),
            Host::Model(_) => unreachable!("a model has no streams"),
        }
    }

    /// The memory requests of the last step, ordered by (cycle, port).
    #[inline]
    pub fn requests(&self) -> &[MemoryRequest] {
        match &self.host {
            Host::Compiled(host) => host.requests(),
            Host::Model(host) => host.requests(),
        }
    }

    /// Answers a request.
    pub fn respond(&mut self, response: &MemoryResponse) {
        debug_assert!(response.due >= self.cycle, "an answer came too late");
        match &mut self.host {
            Host::Compiled(host) => host.respond(response),
            Host::Model(host) => host.answer(response),
        }
    }

    /// Simulates up to cycle `until` (exclusive), or fewer cycles when the buffers are full, or when the
    /// unit has answered a command or a register access.
    pub fn step(&mut self, until: Cycle) -> Step<'_> {
        let step = match &mut self.host {
            Host::Compiled(host) => host.step(until),
            Host::Model(host) => host.step(until),
        };
        self.cycle = step.cycle;
        step
    }

    /// Whether to record the inputs of every evaluated cycle for [`Instance::replay`] (initially off); inputs of a
    /// model are not recorded.
    pub fn record(&mut self, enabled: bool) {
        if let Host::Compiled(host) = &mut self.host {
            host.record(enabled);
        }
    }

    /// Cycles recorded so far.
    pub fn recorded_cycles(&self) -> u64 {
        match &self.host {
            Host::Compiled(host) => host.recorded(),
            Host::Model(_) => 0,
        }
    }

    /// Replays the recorded inputs, cycle by cycle, on a new instance of the design in a bare Verilator loop: the
    /// baseline for the overhead of the engine.
    pub fn replay(&self) {
        if let Host::Compiled(host) = &self.host {
            host.replay();
        }
    }

    /// The sum of an event over all cycles; `index` is its place among the manifest's events.
    pub fn event(&self, index: usize) -> u64 {
        assert!(
            index < self.design.manifest.events().count(),
            "the unit has no event {index}"
        );
        match &self.host {
            Host::Compiled(host) => host.event(index),
            Host::Model(host) => host.event(index),
        }
    }
}

/// The state between two steps. Requests of the last step are not in it: they have been processed.
impl State for Instance {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let Host::Compiled(host) = &mut self.host else {
            return Err(self.unsaved("it is a model"));
        };
        let mut evaluated = host.evaluated();
        let mut state = Vec::new();
        if !by.restores() {
            state = match host.save() {
                Some(state) => state,
                None => return Err(self.unsaved("it was not compiled for checkpoints")),
            };
        }
        self.cycle.pass(by)?;
        evaluated.pass(by)?;
        state.pass(by)?;
        if by.restores() && !host.restore(&state, evaluated) {
            return Err(StateError::Damaged);
        }
        Ok(())
    }
}

impl Instance {
    fn unsaved(&self, reason: &str) -> StateError {
        let unit = &self.design.manifest.unit;
        StateError::Unsaved(format!("the state of unit `{unit}` cannot be saved: {reason}"))
    }
}

state!(CommandResponse { cycle, rd, data });
