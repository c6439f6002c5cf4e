mod endpoint;
mod features;
mod host;
mod registers;
mod state;

use crate::ServerError;
pub use features::CardFeatures;
use host::SLICE;
pub(crate) use host::{HostLink, HERTZ};
use rackwright_contract::Ticket;
use rackwright_device::CROSSING_LATENCY;
use rackwright_ethernet::Rate;
use rackwright_memory::{GuestMemory, Route, SharedHierarchy};
use rackwright_registers::nic::{self, rate};
use rackwright_registers::virtio;
use rackwright_rtl::{Design, RegisterAccess};
use rackwright_stats::{Counters, Digest, UnitObserver};
use rackwright_time::unit::{Cycle, Cycles};
use rackwright_time::{hart, Clock, Crossing, Hart, Unit};
use rackwright_unit::{observe, AttachedUnit, Guard, SentFrame, Surroundings, UnitError};
use std::collections::VecDeque;
use std::ops::Range;
use std::slice;
use std::sync::{Arc, Mutex, MutexGuard};

/// Cycles of the card from the arrival of a read until its response is on the way back, independent of other events.
const READ: Cycles = Cycles::new(16);

/// A network interface in RTL as a virtio function on a server's PCI bus, on the clock of the network.
///
/// Harts observe its actions at the end of their windows, and it observes memory as of the end of their windows; a read
/// of a register advances it to the hart's time. All these times are independent of the division into runs.
#[derive(Clone)]
pub(crate) struct Card {
    // Harts access it through the bus, the network sends it frames; never concurrently.
    shared: Arc<Mutex<State>>,
}

struct State {
    unit: AttachedUnit,
    input: u8,
    rate: Rate,
    hierarchy: SharedHierarchy,
    guard: Guard,
    to_card: Crossing<Hart, Unit>,
    to_hart: Crossing<Unit, Hart>,
    /// Incoming frames, and the cycles of their first flits.
    arrivals: VecDeque<(Cycle, Vec<u8>)>,
    registers: RegisterPort,
    raised: bool,
    /// The line has changed, and harts have not seen it.
    changed: bool,
    idle: bool,
    /// All inputs before this cycle are known.
    known: Cycle,
    /// Its link, if that ends at sockets of the host and not in a simulated network.
    host: Option<HostLink>,
}

/// Accesses of harts to the registers of the unit.
struct RegisterPort {
    /// Those that have not reached the unit, in the order in which they will.
    accesses: VecDeque<RegisterAccess>,
    /// For each that has, and has no response, whether it reads.
    given: VecDeque<bool>,
    /// The harts' loads without a response, in the order of their arrival at the unit.
    reads: VecDeque<Read>,
    /// The values that it has returned.
    values: VecDeque<u64>,
}

/// A load for which a hart is stalled.
struct Read {
    ticket: Ticket,
    /// When it reaches the unit.
    at: Cycle,
    /// Which bits of the register it is about.
    shift: u32,
    bytes: u8,
}

/// The parameters of a card.
pub(crate) struct CardConfig<'a> {
    pub(crate) design: &'a Design,
    pub(crate) hierarchy: &'a SharedHierarchy,
    /// The clocks of card and harts.
    pub(crate) own: Clock,
    pub(crate) hart: Clock,
    pub(crate) rate: Rate,
    pub(crate) mac: u64,
    /// The longest packet, or 0 if the driver may choose.
    pub(crate) mtu: u16,
    pub(crate) features: CardFeatures,
    /// The memory that it may access.
    pub(crate) memory: Range<u64>,
}

impl Card {
    /// A card just after reset, which is first sent its address and limits.
    ///
    /// # Errors
    /// [`ServerError`] when the design is no NIC.
    pub(crate) fn new(config: &CardConfig<'_>) -> Result<Card, ServerError> {
        let mut unit = {
            let mut hierarchy = config.hierarchy.lock();
            let unit = AttachedUnit::new(config.design, &Route::default(), &mut *hierarchy, None)?;
            unit.on_clock(config.own, config.hart)
        };
        unit.registers().require()?;
        let input = unit.streams().input()?;
        let limit = (config.rate != Rate::FULL).then(|| {
            let (flits, period) = config.rate.flits_per_cycles(rate::FLITS.most());
            (nic::RATE, rate::FLITS.put(flits) | rate::PERIOD.put(period))
        });
        let settings = [
            Some((nic::MAC_ADDRESS, config.mac)),
            Some((virtio::MTU, config.mtu.into())),
            Some((virtio::WINDOW_FIRST, config.memory.start)),
            Some((virtio::WINDOW_LAST, config.memory.end - 1)),
            Some((virtio::OFFER, config.features.offer())),
            limit,
        ];
        let each = virtio::VIRTIO_MODERATION;
        let moderation = (0..each.count).map(|queue| (each.at(queue), config.features.moderation()));
        let accesses = settings
            .into_iter()
            .flatten()
            .map(|(register, value)| (register.offset, value))
            .chain(moderation)
            .map(|(register, value)| write(Cycle::ZERO, register, value));
        let state = State {
            unit,
            input,
            rate: config.rate,
            hierarchy: config.hierarchy.clone(),
            guard: Guard::new(),
            to_card: Crossing::new(config.hart, config.own),
            to_hart: Crossing::new(config.own, config.hart),
            arrivals: VecDeque::new(),
            registers: RegisterPort {
                accesses: accesses.collect(),
                given: VecDeque::new(),
                reads: VecDeque::new(),
                values: VecDeque::new(),
            },
            raised: false,
            changed: false,
            idle: false,
            known: Cycle::ZERO,
            host: None,
        };
        Ok(Card {
            shared: Arc::new(Mutex::new(state)),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.lock().expect("nobody panics while holding a card")
    }

    /// Reports its events to `observer`, with numbers from `first` on.
    pub(crate) fn observe(&self, observer: Arc<dyn UnitObserver>, first: usize) {
        observe(slice::from_mut(&mut self.state().unit), &observer, first);
    }

    /// Sends a frame to it, with the first flit in the cycle `first`.
    pub(crate) fn arrive(&self, first: Cycle, frame: Vec<u8>) {
        self.state().arrivals.push_back((first, frame));
    }

    /// Advances to its cycle `until`.
    pub(crate) fn advance_to(&self, memory: &mut GuestMemory, until: Cycle) {
        self.state().advance_to(memory, until);
    }

    /// Whether idle cycles are skipped.
    pub(crate) fn skip_idle(&self, skip: bool) {
        self.state().unit.instance().skip_idle(skip);
    }

    /// All inputs before the cycle `until` are known: it may advance up to this cycle for a hart's load.
    pub(crate) fn know(&self, until: Cycle) {
        self.state().known = until;
    }

    /// Has its link end at sockets of the host. Frames from there arrive when the card polls, and never in the past.
    pub(crate) fn join(&self, host: HostLink) {
        let mut state = self.state();
        state.known = Cycle::NEVER;
        state.host = Some(host);
    }

    /// Time of its next event, in its own cycles, if there is no further input.
    pub(crate) fn next_event(&self) -> Cycle {
        self.state().next_event()
    }

    /// The frames that have left it.
    pub(crate) fn take_frames(&self) -> Vec<SentFrame> {
        self.state().take_frames()
    }

    /// What it counts.
    pub(crate) fn events(&self) -> Counters {
        self.state().unit.observation().events()
    }

    /// Returns an error if the unit has stopped.
    ///
    /// # Errors
    /// As of [`rackwright_unit::Observation::check`].
    pub(crate) fn check(&self) -> Result<(), UnitError> {
        self.state().unit.observation().check()
    }

    /// Cycles that were evaluated rather than skipped.
    pub(crate) fn evaluated_cycles(&self) -> u64 {
        self.state().unit.observation().evaluated_cycles()
    }

    /// The digest of all transfers at its pins.
    pub(crate) fn digest(&self) -> Digest {
        self.state().unit.observation().digest()
    }
}

impl State {
    fn advance_to(&mut self, memory: &mut GuestMemory, until: Cycle) {
        while self.unit.cycle() < until && self.unit.observation().check().is_ok() {
            self.give_due();
            let end = until.min(self.next_stimulus());
            let was_idle = self.unit.is_idle();
            {
                let mut hierarchy = self.hierarchy.lock();
                let mut surroundings = Surroundings {
                    memory,
                    interconnect: &mut *hierarchy,
                    guard: &mut self.guard,
                };
                self.unit.advance_window(end, &mut surroundings);
            }
            // A change of its outputs with the last edge is seen in the cycle after only.
            self.idle = was_idle && self.unit.is_idle();
            self.look();
        }
    }

    /// Passes inputs that are due to the unit.
    fn give_due(&mut self) {
        let now = self.unit.cycle();
        while self.arrivals.front().is_some_and(|(first, _)| *first <= now) {
            let (first, frame) = self.arrivals.pop_front().expect("there is one");
            let rate = self.rate;
            self.unit.streams().frame(self.input, &frame, |flit| {
                first + Cycles::new(rate.cycles(flit).0)
            });
        }
        while self
            .registers
            .accesses
            .front()
            .is_some_and(|access| access.due <= now.0)
        {
            let mut access = self.registers.accesses.pop_front().expect("there is one");
            access.due = now.0;
            self.registers.given.push_back(access.write == 0);
            self.unit
                .registers()
                .give(access)
                .expect("it was built with registers");
        }
    }

    fn next_stimulus(&self) -> Cycle {
        let arrival = self.arrivals.front().map_or(Cycle::NEVER, |(first, _)| *first);
        let access = self
            .registers
            .accesses
            .front()
            .map_or(Cycle::NEVER, |access| Cycle::new(access.due));
        arrival.min(access)
    }

    /// Takes the outputs of the unit.
    fn look(&mut self) {
        while let Some(change) = self.unit.take_interrupt() {
            self.raised = change.level != 0;
            self.changed = true;
        }
        while let Some(answer) = self.unit.registers().take_answer() {
            let reads = self
                .registers
                .given
                .pop_front()
                .expect("each access is answered once");
            if reads {
                self.registers.values.push_back(answer.data);
            }
        }
    }

    /// The value of the first load without a response, if it has this ticket, and the hart's time of its arrival;
    /// `None` if they depend on unknown inputs.
    fn answered(&mut self, ticket: Ticket, memory: &mut GuestMemory) -> Option<(u64, hart::Cycle)> {
        let first = self.registers.reads.front().filter(|read| read.ticket == ticket);
        let Read { at, shift, bytes, .. } = *first?;
        let done = at + READ;
        self.advance_to(memory, done.min(self.known));
        if done > self.known {
            return None;
        }
        self.registers.reads.pop_front();
        // One that is broken answers no more.
        let value = self.registers.values.pop_front().unwrap_or(u64::MAX);
        let mask = u64::MAX >> (64 - 8 * u32::from(bytes));
        Some((value >> shift & mask, self.to_hart.seen(done) + CROSSING_LATENCY))
    }

    fn take_frames(&mut self) -> Vec<SentFrame> {
        std::iter::from_fn(|| self.unit.streams().take_frame()).collect()
    }

    /// When frames go between the card and the host next, if they do at all.
    fn next_exchange(&self) -> Cycle {
        self.host.as_ref().map_or(Cycle::NEVER, HostLink::next_exchange)
    }

    /// Exchanges frames in both directions between the card and the host.
    fn exchange(&mut self, now: Cycle) {
        let sent = self.take_frames();
        if let Some(host) = &mut self.host {
            self.arrivals.extend(host.exchange(now, &sent));
        }
    }

    /// Waits for the host while there is no other event in the machine from `now` to `until`, and none in the card.
    fn rest(&mut self, now: Cycle, until: Cycle) {
        if until.min(self.next_event()) <= now + SLICE {
            return;
        }
        // Sent frames must arrive while it waits.
        self.exchange(now);
        let until = until.min(self.next_event());
        if let Some(host) = &mut self.host {
            host.rest(now, until);
        }
    }

    fn next_event(&self) -> Cycle {
        if self.unit.observation().check().is_err() {
            Cycle::NEVER
        } else if self.idle && self.registers.given.is_empty() {
            self.next_stimulus().max(self.unit.cycle())
        } else {
            self.unit.cycle()
        }
    }

    /// Inserts an access after those that reach the unit before it or at the same time.
    fn access(&mut self, mut access: RegisterAccess) {
        access.due = access.due.max(self.unit.cycle().0);
        let place = self
            .registers
            .accesses
            .partition_point(|other| other.due <= access.due);
        self.registers.accesses.insert(place, access);
    }
}

fn write(due: Cycle, address: u32, data: u64) -> RegisterAccess {
    RegisterAccess {
        due: due.0,
        data,
        address,
        write: 1,
    }
}
