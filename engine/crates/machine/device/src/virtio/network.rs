use crate::device::{decode, encode, RestoreError};
use crate::pci::Header;
use crate::ram::Ram;
use crate::virtio::chain::Chain;
use crate::virtio::fault::Fault;
use crate::virtio::neighbour::Neighbour;
use crate::virtio::registers::{capabilities, BYTES};
use crate::virtio::transport::{Model, FIRST_DEVICE, REVISION, VENDOR};
use rackwright_time::{Clock, Cycle, Cycles, Picosecond};
use virtio_bindings::virtio_ids::VIRTIO_ID_NET;
use virtio_bindings::virtio_net::VIRTIO_NET_F_MAC;

/// PCI's class of an Ethernet controller.
const ETHERNET: u32 = 0x02_00_00;
/// Places of each ring.
const PLACES: u16 = 256;
/// Bytes in front of a frame (section 5.1.6), and those of the longest frame without an offload.
const FRONT: usize = 12;
const LONGEST: usize = 1514;
/// The place of the number of buffers in these bytes: a frame that arrives has one.
const BUFFERS: usize = 10;
/// To the neighbour and back, and 25 Gbit/s. Set, not measured.
const ROUND: Picosecond = Picosecond(2_000_000);
const PICOSECONDS_PER_BYTE: u64 = 320;

/// The identity of a network device on the PCI bus (virtio 1.2, sections 4.1.2 and 5.1).
pub fn network_header() -> Header {
    let device = FIRST_DEVICE + VIRTIO_ID_NET as u16;
    Header {
        vendor: VENDOR,
        device,
        revision: REVISION,
        class: ETHERNET,
        subsystem: (VENDOR, device),
        bars: [BYTES, 0, 0],
        capabilities: capabilities(),
    }
}

/// The network device (virtio 1.2, section 5.1), with a cable to a host that answers ARP and echo requests.
///
/// Its first ring has buffers for frames that arrive, the second has frames that leave.
pub struct Network {
    clock: Clock,
    address: [u8; 6],
    neighbour: Neighbour,
    /// The frame that has just left has an answer.
    answers: bool,
    /// Until the wire is free.
    free: Cycle,
}

impl Network {
    /// A device whose address ends with the bytes of `number`, on a clock.
    pub fn new(number: u32, clock: Clock) -> Network {
        let [first, second, third, fourth] = number.to_be_bytes();
        Network {
            clock,
            address: [0x02, 0x52, first, second, third, fourth],
            neighbour: Neighbour::default(),
            answers: false,
            free: Cycle::ZERO,
        }
    }

    /// The frame of a request that leaves.
    fn frame(chain: &Chain, ram: &Ram<'_>) -> Result<Vec<u8>, Fault> {
        let bytes = chain.readable_bytes();
        if bytes < FRONT as u64 || bytes > (FRONT + LONGEST) as u64 {
            return Err(Fault::Request);
        }
        let mut frame = vec![0; bytes as usize - FRONT];
        chain.read(ram, FRONT as u64, &mut frame)?;
        Ok(frame)
    }
}

impl Model for Network {
    fn kind(&self) -> u32 {
        VIRTIO_ID_NET
    }

    fn class(&self) -> u32 {
        ETHERNET
    }

    fn features(&self) -> u64 {
        1 << VIRTIO_NET_F_MAC
    }

    fn rings(&self) -> &[u16] {
        &[PLACES, PLACES]
    }

    fn configuration(&self) -> &[u8] {
        &self.address
    }

    fn begin(&mut self, chain: &Chain, _: &Ram<'_>, now: Cycle) -> Result<Cycle, Fault> {
        match (chain.readable.is_empty(), chain.writable.is_empty()) {
            // A buffer waits for a frame.
            (true, false) if chain.writable_bytes() >= (FRONT + LONGEST) as u64 => Ok(Cycle::NEVER),
            (false, true) => {
                let time = Picosecond(chain.readable_bytes() * PICOSECONDS_PER_BYTE);
                self.free = self.free.max(now) + self.clock.cycles_of(time);
                Ok(self.free)
            }
            _ => Err(Fault::Request),
        }
    }

    fn perform(&mut self, chain: &Chain, ram: &mut Ram<'_>) -> Result<u32, Fault> {
        if chain.writable.is_empty() {
            self.answers = self.neighbour.take(&Network::frame(chain, ram)?);
            return Ok(0);
        }
        let mut front = [0; FRONT];
        front[BUFFERS] = 1;
        let frame = self.neighbour.give().unwrap_or_default();
        let bytes = [&front[..], &frame].concat();
        chain.write(ram, 0, &bytes).map(|written| written as u32)
    }

    fn answer(&mut self) -> Option<Cycles> {
        std::mem::take(&mut self.answers).then(|| self.clock.cycles_of(ROUND))
    }

    fn lose(&mut self) {
        self.neighbour.lose();
    }

    fn save(&self) -> Vec<u8> {
        encode(&(self.neighbour.save(), self.free.0))
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let (neighbour, free): (Vec<u8>, u64) = decode(state, "network card")?;
        self.free = Cycle::new(free);
        self.neighbour.restore(&neighbour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::virtio::chain::Segment;
    use rackwright_memory::GuestMemory;

    const BASE: u64 = 0x1000;

    fn chain(readable: u32, writable: u32) -> Chain {
        let segment = |address, bytes| (bytes != 0).then_some(Segment { address, bytes });
        Chain {
            head: 0,
            readable: segment(BASE, readable).into_iter().collect(),
            writable: segment(BASE + 0x1000, writable).into_iter().collect(),
        }
    }

    #[test]
    fn frames_leave_at_the_rate_of_the_wire_and_buffers_wait_for_answers() {
        let clock = Clock::new(2_000_000_000).unwrap();
        let mut network = Network::new(0x0102_0304, clock);
        assert_eq!(network.configuration(), [2, 0x52, 1, 2, 3, 4]);
        let mut memory = GuestMemory::new(0x1_0000).unwrap();
        memory.allow_all();
        let request = [
            &[0xff; 6],
            network.configuration(),
            &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1],
            network.configuration(),
            &[10, 0, 0, 2],
            &[0; 6],
            &[10, 0, 0, 1],
        ]
        .concat();
        memory.write(BASE + FRONT as u64, &request).unwrap();
        let mut ram = Ram::new(&mut memory, BASE);
        let (buffer, frame) = (chain(0, 2048), chain((FRONT + request.len()) as u32, 0));
        let mut begin = |chain: &Chain, at| network.begin(chain, &ram, Cycle::new(at));
        assert_eq!(begin(&buffer, 0), Ok(Cycle::NEVER));
        // 54 bytes take 17.28 ns, and cycles half a nanosecond.
        assert_eq!(begin(&frame, 100), Ok(Cycle::new(135)));
        assert_eq!(begin(&frame, 101), Ok(Cycle::new(170)));
        for wrong in [chain(0, 1000), chain(60, 60)] {
            assert_eq!(begin(&wrong, 0), Err(Fault::Request));
        }
        assert_eq!(network.perform(&frame, &mut ram), Ok(0));
        assert_eq!(network.answer(), Some(Cycles::new(4000)));
        assert_eq!(network.answer(), None);
        let mut other = Network::new(7, clock);
        other.restore(&network.save()).unwrap();
        assert_eq!(
            other.perform(&buffer, &mut ram),
            Ok((FRONT + request.len()) as u32)
        );
        let mut received = [0; 22];
        ram.fetch(BASE + 0x1000, &mut received).unwrap();
        assert_eq!(
            (received[BUFFERS], &received[FRONT..FRONT + 6]),
            (1, network.configuration())
        );
        for wrong in [chain(11, 0), chain(2000, 0)] {
            assert_eq!(network.perform(&wrong, &mut ram), Err(Fault::Request));
        }
    }
}
