use crate::packet::{Completion, Header, Id, Kind, Request, Status};
use thiserror::Error;

/// Why bytes are no packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Malformed {
    /// The first byte is of an unknown kind.
    #[error("no kind of packet begins with {0:#04x}")]
    Kind(u8),
    /// It ends within the header, or its number of bytes differs from the header.
    #[error("a packet of {given} bytes says that it has {said}")]
    Length {
        /// Bytes that there are.
        given: usize,
        /// Bytes that there should be.
        said: usize,
    },
    /// A header of four words for an address that three can hold (2.2.4.1).
    #[error("an address below 4 GiB in a header of four words")]
    Long,
    /// A status that is none.
    #[error("no status of a completion is {0}")]
    Status(u8),
}

/// The first byte of each kind with a header of three words.
const KINDS: [(u8, Kind); 11] = [
    (0x00, Kind::MemoryRead),
    (0x40, Kind::MemoryWrite),
    (0x04, Kind::ConfigurationRead(false)),
    (0x05, Kind::ConfigurationRead(true)),
    (0x44, Kind::ConfigurationWrite(false)),
    (0x45, Kind::ConfigurationWrite(true)),
    (0x0a, Kind::Completion(false)),
    (0x4a, Kind::Completion(true)),
    (0x4c, Kind::FetchAdd),
    (0x4d, Kind::Swap),
    (0x4e, Kind::CompareSwap),
];
/// The bit of the first byte for a header of four words, and for data.
const LONG: u8 = 0x20;
const DATA: u8 = 0x40;
/// The first byte of messages with routing 0.
const MESSAGE: u8 = 0x30;
const ROUTINGS: u8 = 6;
const STATUSES: [(u8, Status); 4] = [
    (0, Status::Successful),
    (1, Status::Unsupported),
    (2, Status::Retry),
    (4, Status::Aborted),
];

/// Appends the bytes of a header, in the order of the wire (2.2), and returns their number.
pub fn encode(header: &Header, bytes: &mut Vec<u8>) -> usize {
    let words = words_of(header);
    let count = header.header_words();
    for word in &words[..count] {
        bytes.extend(word.to_be_bytes());
    }
    4 * count
}

/// The words of a header, with 0 as the last one if there are three.
pub(crate) fn words_of(header: &Header) -> [u32; 4] {
    let tag = u32::from(header.tag);
    let first = u32::from(first_byte(header)) << 24
        | (tag >> 9 & 1) << 23
        | u32::from(header.traffic_class) << 20
        | (tag >> 8 & 1) << 19
        | u32::from(header.attributes >> 2 & 1) << 18
        | u32::from(header.poisoned) << 14
        | u32::from(header.attributes & 3) << 12
        | u32::from(header.words & 0x3ff);
    let requester = u32::from(header.requester.0);
    match header.kind {
        Kind::Completion(_) => {
            let of = &header.completion;
            let status = STATUSES.iter().find(|(_, status)| *status == of.status);
            let status = status.map_or(0, |(code, _)| u32::from(*code));
            let second = u32::from(of.completer.0) << 16 | status << 13 | u32::from(of.byte_count & 0xfff);
            let third = requester << 16 | (tag & 0xff) << 8 | u32::from(of.lower_address);
            [first, second, third, 0]
        }
        _ => {
            let of = &header.request;
            let second = requester << 16 | (tag & 0xff) << 8 | u32::from(of.enables);
            let (high, low) = ((of.address >> 32) as u32, of.address as u32);
            match header.kind {
                Kind::ConfigurationRead(_) | Kind::ConfigurationWrite(_) => {
                    [first, second, u32::from(of.target.0) << 16 | low & 0xffc, 0]
                }
                Kind::Message(..) => [first, second, high, low],
                _ if high != 0 => [first, second, high, low & !3],
                _ => [first, second, low & !3, 0],
            }
        }
    }
}

fn first_byte(header: &Header) -> u8 {
    let byte = match header.kind {
        Kind::Message(routing, data) => return MESSAGE | routing | if data { DATA } else { 0 },
        Kind::MemoryRead => 0x00,
        Kind::MemoryWrite => 0x40,
        Kind::ConfigurationRead(first) => 0x04 | u8::from(first),
        Kind::ConfigurationWrite(first) => 0x44 | u8::from(first),
        Kind::Completion(data) => 0x0a | if data { DATA } else { 0 },
        Kind::FetchAdd => 0x4c,
        Kind::Swap => 0x4d,
        Kind::CompareSwap => 0x4e,
    };
    byte | if header.header_words() == 4 { LONG } else { 0 }
}

/// The header at the beginning of a packet, whose bytes are `bytes`; the payload follows it.
///
/// # Errors
/// [`Malformed`] if it is not a packet.
pub fn decode(bytes: &[u8]) -> Result<Header, Malformed> {
    let short = Malformed::Length {
        given: bytes.len(),
        said: 12,
    };
    let word = |index: usize| {
        let bytes = bytes.get(4 * index..4 * index + 4).ok_or(short)?;
        Ok::<u32, Malformed>(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let words = [word(0)?, word(1)?, word(2)?, word(3).unwrap_or(0)];
    let (header, count) = header_of(words)?;
    let said = 4 * (count + header.payload_words());
    if bytes.len() != said {
        return Err(Malformed::Length {
            given: bytes.len(),
            said,
        });
    }
    Ok(header)
}

/// The header in four words, and its number of words.
pub(crate) fn header_of(words: [u32; 4]) -> Result<(Header, usize), Malformed> {
    let [first, second, third, fourth] = words;
    let (kind, count) = kind_of((first >> 24) as u8)?;
    let mut header = Header::new(kind, Id::default(), 0);
    header.traffic_class = (first >> 20 & 7) as u8;
    header.attributes = ((first >> 18 & 1) << 2 | first >> 12 & 3) as u8;
    header.poisoned = first >> 14 & 1 != 0;
    header.words = length(kind, first & 0x3ff);
    let high_tag = ((first >> 23 & 1) << 9 | (first >> 19 & 1) << 8) as u16;
    if let Kind::Completion(_) = kind {
        let code = (second >> 13 & 7) as u8;
        let status = STATUSES.iter().find(|(known, _)| *known == code);
        header.requester = Id((third >> 16) as u16);
        header.tag = high_tag | (third >> 8 & 0xff) as u16;
        header.completion = Completion {
            completer: Id((second >> 16) as u16),
            status: status.ok_or(Malformed::Status(code))?.1,
            byte_count: full(second & 0xfff, 0x1000),
            lower_address: (third & 0x7f) as u8,
        };
        return Ok((header, count));
    }
    header.requester = Id((second >> 16) as u16);
    header.tag = high_tag | (second >> 8 & 0xff) as u16;
    let enables = (second & 0xff) as u8;
    let (address, target) = match kind {
        Kind::ConfigurationRead(_) | Kind::ConfigurationWrite(_) => {
            (u64::from(third & 0xffc), Id((third >> 16) as u16))
        }
        Kind::Message(..) => (u64::from(third) << 32 | u64::from(fourth), Id::default()),
        _ if count == 4 && third == 0 => return Err(Malformed::Long),
        _ if count == 4 => (u64::from(third) << 32 | u64::from(fourth & !3), Id::default()),
        _ => (u64::from(third & !3), Id::default()),
    };
    header.request = Request {
        enables,
        address,
        target,
    };
    Ok((header, count))
}

fn kind_of(byte: u8) -> Result<(Kind, usize), Malformed> {
    let message = byte & !DATA;
    if (MESSAGE..MESSAGE + ROUTINGS).contains(&message) {
        return Ok((Kind::Message(message - MESSAGE, byte & DATA != 0), 4));
    }
    let addressed = byte & !LONG;
    let known = KINDS.iter().find(|(known, _)| *known == addressed);
    let kind = known.ok_or(Malformed::Kind(byte))?.1;
    let short = matches!(
        kind,
        Kind::Completion(_) | Kind::ConfigurationRead(_) | Kind::ConfigurationWrite(_)
    );
    if short && byte & LONG != 0 {
        return Err(Malformed::Kind(byte));
    }
    Ok((kind, if byte & LONG != 0 { 4 } else { 3 }))
}

/// Number of words for a length; a packet that neither has nor reads data has no length.
fn length(kind: Kind, field: u32) -> u16 {
    match kind {
        Kind::Message(_, false) | Kind::Completion(false) => 0,
        _ => full(field, 0x400),
    }
}

/// A field in which 0 represents its `range`.
fn full(field: u32, range: u16) -> u16 {
    if field == 0 {
        range
    } else {
        field as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds() -> impl Strategy<Value = Kind> {
        let messages = (0..ROUTINGS, any::<bool>()).prop_map(|(routing, data)| Kind::Message(routing, data));
        prop_oneof![(0..KINDS.len()).prop_map(|index| KINDS[index].1), messages,]
    }

    fn headers() -> impl Strategy<Value = Header> {
        let first = (
            kinds(),
            0..8_u8,
            0..8_u8,
            any::<bool>(),
            1..=1024_u16,
            any::<u16>(),
            0..1024_u16,
        );
        let rest = (
            any::<u8>(),
            any::<u64>(),
            any::<u16>(),
            0..4_usize,
            1..=4096_u16,
            0..128_u8,
        );
        (first, rest).prop_map(|(first, rest)| {
            let (kind, traffic_class, attributes, poisoned, words, requester, tag) = first;
            let (enables, address, other, status, byte_count, lower_address) = rest;
            let mut header = Header::new(kind, Id(requester), tag);
            (header.traffic_class, header.attributes, header.poisoned) =
                (traffic_class, attributes, poisoned);
            header.words = length(kind, u32::from(words) & 0x3ff);
            if let Kind::Completion(_) = kind {
                header.completion = Completion {
                    completer: Id(other),
                    status: STATUSES[status].1,
                    byte_count,
                    lower_address,
                };
                return header;
            }
            header.request.enables = enables;
            match kind {
                Kind::ConfigurationRead(_) | Kind::ConfigurationWrite(_) => {
                    header.request.address = address & 0xffc;
                    header.request.target = Id(other);
                }
                Kind::Message(..) => header.request.address = address,
                _ => header.request.address = address & !3,
            }
            header
        })
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(header in headers()) {
            let mut bytes = Vec::new();
            prop_assert_eq!(encode(&header, &mut bytes), 4 * header.header_words());
            bytes.resize(header.bytes(), 0);
            prop_assert_eq!(decode(&bytes), Ok(header));
        }

        #[test]
        fn nothing_is_decoded_to_more_than_there_is(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(header) = decode(&bytes) {
                prop_assert_eq!(header.bytes(), bytes.len());
            }
        }
    }
}
