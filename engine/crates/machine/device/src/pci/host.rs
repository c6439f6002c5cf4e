use crate::device::{decode, encode, RestoreError};
use crate::map::PciMap;
use crate::pci::all_ones;
use crate::pci::function::{Endpoint, Function};
use crate::pci::tiles::{TileLine, TILES};
use crate::pci::tree::{Tree, TreeAccess, TreePlace, FIRST_ROOT_PORT, LINES};
use crate::ram::Ram;
use rackwright_contract::{Ticket, Tickets};
use rackwright_stats::Digest;
use rackwright_time::Cycle;

/// Bytes of the configuration space of a function in the enhanced access mechanism, and functions of a device.
const SPACE: u64 = 4096;
const FUNCTIONS: u64 = 8;
/// Devices that a bus has room for, and the functions of one.
const DEVICES: u64 = 32;

/// The host bridge, with one function in each device of its bus. Reads without a response return ones.
pub struct PciHost {
    map: PciMap,
    takes_messages: bool,
    functions: Vec<Function>,
    /// The function by which tiles interrupt. A checkpoint has no state of it.
    tiles: Option<Function>,
    tree: Option<Box<dyn Tree>>,
    /// Of the accesses that are answered later.
    tickets: Tickets,
}

impl PciHost {
    /// A bus without functions.
    ///
    /// Functions attached to it may send their interrupts as messages if the machine `takes_messages`.
    pub fn new(map: PciMap, takes_messages: bool) -> PciHost {
        PciHost {
            map,
            takes_messages,
            functions: Vec::new(),
            tiles: None,
            tree: None,
            tickets: Tickets::default(),
        }
    }

    /// Adds a function as the next device of the bus.
    ///
    /// # Panics
    /// When the bus is full.
    pub fn attach(&mut self, endpoint: Box<dyn Endpoint>) {
        let most = usize::from(TILES);
        assert!(
            self.functions.len() < most,
            "a bus has {most} devices beside root ports and tiles"
        );
        let function = Function::new(endpoint, self.takes_messages);
        self.functions.push(function);
    }

    /// Adds the function by which tiles interrupt.
    pub fn attach_tiles(&mut self) {
        self.tiles = Some(Function::new(Box::<TileLine>::default(), self.takes_messages));
    }

    /// Sets the line of tiles.
    pub(crate) fn drive(&mut self, high: bool) {
        self.tiles.iter_mut().for_each(|tiles| tiles.drive(high));
    }

    /// Adds a tree behind the bridge.
    pub fn attach_tree(&mut self, tree: Box<dyn Tree>) {
        self.tree = Some(tree);
    }

    /// The tree behind it, if there is one.
    pub fn tree(&mut self) -> Option<&mut dyn Tree> {
        self.tree.as_deref_mut().map(|tree| tree as &mut dyn Tree)
    }

    /// Whether there is a tree.
    pub fn has_tree(&self) -> bool {
        self.tree.is_some()
    }

    /// Why its tree or a function does not go on, if one does not.
    pub fn failure(&self) -> Option<String> {
        let tree = self.tree.as_ref().and_then(|tree| tree.failure());
        tree.or_else(|| self.functions.iter().find_map(Function::failure))
    }

    /// Messages of its functions and its tree that have arrived since the last call: addresses and data.
    pub(crate) fn take_messages(&mut self) -> Vec<(u64, u32)> {
        let tree = self.tree.as_mut();
        let mut all = tree.map_or_else(Vec::new, |tree| tree.take_messages());
        for function in &mut self.functions {
            all.extend(function.take_messages());
        }
        all
    }

    /// Adds what a checkpoint has no state of to a digest: the events in its tree, and the function of tiles.
    pub fn digest_unsaved(&self, digest: &mut Digest) {
        if let Some(tiles) = &self.tiles {
            digest.bytes(&tiles.save());
        }
        if let Some(tree) = &self.tree {
            tree.digest(digest);
        }
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

    /// Starts a load with a later response, if it is one.
    pub(crate) fn ask(&mut self, address: u64, bytes: u8, now: Cycle) -> Option<Ticket> {
        if let Some(place) = self.below(address, bytes) {
            return self.begin(place, bytes, None, now, true);
        }
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
        let below = self.tree.as_mut().and_then(|tree| tree.answered(ticket, ram));
        if below.is_some() {
            return below;
        }
        let mut functions = self.functions.iter_mut();
        functions.find_map(|function| function.answered(ticket, ram))
    }

    /// Starts a store for which a hart waits, if it is one: to configuration space below the bridge.
    pub(crate) fn ask_to_write(&mut self, address: u64, bytes: u8, value: u64, now: Cycle) -> Option<Ticket> {
        let place = self.below(address, bytes)?;
        let TreePlace::Configuration { .. } = place else {
            return None;
        };
        self.begin(place, bytes, Some(value), now, true)
    }

    /// Stores to configuration space or a function's range; returns whether the address belongs to the bridge.
    pub fn write(&mut self, address: u64, bytes: u8, value: u64, now: Cycle) -> bool {
        if let Some(place) = self.below(address, bytes) {
            self.begin(place, bytes, Some(value), now, false);
            return true;
        }
        if let Some(offset) = self.map.configuration.offset(address) {
            if let Some(function) = self.function(offset) {
                function.write_configuration((offset % SPACE) as usize, bytes, value, now);
            }
            return true;
        }
        if self.forwards(address).is_none() {
            return false;
        }
        // The first function with this address takes it; there may be none.
        self.functions
            .iter_mut()
            .any(|function| function.write(address, bytes, value, now));
        true
    }

    /// The level of each interrupt source of the bridge.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (u32, bool)> + '_ {
        let below = self.tree.as_ref().map_or([false; LINES], |tree| tree.lines());
        let lines = self.map.sources.iter().zip(below).enumerate();
        lines.map(|(line, (source, below))| {
            let mut sharing = self.functions.iter().skip(line).step_by(LINES);
            let own = sharing.any(Function::interrupts);
            let mut tiles = self.tiles.iter().filter(|_| usize::from(TILES) % LINES == line);
            (*source, below || own || tiles.any(Function::interrupts))
        })
    }

    /// Time of the next event of a function.
    pub fn next_event(&self) -> Cycle {
        let tree = self.tree.as_ref().map_or(Cycle::NEVER, |tree| tree.next_event());
        self.functions
            .iter()
            .map(Function::next_event)
            .fold(tree, Cycle::min)
    }

    /// Only functions have events from `now` to `until`: those connected to the outside of the simulation wait for
    /// external input, and [`PciHost::next_event`] returns how long that took.
    pub fn rest(&mut self, now: Cycle, until: Cycle) {
        self.functions
            .iter_mut()
            .for_each(|function| function.rest(now, until));
    }

    /// Lets functions handle their events up to `now`.
    pub fn advance(&mut self, ram: &mut Ram<'_>, now: Cycle) {
        self.functions
            .iter_mut()
            .for_each(|function| function.advance(ram, now));
        if let Some(tree) = &mut self.tree {
            tree.advance(ram, now);
        }
    }

    /// Number of rule violations of software, after each of which a function needs a reset.
    pub fn errors(&self) -> u64 {
        self.functions.iter().map(Function::errors).sum()
    }

    /// Restarts all random numbers of functions from `seed`.
    pub fn reseed(&mut self, seed: u64) {
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
        let device = number / FUNCTIONS;
        let function = if device == u64::from(TILES) {
            self.tiles.as_mut()
        } else {
            self.functions.get_mut(device as usize)
        };
        function.filter(|_| number % FUNCTIONS == 0)
    }

    /// The target of an access that belongs to the tree: a root port or another bus, or a range outside of the bridge's
    /// own functions.
    fn below(&self, address: u64, bytes: u8) -> Option<TreePlace> {
        let tree = self.tree.as_ref()?;
        if address % u64::from(bytes) != 0 {
            return None;
        }
        let Some(offset) = self.map.configuration.offset(address) else {
            self.forwards(address)?;
            let own = self
                .functions
                .iter()
                .any(|function| function.holds(address, bytes));
            return (!own).then_some(TreePlace::Memory(address));
        };
        let number = offset / SPACE;
        let (bus, device) = (number / FUNCTIONS / DEVICES, (number / FUNCTIONS % DEVICES) as u8);
        let port = device.checked_sub(FIRST_ROOT_PORT);
        let device = match (bus, port) {
            (0, port) => port.filter(|port| *port < tree.root_ports())?,
            _ => device,
        };
        (bytes <= 4).then_some(TreePlace::Configuration {
            bus: bus as u8,
            device,
            function: (number % FUNCTIONS) as u8,
            offset: (offset % SPACE) as u16,
        })
    }

    fn begin(
        &mut self,
        place: TreePlace,
        bytes: u8,
        write: Option<u64>,
        now: Cycle,
        awaited: bool,
    ) -> Option<Ticket> {
        let ticket = awaited.then(|| self.tickets.next_ticket());
        let access = TreeAccess { place, bytes, write };
        self.tree.as_mut()?.begin(access, now, ticket);
        ticket
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
    use rackwright_memory::GuestMemory;
    use std::sync::{Arc, Mutex};

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
        let mut host = PciHost::new(PCI, false);
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
    fn tiles_interrupt_by_a_function_that_software_can_silence() {
        let mut host = host();
        write(&mut host, SECOND + 4, 1 << 10);
        let tiles = PCI.configuration.base + (u64::from(TILES) << 15);
        assert_eq!(host.read(tiles, 4), Some(0xffff_ffff));
        let saved = host.save();
        host.attach_tiles();
        assert_eq!(host.read(tiles, 4), Some(0x7711_1b36));
        let raised = |host: &PciHost| -> Vec<bool> { host.lines().map(|(_, level)| level).collect() };
        host.drive(true);
        assert_eq!(raised(&host), [false, false, false, true]);
        let raised_bit = 1 << 3;
        assert_eq!(host.read(tiles + 6, 2), Some(raised_bit));
        write(&mut host, tiles + 4, 1 << 10);
        assert_eq!(raised(&host), [false; 4]);
        assert_eq!(host.read(tiles + 6, 2), Some(raised_bit));
        host.drive(false);
        assert_eq!(host.read(tiles + 6, 2), Some(0));
        // A checkpoint is the same with and without it.
        assert_eq!(host.save(), saved);
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

    /// A tree that records its accesses, and responds to a ticket with 9.
    #[derive(Default)]
    struct Asked(Vec<(TreeAccess, Option<Ticket>)>);

    impl Tree for Arc<Mutex<Asked>> {
        fn root_ports(&self) -> u8 {
            2
        }

        fn begin(&mut self, access: TreeAccess, _: Cycle, ticket: Option<Ticket>) {
            self.lock().unwrap().0.push((access, ticket));
        }

        fn answered(&mut self, ticket: Ticket, _: &mut Ram<'_>) -> Option<(u64, Cycle)> {
            let asked = &self.lock().unwrap().0;
            let own = asked.iter().any(|(_, given)| *given == Some(ticket));
            own.then_some((9, Cycle::new(5)))
        }

        fn next_event(&self) -> Cycle {
            Cycle::new(3)
        }

        fn advance(&mut self, _: &mut Ram<'_>, _: Cycle) {}

        fn take_messages(&mut self) -> Vec<(u64, u32)> {
            Vec::new()
        }

        fn lines(&self) -> [bool; LINES] {
            [false, false, true, false]
        }

        fn failure(&self) -> Option<String> {
            None
        }

        fn forget_unsaved(&mut self) {}

        fn save(&mut self) -> Result<Vec<u8>, String> {
            Ok(Vec::new())
        }

        fn restore(&mut self, _: &[u8]) -> Result<(), RestoreError> {
            Ok(())
        }

        fn digest(&self, _: &mut Digest) {}
    }

    #[test]
    fn root_ports_further_buses_and_free_addresses_are_the_tree_s() {
        let mut host = PciHost::new(Map::SERVER.with_tree().pci, false);
        host.attach(Box::new(Register(6)));
        let tree = Arc::new(Mutex::new(Asked::default()));
        host.attach_tree(Box::new(tree.clone()));
        let space = |bus: u64, device: u64| PCI.configuration.base + (bus << 20) + (device << 15);
        let window = PCI.windows[1].base;
        write(&mut host, space(0, 0) + 0x14, window >> 32);
        write(&mut host, space(0, 0) + 4, 2);
        let port = u64::from(FIRST_ROOT_PORT);
        let asks = |host: &mut PciHost, address, bytes| host.ask(address, bytes, Cycle::ZERO).is_some();
        // The host responds for its own function, the next root port, and accesses across a word.
        for own in [space(0, 0), space(0, port + 2), space(0, 1), window + 8] {
            assert!(!asks(&mut host, own, 4), "{own:#x}");
        }
        assert!(!asks(&mut host, space(3, 0) + 2, 4) && !asks(&mut host, space(3, 0), 8));
        let mut memory = GuestMemory::new(0x4000).unwrap();
        for (address, place) in [
            (space(0, port + 1) + 0xffc, (0, 1, 0, 0xffc)),
            (space(3, 7) + 0x1008, (3, 7, 1, 8)),
        ] {
            let ticket = host.ask(address, 4, Cycle::ZERO).unwrap();
            let (bus, device, function, offset) = place;
            let expected = TreePlace::Configuration {
                bus,
                device,
                function,
                offset,
            };
            assert_eq!(tree.lock().unwrap().0.last().unwrap().0.place, expected);
            let ram = &mut Ram::new(&mut memory, 0x1000);
            assert_eq!(host.answered(ticket, ram), Some((9, Cycle::new(5))));
        }
        assert!(asks(&mut host, window + 0x2000, 8));
        assert!(host.ask_to_write(window + 0x2000, 8, 1, Cycle::ZERO).is_none());
        assert!(host.ask_to_write(space(1, 0), 2, 1, Cycle::ZERO).is_some());
        assert!(host.write(window + 0x2000, 8, 1, Cycle::ZERO));
        let (access, ticket) = *tree.lock().unwrap().0.last().unwrap();
        assert_eq!(
            (access.place, access.write),
            (TreePlace::Memory(window + 0x2000), Some(1))
        );
        assert_eq!((ticket, host.next_event()), (None, Cycle::new(3)));
    }
}
