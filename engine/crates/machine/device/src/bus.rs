use crate::aclint::Aclint;
use crate::aplic::Aplic;
use crate::device::{decode, encode, Device, RestoreError};
use crate::host_interface::HostInterface;
use crate::interrupt_files::InterruptFiles;
use crate::map::{check_places, Map, MapError, Place, UARTS};
use crate::pci::PciHost;
use crate::plic::Plic;
use crate::power::Power;
use crate::ram::Ram;
use crate::uart::Uart;
use rackwright_contract::{Answer, Message, Ticket};
use rackwright_memory::GuestMemory;
use rackwright_stats::Digest;
use rackwright_time::{Cycle, Cycles};

/// Time of an access to a device: across the chip, and back.
pub const ACCESS_LATENCY: Cycles = Cycles::new(2 * CROSSING_LATENCY.0);
/// Time of an access until it has reached the device.
pub const CROSSING_LATENCY: Cycles = Cycles::new(5);

/// Number of devices with addresses of their own, besides the PCI bus.
const PLACES: usize = 5 + UARTS;

/// The devices of a machine, by address.
pub struct Bus {
    map: Map,
    aclint: Aclint,
    plic: Plic,
    aplic: Aplic,
    files: InterruptFiles,
    /// The request to the power supply.
    pub power: Power,
    uarts: [Uart; UARTS],
    pci: PciHost,
    /// The interface for output and exit of bare metal.
    pub host: HostInterface,
    /// Added devices, by name and place.
    added: Vec<(&'static str, Place, Box<dyn Device>)>,
}

/// The outer side of a serial port of a machine.
pub struct Serial<'a> {
    bus: &'a mut Bus,
    uart: usize,
}

impl<'a> Serial<'a> {
    /// Sends to the guest.
    pub fn send(self, bytes: &[u8]) {
        self.bus.uarts[self.uart].send(bytes);
        self.bus.gather();
    }

    /// The guest's output that has not been taken yet.
    pub fn output(self) -> &'a mut Vec<u8> {
        self.bus.uarts[self.uart].output()
    }
}

/// The interrupt line of the tiles of a machine, which a function of its PCI bus shows.
pub struct LineOfTiles<'a>(pub &'a mut Bus);

impl LineOfTiles<'_> {
    /// Sets its level.
    pub fn drive(self, high: bool) {
        self.0.pci.drive(high);
        self.0.gather();
    }
}

/// The interrupt lines of a hart that devices drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lines {
    /// Software interrupt of machine mode.
    pub software: bool,
    /// External interrupt of machine mode.
    pub machine_external: bool,
    /// External interrupt of supervisor mode.
    pub supervisor_external: bool,
}

impl Bus {
    /// Devices for `harts` harts at their places of `map`; time ticks every `cycles_per_tick`.
    pub fn new(map: Map, harts: usize, cycles_per_tick: Cycles) -> Bus {
        Bus {
            map,
            aclint: Aclint::new(harts, cycles_per_tick),
            plic: Plic::new(harts),
            aplic: Aplic::new(),
            files: InterruptFiles::new(map.messages, harts),
            power: Power::default(),
            uarts: Default::default(),
            pci: PciHost::new(map.pci, map.aplic.is_used()),
            host: HostInterface::default(),
            added: Vec::new(),
        }
    }

    /// Adds a device at `place`, whose addresses and interrupts must be unused.
    ///
    /// # Errors
    /// [`MapError`] otherwise, with both names.
    pub fn add(&mut self, name: &'static str, place: Place, device: Box<dyn Device>) -> Result<(), MapError> {
        let most = if self.map.plic.is_used() {
            Plic::SOURCES - 1
        } else if self.map.aplic.is_used() {
            Aplic::SOURCES - 1
        } else {
            0
        };
        if place.source > most {
            return Err(MapError::NoInterrupt {
                part: name.to_string(),
                source_number: place.source,
                there: if most == 0 {
                    "none".into()
                } else {
                    format!("1 to {most}")
                },
            });
        }
        let added = self.added.iter().map(|(name, place, _)| (*name, *place));
        let parts = self.map.places().into_iter().chain(added);
        check_places(parts.chain(self.map.further()).chain([(name, place)]))?;
        self.added.push((name, place, device));
        Ok(())
    }

    /// The PCI bus.
    pub fn pci(&self) -> &PciHost {
        &self.pci
    }

    /// The same, to be changed.
    pub fn pci_mut(&mut self) -> &mut PciHost {
        &mut self.pci
    }

    /// The outer side of a serial port.
    pub fn serial(&mut self, uart: usize) -> Serial<'_> {
        Serial { bus: self, uart }
    }

    /// Whether a device on it, other than interrupt controllers and timers, has events of its own.
    pub fn acts(&self) -> bool {
        self.pci.has_tree() || !self.added.is_empty()
    }

    /// The addresses of the devices.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Loads from a device; `None` if there is none.
    pub fn read(&mut self, address: u64, bytes: u8, now: Cycle) -> Option<u64> {
        let value = match self.find(address) {
            Some((device, offset)) => device.read(offset, bytes, now),
            None => {
                let of_files = self.files.read(address, bytes);
                of_files.or_else(|| self.pci.read(address, bytes))
            }
        };
        self.gather();
        value
    }

    /// A load of a hart from a device at `now`: the value, or the ticket for [`Bus::answered`]; `None` if there is no
    /// device.
    pub fn load(&mut self, address: u64, bytes: u8, now: Cycle) -> Option<Answer<u64>> {
        if let Some(ticket) = self.pci.ask(address, bytes, now) {
            return Some(Answer::Later(ticket));
        }
        let value = self.read(address, bytes, now)?;
        Some(Answer::At(now + ACCESS_LATENCY, value))
    }

    /// A store of a hart to a device at `now`: the time of its completion, or the ticket for [`Bus::answered`]; `None`
    /// if there is no device.
    pub fn store(&mut self, address: u64, bytes: u8, value: u64, now: Cycle) -> Option<Answer> {
        if let Some(ticket) = self.pci.ask_to_write(address, bytes, value, now) {
            return Some(Answer::Later(ticket));
        }
        let there = self.write(address, bytes, value, now);
        there.then_some(Answer::At(now + ACCESS_LATENCY, ()))
    }

    /// The value of the access with this ticket, and when it reaches the hart; `None` when no device knows yet.
    pub fn answered(&mut self, ticket: Ticket, memory: &mut GuestMemory) -> Option<(u64, Cycle)> {
        let answer = self.pci.answered(ticket, &mut Ram::new(memory, self.map.memory));
        self.gather();
        answer
    }

    /// Stores to a device; returns whether there is one.
    pub fn write(&mut self, address: u64, bytes: u8, value: u64, now: Cycle) -> bool {
        let done = match self.find(address) {
            Some((device, offset)) => device.write(offset, bytes, value, now),
            None => self.files.write(address, bytes, value) || self.pci.write(address, bytes, value, now),
        };
        self.gather();
        done
    }

    /// Time of the next event of a device.
    #[inline]
    pub fn next_event(&self) -> Cycle {
        let added = self.added.iter().map(|(_, _, device)| device.next_event());
        added.fold(self.pci.next_event(), Cycle::min)
    }

    /// Lets devices handle their events up to `now`, including accesses to `memory`; returns whether there were any.
    pub fn advance(&mut self, memory: &mut GuestMemory, now: Cycle) -> bool {
        if self.next_event() > now {
            return false;
        }
        let ram = &mut Ram::new(memory, self.map.memory);
        self.pci.advance(ram, now);
        for (_, _, device) in &mut self.added {
            device.advance(ram, now);
        }
        self.gather();
        true
    }

    /// Message-signalled interrupts that have arrived since the last call, in order.
    #[inline]
    pub fn take_messages(&mut self) -> Vec<Message> {
        self.files.take()
    }

    /// The interrupt lines of `hart`.
    #[inline]
    pub fn lines(&self, hart: usize) -> Lines {
        Lines {
            software: self.aclint.software(hart),
            machine_external: self.plic.interrupts(2 * hart),
            supervisor_external: self.plic.interrupts(2 * hart + 1),
        }
    }

    /// When the timer of `hart` is raised.
    #[inline]
    pub fn timer(&self, hart: usize) -> Cycle {
        self.aclint.timer(hart)
    }

    /// The state of all devices, for [`Bus::restore`]; without output of the guest that has not been taken, and without
    /// that of a tree.
    pub fn save(&self) -> Vec<u8> {
        let there = self.devices().into_iter().zip(self.places());
        let built_in = there
            .filter(|(_, place)| place.is_used())
            .map(|(device, _)| device);
        let added = self.added.iter().map(|(_, _, device)| &**device);
        let states: Vec<Vec<u8>> = built_in.chain(added).map(Device::save).collect();
        encode(&(states, self.pci.save()))
    }

    /// Adds the state of all devices, and the events behind the PCI host bridge, to a digest.
    pub fn digest(&self, digest: &mut Digest) {
        digest.bytes(&self.save());
        self.pci.digest_unsaved(digest);
    }

    /// Restores the state returned by [`Bus::save`].
    ///
    /// # Errors
    /// [`RestoreError`] if the bytes are not a state for as many harts and the same PCI functions.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let (states, pci): (Vec<Vec<u8>>, Vec<u8>) = decode(state, "bus")?;
        let places = self.places();
        let built_in = places.iter().filter(|place| place.is_used()).count();
        if states.len() != built_in + self.added.len() {
            return Err(RestoreError { device: "bus" });
        }
        let (of_built_in, of_added) = states.split_at(built_in);
        let there = self.devices_mut().into_iter().zip(places);
        there
            .filter(|(_, place)| place.is_used())
            .zip(of_built_in)
            .try_for_each(|((device, _), state)| device.restore(state))?;
        let mut added = self.added.iter_mut().zip(of_added);
        added.try_for_each(|((_, _, device), state)| device.restore(state))?;
        self.pci.restore(&pci)
    }

    /// The places of the devices, in the order of [`Bus::devices`].
    fn places(&self) -> [Place; PLACES] {
        let Map {
            power,
            aclint,
            plic,
            aplic,
            uarts: [console, requests, output, errors],
            host,
            ..
        } = self.map;
        [
            aclint, plic, aplic, power, console, requests, output, errors, host,
        ]
    }

    fn devices(&self) -> [&dyn Device; PLACES] {
        let [console, requests, output, errors] = &self.uarts;
        [
            &self.aclint,
            &self.plic,
            &self.aplic,
            &self.power,
            console,
            requests,
            output,
            errors,
            &self.host,
        ]
    }

    fn devices_mut(&mut self) -> [&mut dyn Device; PLACES] {
        let [console, requests, output, errors] = &mut self.uarts;
        [
            &mut self.aclint,
            &mut self.plic,
            &mut self.aplic,
            &mut self.power,
            console,
            requests,
            output,
            errors,
            &mut self.host,
        ]
    }

    fn find(&mut self, address: u64) -> Option<(&mut dyn Device, u64)> {
        let places = self.places();
        let mut built_in = places.iter().enumerate();
        if let Some((index, offset)) =
            built_in.find_map(|(index, place)| Some((index, place.offset(address)?)))
        {
            return self
                .devices_mut()
                .into_iter()
                .nth(index)
                .map(|device| (device, offset));
        }
        let mut added = self.added.iter_mut();
        added.find_map(|(_, place, device)| Some((&mut **device as &mut dyn Device, place.offset(address)?)))
    }

    /// Shows the interrupt controller the interrupt lines of devices, and the interrupt files the messages that have
    /// arrived.
    fn gather(&mut self) {
        let has_wires = self.map.plic.is_used();
        let (plic, aplic) = (&mut self.plic, &mut self.aplic);
        let mut set_line = |source, high| {
            if has_wires {
                plic.set_line(source, high);
            } else {
                aplic.set_line(source, high);
            }
        };
        for (uart, place) in self.uarts.iter().zip(&self.map.uarts) {
            set_line(place.source, uart.interrupts());
        }
        for (_, place, device) in &self.added {
            if place.source != 0 {
                set_line(place.source, device.interrupts());
            }
        }
        for (source, high) in self.pci.lines() {
            set_line(source, high);
        }
        if self.files.are_there() {
            let arrived = self.pci.take_messages().into_iter();
            for (address, value) in arrived.chain(self.aplic.take_messages()) {
                self.files.write(address, 4, value.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::power::PowerRequest;

    fn bus() -> Bus {
        Bus::new(Map::SERVER, 2, Cycles::new(1000))
    }

    #[test]
    fn a_character_from_outside_interrupts_the_supervisor_of_a_hart() {
        let mut bus = bus();
        let map = *bus.map();
        let uart = map.uarts[0];
        let now = Cycle::ZERO;
        let context = 3;
        assert!(bus.write(map.plic.base + 4 * u64::from(uart.source), 4, 1, now));
        assert!(bus.write(map.plic.base + 0x2000 + 0x80 * context, 4, 1 << uart.source, now));
        assert!(bus.write(uart.base + 1, 1, 1, now));
        bus.serial(0).send(b"a");
        assert!(bus.lines(1).supervisor_external);
        assert!(!bus.lines(1).machine_external && !bus.lines(0).supervisor_external);
        assert_eq!(
            bus.read(map.plic.base + 0x20_0004 + 0x1000 * context, 4, now),
            Some(uart.source.into())
        );
        assert!(!bus.lines(1).supervisor_external);
    }

    #[test]
    fn nothing_lies_between_devices() {
        let mut bus = bus();
        assert_eq!(bus.read(0, 4, Cycle::ZERO), None);
        assert!(!bus.write(0x1000_0100, 1, 0, Cycle::ZERO));
        assert_eq!(bus.power.request(), None);
        assert!(bus.write(bus.map().power.base, 4, 0x5555, Cycle::ZERO));
        assert_eq!(bus.power.request(), Some(PowerRequest::Off(0)));
    }

    #[test]
    fn what_a_map_has_no_place_for_is_not_there() {
        let (mut bus, server) = (Bus::new(Map::BARE_METAL, 1, Cycles::new(200)), Map::SERVER);
        for absent in [
            server.power,
            server.plic,
            server.uarts[0],
            server.pci.configuration,
        ] {
            assert_eq!(bus.read(absent.base, 4, Cycle::ZERO), None);
        }
        let [host, aclint] = [Map::BARE_METAL.host.base, Map::BARE_METAL.aclint.base];
        assert!(bus.write(host, 8, 2 * 3 + 1, Cycle::ZERO));
        assert_eq!(bus.host.exit(), Some(3));
        assert!(bus.write(aclint, 4, 1, Cycle::ZERO));
        assert!(bus.lines(0).software);
        let mut other = Bus::new(Map::BARE_METAL, 1, Cycles::new(200));
        other.restore(&bus.save()).unwrap();
        assert_eq!(other.host.exit(), Some(3));
        assert!(Bus::new(server, 1, Cycles::new(200))
            .restore(&bus.save())
            .is_err());
    }

    #[test]
    fn a_saved_bus_is_the_same_after_it_was_restored() {
        let mut bus = bus();
        bus.serial(2).send(b"later");
        bus.write(bus.map().aclint.base, 4, 1, Cycle::ZERO);
        let saved = bus.save();
        let mut other = self::bus();
        other.restore(&saved).unwrap();
        assert_eq!(other.save(), saved);
        assert!(other.lines(0).software);
        assert!(Bus::new(Map::SERVER, 1, Cycles::new(1000))
            .restore(&saved)
            .is_err());
    }
}
