use crate::linked::Linked;
use crate::ServerError;
use rackwright_contract::Command;
use rackwright_ethernet::Rate;
use rackwright_memory::Hierarchy;
use rackwright_rtl::{Attach, CommandResponse, Design};
use rackwright_time::{hart, network, unit, Clock};
use rackwright_unit::AttachedUnit;
use std::collections::VecDeque;

/// Numbers of the commands of the hart itself and of its time base.
const WALK: u8 = 0;
const TICK: u8 = 7;
/// The type of the messages of memory blades, in an Ethernet header.
const TYPE: (usize, [u8; 2]) = (12, [0x88, 0xb5]);
/// The byte of a message with the highest bits of its tag, and the bit that distinguishes the unit's messages from
/// those of software, which go through the NIC.
const OWN_TAG: (usize, u8) = (19, 0x80);

/// A page-fault unit in RTL beside the harts and the NIC. All cycles except those of harts are the link's.
///
/// It answers one hart at a time. Requests of other harts meanwhile wait in front of it, in order. Its contract is
/// `hardware/src/main/scala/rackwright/pagefault/README.md`.
pub(crate) struct Pager {
    pub(crate) linked: Linked,
    /// The hart that waits for a response.
    waiter: Option<usize>,
    /// Commands that wait until this hart has the response: with their harts and times.
    behind: VecDeque<(usize, hart::Cycle, Command)>,
    /// Time of the last command.
    given: hart::Cycle,
    /// The unit's cycle in which the awaited command arrived.
    asked: unit::Cycle,
    opcode: u8,
}

impl Pager {
    /// A unit that has just left reset, on a link with this clock and rate.
    ///
    /// # Errors
    /// [`ServerError`] when the design is no page-fault unit.
    pub(crate) fn new(
        design: &Design,
        hierarchy: &mut Hierarchy,
        (link, rate): (Clock, Rate),
        skip_idle: bool,
    ) -> Result<Pager, ServerError> {
        let linked = Linked::new(design, Attach::Walk, hierarchy, link, rate, skip_idle)?;
        let opcode = design.manifest.opcodes().first().copied().unwrap_or_default();
        Ok(Pager {
            linked,
            waiter: None,
            behind: VecDeque::new(),
            given: hart::Cycle::ZERO,
            asked: unit::Cycle::ZERO,
            opcode,
        })
    }

    /// Its name.
    pub(crate) fn unit(&self) -> &str {
        self.linked.unit.observation().name()
    }

    /// The custom opcode that it answers to.
    pub(crate) fn opcode(&self) -> u8 {
        self.opcode
    }

    /// Whether an arriving frame is for this unit instead of the NIC.
    pub(crate) fn is_for(frame: &[u8]) -> bool {
        let (at, kind) = TYPE;
        let (byte, bit) = OWN_TAG;
        frame.len() > byte && frame[at..at + 2] == kind && frame[byte] & bit != 0
    }

    /// A command of the program, which leaves the hart in its cycle `at`.
    pub(crate) fn command(&mut self, hart: usize, at: hart::Cycle, command: &Command) {
        let operands = [command.rs1, command.rs2];
        self.ask(
            hart,
            at,
            self.formed(command.funct, operands, command.rd, command.xd),
        );
    }

    /// A hart's page walk has found the entry of a remote page at `place`.
    pub(crate) fn walk(&mut self, hart: usize, at: hart::Cycle, place: u64) {
        self.ask(hart, at, self.formed(WALK, [place, 0], 0, true));
    }

    /// A hart has found the entry of a remote page at `place`, and does not wait for the page.
    pub(crate) fn prefetch(&mut self, hart: usize, at: hart::Cycle, place: u64) {
        self.ask(hart, at, self.formed(WALK, [place, 0], 0, false));
    }

    /// Sends a tick to the unit.
    pub(crate) fn tick(&mut self, at: hart::Cycle) {
        self.give(at, self.formed(TICK, [0, 0], 0, false));
    }

    fn formed(&self, funct: u8, [rs1, rs2]: [u64; 2], rd: u8, xd: bool) -> Command {
        let opcode = self.opcode;
        Command {
            opcode,
            funct,
            rs1,
            rs2,
            rd,
            xd,
        }
    }

    /// Sends a command, if no hart waits for a response.
    fn ask(&mut self, hart: usize, at: hart::Cycle, command: Command) {
        if self.waiter.is_some() {
            self.behind.push_back((hart, at, command));
            return;
        }
        let awaited = command.xd;
        self.waiter = awaited.then_some(hart);
        let there = self.give(at, command);
        if awaited {
            self.asked = there;
        }
    }

    fn give(&mut self, at: hart::Cycle, command: Command) -> unit::Cycle {
        // Harts have their turns one after the other.
        self.given = self.given.max(at);
        self.linked.disturb();
        self.linked.unit.commands().send(self.given, command)
    }

    /// The cycles in which the awaited command arrived, and in which its response left.
    pub(crate) fn span(&mut self) -> (network::Cycle, network::Cycle) {
        let served = self.linked.unit.commands().responded().unwrap_or(self.asked);
        (
            self.linked.width.outside(self.asked),
            self.linked.width.outside(served),
        )
    }

    /// The response that a hart waits for, and the harts' cycle of its arrival.
    pub(crate) fn take_answer(&mut self) -> Option<(usize, CommandResponse, hart::Cycle)> {
        let (answer, comes) = self.linked.unit.commands().take_response()?;
        let hart = self.waiter.take().expect("only who waits is answered");
        while self.waiter.is_none() {
            let Some((other, at, command)) = self.behind.pop_front() else {
                break;
            };
            self.ask(other, at.max(comes), command);
        }
        Some((hart, answer, comes))
    }

    /// Advances to the cycle `until`, or to an answer before, by `advance`, which takes the unit one window on.
    pub(crate) fn advance(
        &mut self,
        until: network::Cycle,
        advance: impl FnMut(&mut AttachedUnit, unit::Cycle),
    ) {
        self.linked.advance(
            until,
            |unit| unit.commands().responded().is_some(),
            advance,
            |_, _| {},
        );
    }
}
