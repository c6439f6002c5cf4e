use crate::cache::LINE_BYTES;
use rackwright_state::{Pass, State, StateError};
use rackwright_time::{Cycle, Cycles};

/// The class of a message between tiles: one of a later class never waits for one of an earlier class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MessageClass {
    /// From a hart or a unit to the home of a line.
    Request,
    /// From the home of a line to caches that hold it, or to memory.
    Forward,
    /// The response to either.
    Response,
}

/// A message between two tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Its class.
    pub class: MessageClass,
    /// When it is ready to leave its tile.
    pub at: Cycle,
    /// Number of the tile that sends it.
    pub from: usize,
    /// Number of the tile that receives it.
    pub to: usize,
    /// Bytes of data in it, beside its header.
    pub bytes: u64,
}

/// The timing of a network between tiles.
pub trait ChipNetwork: State + Send + Sync {
    /// Number of tiles.
    fn tiles(&self) -> usize;

    /// Sends a message; returns the time at which the last of it has arrived. Messages need not be sent in the order of
    /// their times.
    fn send(&mut self, message: Message) -> Cycle;
}

/// Creates the tiles of a server.
pub trait ChipMaker {
    /// A network without messages, and the places of what is attached to it.
    fn make(&self) -> Tiles;
}

/// The tiles of what a hierarchy connects.
///
/// Each tile has a slice of the L2, the home of every line whose number modulo the number of tiles is the tile's. A
/// request is a message to the home, which asks L1 caches and memory by further messages, and answers by one.
pub struct Tiles {
    network: Box<dyn ChipNetwork>,
    memory: usize,
    harts: Vec<usize>,
    units: Vec<usize>,
    /// The tile and the bytes of a beat of each link.
    links: Vec<(usize, u64)>,
}

impl Tiles {
    /// The tile that memory is attached to, those of harts, and those of the units beside each hart. Whatever has no tile
    /// of its own is at that of memory.
    pub fn new(network: Box<dyn ChipNetwork>, memory: usize, harts: Vec<usize>, units: Vec<usize>) -> Tiles {
        Tiles {
            network,
            memory,
            harts,
            units,
            links: Vec::new(),
        }
    }

    /// Number of slices.
    pub(crate) fn slices(&self) -> usize {
        self.network.tiles()
    }

    /// The tile with the slice of a line.
    #[inline]
    pub(crate) fn home(&self, address: u64) -> usize {
        (address / LINE_BYTES) as usize % self.network.tiles()
    }

    pub(crate) fn attach_link(&mut self, beat_bytes: u32) {
        let number = self.links.len() % self.units.len().max(1);
        let tile = self.units.get(number).copied().unwrap_or(self.memory);
        self.links.push((tile, beat_bytes.into()));
    }

    fn hart(&self, hart: usize) -> usize {
        self.harts.get(hart).copied().unwrap_or(self.memory)
    }

    fn send(&mut self, class: MessageClass, at: Cycle, (from, to): (usize, usize), bytes: u64) -> Cycle {
        self.network.send(Message {
            class,
            at,
            from,
            to,
            bytes,
        })
    }

    /// A hart's request, at its home.
    pub(crate) fn hart_asks(&mut self, at: Cycle, hart: usize, address: u64, bytes: u64) -> Cycle {
        let path = (self.hart(hart), self.home(address));
        self.send(MessageClass::Request, at, path, bytes)
    }

    /// The response to a hart, at its tile.
    pub(crate) fn answer_hart(&mut self, at: Cycle, hart: usize, address: u64, bytes: u64) -> Cycle {
        let path = (self.home(address), self.hart(hart));
        self.send(MessageClass::Response, at, path, bytes)
    }

    /// A unit's request for a beat, at its home; a write carries it.
    pub(crate) fn unit_asks(&mut self, at: Cycle, link: usize, address: u64, write: bool) -> Cycle {
        let (tile, beat) = self.links[link];
        let path = (tile, self.home(address));
        self.send(MessageClass::Request, at, path, if write { beat } else { 0 })
    }

    /// The response to a unit, at its tile; that to a read carries the beat.
    pub(crate) fn answer_unit(&mut self, at: Cycle, link: usize, address: u64, read: bool) -> Cycle {
        let (tile, beat) = self.links[link];
        let path = (self.home(address), tile);
        self.send(MessageClass::Response, at, path, if read { beat } else { 0 })
    }

    /// A home asks the L1 caches of `holders`, a bit for each, and each of them answers after `probe`, with so many
    /// bytes; returns when the last answer is at the home.
    pub(crate) fn ask_holders(
        &mut self,
        at: Cycle,
        address: u64,
        mut holders: u64,
        (probe, bytes): (Cycles, u64),
    ) -> Cycle {
        let home = self.home(address);
        let mut answered = at;
        while holders != 0 {
            let tile = self.hart(holders.trailing_zeros() as usize);
            let asked = self.send(MessageClass::Forward, at, (home, tile), 0);
            let answer = self.send(MessageClass::Response, asked + probe, (tile, home), bytes);
            answered = answered.max(answer);
            holders &= holders - 1;
        }
        answered
    }

    /// A line, or a request for it, from its home to memory.
    pub(crate) fn ask_memory(&mut self, at: Cycle, address: u64, bytes: u64) -> Cycle {
        let path = (self.home(address), self.memory);
        self.send(MessageClass::Forward, at, path, bytes)
    }

    /// A line from memory to its home.
    pub(crate) fn memory_answers(&mut self, at: Cycle, address: u64) -> Cycle {
        let path = (self.memory, self.home(address));
        self.send(MessageClass::Response, at, path, LINE_BYTES)
    }
}

impl State for Tiles {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.network.pass(by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::{AccessKind, Hierarchy};
    use crate::parameters::HierarchyParameters;
    use crate::route::{Route, Traffic};
    use std::sync::{Arc, Mutex};

    type Sent = Arc<Mutex<Vec<(MessageClass, usize, usize, u64)>>>;

    /// Each message takes a cycle per tile of distance, and none within a tile.
    struct Row(Sent);

    impl ChipNetwork for Row {
        fn tiles(&self) -> usize {
            4
        }

        fn send(&mut self, message: Message) -> Cycle {
            let each = (message.class, message.from, message.to, message.bytes);
            self.0.lock().unwrap().push(each);
            message.at + Cycles::new(message.from.abs_diff(message.to) as u64)
        }
    }

    impl State for Row {
        fn pass(&mut self, _by: &mut Pass<'_>) -> Result<(), StateError> {
            Ok(())
        }
    }

    /// Memory on tile 0, harts on 1 and 2, a unit on 3.
    fn on_tiles() -> (Hierarchy, Sent) {
        let sent = Sent::default();
        let tiles = Tiles::new(Box::new(Row(sent.clone())), 0, vec![1, 2], vec![3]);
        let hierarchy = Hierarchy::new(HierarchyParameters::server()).unwrap();
        (hierarchy.on_tiles(tiles).unwrap(), sent)
    }

    fn taken(sent: &Sent) -> Vec<(MessageClass, usize, usize, u64)> {
        std::mem::take(&mut *sent.lock().unwrap())
    }

    #[test]
    fn a_line_comes_from_its_home_from_memory_or_from_its_owner() {
        use MessageClass::{Forward, Request, Response};
        let (mut hierarchy, sent) = on_tiles();
        let (one, two) = (hierarchy.attach_hart(), hierarchy.attach_hart());
        let address = 3 * LINE_BYTES;
        let miss = hierarchy.access(Cycle::new(0), address, AccessKind::Own, one);
        let through = [
            (Request, 1, 3, 0),
            (Forward, 3, 0, 0),
            (Response, 0, 3, 64),
            (Response, 3, 1, 64),
        ];
        assert_eq!(taken(&sent), through);
        let at = miss + Cycles::new(1000);
        let done = hierarchy.access(at, address, AccessKind::Read, two);
        let through = [
            (Request, 2, 3, 0),
            (Forward, 3, 1, 0),
            (Response, 1, 3, 64),
            (Response, 3, 2, 64),
        ];
        assert_eq!(taken(&sent), through);
        // L2 and the owner take 12 and 27 cycles on a crossbar; the messages take 1, 2, 2 and 1.
        assert_eq!(done, at + Cycles::new(12 + 27 + 6));
        hierarchy.access(done, address, AccessKind::WriteBack, one);
        assert_eq!(taken(&sent), [(Request, 1, 3, 64)]);
    }

    #[test]
    fn permission_to_write_has_no_data_and_waits_for_the_others() {
        use MessageClass::{Forward, Request, Response};
        let (mut hierarchy, sent) = on_tiles();
        let (one, two) = (hierarchy.attach_hart(), hierarchy.attach_hart());
        for (at, hart) in [(0, one), (1000, two)] {
            hierarchy.access(Cycle::new(at), 0, AccessKind::Read, hart);
        }
        taken(&sent);
        hierarchy.access(Cycle::new(2000), 0, AccessKind::Own, two);
        let through = [
            (Request, 2, 0, 0),
            (Forward, 0, 1, 0),
            (Response, 1, 0, 0),
            (Response, 0, 2, 0),
        ];
        assert_eq!(taken(&sent), through);
    }

    #[test]
    fn a_unit_sends_beats_from_its_tile() {
        use MessageClass::{Forward, Request, Response};
        let (mut hierarchy, sent) = on_tiles();
        let hart = hierarchy.attach_hart();
        let link = hierarchy.attach_link(&Route::default(), 16);
        let unit = hierarchy.attach_port(link, Traffic::Stream);
        let address = LINE_BYTES;
        hierarchy.access(Cycle::new(0), address, AccessKind::Read, hart);
        taken(&sent);
        hierarchy.access(Cycle::new(1000), address, AccessKind::Write, unit);
        let through = [
            (Request, 3, 1, 16),
            (Forward, 1, 1, 0),
            (Response, 1, 1, 0),
            (Response, 1, 3, 0),
        ];
        assert_eq!(taken(&sent), through);
        hierarchy.access(Cycle::new(2000), address, AccessKind::Read, unit);
        assert_eq!(taken(&sent), [(Request, 3, 1, 0), (Response, 1, 3, 16)]);
    }
}
