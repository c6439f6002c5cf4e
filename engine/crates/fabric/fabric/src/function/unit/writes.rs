use super::WINDOW;
use crate::function::{Given, BEAT, NEVER};
use crate::packet::{Header, Id, Kind};
use rackwright_rtl::{MemoryRequest, MemoryResponse, BEAT_BYTES};
use rackwright_time::unit::Cycle;
use std::collections::VecDeque;

/// Consecutive bytes of a beat, and the requester of the response when they have left.
#[derive(Clone, Copy)]
struct Piece {
    /// From when on it may leave.
    ready: u64,
    address: u64,
    length: usize,
    data: [u8; BEAT_BYTES],
    answer: Option<u16>,
}

struct Port {
    bytes: usize,
    waiting: VecDeque<Piece>,
}

/// The next packet.
struct Offer {
    ready: u64,
    /// The earliest time of its oldest piece.
    since: u64,
    port: u8,
    address: u64,
    end: u64,
}

/// Generates writes for the unit's ports. Consecutive pieces of a port that wait together are combined, up to the
/// maximum payload size.
pub(super) struct Writes {
    ports: Vec<Port>,
    /// The port whose turn is next.
    turn: usize,
    offer: Option<Offer>,
    /// The words of the offer, and the tags that are answered when it leaves.
    data: Vec<u8>,
    tags: Vec<u16>,
    /// From when on there is room for another one.
    room: u64,
    /// Packets that have left.
    pub(super) packets: u64,
}

impl Writes {
    /// For ports with beats of these sizes.
    pub(super) fn new(widths: &[usize]) -> Writes {
        let port = |bytes: &usize| Port {
            bytes: *bytes,
            waiting: VecDeque::new(),
        };
        Writes {
            ports: widths.iter().map(port).collect(),
            turn: 0,
            offer: None,
            data: Vec::new(),
            tags: Vec::new(),
            room: 0,
            packets: 0,
        }
    }

    /// The unit writes bytes of a beat. One that writes none is answered in its turn.
    pub(super) fn ask(&mut self, request: &MemoryRequest) {
        let Port { bytes, waiting } = &mut self.ports[usize::from(request.port)];
        let mut left = request.mask & (u32::MAX >> (BEAT_BYTES - *bytes));
        loop {
            let first = if left == 0 {
                0
            } else {
                left.trailing_zeros() as usize
            };
            let length = (left >> first).trailing_ones() as usize;
            left &= !(((1_u64 << (first + length)) - 1) as u32);
            let mut data = [0; BEAT_BYTES];
            data[..length].copy_from_slice(&request.data[first..first + length]);
            waiting.push_back(Piece {
                ready: request.cycle.0 + 1,
                address: request.address + first as u64,
                length,
                data,
                answer: (left == 0).then_some(request.tag),
            });
            if left == 0 {
                return;
            }
        }
    }

    /// Time at which the next packet is generated.
    pub(super) fn due(&self) -> u64 {
        if self.offer.is_some() {
            return NEVER;
        }
        let fronts = self.ports.iter().filter_map(|port| port.waiting.front());
        let first = fronts.map(|piece| piece.ready).min();
        first.map_or(NEVER, |ready| ready.max(self.room))
    }

    /// Generates a packet of waiting pieces, whose payload crosses no multiple of `most` bytes.
    pub(super) fn make(&mut self, now: u64, most: u64) {
        let ready = |port: &Port| port.waiting.front().is_some_and(|piece| piece.ready <= now);
        let turns = (0..self.ports.len()).map(|ahead| (self.turn + ahead) % self.ports.len());
        let Some(number) = { turns }.find(|number| ready(&self.ports[*number])) else {
            return;
        };
        self.turn = (number + 1) % self.ports.len();
        let waiting = &mut self.ports[number].waiting;
        let (since, address) = (waiting[0].ready, waiting[0].address);
        let (limit, mut end) = ((address / most + 1) * most, address);
        self.data.clear();
        self.data.resize((address % 4) as usize, 0);
        while let Some(piece) = waiting.front() {
            let goes = piece.address == end && end < limit && (end == address || piece.length != 0);
            if piece.ready > now || !goes {
                break;
            }
            self.data.extend(&piece.data[..piece.length]);
            self.tags.extend(piece.answer);
            end += piece.length as u64;
            waiting.pop_front();
        }
        self.data.resize(self.data.len().next_multiple_of(4), 0);
        self.offer = Some(Offer {
            ready: now + 1,
            since,
            port: number as u8,
            address,
            end,
        });
    }

    /// The time from which on a packet is ready to leave, and its data credits.
    pub(super) fn ready(&self) -> (u64, u64) {
        let cost = (self.data.len() as u64).div_ceil(BEAT);
        self.offer
            .as_ref()
            .map_or((NEVER, 0), |offer| (offer.ready, cost))
    }

    /// The packet leaves, and `respond` receives the responses to the writes in it. Returns the cycle of its last beat,
    /// and its bytes.
    pub(super) fn leave(
        &mut self,
        now: u64,
        id: Id,
        give: &mut impl FnMut(u64, Given<'_>),
        mut respond: impl FnMut(&MemoryResponse),
    ) -> (u64, u64) {
        let Some(offer) = self.offer.take() else {
            return (now, 0);
        };
        let last = now + (self.data.len() as u64).div_ceil(BEAT);
        let mut bytes = 0;
        if !self.data.is_empty() {
            let header = header(id, offer.address..offer.end);
            bytes = header.bytes() as u64;
            self.packets += 1;
            give(last + 1, Given::Packet(&header, &self.data));
        }
        for tag in self.tags.drain(..) {
            respond(&MemoryResponse {
                due: Cycle::new(last + WINDOW),
                tag,
                port: offer.port,
                fault: false,
                data: [0; BEAT_BYTES],
            });
        }
        self.room = last + 1;
        (last, bytes)
    }

    /// The earliest time of the oldest piece that has not left.
    pub(super) fn oldest(&self) -> u64 {
        let fronts = self.ports.iter().filter_map(|port| port.waiting.front());
        let offer = self.offer.iter().map(|offer| offer.since);
        fronts
            .map(|piece| piece.ready)
            .chain(offer)
            .min()
            .unwrap_or(NEVER)
    }

    /// Whether no pieces wait.
    pub(super) fn is_idle(&self) -> bool {
        self.offer.is_none() && self.ports.iter().all(|port| port.waiting.is_empty())
    }
}

/// The header of a write of these bytes, whose first and last word may be written partially (2.2.5).
fn header(id: Id, bytes: std::ops::Range<u64>) -> Header {
    let address = bytes.start & !3;
    let words = (bytes.end.div_ceil(4) - address / 4) as u16;
    let mut header = Header::memory(Kind::MemoryWrite, id, 0, address, words);
    let first = 0xf << (bytes.start & 3) & 0xf;
    let last = 0xf >> (3 - (bytes.end - 1 & 3));
    header.request.enables = if words == 1 {
        first & last
    } else {
        last << 4 | first
    };
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::bytes_asked;
    use rackwright_rtl::RequestKind;

    fn beat(cycle: u64, address: u64, mask: u32, tag: u16) -> MemoryRequest {
        MemoryRequest {
            cycle: Cycle::new(cycle),
            address,
            mask,
            tag,
            port: 0,
            kind: RequestKind::Write,
            data: std::array::from_fn(|index| address as u8 + index as u8),
        }
    }

    /// The addresses and data of each packet, and the tags of its responses.
    fn packets(writes: &mut Writes) -> Vec<(std::ops::Range<u64>, Vec<u8>, Vec<u16>)> {
        let mut all = Vec::new();
        while writes.due() != NEVER {
            let now = writes.due();
            writes.make(now, 128);
            let (mut packet, mut tags) = ((0..0, Vec::new()), Vec::new());
            let give = &mut |_, given: Given<'_>| {
                if let Given::Packet(header, data) = given {
                    let range = bytes_asked(header);
                    let skip = (range.start - header.request.address) as usize;
                    let data = &data[skip..][..(range.end - range.start) as usize];
                    packet = (range, data.to_vec());
                }
            };
            writes.leave(now + 1, Id(0x100), give, |response| tags.push(response.tag));
            all.push((packet.0, packet.1, tags));
        }
        all
    }

    #[test]
    fn what_waits_together_goes_together_to_the_byte() {
        let mut writes = Writes::new(&[32]);
        writes.ask(&beat(3, 0x1040, 0xffff_ffe0, 1));
        writes.ask(&beat(3, 0x1060, u32::MAX, 2));
        writes.ask(&beat(3, 0x1080, 0x0000_01ff, 3));
        let expected = |range: std::ops::Range<u64>| range.map(|byte| byte as u8).collect::<Vec<_>>();
        assert_eq!(
            packets(&mut writes),
            [
                (0x1045..0x1080, expected(0x45..0x80), vec![1, 2]),
                (0x1080..0x1089, expected(0x80..0x89), vec![3]),
            ]
        );
        assert!(writes.is_idle());
    }

    #[test]
    fn a_beat_with_a_gap_is_two_packets_and_one_answer() {
        let mut writes = Writes::new(&[16]);
        writes.ask(&beat(0, 0x1000, 0x00f3, 9));
        let all = packets(&mut writes);
        let found: Vec<_> = all
            .iter()
            .map(|(range, _, tags)| (range.clone(), tags.len()))
            .collect();
        assert_eq!(found, [(0x1000..0x1002, 0), (0x1004..0x1008, 1)]);
    }

    #[test]
    fn a_write_of_nothing_is_answered_without_a_packet() {
        let mut writes = Writes::new(&[32]);
        writes.ask(&beat(0, 0x1000, 0, 5));
        assert_eq!(packets(&mut writes), [(0..0, Vec::new(), vec![5])]);
        assert_eq!(writes.packets, 0);
    }
}
