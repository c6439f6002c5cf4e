use crate::device::{decode, encode, RestoreError};
use crate::map::PciMap;
use crate::pci::all_ones;
use crate::pci::function::{Endpoint, Function};
use crate::ram::Ram;
use rackwright_contract::{Ticket, Tickets};
use rackwright_time::Cycle;

/// Bytes of the configuration space of a function in the enhanced access mechanism, and functions of a device.
const SPACE: u64 = 4096;
const FUNCTIONS: u64 = 8;
/// Devices that a bus has room for.
const DEVICES: usize = 32;

/// The host bridge, with one function in each device of its bus. What nobody answers reads as ones.
pub struct PciHost {
    map: PciMap,
    functions: Vec<Function>,
    /// Of the loads that its functions answer later.
    tickets: Tickets,
}

impl PciHost {
    /// A bus without functions.
    pub fn new(map: PciMap) -> PciHost {
        PciHost {
            map,
            functions: Vec::new(),
            tickets: Tickets::default(),
        }
    }

    /// Puts a function into the next device of the bus.
    ///
    /// # Panics
    /// When the bus is full.
    pub fn attach(&mut self, endpoint: Box<dyn Endpoint>) {
        assert!(self.functions.len() < DEVICES, "a bus has {DEVICES} devices");
        self.functions.push(Function::new(endpoint));
    }

    /// Loads from configuration space or a function's range; `None` when the address is not the bridge's.
    pub fn read(&mut self, address: u64, bytes: u8) -> Option<u64> {
        if let Some(offset) = self.map.configuration.offset(address) {
            let function = self.function(offset);
            let place = (offset % SPACE) as usize;
            return Some(function.map_or(all_ones(bytes), |function| {
                function.read_configuration(place, bytes)
            }));
        }
        self.forwards(address)?;
        let answer = self
            .functions
            .iter_mut()
            .find_map(|function| function.read(address, bytes));
        Some(answer.unwrap_or(all_ones(bytes)))
    }

    /// Begins a load that is answered later, if it is one of those.
    pub(crate) fn ask(&mut self, address: u64, bytes: u8, now: Cycle) -> Option<Ticket> {
        self.forwards(address)?;
        let PciHost {
            functions, tickets, ..
        } = self;
        functions
            .iter_mut()
            .find_map(|function| function.ask(address, bytes, now, tickets))
    }

    /// The value of the load with this ticket, and when it reaches the hart; `None` when that is not known yet.
    pub(crate) fn answered(&mut self, ticket: Ticket, ram: &mut Ram<'_>) -> Option<(u64, Cycle)> {
        let mut functions = self.functions.iter_mut();
        functions.find_map(|function| function.answered(ticket, ram))
    }

    /// Stores to configuration space or a function's range; tells whether the address is the bridge's.
    pub fn write(&mut self, address: u64, bytes: u8, value: u64, now: Cycle) -> bool {
        if let Some(offset) = self.map.configuration.offset(address) {
            if let Some(function) = self.function(offset) {
                function.write_configuration((offset % SPACE) as usize, bytes, value, now);
            }
            return true;
        }
        if self.forwards(address).is_none() {
            return false;
        }
        // Who would answer first takes it; nobody has to.
        self.functions
            .iter_mut()
            .any(|function| function.write(address, bytes, value, now));
        true
    }

    /// The level of each interrupt source of the bridge.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (u32, bool)> + '_ {
        self.map.sources.iter().enumerate().map(|(line, source)| {
            let mut sharing = self.functions.iter().skip(line).step_by(self.map.sources.len());
            (*source, sharing.any(Function::interrupts))
        })
    }

    /// When a function next does something by itself.
    pub fn next_event(&self) -> Cycle {
        let events = self.functions.iter().map(Function::next_event);
        events.min().unwrap_or(Cycle::NEVER)
    }

    /// Has functions do what was to be done up to `now`.
    pub fn advance(&mut self, ram: &mut Ram<'_>, now: Cycle) {
        self.functions
            .iter_mut()
            .for_each(|function| function.advance(ram, now));
    }

    /// How often software has broken the rules of a device.
    pub fn errors(&self) -> u64 {
        self.functions.iter().map(Function::errors).sum()
    }

    pub(crate) fn reseed(&mut self, seed: u64) {
        self.functions
            .iter_mut()
            .for_each(|function| function.reseed(seed));
    }

    pub(crate) fn save(&self) -> Vec<u8> {
        let states: Vec<Vec<u8>> = self.functions.iter().map(Function::save).collect();
        encode(&states)
    }

    pub(crate) fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let device = "PCI bus";
        let states: Vec<Vec<u8>> = decode(state, device)?;
        if states.len() != self.functions.len() {
            return Err(RestoreError { device });
        }
        let mut functions = self.functions.iter_mut().zip(&states);
        functions.try_for_each(|(function, state)| function.restore(state))
    }

    /// The function whose configuration space holds `offset`: the first one of its device, the only one there is.
    fn function(&mut self, offset: u64) -> Option<&mut Function> {
        let number = offset / SPACE;
        let device = (number / FUNCTIONS) as usize;
        self.functions.get_mut(device).filter(|_| number % FUNCTIONS == 0)
    }

    /// Whether the bridge passes an access on to the bus.
    fn forwards(&self, address: u64) -> Option<u64> {
        self.map.windows.iter().find_map(|window| window.offset(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Map;
    use crate::pci::configuration::tests::header;
    use crate::pci::Header;

    /// One register, whose lowest bit is the interrupt.
    struct Register(u64);

    impl Endpoint for Register {
        fn header(&self) -> Header {
            header()
        }

        fn read(&mut self, bar: usize, offset: u64, _: u8) -> Option<u64> {
            (bar == 0 && offset == 8).then_some(self.0)
        }

        fn write(&mut self, _: usize, _: u64, _: u8, value: u64, _: Cycle) {
            self.0 = value;
        }

        fn interrupts(&self) -> bool {
            self.0 & 1 != 0
        }

        fn next_event(&self) -> Cycle {
            Cycle::new(self.0)
        }

        fn advance(&mut self, _: &mut Ram<'_>, now: Cycle) {
            self.0 = now.0 + 1;
        }

        fn errors(&self) -> u64 {
            0
        }

        fn save(&self) -> Vec<u8> {
            encode(&self.0)
        }

        fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
            self.0 = decode(state, "register")?;
            Ok(())
        }
    }

    const PCI: PciMap = Map::SERVER.pci;
    const SECOND: u64 = PCI.configuration.base + (1 << 15);

    fn host() -> PciHost {
        let mut host = PciHost::new(PCI);
        host.attach(Box::new(Register(6)));
        host.attach(Box::new(Register(7)));
        host
    }

    fn write(host: &mut PciHost, address: u64, value: u64) {
        assert!(host.write(address, 4, value, Cycle::ZERO));
    }

    #[test]
    fn a_function_answers_where_software_has_put_it() {
        let mut host = host();
        let base = PCI.windows[1].base + 0x1_0000;
        write(&mut host, SECOND + 0x10, base & 0xffff_ffff);
        write(&mut host, SECOND + 0x14, base >> 32);
        assert_eq!(host.read(base + 8, 8), Some(u64::MAX));
        write(&mut host, SECOND + 4, 2);
        assert_eq!(host.read(base + 8, 8), Some(7));
        assert_eq!(host.read(base + 16, 2), Some(0xffff));
        assert!(host.write(base, 8, 40, Cycle::ZERO));
        assert_eq!(host.read(base + 8, 4), Some(40));
    }

    #[test]
    fn what_is_not_there_reads_as_ones() {
        let mut host = host();
        let last = PCI.configuration.base + PCI.configuration.bytes - 1;
        for address in [SECOND + (1 << 12), SECOND + (1 << 15), SECOND + 0x100, last] {
            assert_eq!(host.read(address, 1), Some(0xff), "{address:#x}");
            assert!(host.write(address, 1, 1, Cycle::ZERO));
        }
        assert_eq!(host.read(SECOND, 4), Some(0x5678_1234));
        assert_eq!(host.read(SECOND + 0xfc, 8), Some(u64::MAX));
        assert_eq!(host.read(PCI.windows[0].base, 4), Some(0xffff_ffff));
        assert_eq!(host.read(PCI.windows[0].base - 1, 1), None);
        assert!(!host.write(last + 1, 1, 0, Cycle::ZERO));
    }

    #[test]
    fn interrupts_and_events_need_permission() {
        let mut host = host();
        let raised = |host: &PciHost| -> Vec<bool> { host.lines().map(|(_, level)| level).collect() };
        assert_eq!(raised(&host), [false, true, false, false]);
        assert_eq!(host.next_event(), Cycle::NEVER);
        write(&mut host, SECOND + 4, 1 << 10 | 1 << 2);
        assert_eq!(raised(&host), [false; 4]);
        assert_eq!(host.next_event(), Cycle::new(7));
    }

    #[test]
    fn a_saved_bus_is_restored_with_the_same_functions() {
        let mut host = host();
        write(&mut host, SECOND + 4, 4);
        let mut other = self::host();
        other.restore(&host.save()).unwrap();
        assert_eq!(other.save(), host.save());
        other.attach(Box::new(Register(0)));
        assert!(other.restore(&host.save()).is_err());
    }
}
