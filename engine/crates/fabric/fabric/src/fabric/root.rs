use super::{next_port, Fabric, ROOT};
use crate::aer::Fault;
use crate::class::Class;
use crate::error::FabricError;
use crate::events::{Event, PortId};
use crate::host::{bytes_asked, completions};
use crate::packet::{Header, Kind, Status};
use crate::parts::{Part, Parts};
use crate::pool::PacketId;
use crate::transmitter::Waiting;
use rackwright_time::fabric::Cycle;

/// Tags of eight bits, which the host uses in turn.
const TAGS: u16 = 256;

/// The answer to a request of the host.
pub(crate) struct Answer {
    pub(crate) at: Cycle,
    pub(crate) status: Status,
    pub(crate) data: u64,
    pub(crate) parts: Parts,
}

/// A request of the host, for which it waits.
pub(crate) struct Asked {
    pub(crate) header: Header,
    /// Through which it has left.
    pub(crate) port: PortId,
}

impl Asked {
    /// Whether a completion with `data` words answers it; one that differs from the request in any other way than its tag
    /// may count as unexpected (2.3.2). Data are complete, since the host reads no more than two words; refused requests
    /// have none.
    fn is_answered_by(&self, header: &Header, data: usize) -> bool {
        let (asked, completion) = (&self.header, &header.completion);
        if header.tag != asked.tag {
            return false;
        }
        if completion.status != Status::Successful {
            return data == 0;
        }
        let reads = !asked.kind.has_data();
        let expected = match asked.kind {
            Kind::MemoryRead => bytes_asked(asked),
            _ => 0..4,
        };
        data == if reads { usize::from(asked.words) } else { 0 }
            && u64::from(completion.byte_count) == expected.end - expected.start
            && u64::from(completion.lower_address) == expected.start & 0x7f
    }
}

/// The requests of the host: one at a time, with tags in turn.
#[derive(Default)]
pub(crate) struct Requests {
    /// The outstanding one.
    pub(crate) asked: Option<Asked>,
    /// The answer that the host waits for.
    pub(crate) answer: Option<Answer>,
    /// The latest tag.
    pub(crate) tag: u16,
}

impl Fabric {
    /// A packet has arrived at the root complex.
    pub(super) fn at_root(
        &mut self,
        now: Cycle,
        id: PortId,
        packet: PacketId,
        header: &Header,
    ) -> Result<(), FabricError> {
        let class = header.kind.class();
        if class == Class::Completion && header.requester == ROOT {
            self.answer(now, id, packet, header);
            return Ok(());
        }
        let from = self.ports.all[id.index()].number;
        if header.kind.is_memory() && !self.root.bridges[from].is_master() {
            self.refuse(now, id, packet, header);
            return Ok(());
        }
        if self.root.violates(from, header) {
            self.stop(now, id, packet, header, Fault::AccessControl);
            return Ok(());
        }
        let address = header.request.address;
        let range = address..address.saturating_add(4 * u64::from(header.words));
        match header.kind {
            // Data that are wrong change no memory, and are no interrupt (2.7.2.2).
            Kind::MemoryWrite
                if header.poisoned && (self.host.has(&range) || self.host.has_message(header)) =>
            {
                self.receive_poisoned(id, header);
                self.settle(now, id, packet, header);
                Ok(())
            }
            Kind::MemoryWrite if self.host.has(&range) => {
                let packet_of = self.pool.get(packet);
                let done = self.host.write(now, header, &packet_of.data)?;
                self.events
                    .at(done, Event::Release(id, class, header.cost().into()));
                self.pool.free(packet);
                Ok(())
            }
            Kind::MemoryRead if self.host.has(&range) => self.read(now, id, packet, header),
            Kind::MemoryWrite if self.host.has_message(header) => {
                self.host.receive(header, &self.pool.get(packet).data);
                self.settle(now, id, packet, header);
                Ok(())
            }
            Kind::Message(..) => {
                if !self.change_wire(now, id, None, packet, header) {
                    self.message(now, id, packet, header);
                }
                Ok(())
            }
            // Only the host may send configuration requests.
            Kind::ConfigurationRead(_) | Kind::ConfigurationWrite(_) => {
                self.refuse(now, id, packet, header);
                Ok(())
            }
            _ => {
                let own = self.ports.all[id.index()].number;
                let next = next_port(&self.root.routes, header, self.root.barred(own), None);
                match next.filter(|_| self.system.root.peer_to_peer) {
                    Some((number, header)) => {
                        if header.poisoned {
                            self.report_passing(id, &header);
                        }
                        let out = self.ports.of_root[number];
                        let waiting = Waiting::new(packet, &header, now, Some(id));
                        self.offer(out, own, waiting, class);
                    }
                    None => self.refuse(now, id, packet, header),
                }
                Ok(())
            }
        }
    }

    /// A completion for the host has arrived.
    fn answer(&mut self, now: Cycle, id: PortId, packet: PacketId, header: &Header) {
        let packet_of = self.pool.get(packet);
        let data = packet_of.data.len() / 4;
        let asked = self
            .requests
            .asked
            .take_if(|asked| asked.is_answered_by(header, data));
        if asked.is_none() {
            self.refuse(now, id, packet, header);
            return;
        }
        let mut word = [0; 8];
        word[..4 * data].copy_from_slice(&packet_of.data);
        let status = match header.poisoned {
            true => Status::Aborted,
            false => header.completion.status,
        };
        self.requests.answer = Some(Answer {
            at: now,
            status,
            data: u64::from_le_bytes(word),
            parts: packet_of.parts,
        });
        if header.poisoned {
            self.receive_poisoned(id, header);
        }
        self.settle(now, id, packet, header);
    }

    /// Reads memory, and sends the completions when their data are ready.
    fn read(
        &mut self,
        now: Cycle,
        id: PortId,
        packet: PacketId,
        request: &Header,
    ) -> Result<(), FabricError> {
        let before = self.pool.get(packet).parts;
        let most = u64::from(self.system.root.completion_bytes);
        let source = self.ports.of_root.len();
        let mut ready = now;
        for (header, range) in completions(request, ROOT, most) {
            let id_of = self.pool.take(header);
            let completion = self.pool.get(id_of);
            completion.data.resize((range.end - range.start) as usize, 0);
            ready = ready.max(self.host.read(now, range.start, &mut completion.data)?);
            completion.parts = before;
            completion.parts.add(Part::Memory, ready.since(now));
            completion.parts.add(Part::Root, self.root.latency);
            let waiting = Waiting::new(id_of, &header, ready + self.root.latency, None);
            self.offer(id, source, waiting, Class::Completion);
        }
        self.settle(now, id, packet, request);
        Ok(())
    }

    /// Data that are known to be wrong have reached the root complex.
    fn receive_poisoned(&mut self, id: PortId, header: &Header) {
        self.rejected.poisoned += 1;
        self.report(id, Fault::Poisoned, header);
    }

    /// Sends a packet from the host to the target in its header.
    pub(crate) fn issue(&mut self, mut header: Header, data: &[u8]) -> Result<(), FabricError> {
        if header.kind.class() == Class::NonPosted {
            self.requests.tag = (self.requests.tag + 1) % TAGS;
            header.tag = self.requests.tag;
        }
        self.requests.asked = None;
        let Some((number, header)) = next_port(&self.root.routes, &header, usize::MAX, None) else {
            let what = format!("{:?} of {:#x}", header.kind, header.request.address);
            return Err(FabricError::Refused { from: what });
        };
        if header.kind.class() == Class::NonPosted {
            let port = self.ports.of_root[number];
            self.requests.asked = Some(Asked { header, port });
        }
        let packet = self.pool.take(header);
        self.pool.get(packet).data.extend(data);
        self.pool.get(packet).parts.add(Part::Root, self.root.latency);
        let (port, source) = (self.ports.of_root[number], self.ports.of_root.len());
        let waiting = Waiting::new(packet, &header, self.now + self.root.latency, None);
        self.offer(port, source, waiting, header.kind.class());
        Ok(())
    }
}
