use crate::width::Width;
use crate::ServerError;
use rackwright_ethernet::Rate;
use rackwright_memory::{Hierarchy, Placement};
use rackwright_rtl::{Design, RegisterAccess};
use rackwright_stats::{Counters, Digest};
use rackwright_time::{Clock, Cycle, Cycles};
use rackwright_trace::UnitEvents;
use rackwright_unit::{frames, AttachedUnit, SentFrame};

/// Bytes of the page of registers.
const REGISTER_BYTES: u64 = 0x1000;
/// Where it begins, as in the public server that has this interface.
const REGISTERS: u64 = 0x1001_6000;
/// The registers with the MAC address and the limit of the rate.
const MAC_ADDRESS: u32 = 0x28;
const RATE: u32 = 0x38;
/// How long each is awaited: far longer than any access takes.
const SET_UP_LIMIT: Cycles = Cycles(10_000);
/// The most that a field of the rate holds.
const RATE_FIELD: u64 = 0xffff;

/// A network interface in RTL between a hart and a link: on the link's clock, or slower by as much as it is wider than
/// a flit. All cycles are the link's.
///
/// The register map is in `hardware/src/main/scala/rackwright/nic/README.md`.
pub(crate) struct Nic {
    unit: AttachedUnit,
    input: u8,
    width: Width,
    /// How fast frames come in.
    rate: Rate,
    raised: bool,
    /// Nothing moves in it, and its outputs have been looked at since.
    settled: bool,
}

impl Nic {
    /// A NIC that has just left reset, on a link with the clock `link`.
    ///
    /// # Errors
    /// [`ServerError`] when the design is no NIC, or too wide for the clock.
    pub(crate) fn new(
        design: &Design,
        hierarchy: &mut Hierarchy,
        link: Clock,
        rate: Rate,
        skip_quiescent: bool,
    ) -> Result<Nic, ServerError> {
        let memory = hierarchy.parameters().clock;
        let bytes = design.manifest.network_bytes();
        let width = Width::of(bytes);
        let own = width
            .clock(link)
            .ok_or(ServerError::NicClock { bytes, clock: link })?;
        let mut unit = AttachedUnit::new(design, Placement::NearCore, hierarchy, None)?.on_clock(own, memory);
        unit.instance().skip_quiescent(skip_quiescent);
        let input = unit.stream_input()?;
        unit.require_registers()?;
        Ok(Nic {
            unit,
            input,
            width,
            rate,
            raised: false,
            settled: false,
        })
    }

    /// Says in `events`, from number `first` on, what happens in it.
    pub(crate) fn publish(&mut self, events: UnitEvents, first: usize) {
        self.unit.publish(events, first);
    }

    /// Gives it the address of its server, and the rate of a link slower than itself, before anything else happens.
    ///
    /// # Errors
    /// [`ServerError::SilentNic`] when it does not answer.
    pub(crate) fn set_up(
        &mut self,
        mac: u64,
        mut advance: impl FnMut(&mut AttachedUnit, Cycle),
    ) -> Result<(), ServerError> {
        let limit = (self.rate != Rate::FULL).then(|| {
            let (flits, period) = self.width.flits_per_cycles(self.rate, RATE_FIELD);
            (RATE, flits | period << 16)
        });
        for (register, value) in [Some((MAC_ADDRESS, mac)), limit].into_iter().flatten() {
            let start = self.unit.cycle();
            self.access(self.width.outside(start), register, Some(value));
            while self.unit.take_register_answer().is_none() {
                let next = self.unit.cycle() + Cycles(1);
                if next > start + SET_UP_LIMIT {
                    return Err(ServerError::SilentNic {
                        unit: self.unit.design().manifest.unit.clone(),
                        cycles: SET_UP_LIMIT,
                    });
                }
                advance(&mut self.unit, next);
            }
        }
        Ok(())
    }

    /// The register at a physical address.
    pub(crate) fn register(address: u64) -> Option<u32> {
        let offset = address.checked_sub(REGISTERS)?;
        (offset < REGISTER_BYTES).then_some(offset as u32)
    }

    /// The first cycle not yet simulated.
    pub(crate) fn cycle(&self) -> Cycle {
        self.width.outside(self.unit.cycle())
    }

    /// Whether nothing happens in it before a frame or an access reaches it.
    pub(crate) fn settled(&self) -> bool {
        self.settled
    }

    /// The level of its interrupt line.
    pub(crate) fn raised(&self) -> bool {
        self.raised
    }

    /// Has a frame come in, its first flit in the cycle `first`.
    pub(crate) fn arrive(&mut self, first: Cycle, frame: &[u8]) {
        let (rate, width) = (self.rate, self.width);
        self.unit
            .frame(self.input, frame, |flit| width.inside(first + rate.cycles(flit)));
        self.settled = false;
    }

    /// Has an access reach its registers in the cycle `at`.
    pub(crate) fn access(&mut self, at: Cycle, register: u32, write: Option<u64>) {
        self.settled = false;
        let access = RegisterAccess {
            due: self.width.inside(at).0,
            data: write.unwrap_or(0),
            address: register,
            write: u8::from(write.is_some()),
        };
        self.unit
            .register_access(access)
            .expect("it was built with registers");
    }

    /// The answer to an access: when it was given, and its value.
    pub(crate) fn take_answer(&mut self) -> Option<(Cycle, u64)> {
        let answer = self.unit.take_register_answer()?;
        Some((self.width.outside(Cycle(answer.cycle)), answer.data))
    }

    /// When the last flit of a frame of so many bytes comes in whose first one does in the cycle `first`.
    pub(crate) fn last_flit(&self, first: Cycle, bytes: usize) -> Cycle {
        first + self.rate.cycles(frames::flits(bytes) as u64 - 1)
    }

    /// Advances to the cycle `until`, or to an answer before, by `advance`, which takes the unit one window on.
    /// `line` gets the changes of its interrupt line.
    pub(crate) fn advance(
        &mut self,
        until: Cycle,
        mut advance: impl FnMut(&mut AttachedUnit, Cycle),
        mut line: impl FnMut(Cycle, bool),
    ) {
        let until = self.width.inside(until);
        if self.unit.cycle() >= until {
            return;
        }
        let was_quiescent = self.unit.quiescent();
        while self.unit.cycle() < until && !self.unit.has_register_answer() {
            advance(&mut self.unit, until);
        }
        while let Some(change) = self.unit.take_interrupt() {
            self.raised = change.level != 0;
            line(self.width.outside(Cycle(change.cycle)), self.raised);
        }
        // A change of its outputs with the last edge is seen in the cycle after only.
        self.settled = was_quiescent && self.unit.quiescent();
    }

    /// The next frame that has left.
    pub(crate) fn take_frame(&mut self) -> Option<SentFrame> {
        self.unit.take_frame().map(|frame| self.width.sent(frame))
    }

    /// What it counts.
    pub(crate) fn events(&self) -> Counters {
        self.unit.events()
    }

    /// Cycles that were evaluated rather than skipped.
    pub(crate) fn evaluated_cycles(&self) -> u64 {
        self.unit.evaluated_cycles()
    }

    /// The digest over everything that crossed its pins.
    pub(crate) fn digest(&self) -> Digest {
        self.unit.digest()
    }
}
