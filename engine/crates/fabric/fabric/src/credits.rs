use crate::class::Class;
use serde::{Deserialize, Serialize};
use std::ops::{AddAssign, Index, IndexMut};

/// Credits of one class: for headers, and for data in units of 16 bytes (2.6.1).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Amount {
    /// Packets.
    pub headers: u64,
    /// Units of data.
    pub data: u64,
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Amount) {
        self.headers += other.headers;
        self.data += other.data;
    }
}

/// Credits of the three classes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Credits([Amount; 3]);

impl Credits {
    /// The credits of the classes in their order.
    pub fn new(of: [Amount; 3]) -> Credits {
        Credits(of)
    }
}

impl Index<Class> for Credits {
    type Output = Amount;
    fn index(&self, class: Class) -> &Amount {
        &self.0[class.index()]
    }
}

impl IndexMut<Class> for Credits {
    fn index_mut(&mut self, class: Class) -> &mut Amount {
        &mut self.0[class.index()]
    }
}

/// Header credits are counted modulo 256, those of data modulo 4096: at most half of that may be advertised.
pub(crate) const MOST: Amount = Amount {
    headers: 127,
    data: 2047,
};

/// The first four bytes of a packet of the data link layer about credits (3.5.1), `initial` or later.
pub(crate) fn packed(initial: bool, class: Class, limit: Amount) -> [u8; 4] {
    let kind = if initial { 0x40 } else { 0x80 } | (class.index() as u8) << 4;
    let (headers, data) = (limit.headers as u8, limit.data as u16 & 0xfff);
    [kind, headers >> 2, headers << 6 | (data >> 8) as u8, data as u8]
}

/// The contents of such a packet: whether it is the first, the class, and the limit modulo its range; none for another
/// packet.
pub(crate) fn unpacked(bytes: [u8; 4]) -> Option<(bool, Class, Amount)> {
    let class = *Class::ALL.get(usize::from(bytes[0] >> 4 & 3))?;
    let initial = match bytes[0] & 0xc8 {
        0x40 => true,
        0x80 => false,
        _ => return None,
    };
    let headers = u64::from(bytes[1] & 0x3f) << 2 | u64::from(bytes[2] >> 6);
    let data = u64::from(bytes[2] & 0xf) << 8 | u64::from(bytes[3]);
    Some((initial, class, Amount { headers, data }))
}

/// The first total from `known` on that equals `told` modulo `range`: limits are transferred by their last bits.
pub(crate) fn resumed(known: u64, told: u64, range: u64) -> u64 {
    known + (told.wrapping_sub(known) % range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_come_through_their_packet() {
        for class in Class::ALL {
            for initial in [true, false] {
                let limit = Amount {
                    headers: 0xa5,
                    data: 0x9c3,
                };
                let read = unpacked(packed(initial, class, limit));
                assert_eq!(read, Some((initial, class, limit)));
            }
        }
        assert_eq!(unpacked([0x00, 0, 0, 1]), None);
    }

    #[test]
    fn totals_go_on_where_their_last_bits_begin_again() {
        assert_eq!(resumed(250, 4, 256), 260);
        assert_eq!(resumed(4096, 0, 4096), 4096);
    }
}
