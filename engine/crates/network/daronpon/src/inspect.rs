use rackwright_dispatch::wire::{Header, Key, Kind, Origin, HEADER_BYTES};
use rackwright_dispatch::{Report, RequestKey, ServiceId};
use rackwright_ethernet::Mac;

/// Bytes of Ethernet, IPv4 and UDP headers.
pub(crate) const HEADERS: usize = 42;
/// Longer frames are truncated.
const LONGEST: usize = 9600;
const MAGIC: [u8; 2] = [0x52, 0x44];

/// The meaning of a frame for a dispatcher.
pub(crate) enum Concern<'f> {
    /// None of its business.
    Pass,
    Malformed,
    Forged,
    /// A client asks.
    Request(Asked<'f>),
    /// Another dispatcher passes a request on.
    Redirected(Asked<'f>, Origin, Report),
    Gossip(Report),
    /// A replica answers.
    Response(RequestKey),
    /// A replica lives.
    Alive(Mac),
}

/// A request from its client.
pub(crate) struct Asked<'f> {
    pub(crate) header: Header,
    pub(crate) key: RequestKey,
    /// The bytes after the message's header.
    pub(crate) rest: &'f [u8],
    /// The padding of its frame, which is forwarded with it if its length does not change.
    pub(crate) padding: &'f [u8],
}

/// Classifies a frame. `is_below` returns whether a replica is below this switch.
pub(crate) fn inspect<'f>(frame: &'f [u8], key: &Key, is_below: impl Fn(Mac) -> bool) -> Concern<'f> {
    if frame.len() > LONGEST {
        return Concern::Malformed;
    }
    let Some(datagram) = Datagram::of(frame) else {
        return Concern::Pass;
    };
    if let Some(concern) = datagram.leaving(&is_below) {
        return concern;
    }
    match is_below(datagram.destination()) {
        true => datagram.entering(key),
        false => Concern::Pass,
    }
}

/// A frame with a UDP datagram that begins like a message.
struct Datagram<'f> {
    frame: &'f [u8],
    /// According to their lengths, if those agree.
    message: Option<&'f [u8]>,
}

impl<'f> Datagram<'f> {
    fn of(frame: &'f [u8]) -> Option<Datagram<'f>> {
        let is_message = frame.len() >= HEADERS + 2
            && frame[12..15] == [0x08, 0x00, 0x45]
            && (number(frame, 20) & 0x3fff) == 0
            && frame[23] == 17
            && frame[42..44] == MAGIC;
        let (total, length) = (
            usize::from(number(frame.get(..HEADERS)?, 16)),
            usize::from(number(frame, 38)),
        );
        let agree = total >= 28 + HEADER_BYTES && length + 20 == total && total + 14 <= frame.len();
        is_message.then(|| Datagram {
            frame,
            message: agree.then(|| &frame[HEADERS..14 + total]),
        })
    }

    fn destination(&self) -> Mac {
        Mac(self.frame[..6].try_into().expect("six bytes"))
    }

    fn source(&self) -> Mac {
        Mac(self.frame[6..12].try_into().expect("six bytes"))
    }

    /// Address and port as one number.
    fn endpoint(&self, address: usize, port: usize) -> u64 {
        let high = u64::from(number(self.frame, address)) << 16 | u64::from(number(self.frame, address + 2));
        high << 16 | u64::from(number(self.frame, port))
    }

    fn leaving(&self, is_below: &impl Fn(Mac) -> bool) -> Option<Concern<'f>> {
        let (header, _) = Header::parse(self.message?).ok()?;
        let client = self.endpoint(30, 36);
        match header.kind {
            _ if !is_below(self.source()) => None,
            Kind::Response => Some(Concern::Response(RequestKey {
                client,
                number: header.number,
            })),
            Kind::Alive => Some(Concern::Alive(self.source())),
            _ => None,
        }
    }

    fn entering(&self, key: &Key) -> Concern<'f> {
        use rackwright_dispatch::wire::WireError::Tag;
        let Some((message, (header, rest))) = self
            .message
            .and_then(|message| Some((message, Header::parse(message).ok()?)))
        else {
            return Concern::Malformed;
        };
        let client = self.endpoint(26, 34);
        let is_redirected = header.kind == Kind::Redirected;
        let asked = |header: Header, rest| Asked {
            header,
            key: RequestKey {
                client,
                number: header.number,
            },
            rest,
            padding: match is_redirected {
                false => &self.frame[HEADERS + message.len()..],
                true => &[],
            },
        };
        match header.kind {
            Kind::Request => Concern::Request(asked(header, rest)),
            Kind::Gossip => match key.read_gossip(message) {
                Ok(report) => Concern::Gossip(report),
                Err(Tag) => Concern::Forged,
                Err(_) => Concern::Malformed,
            },
            Kind::Redirected => match key.read_redirected(message) {
                Ok((header, origin, report, rest)) => {
                    let said = u64::from(u32::from_be_bytes(origin.address)) << 16 | u64::from(origin.port);
                    match said == client {
                        true => Concern::Redirected(asked(header, rest), origin, report),
                        false => Concern::Forged,
                    }
                }
                Err(Tag) => Concern::Forged,
                Err(_) => Concern::Malformed,
            },
            Kind::Response | Kind::Probe | Kind::Alive => Concern::Pass,
        }
    }
}

/// The service and key as the policy takes them.
impl Asked<'_> {
    pub(crate) fn request(&self, hops: u8) -> rackwright_dispatch::Request {
        rackwright_dispatch::Request {
            service: ServiceId(self.header.service.0),
            key: self.key,
            sticky: None,
            hops,
        }
    }
}

fn number(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}
