use crate::map::Place;
use rackwright_contract::{Level, Message};

/// Bytes of the page of an interrupt file, and the register in it that takes messages: `seteipnum_le`.
const PAGE: u64 = 4096;
const SET_PENDING: u64 = 0;

/// The interrupt files of all harts as writes find them: a page each (RISC-V Advanced Interrupt Architecture 1.0,
/// section 3.5). The files themselves are beside the harts.
pub(crate) struct InterruptFiles {
    /// Those of machine level, and those of supervisor level.
    places: [Place; 2],
    harts: usize,
    /// Messages that nobody has taken yet, in order.
    arrived: Vec<Message>,
}

impl InterruptFiles {
    pub(crate) fn new(places: [Place; 2], harts: usize) -> InterruptFiles {
        InterruptFiles {
            places,
            harts,
            arrived: Vec::new(),
        }
    }

    /// Whether the machine has any.
    pub(crate) fn are_there(&self) -> bool {
        self.places.iter().any(Place::is_used)
    }

    /// The level and the offset of an address among the pages.
    fn find(&self, address: u64) -> Option<(Level, u64)> {
        let places = Level::ALL.into_iter().zip(&self.places);
        places
            .filter_map(|(level, place)| Some((level, place.offset(address)?)))
            .next()
    }

    /// The value of a load: all registers read as zero, and accesses are of four bytes. `None` outside of the pages, and
    /// for other accesses.
    pub(crate) fn read(&self, address: u64, bytes: u8) -> Option<u64> {
        self.find(address)
            .filter(|(_, offset)| bytes == 4 && offset % 4 == 0)
            .map(|_| 0)
    }

    /// Takes a store; returns whether it is an access to the pages that they allow.
    pub(crate) fn write(&mut self, address: u64, bytes: u8, value: u64) -> bool {
        if self.read(address, bytes).is_none() {
            return false;
        }
        if let Some((level, offset)) = self.find(address) {
            let hart = (offset / PAGE) as usize;
            if offset % PAGE == SET_PENDING && hart < self.harts {
                let identity = value as u32;
                self.arrived.push(Message {
                    hart,
                    level,
                    identity,
                });
            }
        }
        true
    }

    /// The messages that have arrived since the last call.
    pub(crate) fn take(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.arrived)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Map;

    #[test]
    fn a_write_to_the_page_of_a_hart_is_a_message_for_it() {
        let places = Map::BARE_METAL.with_messages().messages;
        let mut files = InterruptFiles::new(places, 2);
        let [machine, supervisor] = places.map(|place| place.base);
        assert!(files.write(supervisor + PAGE, 4, 7));
        assert!(files.write(machine, 4, 1000));
        // Neither another register nor another hart.
        assert!(files.write(machine + 4, 4, 3) && files.write(machine + 2 * PAGE, 4, 3));
        for (address, bytes) in [(machine, 8), (machine + 2, 2), (machine - 4, 4)] {
            assert!(!files.write(address, bytes, 3));
            assert_eq!(files.read(address, bytes), None);
        }
        let expected = [(1, Level::Supervisor, 7), (0, Level::Machine, 1000)];
        let expected = expected.map(|(hart, level, identity)| Message {
            hart,
            level,
            identity,
        });
        assert_eq!(files.take(), expected);
        assert_eq!((files.take(), files.read(machine, 4)), (Vec::new(), Some(0)));
    }
}
