use crate::inspect::HEADERS;
use rackwright_ethernet::Place;

/// The frame with another receiver and another message; wrong checksums stay wrong by the same amount.
///
/// Both sums are over all bytes that they cover, before and after; the unit adds the differences.
pub(crate) fn readdressed(frame: &[u8], to: &Place, message: &[u8]) -> Vec<u8> {
    let old = &frame[..14 + usize::from(u16::from_be_bytes([frame[16], frame[17]]))];
    let mut new = [&old[..HEADERS], message].concat();
    let total = (new.len() - 14) as u16;
    new[..6].copy_from_slice(&to.mac.0);
    new[16..18].copy_from_slice(&total.to_be_bytes());
    new[30..34].copy_from_slice(&to.endpoint.address.octets());
    new[36..38].copy_from_slice(&to.endpoint.port.to_be_bytes());
    new[38..40].copy_from_slice(&(total - 20).to_be_bytes());
    let internet = corrected(checksum(old, 24), sum(&old[14..34], 10), sum(&new[14..34], 10));
    new[24..26].copy_from_slice(&internet.to_be_bytes());
    if checksum(old, 40) != 0 {
        let udp = corrected(checksum(old, 40), datagram_sum(old), datagram_sum(&new));
        let udp = if udp == 0 { 0xffff } else { udp };
        new[40..42].copy_from_slice(&udp.to_be_bytes());
    }
    new
}

fn checksum(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

/// The checksum after its covered bytes have changed from one sum to another.
fn corrected(checksum: u16, before: u16, after: u16) -> u16 {
    !folded(u64::from(!checksum) + u64::from(!before) + u64::from(after))
}

/// Pseudo header, UDP header without its checksum, and data.
fn datagram_sum(frame: &[u8]) -> u16 {
    let length = u64::from(checksum(frame, 38));
    folded(u64::from(sum(&frame[26..34], 8)) + length + 17 + u64::from(sum(&frame[34..], 6)))
}

/// The ones' complement sum of bytes without the word at `but`.
fn sum(bytes: &[u8], but: usize) -> u16 {
    let words = bytes.chunks(2).enumerate().filter(|(index, _)| index * 2 != but);
    folded(
        words
            .map(|(_, word)| u64::from(word[0]) << 8 | u64::from(*word.get(1).unwrap_or(&0)))
            .sum(),
    )
}

fn folded(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
