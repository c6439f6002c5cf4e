//! Units in a form other than RTL, which have the same behaviour at their pins, in every cycle, as the RTL.

use crate::{CommandResponse, MemoryRequest, MemoryResponse, Step};
use rackwright_contract::Command;
use rackwright_time::unit::Cycle;
use std::collections::VecDeque;

/// A model of a unit with a command port and memory ports, exact to the cycle and the bit.
pub trait UnitModel: Send + Sync {
    /// Executes one cycle of the unit.
    fn cycle(&mut self, pins: &mut ModelPins);

    /// The value of its `idle` output after that.
    fn is_idle(&self) -> bool;

    /// The sum of an event, by its position in the manifest.
    fn event(&self, index: usize) -> u64;
}

/// The pins of a model: its inputs in a cycle, and its outputs.
///
/// Memory takes a request of each port in every cycle, and the hart each answer.
#[derive(Default)]
pub struct ModelPins {
    cycle: Cycle,
    commands: VecDeque<(Cycle, Command)>,
    accepted: u64,
    last_accept: Cycle,
    /// For each port, answers in the order of (due, arrival).
    answers: Vec<VecDeque<MemoryResponse>>,
    requests: Vec<MemoryRequest>,
    responses: Vec<CommandResponse>,
}

impl ModelPins {
    /// The cycle.
    pub fn cycle(&self) -> Cycle {
        self.cycle
    }

    /// The command that is offered.
    #[inline]
    pub fn command(&self) -> Option<&Command> {
        let (due, command) = self.commands.front()?;
        (*due <= self.cycle).then_some(command)
    }

    /// Takes it.
    pub fn take_command(&mut self) {
        self.commands.pop_front();
        self.accepted += 1;
        self.last_accept = self.cycle;
    }

    /// The answer of memory that is offered at a port, by its number.
    #[inline]
    pub fn answer(&self, port: usize) -> Option<&MemoryResponse> {
        let answer = self.answers.get(port)?.front()?;
        (answer.due <= self.cycle).then_some(answer)
    }

    /// Takes it.
    pub fn take_answer(&mut self, port: usize) {
        self.answers[port].pop_front();
    }

    /// Sends a memory request; ports in their order, in a cycle.
    pub fn ask(&mut self, request: MemoryRequest) {
        self.requests.push(request);
    }

    /// Answers a command.
    pub fn respond(&mut self, rd: u8, data: u64) {
        let cycle = self.cycle;
        self.responses.push(CommandResponse { cycle, rd, data });
    }

    fn next_due(&self) -> Cycle {
        let command = self.commands.front().map(|(due, _)| *due);
        let answers = self
            .answers
            .iter()
            .filter_map(|port| port.front())
            .map(|answer| answer.due);
        answers.chain(command).min().unwrap_or(Cycle::NEVER)
    }
}

/// A call returns early rather than collect more requests than this, as the host of RTL does.
const LONGEST_STEP: usize = 4096;

/// The clock of a model, and its pins.
pub(crate) struct ModelHost {
    model: Box<dyn UnitModel>,
    pins: ModelPins,
    evaluated: u64,
    skips_idle: bool,
}

impl ModelHost {
    pub(crate) fn new(model: Box<dyn UnitModel>) -> ModelHost {
        ModelHost {
            model,
            pins: ModelPins::default(),
            evaluated: 0,
            skips_idle: true,
        }
    }

    /// Whether to stop its clock while it is idle.
    pub(crate) fn skip_idle(&mut self, enabled: bool) {
        self.skips_idle = enabled;
    }

    pub(crate) fn command(&mut self, due: Cycle, command: Command) {
        let commands = &mut self.pins.commands;
        let place = commands.partition_point(|(other, _)| *other <= due);
        commands.insert(place, (due, command));
    }

    pub(crate) fn answer(&mut self, response: &MemoryResponse) {
        let port = usize::from(response.port);
        if port >= self.pins.answers.len() {
            self.pins.answers.resize_with(port + 1, VecDeque::new);
        }
        let answers = &mut self.pins.answers[port];
        // Most are due after all others.
        let place = if answers.back().is_none_or(|last| last.due <= response.due) {
            answers.len()
        } else {
            answers.partition_point(|other| other.due <= response.due)
        };
        answers.insert(place, *response);
    }

    /// Advances as [`crate::Instance::step`] does.
    pub(crate) fn step(&mut self, until: Cycle) -> Step<'_> {
        self.pins.requests.clear();
        self.pins.responses.clear();
        while self.pins.cycle < until
            && self.pins.requests.len() < LONGEST_STEP
            && self.pins.responses.is_empty()
        {
            self.advance(until);
        }
        Step {
            cycle: self.pins.cycle,
            idle: self.model.is_idle() && self.pins.next_due() == Cycle::NEVER,
            commands_accepted: self.pins.accepted,
            last_accept: self.pins.last_accept,
            broken: None,
            command_responses: &self.pins.responses,
            register_answers: &[],
            flits: &[],
            interrupts: &[],
        }
    }

    /// Advances by a cycle, or by all cycles in which nothing happens.
    fn advance(&mut self, until: Cycle) {
        if self.skips_idle && self.rests() {
            self.pins.cycle = self.pins.next_due().min(until);
            return;
        }
        self.model.cycle(&mut self.pins);
        self.pins.cycle.0 += 1;
        self.evaluated += 1;
    }

    /// Whether nothing happens in this cycle.
    fn rests(&self) -> bool {
        self.model.is_idle() && self.pins.next_due() > self.pins.cycle
    }

    pub(crate) fn evaluated(&self) -> u64 {
        self.evaluated
    }

    #[inline]
    pub(crate) fn requests(&self) -> &[MemoryRequest] {
        &self.pins.requests
    }

    pub(crate) fn event(&self, index: usize) -> u64 {
        self.model.event(index)
    }
}
