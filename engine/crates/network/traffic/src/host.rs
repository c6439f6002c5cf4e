use crate::client::{Client, Request};
use crate::service::Service;
use rackwright_ethernet::{
    Datagram, Ecn, Endpoint, Foreign, Frame, Kind, Mac, Message, Outage, OutputPort, PortParameters,
    LARGEST_PAYLOAD, MESSAGE_BYTES,
};
use rackwright_schedule::{Incoming, Model, Outbox};
use rackwright_stats::Digest;
use rackwright_time::network::{Cycle, Cycles};
use std::collections::VecDeque;

/// The addresses of a host, and the cost of its network stack.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Identity {
    /// Its hardware address.
    pub mac: Mac,
    /// Its Internet address and the UDP port of its service; clients use it too.
    pub endpoint: Endpoint,
    /// Time of a message in the software between network and program, in each direction. It delays messages and
    /// occupies no core.
    pub stack: Cycles,
    /// Whether its messages support congestion marks.
    pub ecn: bool,
}

/// Frames that a host received and had no use for, by reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostCounters {
    /// Not for this host.
    pub misdelivered: u64,
    /// With a wrong checksum.
    pub checksum: u64,
    /// Complete, but unknown to a traffic model.
    pub foreign: u64,
    /// Requests although there is no service, or answers although there is no client.
    pub unasked: u64,
    /// Messages with a congestion mark; they are used.
    pub marked: u64,
    /// Messages that arrived while the host was down, and requests that it lost thereby.
    pub dead: u64,
}

/// A server without a processor: a client, a service, or both, behind one port.
pub struct Host {
    identity: Identity,
    output: OutputPort,
    client: Option<Client>,
    service: Option<Service>,
    /// Received messages in the stack.
    rising: VecDeque<(Cycle, Datagram)>,
    counters: HostCounters,
    /// When it is down, in order.
    outages: Vec<Outage>,
    /// Number of outages that have started.
    begun: usize,
}

impl Host {
    /// A host in its initial state.
    pub fn new(
        identity: Identity,
        port: PortParameters,
        client: Option<Client>,
        service: Option<Service>,
    ) -> Host {
        Host {
            identity,
            output: OutputPort::new(port),
            client,
            service,
            rising: VecDeque::new(),
            counters: HostCounters::default(),
            outages: Vec::new(),
            begun: 0,
        }
    }

    /// The same, but dead at these times: it receives and sends nothing, and the requests of its service are lost.
    pub fn with_outages(mut self, mut outages: Vec<Outage>) -> Host {
        outages.sort_by_key(|outage| outage.from);
        self.outages = outages;
        self
    }

    /// Whether it is down. As soon as an outage is detected, its service loses all requests.
    fn is_down(&mut self, now: Cycle) -> bool {
        while self
            .outages
            .get(self.begun)
            .is_some_and(|outage| outage.from <= now)
        {
            self.begun += 1;
            self.counters.dead += self.service.as_mut().map_or(0, Service::lose);
        }
        self.outages[..self.begun]
            .last()
            .is_some_and(|outage| outage.covers(now))
    }

    /// Its port.
    pub fn output_port(&self) -> &OutputPort {
        &self.output
    }

    /// Its client.
    pub fn client(&self) -> Option<&Client> {
        self.client.as_ref()
    }

    /// Its service.
    pub fn service(&self) -> Option<&Service> {
        self.service.as_ref()
    }

    /// Counters of received messages that it could not use.
    pub fn counters(&self) -> HostCounters {
        self.counters
    }

    /// Time of the next internal event, apart from frames that wait to leave.
    #[inline]
    fn next_inside(&self) -> Cycle {
        let rising = self.rising.front().map_or(Cycle::NEVER, |(at, _)| *at);
        let service = self.service.as_ref().map_or(Cycle::NEVER, Service::next_event);
        let client = self.client.as_ref().map_or(Cycle::NEVER, |client| {
            client.next_send().min(client.next_timeout())
        });
        rising.min(service).min(client)
    }

    /// Handles one event that is due at `now`; the order of events in one cycle is defined here.
    fn act(&mut self, now: Cycle, until: Cycle, outbox: &mut Outbox<'_, Frame>) {
        if self.rising.front().is_some_and(|(at, _)| *at == now) {
            let (_, datagram) = self.rising.pop_front().expect("a message is there");
            return self.deliver(now, datagram, until, outbox);
        }
        if (self.service.as_ref()).is_some_and(|service| service.next_event() == now) {
            if !self.outages.is_empty() && self.is_down(now) {
                return;
            }
            let service = self
                .service
                .as_mut()
                .filter(|service| service.next_event() == now);
            let Some(service) = service else { return };
            let request = service.complete(now);
            let load = service.under_way().min(u16::MAX.into()) as u16;
            return self.transmit(now, answer(&request, load), until, outbox);
        }
        let client = self.client.as_mut().expect("nothing else is due");
        if client.next_timeout() == now {
            return client.time_out(now);
        }
        let request = client.send(now);
        let datagram = self.request(request);
        self.transmit(now, datagram, until, outbox);
    }

    fn receive(&mut self, now: Cycle, frame: Frame, until: Cycle, outbox: &mut Outbox<'_, Frame>) {
        self.output.count_received(frame.length());
        if !self.outages.is_empty() && self.is_down(now) {
            self.counters.dead += 1;
            return;
        }
        let read = match frame {
            Frame::Datagram(datagram) => Ok(datagram),
            Frame::Told(_) => Err(Foreign::NotAMessage),
            Frame::Raw(bytes) => Datagram::parse(&bytes),
        };
        match read {
            Ok(datagram)
                if datagram.destination != self.identity.mac || datagram.to != self.identity.endpoint =>
            {
                self.counters.misdelivered += 1;
            }
            Ok(datagram) if self.identity.stack == Cycles::new(0) => {
                self.deliver(now, datagram, until, outbox)
            }
            Ok(datagram) => self.rising.push_back((now + self.identity.stack, datagram)),
            Err(Foreign::Checksum) => self.counters.checksum += 1,
            Err(Foreign::NotUdp | Foreign::NotAMessage) => self.counters.foreign += 1,
        }
    }

    fn deliver(&mut self, now: Cycle, datagram: Datagram, until: Cycle, outbox: &mut Outbox<'_, Frame>) {
        self.counters.marked += u64::from(datagram.ecn == Ecn::Congested);
        match (datagram.message.kind, &mut self.client, &mut self.service) {
            (Kind::Response, Some(client), _) => client.answer(now, datagram.source, datagram.message),
            (Kind::Request, _, Some(service)) => service.take(now, datagram),
            (Kind::Probe, _, Some(_)) => {
                let mut alive = answer(&datagram, 0);
                alive.message.kind = Kind::Alive;
                // No host's address: the switch above intercepts it.
                alive.payload = MESSAGE_BYTES as u16;
                self.transmit(now, alive, until, outbox);
            }
            _ => self.counters.unasked += 1,
        }
    }

    fn request(&self, request: Request) -> Datagram {
        Datagram {
            destination: request.peer.mac,
            source: self.identity.mac,
            from: self.identity.endpoint,
            to: request.peer.endpoint,
            payload: request.payload,
            ecn: if self.identity.ecn {
                Ecn::Capable
            } else {
                Ecn::NotCapable
            },
            message: request.message,
        }
    }

    fn transmit(&mut self, now: Cycle, datagram: Datagram, until: Cycle, outbox: &mut Outbox<'_, Frame>) {
        let ready = now + self.identity.stack;
        if self.output.offer(ready, datagram.frame_bytes()) {
            self.output
                .enqueue(ready, Frame::Datagram(datagram), until, 0, outbox);
        }
    }
}

/// The response to a request: the same flow, in the opposite direction, with the requested payload and the number of
/// outstanding requests.
fn answer(request: &Datagram, load: u16) -> Datagram {
    Datagram {
        destination: request.source,
        source: request.destination,
        from: request.to,
        to: request.from,
        payload: request
            .message
            .argument
            .clamp(MESSAGE_BYTES as u16, LARGEST_PAYLOAD as u16),
        ecn: if request.ecn == Ecn::NotCapable {
            Ecn::NotCapable
        } else {
            Ecn::Capable
        },
        message: Message {
            kind: Kind::Response,
            argument: load,
            ..request.message
        },
    }
}

impl Model for Host {
    type Item = Frame;

    fn ports(&self) -> usize {
        1
    }

    fn next_event(&self) -> Cycle {
        self.next_inside().min(self.output.next_departure())
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        self.output.release(until, 0, outbox);
        loop {
            let (arrival, inside) = (arrivals.peek(), self.next_inside());
            if arrival.min(inside) >= until {
                return;
            }
            if arrival <= inside {
                let (_, arrival) = arrivals.next().expect("an arrival is due");
                self.receive(arrival.cycle, arrival.item, until, outbox);
            } else {
                self.act(inside, until, outbox);
            }
        }
    }

    fn digest(&self, digest: &mut Digest) {
        let port = self.output.counters();
        [port.received, port.offered, port.dropped]
            .into_iter()
            .for_each(|count| digest.number(count));
        if let Some(client) = &self.client {
            let counters = client.counters();
            [counters.requests, counters.answered, counters.lost, counters.late]
                .into_iter()
                .for_each(|count| digest.number(count));
            client.latencies().digest(digest);
        }
        if let Some(service) = &self.service {
            let counters = service.counters();
            [
                counters.requests,
                counters.answered,
                counters.dropped,
                counters.busy_cycles,
            ]
            .into_iter()
            .for_each(|count| digest.number(count));
            service.waits().digest(digest);
        }
    }
}
