use crate::device::{decode, encode, RestoreError};
use crate::pci::all_ones;
use crate::pci::configuration::{Capability, Configuration, Header};
use crate::pci::messages::{self, Messages};
use crate::ram::Ram;
use rackwright_contract::{Ticket, Tickets};
use rackwright_time::Cycle;

/// The device behind the configuration space of a PCI function. It is behind a port: registers in ranges of addresses,
/// memory that it accesses itself, and one interrupt line.
pub trait Endpoint: Send {
    /// The identity of the function.
    fn header(&self) -> Header;

    /// Which capability of the header is a window to the base address ranges (virtio 1.2, section 4.1.4.9), if one is.
    fn window(&self) -> Option<usize> {
        None
    }

    /// The value of a load of `bytes` bytes at `offset` of range `bar`; `None` if there is no such register.
    fn read(&mut self, bar: usize, offset: u64, bytes: u8) -> Option<u64>;

    /// Starts a load with a later response, by [`Endpoint::answered`]; `None` for other loads. Tickets are taken from
    /// `tickets`.
    fn ask(
        &mut self,
        _bar: usize,
        _offset: u64,
        _bytes: u8,
        _now: Cycle,
        _tickets: &mut Tickets,
    ) -> Option<Ticket> {
        None
    }

    /// The value of the load with this ticket, and when it reaches the hart; `None` when that is not known yet.
    fn answered(&mut self, _ticket: Ticket, _ram: &mut Ram<'_>) -> Option<(u64, Cycle)> {
        None
    }

    /// Stores the low `bytes` bytes of `value`; without effect if there is no such register.
    fn write(&mut self, bar: usize, offset: u64, bytes: u8, value: u64, now: Cycle);

    /// Has a line of the machine that it shows drive its interrupt.
    fn drive(&mut self, _high: bool) {}

    /// Whether its interrupt is active, where messages do not replace it.
    fn interrupts(&self) -> bool;

    /// Has it offer interrupts that are sent as messages; returns how many, up to 64.
    fn offer_vectors(&mut self) -> u32 {
        0
    }

    /// Bits of the vectors that have been raised since the last call; `replaces_line` tells whether software has them
    /// sent, in place of the interrupt.
    fn take_vectors(&mut self, _replaces_line: bool) -> u64 {
        0
    }

    /// Time of its next event.
    fn next_event(&self) -> Cycle;

    /// Handles its events up to `now`.
    fn advance(&mut self, ram: &mut Ram<'_>, now: Cycle);

    /// There are no events in the machine from `now` to `until`, except perhaps in this function. A function connected
    /// to the outside of the simulation waits for external input, and returns by [`Endpoint::next_event`] how long that
    /// took.
    fn rest(&mut self, _now: Cycle, _until: Cycle) {}

    /// Why it does not go on, if it does not; it answers no more then.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Number of rule violations of software.
    fn errors(&self) -> u64;

    /// Restarts all random numbers from `seed`: for one of several functions restored from the same state.
    fn reseed(&mut self, _seed: u64) {}

    /// Its state, for [`Endpoint::restore`].
    fn save(&self) -> Vec<u8>;

    /// Restores a state returned by [`Endpoint::save`].
    ///
    /// # Errors
    /// [`RestoreError`] when the bytes are not such a state.
    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError>;
}

/// The place of the device control register in the capability of PCI Express, and its bits (7.5.3.4).
const DEVICE_CONTROL: usize = 8;
const DEVICE_CONTROL_BITS: u16 = 0x79ff;

/// A function on a bus: an endpoint with its configuration space.
pub struct Function {
    configuration: Configuration,
    endpoint: Box<dyn Endpoint>,
    /// The place of the capability of PCI Express, of a function on a card.
    express: Option<usize>,
    /// Its interrupts as messages, and the place of their capability.
    messages: Option<(Messages, usize)>,
}

/// The target of an access through a window.
struct Beyond {
    bar: usize,
    offset: u64,
    bytes: u8,
}

impl Function {
    /// A function whose interrupts may be sent as messages if the machine takes them.
    pub(crate) fn new(endpoint: Box<dyn Endpoint>, takes_messages: bool) -> Function {
        Function::with(endpoint, takes_messages, None)
    }

    /// The function of a card, with the capability of PCI Express; it has no interrupts but messages.
    pub fn on_card(endpoint: Box<dyn Endpoint>, express: Capability) -> Function {
        Function::with(endpoint, true, Some(express))
    }

    fn with(mut endpoint: Box<dyn Endpoint>, takes_messages: bool, express: Option<Capability>) -> Function {
        let mut header = endpoint.header();
        let vectors = if takes_messages {
            endpoint.offer_vectors()
        } else {
            0
        };
        let messages = (vectors != 0).then(|| Messages::new(vectors));
        if let Some(messages) = &messages {
            header.bars[messages::BAR] = messages::BYTES;
            header.capabilities.push(messages.capability());
        }
        let on_card = express.is_some();
        header.capabilities.extend(express);
        let mut configuration = Configuration::new(&header, !on_card);
        let last = header.capabilities.len().saturating_sub(1);
        let express = on_card.then(|| configuration.capability(last));
        if let Some(place) = express {
            configuration.allow(place + DEVICE_CONTROL, &DEVICE_CONTROL_BITS.to_le_bytes());
        }
        let messages = messages.map(|messages| {
            let place = configuration.capability(last - usize::from(on_card));
            configuration.allow(place + messages::CONTROL, &[messages::CONTROL_BITS]);
            (messages, place)
        });
        Function {
            configuration,
            endpoint,
            express,
            messages,
        }
    }

    /// The place of the capability of PCI Express in its configuration space, if it has one.
    pub fn express(&self) -> Option<usize> {
        self.express
    }

    /// The device control register of PCI Express (7.5.3.4); 0 without one.
    pub fn device_control(&self) -> u16 {
        self.express
            .map_or(0, |place| self.configuration.word(place + DEVICE_CONTROL) as u16)
    }

    /// Whether it may access memory.
    pub fn is_master(&self) -> bool {
        self.configuration.is_master()
    }

    /// The upper byte of message control.
    fn message_control(&self) -> Option<u8> {
        let (_, place) = self.messages.as_ref()?;
        Some((self.configuration.word(*place) >> (8 * messages::CONTROL)) as u8)
    }

    /// Messages that it has sent since the last call: addresses and data.
    pub fn take_messages(&mut self) -> Vec<(u64, u32)> {
        let Some(control) = self.message_control() else {
            return Vec::new();
        };
        let raised = self.endpoint.take_vectors(Messages::replace_line(control));
        let is_master = self.configuration.is_master();
        let Some((messages, _)) = &mut self.messages else {
            return Vec::new();
        };
        messages.raise(raised, messages::when_master(control, is_master));
        messages.take()
    }

    /// Loads from configuration space; ones beyond it.
    pub fn read_configuration(&mut self, place: usize, bytes: u8) -> u64 {
        if let Some(Beyond { bar, offset, bytes }) = self.through_window(place, bytes) {
            return self.endpoint.read(bar, offset, bytes).unwrap_or(all_ones(bytes));
        }
        let interrupts = self.endpoint.interrupts();
        self.configuration
            .read(place, bytes, interrupts)
            .unwrap_or(all_ones(bytes))
    }

    /// Stores to it.
    pub fn write_configuration(&mut self, place: usize, bytes: u8, value: u64, now: Cycle) {
        if let Some(Beyond { bar, offset, bytes }) = self.through_window(place, bytes) {
            self.endpoint.write(bar, offset, bytes, value, now);
        } else {
            self.configuration.write(place, bytes, value);
        }
    }

    /// An access to the data of a window is forwarded to the range that software has selected in it.
    fn through_window(&self, place: usize, bytes: u8) -> Option<Beyond> {
        let space = &self.configuration;
        let window = space.capability(self.endpoint.window()?);
        let length = space.word(window + 12);
        let valid = matches!(length, 1 | 2 | 4) && u32::from(bytes) == length;
        (place == window + 16 && valid).then(|| Beyond {
            // A range of 64 bits takes two registers, and is named by the first.
            bar: (space.word(window + 4) & 0xff) as usize / 2,
            offset: space.word(window + 8).into(),
            bytes,
        })
    }

    /// Reads a register, if one of the function's ranges holds the address.
    pub fn read(&mut self, address: u64, bytes: u8) -> Option<u64> {
        let (bar, offset) = self.configuration.decode(address, bytes)?;
        let value = match &self.messages {
            Some((messages, _)) if bar == messages::BAR => messages.read(offset, bytes),
            _ => self.endpoint.read(bar, offset, bytes),
        };
        Some(value.unwrap_or(all_ones(bytes)))
    }

    /// Whether one of the function's ranges holds the address.
    pub fn holds(&self, address: u64, bytes: u8) -> bool {
        self.configuration.decode(address, bytes).is_some()
    }

    /// Begins a load that is answered later, if one of the function's ranges holds the address and it is such a load.
    pub(crate) fn ask(
        &mut self,
        address: u64,
        bytes: u8,
        now: Cycle,
        tickets: &mut Tickets,
    ) -> Option<Ticket> {
        let (bar, offset) = self.configuration.decode(address, bytes)?;
        self.endpoint.ask(bar, offset, bytes, now, tickets)
    }

    /// The value of the load with this ticket, and the time of its arrival at the hart, if it was a load from this
    /// function and is known.
    pub(crate) fn answered(&mut self, ticket: Ticket, ram: &mut Ram<'_>) -> Option<(u64, Cycle)> {
        self.endpoint.answered(ticket, ram)
    }

    /// Writes a register; returns whether the address is in one of the function's ranges.
    pub fn write(&mut self, address: u64, bytes: u8, value: u64, now: Cycle) -> bool {
        let found = self.configuration.decode(address, bytes);
        if let Some((bar, offset)) = found {
            match &mut self.messages {
                Some((messages, _)) if bar == messages::BAR => messages.write(offset, bytes, value),
                _ => self.endpoint.write(bar, offset, bytes, value, now),
            }
        }
        found.is_some()
    }

    pub(crate) fn drive(&mut self, high: bool) {
        self.endpoint.drive(high);
    }

    pub(crate) fn interrupts(&self) -> bool {
        let replaced = self.message_control().is_some_and(Messages::replace_line);
        !replaced && self.configuration.may_interrupt() && self.endpoint.interrupts()
    }

    /// Time of its next event; none while the function may not access memory.
    pub fn next_event(&self) -> Cycle {
        if self.configuration.is_master() {
            self.endpoint.next_event()
        } else {
            Cycle::NEVER
        }
    }

    /// Handles its events up to `now`.
    pub fn advance(&mut self, ram: &mut Ram<'_>, now: Cycle) {
        if self.next_event() <= now {
            self.endpoint.advance(ram, now);
        }
    }

    pub(crate) fn rest(&mut self, now: Cycle, until: Cycle) {
        if self.configuration.is_master() {
            self.endpoint.rest(now, until);
        }
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.endpoint.failure()
    }

    pub(crate) fn errors(&self) -> u64 {
        self.endpoint.errors()
    }

    pub(crate) fn reseed(&mut self, seed: u64) {
        self.endpoint.reseed(seed);
    }

    /// Its state, for [`Function::restore`].
    pub fn save(&self) -> Vec<u8> {
        let (configuration, endpoint) = (self.configuration.save(), self.endpoint.save());
        match &self.messages {
            None => encode(&(configuration, endpoint)),
            Some((messages, _)) => encode(&(configuration, endpoint, messages.save())),
        }
    }

    /// Restores the state of another function of the same kind.
    ///
    /// # Errors
    /// [`RestoreError`] when the bytes are not such a state.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let device = "PCI function";
        let (configuration, endpoint): (Vec<u8>, Vec<u8>) = match &mut self.messages {
            None => decode(state, device)?,
            Some((messages, _)) => {
                let (configuration, endpoint, saved): (Vec<u8>, Vec<u8>, Vec<u8>) = decode(state, device)?;
                messages.restore(&saved)?;
                (configuration, endpoint)
            }
        };
        self.configuration.restore(&configuration)?;
        self.endpoint.restore(&endpoint)
    }
}
