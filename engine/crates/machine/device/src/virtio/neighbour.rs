use crate::device::{decode, encode, RestoreError};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bytes of the header of Ethernet, of IPv4 without options, and of ICMP.
const ETHERNET: usize = 14;
const IPV4: usize = 20;
const ICMP: usize = 8;
/// The types of Ethernet, the operations of ARP, the protocol, and the types of ICMP (RFC 826, 791, 792).
const TYPE_ARP: [u8; 2] = [8, 6];
const TYPE_IPV4: [u8; 2] = [8, 0];
const ARP_FRONT: [u8; 6] = [0, 1, 8, 0, 6, 4];
const ARP_BYTES: usize = 28;
const REQUEST: [u8; 2] = [0, 1];
const REPLY: [u8; 2] = [0, 2];
const PROTOCOL_ICMP: u8 = 1;
const ECHO_REQUEST: u8 = 8;
/// The address of Ethernet that answers for all addresses of IPv4.
const OWN: [u8; 6] = [0x02, 0, 0, 0, 0, 1];
/// Answers that wait for buffers, at most; later ones are lost.
const MOST: usize = 256;

/// The other end of a network card's cable: a host that has every address of IPv4, and answers ARP and echo requests.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Neighbour {
    answers: VecDeque<Vec<u8>>,
}

impl Neighbour {
    /// Takes a frame; returns whether it has one more answer.
    pub(super) fn take(&mut self, frame: &[u8]) -> bool {
        let answer = arp(frame).or_else(|| echo(frame));
        match answer.filter(|_| self.answers.len() < MOST) {
            Some(answer) => self.answers.push_back(answer),
            None => return false,
        }
        true
    }

    /// The next answer.
    pub(super) fn give(&mut self) -> Option<Vec<u8>> {
        self.answers.pop_front()
    }

    /// The last answer finds no buffer.
    pub(super) fn lose(&mut self) {
        self.answers.pop_back();
    }

    pub(super) fn save(&self) -> Vec<u8> {
        encode(self)
    }

    pub(super) fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        *self = decode(state, "network card")?;
        Ok(())
    }
}

/// A frame back to the sender of another one, of the same type.
fn back(frame: &[u8], payload: &[u8]) -> Vec<u8> {
    [&frame[6..12], &OWN, &frame[12..ETHERNET], payload].concat()
}

/// The reply to a request for an Ethernet address.
fn arp(frame: &[u8]) -> Option<Vec<u8>> {
    let body = frame.get(ETHERNET..ETHERNET + ARP_BYTES)?;
    let (sender, target) = (&body[8..18], &body[24..28]);
    let is_request = frame[12..ETHERNET] == TYPE_ARP && body[..6] == ARP_FRONT && body[6..8] == REQUEST;
    // Somebody who asks for his own address wants no answer (RFC 5227).
    if !is_request || &sender[6..] == target || sender[6..] == [0; 4] {
        return None;
    }
    Some(back(
        frame,
        &[&ARP_FRONT[..], &REPLY, &OWN, target, sender].concat(),
    ))
}

/// The reply to an echo request in a whole packet.
fn echo(frame: &[u8]) -> Option<Vec<u8>> {
    let packet = frame.get(ETHERNET..)?;
    let front = packet.get(..IPV4 + ICMP)?;
    let length = usize::from(u16::from_be_bytes([front[2], front[3]]));
    let is_whole = front[0] == 0x45 && (front[6] & 0x3f, front[7]) == (0, 0);
    let is_request = front[9] == PROTOCOL_ICMP && front[IPV4] == ECHO_REQUEST;
    if frame[12..ETHERNET] != TYPE_IPV4 || !is_whole || !is_request {
        return None;
    }
    let mut reply = packet.get(..length)?.to_vec();
    let (source, target) = (packet[12..16].to_vec(), packet[16..20].to_vec());
    reply[12..16].copy_from_slice(&target);
    reply[16..20].copy_from_slice(&source);
    let icmp = reply.get_mut(IPV4..)?;
    (icmp[0], icmp[2], icmp[3]) = (0, 0, 0);
    let sum = checksum(icmp);
    icmp[2..4].copy_from_slice(&sum.to_be_bytes());
    Some(back(frame, &reply))
}

/// The checksum of the internet (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2);
    let words = words.map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0)));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: [u8; 6] = [2, 0x52, 0, 0, 0, 9];

    fn answer(frame: &[u8]) -> Option<Vec<u8>> {
        let mut neighbour = Neighbour::default();
        assert_eq!(neighbour.take(frame), neighbour.answers.len() == 1);
        let mut other = Neighbour::default();
        other.restore(&neighbour.save()).unwrap();
        other.give()
    }

    #[test]
    fn a_request_for_an_address_is_answered() {
        let front: &[u8] = &[0xff; 6];
        let (own, other) = ([10, 0, 0, 2], [10, 0, 0, 1]);
        let request = |target: [u8; 4]| {
            let parts: [&[u8]; 9] = [
                front, &HOST, &TYPE_ARP, &ARP_FRONT, &REQUEST, &HOST, &own, &[0; 6], &target,
            ];
            parts.concat()
        };
        let expected: [&[u8]; 9] = [
            &HOST, &OWN, &TYPE_ARP, &ARP_FRONT, &REPLY, &OWN, &other, &HOST, &own,
        ];
        assert_eq!(answer(&request(other)), Some(expected.concat()));
        assert_eq!(answer(&request(own)), None);
        let whole = request(other);
        assert!((0..whole.len()).all(|bytes| answer(&whole[..bytes]).is_none()));
    }

    #[test]
    fn an_echo_request_comes_back_with_its_data() {
        let mut packet = vec![
            0x45, 0, 0, 33, 0, 1, 0x40, 0, 64, 1, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1,
        ];
        packet.extend([ECHO_REQUEST, 0, 0, 0, 0, 7, 0, 1]);
        packet.extend(b"hello");
        let sum = checksum(&packet[IPV4..]);
        packet[IPV4 + 2..IPV4 + 4].copy_from_slice(&sum.to_be_bytes());
        let mut frame = [&OWN[..], &HOST, &TYPE_IPV4, &packet].concat();
        // Short frames are padded.
        frame.resize(60, 0);
        let reply = answer(&frame).unwrap();
        assert_eq!((&reply[..6], reply.len()), (&HOST[..], ETHERNET + 33));
        let reply = &reply[ETHERNET..];
        assert_eq!(reply[12..20], [10, 0, 0, 1, 10, 0, 0, 2]);
        assert_eq!((reply[IPV4], checksum(&reply[IPV4..])), (0, 0));
        assert_eq!(reply[IPV4 + 4..], packet[IPV4 + 4..]);
        for (place, wrong) in [
            (ETHERNET, 0x46),
            (ETHERNET + 6, 0x20),
            (ETHERNET + 9, 17),
            (ETHERNET + IPV4, 0),
        ] {
            let mut other = frame.clone();
            other[place] = wrong;
            assert_eq!(answer(&other), None, "{place}");
        }
        frame[ETHERNET + 2] = 1;
        assert_eq!(answer(&frame), None, "it is longer than its frame");
    }

    #[test]
    fn answers_without_room_are_lost() {
        let mut neighbour = Neighbour::default();
        let parts: [&[u8]; 9] = [
            &OWN,
            &HOST,
            &TYPE_ARP,
            &ARP_FRONT,
            &REQUEST,
            &HOST,
            &[10, 0, 0, 2],
            &[0; 6],
            &[10, 0, 0, 1],
        ];
        let frame = parts.concat();
        let taken = (0..2 * MOST).filter(|_| neighbour.take(&frame)).count();
        assert_eq!(taken, MOST);
    }
}
