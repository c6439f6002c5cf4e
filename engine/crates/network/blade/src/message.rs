use rackwright_ethernet::Mac;

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;

/// The type of our frames: the first of those that IEEE 802 reserves for local experiments.
const ETHER_TYPE: [u8; 2] = [0x88, 0xb5];
/// Version of the protocol.
const PROTOCOL: u8 = 1;
/// The sum starts after the Ethernet header.
const SUMMED: usize = 14;
/// Bytes before the page, or before the padding.
const HEADER: usize = 40;
/// Padding of a message without a page, so that no Ethernet is too slow for it: 64 bytes with header and trailer.
const PADDING: usize = 16;
/// The checksum, and zeros up to a flit.
const TRAILER: usize = 8;

/// The operation of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A client requests a page.
    Fetch = 0x01,
    /// A client sends a page.
    Store = 0x02,
    /// The answer to a fetch, with the page if its status is [`Status::Done`].
    Fetched = 0x81,
    /// The answer to a store.
    Stored = 0x82,
}

impl Operation {
    const ALL: [Operation; 4] = [
        Operation::Fetch,
        Operation::Store,
        Operation::Fetched,
        Operation::Stored,
    ];
}

/// The result of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It was done, now or by an earlier copy of the same message.
    Done = 0,
    /// The blade has never got the page.
    Unknown = 1,
    /// The blade has an older version of the page than requested.
    Older = 2,
    /// There is no room for one more page.
    Full = 3,
}

impl Status {
    const ALL: [Status; 4] = [Status::Done, Status::Unknown, Status::Older, Status::Full];
}

/// A message between a blade and a client, without the addresses of its frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// The operation.
    pub operation: Operation,
    /// Its result, in a response.
    pub status: Status,
    /// Which start of the blade answers; 0 in a request.
    pub incarnation: u8,
    /// The client's identifier of its request, repeated in the response.
    pub tag: u32,
    /// The number of the page; each client has its own pages.
    pub page: u64,
    /// The version of the page: the stored one, or the oldest version accepted by a fetch.
    pub version: u16,
    /// The page, in a store and in the answer to a fetch.
    pub data: Option<Box<[u8; PAGE_BYTES]>>,
}

/// Why bytes are no message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Malformed {
    /// Of another protocol, or another version of this one.
    Foreign,
    /// Bytes were changed in transit, or are missing.
    Damaged,
}

impl Message {
    /// The frame.
    pub fn to_frame(&self, destination: Mac, source: Mac) -> Vec<u8> {
        let body = if self.data.is_some() { PAGE_BYTES } else { PADDING };
        let mut frame = Vec::with_capacity(HEADER + body + TRAILER);
        frame.extend(destination.0);
        frame.extend(source.0);
        frame.extend(ETHER_TYPE);
        frame.extend([PROTOCOL, self.operation as u8]);
        frame.extend(self.tag.to_le_bytes());
        frame.extend([self.status as u8, self.incarnation]);
        frame.extend(self.version.to_le_bytes());
        frame.extend(self.page.to_le_bytes());
        frame.extend([0; 8]);
        match &self.data {
            Some(data) => frame.extend(data.iter()),
            None => frame.extend([0; PADDING]),
        }
        let checksum = !sum(&frame[SUMMED..]);
        frame.extend(checksum.to_be_bytes());
        frame.extend([0; TRAILER - 2]);
        frame
    }

    /// The message in a frame, with its destination and source.
    ///
    /// # Errors
    /// [`Malformed`] when it is none.
    pub fn parse(frame: &[u8]) -> Result<(Mac, Mac, Message), Malformed> {
        if frame.len() < HEADER || frame[12..14] != ETHER_TYPE || frame[14] != PROTOCOL {
            return Err(Malformed::Foreign);
        }
        let body = &frame[HEADER..];
        let data = match body.len() {
            length if length == PADDING + TRAILER => None,
            length if length == PAGE_BYTES + TRAILER => body.first_chunk().map(|page| Box::new(*page)),
            _ => return Err(Malformed::Damaged),
        };
        if sum(&frame[SUMMED..]) != u16::MAX {
            return Err(Malformed::Damaged);
        }
        let operation = Operation::ALL
            .into_iter()
            .find(|operation| *operation as u8 == frame[15]);
        let status = Status::ALL.into_iter().find(|status| *status as u8 == frame[20]);
        let (Some(operation), Some(status)) = (operation, status) else {
            return Err(Malformed::Foreign);
        };
        let message = Message {
            operation,
            status,
            incarnation: frame[21],
            tag: u32::from_le_bytes(part(frame, 16)),
            page: u64::from_le_bytes(part(frame, 24)),
            version: u16::from_le_bytes(part(frame, 22)),
            data,
        };
        Ok((Mac(part(frame, 0)), Mac(part(frame, 6)), message))
    }
}

fn part<const N: usize>(frame: &[u8], at: usize) -> [u8; N] {
    *frame[at..].first_chunk().expect("a header has all its fields")
}

/// The ones' complement sum of 16-bit words, high byte first (RFC 1071). All pieces have an even length.
fn sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2);
    let mut total: u64 = words
        .map(|word| u64::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(data: bool) -> Message {
        Message {
            operation: Operation::Store,
            status: Status::Done,
            incarnation: 0,
            tag: 0x1234_5678,
            page: 0x7_ffff_fff1,
            version: 0xfffe,
            data: data.then(|| Box::new(std::array::from_fn(|index| (index * 7) as u8))),
        }
    }

    #[test]
    fn a_message_is_read_as_it_was_written() {
        for data in [false, true] {
            let sent = message(data);
            let frame = sent.to_frame(Mac::assigned(2), Mac::assigned(3));
            assert_eq!(frame.len(), if data { 4144 } else { 64 });
            assert_eq!(
                Message::parse(&frame),
                Ok((Mac::assigned(2), Mac::assigned(3), sent))
            );
        }
    }

    #[test]
    fn any_changed_byte_is_found() {
        let frame = message(true).to_frame(Mac::assigned(2), Mac::assigned(3));
        for at in (12..frame.len()).step_by(61) {
            let mut changed = frame.clone();
            changed[at] ^= 0x40;
            assert!(Message::parse(&changed).is_err(), "byte {at}");
        }
        assert_eq!(Message::parse(&frame[..4000]), Err(Malformed::Damaged));
        assert_eq!(Message::parse(&frame[..12]), Err(Malformed::Foreign));
    }
}
