use serde::{Deserialize, Serialize};

/// Minimum number of bytes of a request of [`Protocol::Work`]: its number and its duration.
pub const WORK_BYTES: usize = 12;

/// Bytes of the header that memcached has before each datagram.
const MEMCACHED_BYTES: usize = 8;

/// The format of requests, and the matching of responses.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Protocol {
    /// The protocol of [`crate::Service`]: the request's number in 8 bytes, its processing time in nanoseconds in 4,
    /// both big-endian, followed by any bytes. The answer is the same.
    Work,
    /// Memcached over UDP: a header of 8 bytes that begins with the request's number, then a command.
    Memcached {
        /// The command without the end of its line, for example `get key`.
        command: String,
    },
}

impl Protocol {
    /// Number of bits of a request number: outstanding numbers must differ in these.
    pub(crate) fn number_bits(&self) -> u32 {
        match self {
            Protocol::Work => 64,
            Protocol::Memcached { .. } => 16,
        }
    }

    /// Writes a request, replacing the contents of `request`.
    pub(crate) fn write(&self, request: &mut Vec<u8>, number: u64, work_ns: u64, bytes: usize) {
        request.clear();
        match self {
            Protocol::Work => {
                request.extend_from_slice(&number.to_be_bytes());
                let work_ns = u32::try_from(work_ns).unwrap_or(u32::MAX);
                request.extend_from_slice(&work_ns.to_be_bytes());
                request.resize(bytes.max(WORK_BYTES), 0);
            }
            Protocol::Memcached { command } => {
                // Number, number of this datagram, number of datagrams, reserved (memcached's protocol.txt).
                for field in [number as u16, 0, 1, 0] {
                    request.extend_from_slice(&field.to_be_bytes());
                }
                request.extend_from_slice(command.as_bytes());
                request.extend_from_slice(b"\r\n");
            }
        }
    }

    /// The number of the request that a response completes, as far as it is sent. None for other datagrams, or if more
    /// parts of the response follow.
    pub(crate) fn answered(&self, answer: &[u8]) -> Option<u64> {
        match self {
            Protocol::Work => {
                let (number, rest) = answer.split_first_chunk()?;
                (rest.len() >= WORK_BYTES - 8).then(|| u64::from_be_bytes(*number))
            }
            Protocol::Memcached { .. } => {
                if answer.len() < MEMCACHED_BYTES {
                    return None;
                }
                let field = |at| u16::from_be_bytes([answer[at], answer[at + 1]]);
                let is_last = u32::from(field(2)) + 1 == u32::from(field(4));
                is_last.then(|| field(0).into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let mut request = Vec::new();
        Protocol::Work.write(&mut request, 1 << 40, 5, 64);
        assert_eq!(
            (request.len(), Protocol::Work.answered(&request)),
            (64, Some(1 << 40))
        );
        let memcached = Protocol::Memcached {
            command: "get a".into(),
        };
        memcached.write(&mut request, 0x1_2345, 0, 0);
        assert_eq!(&request[8..], b"get a\r\n");
        assert_eq!(memcached.answered(&request), Some(0x2345));
    }

    #[test]
    fn what_is_no_answer_or_not_its_end_is_none() {
        let memcached = Protocol::Memcached {
            command: "get a".into(),
        };
        assert_eq!(memcached.answered(&[0, 1, 0, 0, 0, 2, 0, 0, 1]), None);
        assert_eq!(memcached.answered(&[0, 1, 0xff, 0xff, 0, 0, 0, 0]), None);
        for length in 0..8 {
            assert_eq!(memcached.answered(&vec![0; length]), None);
            assert_eq!(Protocol::Work.answered(&vec![0; length]), None);
        }
    }
}
