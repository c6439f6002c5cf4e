use crate::portable::octets;
use crate::{Datagram, Kind};
use rackwright_dispatch::wire::{
    Key, Origin, ENTRY_BYTES, HEADER_BYTES, ORIGIN_BYTES, REPORT_BYTES, TAG_BYTES,
};
use rackwright_dispatch::{Entry, Load, PeerId, Report, ServiceId, MAX_SERVICES};
use rackwright_link::Trail;
use rackwright_schedule::Portable;

/// The key of simulated dispatchers: their messages are not secret, and the bytes are generated only for captures and
/// for hardware.
pub const SIMULATED_KEY: [u8; 16] = *b"rackwright-racks";

/// A message from one dispatching switch to another: gossip, or a request with the loads of the racks that have
/// redirected it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// Addresses and header; the payload includes the complete message.
    pub datagram: Datagram,
    /// Number of redirections of the request.
    pub hops: u8,
    /// The sender's report on its rack.
    pub report: Report,
}

impl Told {
    /// Gossip, addressed as `datagram`.
    pub fn gossip(datagram: Datagram, report: Report) -> Told {
        let mut datagram = Datagram {
            payload: (HEADER_BYTES + sealed_bytes(&report)) as u16,
            ..datagram
        };
        datagram.message.kind = Kind::Gossip;
        Told {
            datagram,
            hops: 0,
            report,
        }
    }

    /// A request that is passed on.
    pub fn redirected(request: Datagram, hops: u8, report: Report) -> Told {
        let mut datagram = request;
        datagram.payload += (ORIGIN_BYTES + sealed_bytes(&report)) as u16;
        datagram.message.kind = Kind::Redirected;
        Told {
            datagram,
            hops,
            report,
        }
    }

    /// Parses a frame; none if its bytes are not in the format of [`Told::to_bytes`].
    pub fn parse(bytes: &[u8]) -> Option<Told> {
        let datagram = Datagram::parse(bytes).ok()?;
        let key = Key::new(&SIMULATED_KEY);
        let message = &bytes[crate::HEADER_BYTES..];
        let (hops, report) = match datagram.message.kind {
            Kind::Gossip => (0, key.read_gossip(message).ok()?),
            Kind::Redirected => {
                let (_, origin, report, _) = key.read_redirected(message).ok()?;
                (origin.hops, report)
            }
            _ => return None,
        };
        Some(Told {
            datagram,
            hops,
            report,
        })
    }

    /// The request that was passed on, as its client has sent it.
    pub fn request(&self) -> Datagram {
        let mut datagram = self.datagram;
        datagram.payload -= (ORIGIN_BYTES + sealed_bytes(&self.report)) as u16;
        datagram.message.kind = Kind::Request;
        datagram
    }

    /// The frame, with checksums and authentication tag.
    pub fn to_bytes(&self) -> Vec<u8> {
        let key = Key::new(&SIMULATED_KEY);
        let mut payload = Vec::with_capacity(usize::from(self.datagram.payload));
        if self.datagram.message.kind == Kind::Gossip {
            key.write_gossip(&self.report, &mut payload);
        } else {
            let origin = Origin {
                address: self.datagram.from.address.octets(),
                port: self.datagram.from.port,
                hops: self.hops,
            };
            key.write_redirected(self.datagram.message, origin, &self.report, &mut payload);
            payload.resize(usize::from(self.datagram.payload), 0);
        }
        self.datagram.with_payload(&payload)
    }

    /// Adds its contents to the trail of a link.
    pub(crate) fn leave(&self, trail: &mut Trail) {
        self.datagram.leave(trail);
        let from = u64::from(self.report.from.0) << 8 | u64::from(self.hops);
        trail.add(
            from,
            u64::from(self.report.incarnation) << 32 | u64::from(self.report.sequence),
        );
        for entry in &self.report.entries {
            let who = u64::from(entry.service.0) << 16 | u64::from(entry.cores);
            trail.add(who, entry.load.0.into());
        }
    }
}

/// Bytes of a report with its tag.
fn sealed_bytes(report: &Report) -> usize {
    REPORT_BYTES + report.entries.len() * ENTRY_BYTES + TAG_BYTES
}

impl Portable for Told {
    fn pack(&self, bytes: &mut Vec<u8>) {
        self.datagram.pack(bytes);
        self.hops.pack(bytes);
        self.report.incarnation.pack(bytes);
        self.report.sequence.pack(bytes);
        self.report.from.0.pack(bytes);
        (self.report.entries.len() as u8).pack(bytes);
        for entry in &self.report.entries {
            entry.service.0.pack(bytes);
            entry.cores.pack(bytes);
            entry.load.0.pack(bytes);
        }
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        let datagram = Datagram::unpack(bytes)?;
        let [hops] = octets(bytes)?;
        let mut report = Report {
            incarnation: u32::unpack(bytes)?,
            sequence: u32::unpack(bytes)?,
            from: PeerId(u16::unpack(bytes)?),
            entries: Default::default(),
        };
        let entries = usize::from(u8::unpack(bytes)?);
        for _ in 0..entries.min(MAX_SERVICES) {
            report.entries.push(Entry {
                service: ServiceId(u16::unpack(bytes)?),
                cores: u16::unpack(bytes)?,
                load: Load(u32::unpack(bytes)?),
            });
        }
        Some(Told {
            datagram,
            hops,
            report,
        })
    }
}
