use crate::linked::Linked;
use crate::ServerError;
use rackwright_contract::flits;
use rackwright_device::Place;
use rackwright_ethernet::Rate;
use rackwright_memory::Hierarchy;
use rackwright_registers::nic::{rate, MAC_ADDRESS, RATE};
use rackwright_rtl::{Attach, Design};
use rackwright_stats::UnitObserver;
use rackwright_time::network::Cycle;
use rackwright_time::{unit, Clock};
use rackwright_unit::{observe, AttachedUnit};
use std::slice;
use std::sync::Arc;

/// The addresses of its registers under bare metal, as in the public server that has this interface.
pub const REGISTERS: Place = Place {
    base: 0x1001_6000,
    bytes: 0x1000,
    source: 0,
};
/// How long the responses are awaited: far longer than any access takes.
const SET_UP_LIMIT: unit::Cycles = unit::Cycles::new(10_000);

/// A network interface in RTL between a hart and a link. All cycles are the link's.
///
/// The contract is `hardware/src/main/scala/rackwright/nic/README.md`.
pub(crate) struct Nic {
    pub(crate) linked: Linked,
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
        skip_idle: bool,
    ) -> Result<Nic, ServerError> {
        let mut linked = Linked::new(design, Attach::Link, hierarchy, link, rate, skip_idle)?;
        linked.unit.registers().require()?;
        Ok(Nic { linked })
    }

    /// Reports its events to `observer`, with numbers from `first` on.
    pub(crate) fn observe(&mut self, observer: Arc<dyn UnitObserver>, first: usize) {
        observe(slice::from_mut(&mut self.linked.unit), &observer, first);
    }

    /// Sets the address of its server, and the rate of a link slower than itself, before any other event.
    ///
    /// # Errors
    /// [`ServerError::SilentNic`] when it does not answer.
    pub(crate) fn set_up(
        &mut self,
        mac: u64,
        mut advance: impl FnMut(&mut AttachedUnit, unit::Cycle),
    ) -> Result<(), ServerError> {
        let limit = (self.linked.rate != Rate::FULL).then(|| {
            let (flits, period) = self
                .linked
                .width
                .flits_per_cycles(self.linked.rate, rate::FLITS.most());
            (RATE, rate::FLITS.put(flits) | rate::PERIOD.put(period))
        });
        for (register, value) in [Some((MAC_ADDRESS, mac)), limit].into_iter().flatten() {
            let start = self.linked.unit.cycle();
            self.access(self.linked.width.outside(start), register.offset, Some(value));
            while self.linked.unit.registers().take_answer().is_none() {
                let next = self.linked.unit.cycle() + unit::Cycles::new(1);
                if next > start + SET_UP_LIMIT {
                    return Err(ServerError::SilentNic {
                        unit: self.linked.unit.observation().name().to_string(),
                        cycles: SET_UP_LIMIT,
                    });
                }
                advance(&mut self.linked.unit, next);
                self.linked.unit.observation().check()?;
            }
        }
        Ok(())
    }

    /// The register at a physical address.
    pub(crate) fn register(address: u64) -> Option<u32> {
        REGISTERS.offset(address).map(|offset| offset as u32)
    }

    /// Has an access reach its registers in the cycle `at`.
    pub(crate) fn access(&mut self, at: Cycle, register: u32, write: Option<u64>) {
        self.linked.disturb();
        let due = self.linked.width.inside(at);
        let mut registers = self.linked.unit.registers();
        registers
            .offer(due, register, write)
            .expect("it was built with registers");
    }

    /// The response to an access: its time and value.
    pub(crate) fn take_answer(&mut self) -> Option<(Cycle, u64)> {
        let answer = self.linked.unit.registers().take_answer()?;
        Some((
            self.linked.width.outside(unit::Cycle::new(answer.cycle)),
            answer.data,
        ))
    }

    /// Arrival of the last flit of a frame of `bytes` bytes whose first flit arrives in the cycle `first`.
    pub(crate) fn last_flit(&self, first: Cycle, bytes: usize) -> Cycle {
        first + self.linked.rate.cycles(flits(bytes) as u64 - 1)
    }

    /// Advances to the cycle `until`, or to an answer before.
    pub(crate) fn advance(
        &mut self,
        until: Cycle,
        advance: impl FnMut(&mut AttachedUnit, unit::Cycle),
        line: impl FnMut(Cycle, bool),
    ) {
        self.linked
            .advance(until, |unit| unit.registers().has_answer(), advance, line);
    }
}
