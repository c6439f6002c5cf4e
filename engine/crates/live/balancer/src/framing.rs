use rackwright_dispatch::wire::{Header, Kind, HEADER_BYTES};
use rackwright_dispatch::ServiceId;
use serde::{Deserialize, Serialize};

/// Bytes of the header that memcached has before each datagram (its protocol.txt, "UDP protocol").
const MEMCACHED_BYTES: usize = 8;

/// The method by which requests of a service are identified, so that a response finds its client.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Framing {
    /// Memcached over UDP: each datagram begins with a number of two bytes, and an answer may be several.
    Memcached,
    /// Requests have a number of this many bytes at this offset, and responses have it at the same offset.
    Field {
        /// Bytes before the number.
        offset: usize,
        /// Bytes of the number: 2, 4 or 8.
        bytes: usize,
    },
    /// The dispatcher prepends a header of its own to each request, and the service to its response.
    Shim,
}

/// A rewritten datagram: identical except for its number.
pub(crate) struct Rewritten<'a> {
    before: &'a [u8],
    number: [u8; HEADER_BYTES],
    used: std::ops::Range<usize>,
    after: &'a [u8],
}

impl<'a> Rewritten<'a> {
    pub(crate) fn parts(&self) -> [&[u8]; 3] {
        [self.before, &self.number[self.used.clone()], self.after]
    }

    fn with(before: &'a [u8], number: &[u8], after: &'a [u8]) -> Rewritten<'a> {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..number.len()].copy_from_slice(number);
        Rewritten {
            before,
            number: bytes,
            used: 0..number.len(),
            after,
        }
    }
}

impl Framing {
    /// Whether such numbers are possible.
    pub(crate) fn is_possible(self) -> bool {
        match self {
            Framing::Field { offset, bytes } => matches!(bytes, 2 | 4 | 8) && offset < 1 << 15,
            Framing::Memcached | Framing::Shim => true,
        }
    }

    /// The bits of the dispatcher's numbers that a response returns.
    pub(crate) fn mask(self) -> u64 {
        match self {
            Framing::Memcached => 0xffff,
            Framing::Field { bytes, .. } => u64::MAX >> (64 - 8 * bytes),
            Framing::Shim => u64::MAX,
        }
    }

    /// The position of the number.
    fn field(self) -> (usize, usize) {
        match self {
            Framing::Memcached => (0, 2),
            Framing::Field { offset, bytes } => (offset, bytes),
            Framing::Shim => (0, 0),
        }
    }

    /// The client's number of a request; None when it is not a request of such a service.
    pub(crate) fn client_number(self, request: &[u8]) -> Option<u64> {
        if self == Framing::Memcached {
            // Requests of several datagrams are not served by memcached either.
            let is_whole = request.len() > MEMCACHED_BYTES && request[2..6] == [0, 0, 0, 1];
            return is_whole.then(|| big_endian(&request[..2]));
        }
        let (offset, bytes) = self.field();
        request.get(offset..offset + bytes).map(big_endian)
    }

    /// A request with the dispatcher's number in it.
    pub(crate) fn forward(self, request: &[u8], number: u64, service: ServiceId) -> Rewritten<'_> {
        match self {
            Framing::Shim => Rewritten::with(&[], &shim(Kind::Request, service, number), request),
            _ => self.renumber(request, number),
        }
    }

    /// The dispatcher's number of an answer; None when it is no answer.
    pub(crate) fn own_number(self, answer: &[u8]) -> Option<u64> {
        match self {
            Framing::Shim => {
                let (header, _) = Header::parse(answer).ok()?;
                // A service that knows no headers sends back the one that it got.
                let is_answer = matches!(
                    header.kind,
                    Kind::Response | Kind::Request | Kind::Alive | Kind::Probe
                );
                is_answer.then_some(header.number)
            }
            Framing::Memcached if answer.len() < MEMCACHED_BYTES => None,
            _ => {
                let (offset, bytes) = self.field();
                answer.get(offset..offset + bytes).map(big_endian)
            }
        }
    }

    /// An answer with the client's number in it again.
    pub(crate) fn restore(self, answer: &[u8], number: u64) -> Rewritten<'_> {
        match self {
            Framing::Shim => Rewritten::with(&[], &[], &answer[HEADER_BYTES..]),
            _ => self.renumber(answer, number),
        }
    }

    /// Whether no more datagrams of the same answer follow. The last one may precede others; these are then not
    /// forwarded any more.
    pub(crate) fn is_last(self, answer: &[u8]) -> bool {
        match self {
            Framing::Memcached if answer.len() >= MEMCACHED_BYTES => {
                big_endian(&answer[2..4]) + 1 >= big_endian(&answer[4..6])
            }
            _ => true,
        }
    }

    /// A probe of a replica, with the dispatcher's number in it: `configured` if there is one. None if no message is
    /// known to which the service responds.
    pub(crate) fn probe(self, configured: Option<&[u8]>, number: u64, service: ServiceId) -> Option<Vec<u8>> {
        match (self, configured) {
            (Framing::Shim, configured) => {
                let mut probe = shim(Kind::Probe, service, number).to_vec();
                probe.extend_from_slice(configured.unwrap_or_default());
                Some(probe)
            }
            (Framing::Memcached, None) => {
                let request = b"\0\0\0\0\0\x01\0\0version\r\n";
                Some(self.renumber(request, number).parts().concat())
            }
            (_, configured) => configured.map(|request| self.renumber(request, number).parts().concat()),
        }
    }

    /// The bytes that keep requests for one key together: the second word of memcached's command.
    pub(crate) fn key(self, request: &[u8]) -> &[u8] {
        let command = match self {
            Framing::Memcached => &request[MEMCACHED_BYTES..],
            _ => request,
        };
        let mut words = command.split(|byte| byte.is_ascii_whitespace());
        words.nth(1).unwrap_or_default()
    }

    fn renumber(self, datagram: &[u8], number: u64) -> Rewritten<'_> {
        let (offset, bytes) = self.field();
        let number = &number.to_be_bytes()[8 - bytes..];
        Rewritten::with(&datagram[..offset], number, &datagram[offset + bytes..])
    }
}

fn shim(kind: Kind, service: ServiceId, number: u64) -> [u8; HEADER_BYTES] {
    let header = Header {
        kind,
        service,
        argument: 0,
        number,
    };
    header.to_bytes()
}

fn big_endian(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    const SERVICE: ServiceId = ServiceId(3);
    const ALL: [Framing; 5] = [
        Framing::Memcached,
        Framing::Shim,
        Framing::Field { offset: 0, bytes: 2 },
        Framing::Field { offset: 5, bytes: 4 },
        Framing::Field { offset: 3, bytes: 8 },
    ];

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 256,
            rng_seed: RngSeed::Fixed(14),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn an_answer_like_its_request_comes_back_as_it_was_sent(
            mut request in proptest::collection::vec(any::<u8>(), 16..200),
            number: u64,
        ) {
            request[2..6].copy_from_slice(&[0, 0, 0, 1]);
            for framing in ALL {
                let client = framing.client_number(&request).unwrap();
                let number = number & framing.mask();
                let forwarded = framing.forward(&request, number, SERVICE).parts().concat();
                prop_assert_eq!(framing.own_number(&forwarded), Some(number));
                prop_assert!(framing.is_last(&forwarded));
                prop_assert_eq!(&framing.restore(&forwarded, client).parts().concat(), &request);
            }
        }

        #[test]
        fn any_bytes_are_taken_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            for framing in ALL {
                if let Some(number) = framing.client_number(&bytes) {
                    framing.forward(&bytes, number, SERVICE).parts();
                    framing.key(&bytes);
                }
                if let Some(number) = framing.own_number(&bytes) {
                    framing.is_last(&bytes);
                    framing.restore(&bytes, number).parts();
                }
            }
        }
    }

    #[test]
    fn probes_are_requests() {
        let memcached = Framing::Memcached.probe(None, 7, SERVICE).unwrap();
        assert_eq!(&memcached[..8], [0, 7, 0, 0, 0, 1, 0, 0]);
        assert!(Framing::Shim.probe(None, 7, SERVICE).is_some());
        let field = Framing::Field { offset: 1, bytes: 2 };
        assert!(field.probe(None, 7, SERVICE).is_none());
        assert_eq!(field.probe(Some(&[9; 4]), 7, SERVICE).unwrap(), [9, 0, 7, 9]);
    }

    #[test]
    fn keys_are_the_second_word() {
        let request = b"\0\0\0\0\0\x01\0\0get flower\r\n";
        assert_eq!(Framing::Memcached.key(request), b"flower");
        assert_eq!(Framing::Memcached.key(b"\0\0\0\0\0\x01\0\0x"), b"");
    }
}
