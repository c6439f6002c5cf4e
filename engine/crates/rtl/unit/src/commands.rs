use crate::digest::PinDigest;
use crate::error::UnitError;
use crate::pins::Pins;
use crate::wait::Asked;
use rackwright_contract::{Command, CommandContext};
use rackwright_memory::Path;
use rackwright_rtl::{CommandResponse, Step};
use rackwright_state::{Pass, State, StateError};
use rackwright_time::{unit, Cycle};
use std::collections::VecDeque;

/// Until the last request that was translated before a fence has left: it may be in a queue of two.
const FORGETTING: unit::Cycles = unit::Cycles::new(4);

/// The pending transfers between harts and the command port of a unit.
pub(crate) struct CommandPort {
    pub(crate) path: Path,
    /// The context of the previous commands; none for a unit that does not translate.
    context: Option<CommandContext>,
    /// Whether to flush translations before the next command.
    fenced: bool,
    sent: u64,
    accepted: u64,
    last_accept: unit::Cycle,
    responses: VecDeque<CommandResponse>,
}

impl CommandPort {
    /// That of a unit which commands reach by `path`, and which may translate addresses.
    pub(crate) fn new(path: Path, is_translated: bool) -> CommandPort {
        CommandPort {
            path,
            context: is_translated.then(CommandContext::default),
            fenced: false,
            sent: 0,
            accepted: 0,
            last_accept: unit::Cycle::ZERO,
            responses: VecDeque::new(),
        }
    }

    /// Whether commands come with a context for the translation of their addresses.
    pub(crate) fn is_translated(&self) -> bool {
        self.context.is_some()
    }

    /// Commands sent that the unit has not yet taken.
    pub(crate) fn waiting(&self) -> u64 {
        self.sent - self.accepted
    }

    /// The unit's cycle in which it took its latest command.
    pub(crate) fn last_accept(&self) -> unit::Cycle {
        self.last_accept
    }

    /// Takes the outputs of a step; returns whether there were any.
    pub(crate) fn take(&mut self, step: &Step<'_>, digest: &mut PinDigest) -> bool {
        let moved = !step.command_responses.is_empty() || self.accepted != step.commands_accepted;
        self.accepted = step.commands_accepted;
        self.last_accept = step.last_accept;
        self.responses.extend(step.command_responses);
        for response in step.command_responses {
            digest.response(response);
        }
        moved
    }
}

impl State for CommandPort {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.context.pass(by)?;
        self.fenced.pass(by)?;
        self.sent.pass(by)?;
        self.accepted.pass(by)?;
        self.last_accept.pass(by)?;
        by.queue(&mut self.responses, || CommandResponse {
            cycle: unit::Cycle::ZERO,
            rd: 0,
            data: 0,
        })
    }
}

/// The command port of a unit, in use.
pub struct Commands<'a> {
    pub(crate) port: &'a mut CommandPort,
    pub(crate) pins: &'a mut Pins,
}

impl Commands<'_> {
    /// Sends a command that leaves the hart at `at`; returns the unit's cycle of its arrival.
    pub fn send(&mut self, at: Cycle, command: Command) -> unit::Cycle {
        let Commands { port, pins } = self;
        pins.record.digest.command(at, &command);
        let arrival = pins.clock.seen_by_unit(at + port.path.request);
        if std::mem::take(&mut port.fenced) {
            pins.instance.fence(arrival);
        }
        pins.instance.command(arrival, command);
        port.sent += 1;
        pins.record.asked = Some((at, Asked::Command(command)));
        pins.activity.disturb();
        arrival
    }

    /// Refuses a unit that translates no addresses.
    ///
    /// # Errors
    /// [`UnitError::Untranslated`] for such a one.
    pub fn require_translation(&self) -> Result<(), UnitError> {
        match self.port.context {
            Some(_) => Ok(()),
            None => Err(UnitError::Untranslated {
                unit: self.pins.design().manifest.unit.clone(),
            }),
        }
    }

    /// Sets the context of later commands, if the unit translates addresses.
    pub fn set_context(&mut self, context: CommandContext) {
        if self.port.context.is_none_or(|known| known == context) {
            return;
        }
        self.port.context = Some(context);
        self.pins.record.digest.context(&context);
        self.pins.instance.context(&context);
    }

    /// Has a unit that is idle forget translations before the next command that reaches it.
    pub(crate) fn fence_next(&mut self) {
        self.port.fenced = true;
    }

    /// Flushes the unit's translations, for a fence of a hart at `at`; returns the unit's cycle in which they are
    /// flushed.
    pub(crate) fn fence(&mut self, at: Cycle) -> unit::Cycle {
        let Pins {
            instance,
            clock,
            record,
            ..
        } = &mut *self.pins;
        record.digest.fence(at);
        let arrival = clock.seen_by_unit(at + self.port.path.request);
        instance.fence(arrival);
        arrival + FORGETTING
    }

    /// The next register value, and the hart's cycle in which it reaches it.
    pub fn take_response(&mut self) -> Option<(CommandResponse, Cycle)> {
        let response = self.port.responses.pop_front()?;
        let at = self.pins.clock.seen_by_hart(response.cycle) + self.port.path.response;
        Some((response, at))
    }

    /// The unit's cycle in which it sent the first register value that has not been taken yet.
    pub fn responded(&self) -> Option<unit::Cycle> {
        self.port.responses.front().map(|response| response.cycle)
    }
}
