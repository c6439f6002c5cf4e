use std::fmt;
use std::str::FromStr;

/// A hardware address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Mac(pub [u8; 6]);

/// Text that is not a hardware address.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a MAC address such as 00:12:6D:00:00:02")]
pub struct MacError(String);

impl Mac {
    /// Everybody.
    pub const BROADCAST: Mac = Mac([0xff; 6]);
    /// The prefix of assigned addresses, as in the public simulator that this network follows.
    pub const PREFIX: [u8; 3] = [0x00, 0x12, 0x6d];

    /// The assigned address of that number, whose lower 24 bits are used.
    pub fn assigned(number: u32) -> Mac {
        let [_, a, b, c] = number.to_be_bytes();
        Mac([Mac::PREFIX[0], Mac::PREFIX[1], Mac::PREFIX[2], a, b, c])
    }

    /// The number of an assigned address.
    #[inline]
    pub fn number(self) -> Option<u32> {
        let [x, y, z, a, b, c] = self.0;
        ([x, y, z] == Mac::PREFIX).then(|| u32::from_be_bytes([0, a, b, c]))
    }

    /// Whether it addresses more than one receiver.
    #[inline]
    pub fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// The address as a number of 48 bits.
    #[inline]
    pub fn bits(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        u64::from_be_bytes([0, 0, a, b, c, d, e, f])
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02X}:{b:02X}:{c:02X}:{d:02X}:{e:02X}:{g:02X}")
    }
}

impl FromStr for Mac {
    type Err = MacError;

    fn from_str(text: &str) -> Result<Mac, MacError> {
        let wrong = || MacError(text.to_string());
        let octets: Vec<u8> = text
            .split(':')
            .map(|octet| u8::from_str_radix(octet, 16).ok().filter(|_| octet.len() == 2))
            .collect::<Option<_>>()
            .ok_or_else(wrong)?;
        octets.try_into().map(Mac).map_err(|_| wrong())
    }
}

/// An Internet address, version 4.
pub type Ipv4 = std::net::Ipv4Addr;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assigned_addresses_keep_their_number() {
        let mac = Mac::assigned(0x01_0203);
        assert_eq!(mac.to_string(), "00:12:6D:01:02:03");
        assert_eq!(mac.number(), Some(0x01_0203));
        assert_eq!("00:12:6d:01:02:03".parse(), Ok(mac));
        assert_eq!(Mac::BROADCAST.number(), None);
        assert!(Mac::BROADCAST.is_group() && !mac.is_group());
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "00:12:6D",
            "00:12:6D:01:02:03:04",
            "0:12:6D:01:02:03",
            "gg:12:6D:01:02:03",
        ] {
            assert!(text.parse::<Mac>().is_err(), "{text}");
        }
    }
}
