//! The bytes that dispatchers, clients and services exchange over UDP, all numbers big-endian.
//!
//! | bytes | header of every message |
//! | --- | --- |
//! | 0–1 | `0x5244` |
//! | 2 | version, 1 |
//! | 3 | [`Kind`] |
//! | 4–5 | service |
//! | 6–7 | in requests the bytes that the answer is asked to have, in responses requests under way at the replica, in redirected requests both count as in requests |
//! | 8–15 | which of its client's requests |
//!
//! The header of a redirected request is followed by its [`Origin`]; this, and the header of gossip, are followed by
//! the [`Report`] and an authentication tag of 8 bytes (SipHash-2-4 of everything before it, from the header on). The
//! data of client and service follow then, or, in other messages, after the header.

use crate::{Entry, Load, PeerId, Report, ServiceId, MAX_SERVICES};
use siphasher::sip::SipHasher24;
use std::hash::Hasher;

/// Bytes of the header.
pub const HEADER_BYTES: usize = 16;
/// Bytes of an [`Origin`].
pub const ORIGIN_BYTES: usize = 8;
/// Bytes of a report before its entries.
pub const REPORT_BYTES: usize = 12;
/// Bytes of an entry of a report.
pub const ENTRY_BYTES: usize = 8;
/// Bytes of the tag.
pub const TAG_BYTES: usize = 8;

const MAGIC: u16 = 0x5244;
const VERSION: u8 = 1;

/// The kind of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// A client asks.
    Request = 0,
    /// A service answers.
    Response = 1,
    /// A dispatcher passes a request on to another.
    Redirected = 2,
    /// A dispatcher sends its loads.
    Gossip = 3,
    /// A dispatcher sends a probe to a replica.
    Probe = 4,
    /// A replica's response to a probe.
    Alive = 5,
}

impl Kind {
    fn of(byte: u8) -> Option<Kind> {
        use Kind::*;
        [Request, Response, Redirected, Gossip, Probe, Alive]
            .get(usize::from(byte))
            .copied()
    }
}

/// The header of every message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// The kind of the message.
    pub kind: Kind,
    /// Which service.
    pub service: ServiceId,
    /// An argument that depends on the kind; see the table.
    pub argument: u16,
    /// Which of its client's requests.
    pub number: u64,
}

/// Whose request was redirected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The client's Internet address.
    pub address: [u8; 4],
    /// The client's UDP port.
    pub port: u16,
    /// Number of redirections of the request.
    pub hops: u8,
}

/// Why bytes are not a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WireError {
    /// It has fewer bytes than its header states.
    #[error("the message is cut short")]
    Short,
    /// Of somebody else.
    #[error("not a message of a dispatcher, a client or a service")]
    Foreign,
    /// Of another version.
    #[error("the message has version {0}, not 1")]
    Version(u8),
    /// Of no kind.
    #[error("there is no message of kind {0}")]
    Kind(u8),
    /// More than a dispatcher has.
    #[error("a report has at most 16 entries, not {0}")]
    Entries(u16),
    /// The sender does not have the key, or the message is damaged.
    #[error("the authentication tag is wrong")]
    Tag,
}

impl Header {
    /// The bytes.
    pub fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..2].copy_from_slice(&MAGIC.to_be_bytes());
        bytes[2] = VERSION;
        bytes[3] = self.kind as u8;
        bytes[4..6].copy_from_slice(&self.service.0.to_be_bytes());
        bytes[6..8].copy_from_slice(&self.argument.to_be_bytes());
        bytes[8..].copy_from_slice(&self.number.to_be_bytes());
        bytes
    }

    /// Parses a header; also returns the bytes after it.
    ///
    /// # Errors
    /// [`WireError`].
    pub fn parse(bytes: &[u8]) -> Result<(Header, &[u8]), WireError> {
        let mut reader = Reader(bytes);
        if reader.u16()? != MAGIC {
            return Err(WireError::Foreign);
        }
        let [version, kind] = reader.take()?;
        if version != VERSION {
            return Err(WireError::Version(version));
        }
        let header = Header {
            kind: Kind::of(kind).ok_or(WireError::Kind(kind))?,
            service: ServiceId(reader.u16()?),
            argument: reader.u16()?,
            number: reader.u64()?,
        };
        Ok((header, reader.0))
    }
}

/// The key that the dispatchers of a cluster share.
#[derive(Clone)]
pub struct Key(SipHasher24);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// From its bytes.
    pub fn new(bytes: &[u8; 16]) -> Key {
        Key(SipHasher24::new_with_key(bytes))
    }

    fn tag(&self, bytes: &[u8]) -> [u8; TAG_BYTES] {
        let mut hasher = self.0;
        hasher.write(bytes);
        hasher.finish().to_be_bytes()
    }

    /// Appends gossip to `bytes`.
    pub fn write_gossip(&self, report: &Report, bytes: &mut Vec<u8>) {
        let header = Header {
            kind: Kind::Gossip,
            service: ServiceId(0),
            argument: 0,
            number: 0,
        };
        let start = bytes.len();
        bytes.extend_from_slice(&header.to_bytes());
        self.seal(report, start, bytes);
    }

    /// Appends the front of a redirected request to `bytes`: `header` of any kind, `origin`, `report` and tag. The
    /// request's data after its header are to follow.
    pub fn write_redirected(&self, header: Header, origin: Origin, report: &Report, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        let kind = Kind::Redirected;
        bytes.extend_from_slice(&Header { kind, ..header }.to_bytes());
        bytes.extend_from_slice(&origin.address);
        bytes.extend_from_slice(&origin.port.to_be_bytes());
        bytes.extend_from_slice(&[origin.hops, 0]);
        self.seal(report, start, bytes);
    }

    fn seal(&self, report: &Report, start: usize, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&report.incarnation.to_be_bytes());
        bytes.extend_from_slice(&report.sequence.to_be_bytes());
        bytes.extend_from_slice(&report.from.0.to_be_bytes());
        bytes.extend_from_slice(&(report.entries.len() as u16).to_be_bytes());
        for entry in &report.entries {
            bytes.extend_from_slice(&entry.service.0.to_be_bytes());
            bytes.extend_from_slice(&entry.cores.to_be_bytes());
            bytes.extend_from_slice(&entry.load.0.to_be_bytes());
        }
        let tag = self.tag(&bytes[start..]);
        bytes.extend_from_slice(&tag);
    }

    /// Reads gossip, header included.
    ///
    /// # Errors
    /// [`WireError`], of which [`WireError::Tag`] means that the sender does not have the key.
    pub fn read_gossip(&self, message: &[u8]) -> Result<Report, WireError> {
        let (header, _) = Header::parse(message)?;
        match header.kind {
            Kind::Gossip => self.open(message, HEADER_BYTES).map(|(report, _)| report),
            other => Err(WireError::Kind(other as u8)),
        }
    }

    /// Parses the front of a redirected request, including the header; also returns the request's data after its
    /// header. The header has become that of a request.
    ///
    /// # Errors
    /// As [`Key::read_gossip`].
    pub fn read_redirected<'m>(
        &self,
        message: &'m [u8],
    ) -> Result<(Header, Origin, Report, &'m [u8]), WireError> {
        let (header, rest) = Header::parse(message)?;
        if header.kind != Kind::Redirected {
            return Err(WireError::Kind(header.kind as u8));
        }
        let mut reader = Reader(rest);
        let address = reader.take()?;
        let port = reader.u16()?;
        let [hops, _] = reader.take()?;
        let (report, rest) = self.open(message, HEADER_BYTES + ORIGIN_BYTES)?;
        let kind = Kind::Request;
        Ok((
            Header { kind, ..header },
            Origin { address, port, hops },
            report,
            rest,
        ))
    }

    /// Parses the report that begins at `at`, and checks the tag over everything before it.
    fn open<'m>(&self, message: &'m [u8], at: usize) -> Result<(Report, &'m [u8]), WireError> {
        let mut reader = Reader(message.get(at..).ok_or(WireError::Short)?);
        let mut report = Report {
            incarnation: reader.u32()?,
            sequence: reader.u32()?,
            from: PeerId(reader.u16()?),
            entries: Default::default(),
        };
        let entries = reader.u16()?;
        if usize::from(entries) > MAX_SERVICES {
            return Err(WireError::Entries(entries));
        }
        for _ in 0..entries {
            report.entries.push(Entry {
                service: ServiceId(reader.u16()?),
                cores: reader.u16()?,
                load: Load(reader.u32()?),
            });
        }
        let sealed = message.len() - reader.0.len();
        let tag: [u8; TAG_BYTES] = reader.take()?;
        match tag == self.tag(&message[..sealed]) {
            true => Ok((report, reader.0)),
            false => Err(WireError::Tag),
        }
    }
}

/// Bytes that are still to be read.
struct Reader<'m>(&'m [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (own, rest) = self.0.split_first_chunk().ok_or(WireError::Short)?;
        self.0 = rest;
        Ok(*own)
    }

    fn u16(&mut self) -> Result<u16, WireError> {
        self.take().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Result<u32, WireError> {
        self.take().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Result<u64, WireError> {
        self.take().map(u64::from_be_bytes)
    }
}
