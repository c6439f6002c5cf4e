use crate::device::{decode, encode, RestoreError};
use crate::pci::configuration::{Header, BARS};
use crate::pci::function::Endpoint;
use crate::pci::tree::FIRST_ROOT_PORT;
use crate::ram::Ram;
use rackwright_time::Cycle;

/// Its device on bus 0: the last one before root ports, so that it is the same with and without other devices.
pub(crate) const TILES: u8 = FIRST_ROOT_PORT - 1;

/// The function by which tiles interrupt processes of an operating system: an interrupt line, and nothing else. Drivers
/// for functions of any kind (`uio_pci_generic` of Linux) have a process sleep until the line is high. A process has its
/// tile lower the line.
#[derive(Default)]
pub struct TileLine {
    is_high: bool,
}

impl Endpoint for TileLine {
    /// A vendor without devices of its own (the numbers of Red Hat's for experiments), and the class of what is not named.
    fn header(&self) -> Header {
        Header {
            vendor: 0x1b36,
            device: 0x7711,
            revision: 1,
            class: 0xff_0000,
            subsystem: (0, 0),
            bars: [0; BARS],
            capabilities: Vec::new(),
        }
    }

    fn read(&mut self, _: usize, _: u64, _: u8) -> Option<u64> {
        None
    }

    fn write(&mut self, _: usize, _: u64, _: u8, _: u64, _: Cycle) {}

    fn drive(&mut self, high: bool) {
        self.is_high = high;
    }

    fn interrupts(&self) -> bool {
        self.is_high
    }

    fn next_event(&self) -> Cycle {
        Cycle::NEVER
    }

    fn advance(&mut self, _: &mut Ram<'_>, _: Cycle) {}

    fn errors(&self) -> u64 {
        0
    }

    fn save(&self) -> Vec<u8> {
        encode(&self.is_high)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        self.is_high = decode(state, "line of tiles")?;
        Ok(())
    }
}
