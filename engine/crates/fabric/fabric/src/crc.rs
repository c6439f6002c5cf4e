//! The check of packets on a link (3.5.3.1): captures carry it, since no link here loses a bit.

const POLYNOMIAL: u32 = 0xedb8_8320;

/// The check of a packet of the transaction layer, with its sequence number in front.
pub(crate) fn link_check(sequence: u16, packet: &[u8]) -> u32 {
    let number = (sequence & 0xfff).to_be_bytes();
    let bytes = number.iter().chain(packet);
    let remainder = bytes.fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            crc >> 1 ^ if crc & 1 != 0 { POLYNOMIAL } else { 0 }
        })
    });
    !remainder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_is_the_usual_crc_of_32_bits() {
        // zlib's result for the two bytes of the number and those of the packet.
        assert_eq!(link_check(0x132, b"3456789"), 0xe5c5f9f4);
        assert_eq!(
            link_check(0xf132, b"3456789"),
            0xe5c5f9f4,
            "the upper bits are reserved"
        );
    }
}
