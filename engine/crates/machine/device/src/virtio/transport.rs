use crate::device::{decode, encode, RestoreError};
use crate::pci::{Endpoint, Header};
use crate::ram::Ram;
use crate::virtio::chain::Chain;
use crate::virtio::fault::Fault;
use crate::virtio::registers::{capabilities, Register, BYTES, WINDOW};
use crate::virtio::ring::Ring;
use rackwright_time::{Cycle, Cycles};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use virtio_bindings::virtio_config::{
    VIRTIO_CONFIG_S_DRIVER_OK, VIRTIO_CONFIG_S_FEATURES_OK, VIRTIO_CONFIG_S_NEEDS_RESET, VIRTIO_F_VERSION_1,
};
use virtio_bindings::virtio_ring::{VIRTIO_RING_F_EVENT_IDX, VIRTIO_RING_F_INDIRECT_DESC};

/// The identity of virtio devices on the PCI bus (virtio 1.2, section 4.1.2); the number of the kind is added to the
/// second.
pub(crate) const VENDOR: u16 = 0x1af4;
pub(crate) const FIRST_DEVICE: u16 = 0x1040;
pub(crate) const REVISION: u8 = 1;

const DRIVER_OK: u8 = VIRTIO_CONFIG_S_DRIVER_OK as u8;
const FEATURES_OK: u8 = VIRTIO_CONFIG_S_FEATURES_OK as u8;
const NEEDS_RESET: u8 = VIRTIO_CONFIG_S_NEEDS_RESET as u8;
/// Features of every device here.
const FEATURES: u64 =
    1 << VIRTIO_F_VERSION_1 | 1 << VIRTIO_RING_F_INDIRECT_DESC | 1 << VIRTIO_RING_F_EVENT_IDX;
/// Bits of the interrupt status.
const RING_INTERRUPT: u8 = 1;
const CONFIGURATION_INTERRUPT: u8 = 2;
/// The end of a request that waits for an answer: never, so far.
const WAITS: u64 = <Cycle>::NEVER.0;
/// The value that a driver reads if there are no interrupt vectors.
pub const NO_VECTOR: u64 = 0xffff;

/// From a notification until the device has read the ring: about a microsecond, the time of two reads of memory over
/// PCI Express.
const LOOK: Cycles = Cycles::new(2000);

/// The execution of requests by one kind of device.
pub trait Model: Send {
    /// The number of its kind (virtio 1.2, chapter 5).
    fn kind(&self) -> u32;

    /// PCI's class, subclass and programming interface.
    fn class(&self) -> u32;

    /// Its own features, in addition to those of the rings.
    fn features(&self) -> u64;

    /// The most places of each of its rings.
    fn rings(&self) -> &[u16];

    /// The configuration specific to this kind of device.
    fn configuration(&self) -> &[u8];

    /// Accepts a request at `now`, and returns the time of its completion; never, if it waits for an answer.
    ///
    /// # Errors
    /// [`Fault`] when it is none that a driver may make.
    fn begin(&mut self, chain: &Chain, ram: &Ram<'_>, now: Cycle) -> Result<Cycle, Fault>;

    /// Restarts all random numbers from `seed`.
    fn reseed(&mut self, _seed: u64) {}

    /// Executes a request, and returns the number of written bytes.
    ///
    /// # Errors
    /// [`Fault`] when it is none that a driver may make.
    fn perform(&mut self, chain: &Chain, ram: &mut Ram<'_>) -> Result<u32, Fault>;

    /// How long after the request just executed an answer to it comes, for which the first one ends that waits.
    fn answer(&mut self) -> Option<Cycles> {
        None
    }

    /// None waits for that answer.
    fn lose(&mut self) {}

    /// Its state, for [`Model::restore`].
    fn save(&self) -> Vec<u8>;

    /// Restores a state returned by [`Model::save`].
    ///
    /// # Errors
    /// [`RestoreError`] when the bytes are not such a state.
    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError>;
}

/// A virtio device on the PCI bus, without the registers of versions before 1.0.
pub struct Virtio<M> {
    model: M,
    /// From a notification until it reads the ring.
    look: Cycles,
    state: State,
    /// Its interrupts as messages, if the machine takes them.
    vectors: Option<Vectors>,
}

/// Vectors of a device's interrupts: [`NO_VECTOR`] for none.
#[derive(Serialize, Deserialize)]
struct Vectors {
    configuration: u16,
    rings: Vec<u16>,
    /// Those that have been raised, a bit each.
    raised: u64,
    /// Software has them sent, in place of the interrupt.
    used: bool,
}

impl Vectors {
    fn new(rings: usize) -> Vectors {
        Vectors {
            configuration: NO_VECTOR as u16,
            rings: vec![NO_VECTOR as u16; rings],
            raised: 0,
            used: false,
        }
    }

    fn number(&self) -> u16 {
        self.rings.len() as u16 + 1
    }

    /// The place of a register for a vector.
    fn place(&mut self, ring: Option<u16>) -> Option<&mut u16> {
        match ring {
            None => Some(&mut self.configuration),
            Some(ring) => self.rings.get_mut(usize::from(ring)),
        }
    }

    /// Raises the vector of a ring, or that of the configuration; returns whether that takes the place of the interrupt.
    fn raise(&mut self, ring: Option<usize>) -> bool {
        let vector = ring.map_or(self.configuration, |ring| self.rings[ring]);
        if self.used && vector < self.number() {
            self.raised |= 1 << vector;
        }
        self.used
    }
}

#[derive(Serialize, Deserialize)]
struct State {
    status: u8,
    interrupts: u8,
    device_select: u32,
    driver_select: u32,
    /// Features that the driver has accepted.
    accepted: u64,
    /// The ring that registers show.
    selected: u16,
    rings: Vec<Ring>,
    /// Bits of the rings that the driver has spoken of, and when the device will have read them.
    notified: u64,
    look: u64,
    /// Requests in the order in which they end, and behind them those that wait for an answer.
    under_way: VecDeque<Request>,
    errors: u64,
}

#[derive(Serialize, Deserialize)]
struct Request {
    ring: usize,
    chain: Chain,
    done: u64,
}

impl State {
    fn new(rings: &[u16], errors: u64) -> State {
        State {
            status: 0,
            interrupts: 0,
            device_select: 0,
            driver_select: 0,
            accepted: 0,
            selected: 0,
            rings: rings.iter().map(|most| Ring::new(*most)).collect(),
            notified: 0,
            look: 0,
            under_way: VecDeque::new(),
            errors,
        }
    }

    fn ring(&mut self) -> Option<&mut Ring> {
        self.rings.get_mut(usize::from(self.selected))
    }

    /// Whether the device may work: the driver is ready, and has broken no rule.
    fn works(&self) -> bool {
        self.status & (DRIVER_OK | NEEDS_RESET) == DRIVER_OK
    }

    /// When the notified rings will have been read.
    fn look(&self) -> Cycle {
        if self.notified == 0 {
            Cycle::NEVER
        } else {
            Cycle::new(self.look)
        }
    }

    /// When the first request ends.
    fn done(&self) -> Cycle {
        self.under_way
            .front()
            .map_or(Cycle::NEVER, |request| Cycle::new(request.done))
    }

    /// The place of the first request that waits for an answer.
    fn waiting(&self) -> usize {
        self.under_way.partition_point(|request| request.done != WAITS)
    }

    /// Has the first request that waits end at `at`; returns whether there is one.
    fn end_waiting(&mut self, at: Cycle) -> bool {
        let Some(request) = self.under_way.remove(self.waiting()) else {
            return false;
        };
        let place = self.under_way.partition_point(|other| other.done <= at.0);
        self.under_way.insert(
            place,
            Request {
                done: at.0,
                ..request
            },
        );
        true
    }

    fn fail(&mut self) {
        self.errors += 1;
        self.status |= NEEDS_RESET;
        self.notified = 0;
        self.under_way.clear();
    }
}

impl<M: Model> Virtio<M> {
    /// A device that no driver has touched yet.
    pub fn new(model: M) -> Virtio<M> {
        Virtio::looking_after(LOOK, model)
    }

    /// The same on a card, whose accesses to memory take their time themselves.
    pub fn on_card(model: M) -> Virtio<M> {
        Virtio::looking_after(Cycles::new(0), model)
    }

    fn looking_after(look: Cycles, model: M) -> Virtio<M> {
        let state = State::new(model.rings(), 0);
        Virtio {
            model,
            look,
            state,
            vectors: None,
        }
    }

    fn features(&self) -> u64 {
        FEATURES | self.model.features()
    }

    fn set_status(&mut self, value: u8) {
        if value == 0 {
            self.state = State::new(self.model.rings(), self.state.errors);
            if let Some(vectors) = &mut self.vectors {
                *vectors = Vectors {
                    used: vectors.used,
                    ..Vectors::new(vectors.rings.len())
                };
            }
            return;
        }
        let mut value = value & !NEEDS_RESET | self.state.status & NEEDS_RESET;
        let offered = self.features();
        let state = &mut self.state;
        if value & !state.status & FEATURES_OK != 0 {
            let agreed = state.accepted & !offered == 0 && state.accepted >> VIRTIO_F_VERSION_1 & 1 != 0;
            if !agreed {
                value &= !FEATURES_OK;
            }
            let events = state.accepted >> VIRTIO_RING_F_EVENT_IDX & 1 != 0;
            state.rings.iter_mut().for_each(|ring| ring.events = events);
        }
        if value & FEATURES_OK == 0 {
            // A driver must not continue without an agreement.
            value &= !DRIVER_OK;
        }
        state.status = value;
    }

    /// Accepts the buffers that the driver has made available in the rings that it has notified.
    fn read_rings(&mut self, ram: &Ram<'_>) -> Result<(), Fault> {
        let begun = self.state.look();
        let notified = std::mem::take(&mut self.state.notified);
        for ring in (0..self.state.rings.len()).filter(|ring| notified >> ring & 1 != 0) {
            let mut more = true;
            while more {
                while let Some(chain) = self.state.rings[ring].take(ram)? {
                    self.begin(ring, chain, ram, ram.now(begun))?;
                }
                more = self.state.rings[ring].ask_for_more(ram)?;
            }
        }
        Ok(())
    }

    fn begin(&mut self, ring: usize, chain: Chain, ram: &Ram<'_>, now: Cycle) -> Result<(), Fault> {
        let state = &mut self.state;
        let held = state
            .under_way
            .iter()
            .filter(|request| request.ring == ring)
            .count();
        if held >= usize::from(state.rings[ring].size) {
            return Err(Fault::Index);
        }
        let (waiting, all) = (state.waiting(), state.under_way.len());
        let last = waiting
            .checked_sub(1)
            .map_or(0, |last| state.under_way[last].done);
        let done = self.model.begin(&chain, ram, now)?.0.max(last);
        let place = if done == WAITS { all } else { waiting };
        state.under_way.insert(place, Request { ring, chain, done });
        Ok(())
    }

    /// Ends the first request.
    fn end(&mut self, ram: &mut Ram<'_>) -> Result<(), Fault> {
        let Some(Request { ring, chain, done }) = self.state.under_way.pop_front() else {
            return Ok(());
        };
        let written = self.model.perform(&chain, ram)?;
        if self.state.rings[ring].give(ram, chain.head, written)? {
            self.interrupt(Some(ring));
        }
        if let Some(after) = self.model.answer() {
            let at = ram.now(Cycle::new(done)) + after;
            if !self.state.end_waiting(at) {
                self.model.lose();
            }
        }
        Ok(())
    }

    /// Raises the interrupt for a ring, or for the configuration.
    fn interrupt(&mut self, ring: Option<usize>) {
        let replaced = self.vectors.as_mut().is_some_and(|vectors| vectors.raise(ring));
        if !replaced {
            self.state.interrupts |= match ring {
                Some(_) => RING_INTERRUPT,
                None => CONFIGURATION_INTERRUPT,
            };
        }
    }

    /// The vector of a ring, or of the configuration, as a driver reads it.
    fn vector(&mut self, ring: Option<u16>) -> u64 {
        let vectors = self.vectors.as_mut();
        let place = vectors.and_then(|vectors| vectors.place(ring));
        place.map_or(NO_VECTOR, |vector| (*vector).into())
    }

    /// Sets it; a vector that there is not is none.
    fn set_vector(&mut self, ring: Option<u16>, value: u16) {
        let Some(vectors) = &mut self.vectors else {
            return;
        };
        let number = vectors.number();
        if let Some(vector) = vectors.place(ring) {
            *vector = if value < number { value } else { NO_VECTOR as u16 };
        }
    }

    fn read_device(&self, place: usize, bytes: u8) -> u64 {
        let shown = self.model.configuration().iter().skip(place).take(bytes.into());
        let mut value = [0; 8];
        value
            .iter_mut()
            .zip(shown)
            .for_each(|(byte, shown)| *byte = *shown);
        u64::from_le_bytes(value)
    }
}

/// The half of 64 bits that a driver has selected; zero beyond them.
fn half(value: u64, select: u32) -> u64 {
    if select > 1 {
        return 0;
    }
    value >> (32 * select) & 0xffff_ffff
}

/// `value` with another 32 bits from bit `shift` on.
fn with_half(value: u64, shift: u32, new: u64) -> u64 {
    value & !(0xffff_ffff << shift) | (new & 0xffff_ffff) << shift
}

impl Ring {
    fn address(&mut self, which: usize) -> &mut u64 {
        match which {
            0 => &mut self.descriptors,
            1 => &mut self.available,
            _ => &mut self.used,
        }
    }
}

impl<M: Model> Endpoint for Virtio<M> {
    fn header(&self) -> Header {
        let kind = self.model.kind() as u16;
        Header {
            vendor: VENDOR,
            device: FIRST_DEVICE + kind,
            revision: REVISION,
            class: self.model.class(),
            subsystem: (VENDOR, FIRST_DEVICE + kind),
            bars: [BYTES, 0, 0],
            capabilities: capabilities(),
        }
    }

    fn window(&self) -> Option<usize> {
        Some(WINDOW)
    }

    fn read(&mut self, bar: usize, offset: u64, bytes: u8) -> Option<u64> {
        let register = Register::at(offset, bytes).filter(|_| bar == 0)?;
        let features = self.features();
        let state = &mut self.state;
        Some(match register {
            Register::DeviceFeatureSelect => state.device_select.into(),
            Register::DeviceFeature => half(features, state.device_select),
            Register::DriverFeatureSelect => state.driver_select.into(),
            Register::DriverFeature => half(state.accepted, state.driver_select),
            Register::ConfigurationVector => self.vector(None),
            Register::RingVector => {
                let ring = state.selected;
                self.vector(Some(ring))
            }
            Register::Rings => state.rings.len() as u64,
            Register::Status => state.status.into(),
            // The configuration of a device is constant here.
            Register::Generation => 0,
            Register::RingSelect => state.selected.into(),
            Register::RingSize => state.ring().map_or(0, |ring| ring.size.into()),
            Register::RingEnable => state.ring().map_or(0, |ring| ring.enabled.into()),
            Register::RingNotify => state.selected.into(),
            Register::RingAddress(which, shift) => state
                .ring()
                .map_or(0, |ring| *ring.address(which) >> shift & 0xffff_ffff),
            Register::InterruptStatus => std::mem::take(&mut state.interrupts).into(),
            Register::Device(place) => self.read_device(place, bytes),
            Register::Notify(_) => 0,
        })
    }

    fn write(&mut self, bar: usize, offset: u64, bytes: u8, value: u64, now: Cycle) {
        let Some(register) = Register::at(offset, bytes).filter(|_| bar == 0) else {
            return;
        };
        let state = &mut self.state;
        match register {
            Register::DeviceFeatureSelect => state.device_select = value as u32,
            Register::DriverFeatureSelect => state.driver_select = value as u32,
            Register::DriverFeature if state.driver_select <= 1 && state.status & FEATURES_OK == 0 => {
                state.accepted = with_half(state.accepted, 32 * state.driver_select, value);
            }
            Register::Status => self.set_status(value as u8),
            Register::RingSelect => state.selected = value as u16,
            Register::ConfigurationVector => self.set_vector(None, value as u16),
            Register::RingVector => {
                let ring = state.selected;
                self.set_vector(Some(ring), value as u16);
            }
            Register::Notify(ring) if ring < state.rings.len() && state.works() => {
                if state.notified == 0 {
                    state.look = (now + self.look).0;
                }
                state.notified |= 1 << ring;
            }
            Register::RingSize | Register::RingEnable | Register::RingAddress(..) => {
                // The set-up of a ring cannot be changed while it is in use.
                let Some(ring) = state.ring().filter(|ring| !ring.enabled) else {
                    return;
                };
                match register {
                    Register::RingSize => ring.size = value as u16,
                    Register::RingAddress(which, shift) => {
                        let address = ring.address(which);
                        *address = with_half(*address, shift, value);
                    }
                    _ => ring.enabled = value & 0xffff == 1,
                }
            }
            _ => {}
        }
    }

    fn interrupts(&self) -> bool {
        self.state.interrupts != 0
    }

    fn offer_vectors(&mut self) -> u32 {
        let vectors = Vectors::new(self.state.rings.len());
        let number = vectors.number();
        self.vectors = Some(vectors);
        number.into()
    }

    fn take_vectors(&mut self, replaces_line: bool) -> u64 {
        self.vectors.as_mut().map_or(0, |vectors| {
            vectors.used = replaces_line;
            std::mem::take(&mut vectors.raised)
        })
    }

    fn next_event(&self) -> Cycle {
        self.state.look().min(self.state.done())
    }

    fn advance(&mut self, ram: &mut Ram<'_>, now: Cycle) {
        while self.next_event() <= now {
            let happened = if self.state.done() <= self.state.look() {
                self.end(ram)
            } else {
                self.read_rings(ram)
            };
            if happened.is_err() {
                self.state.fail();
                self.interrupt(None);
            }
        }
    }

    fn errors(&self) -> u64 {
        self.state.errors
    }

    fn reseed(&mut self, seed: u64) {
        self.model.reseed(seed);
    }

    fn save(&self) -> Vec<u8> {
        let model = self.model.save();
        match &self.vectors {
            None => encode(&(&self.state, model)),
            Some(vectors) => encode(&(&self.state, model, vectors)),
        }
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let device = "virtio device";
        let (state, model, vectors): (State, Vec<u8>, Option<Vectors>) = match &self.vectors {
            None => {
                let (state, model) = decode(state, device)?;
                (state, model, None)
            }
            Some(_) => {
                let (state, model, vectors) = decode(state, device)?;
                (state, model, Some(vectors))
            }
        };
        let rings = state.rings.len();
        if rings != self.state.rings.len() || state.under_way.iter().any(|request| request.ring >= rings) {
            return Err(RestoreError { device });
        }
        self.model.restore(&model)?;
        self.state = state;
        self.vectors = vectors;
        Ok(())
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
