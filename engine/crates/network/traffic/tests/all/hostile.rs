//! What a host makes of frames that it should not get: each is counted by its reason, none is served.

use rackwright_ethernet::{Datagram, Ecn, Endpoint, Frame, Ipv4, Kind, Mac, Message, PortParameters};
use rackwright_schedule::{Graph, Incoming, Model, ModelId, Outbox, PortId};
use rackwright_stats::Digest;
use rackwright_time::network::{Cycle, Cycles};
use rackwright_time::Clock;
use rackwright_traffic::{Distribution, Host, HostCounters, Identity, Random, Service, ServiceParameters};

const HOST: Mac = Mac([0x00, 0x12, 0x6d, 0, 0, 2]);
const GAP: u64 = 2000;

/// A host, or somebody who sends it frames one after another and counts what comes back.
enum Node {
    Host(Box<Host>),
    Sender {
        frames: Vec<Frame>,
        sent: usize,
        came: u64,
    },
}

impl Model for Node {
    type Item = Frame;

    fn ports(&self) -> usize {
        1
    }

    fn next_event(&self) -> Cycle {
        match self {
            Node::Host(host) => host.next_event(),
            Node::Sender { frames, sent, .. } if *sent < frames.len() => Cycle::new(*sent as u64 * GAP),
            Node::Sender { .. } => Cycle::NEVER,
        }
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        let due = self.next_event();
        match self {
            Node::Host(host) => host.advance(until, arrivals, outbox),
            Node::Sender { frames, sent, came } => {
                while arrivals.next().is_some() {
                    *came += 1;
                }
                if due < until {
                    let frame = frames[*sent].clone();
                    let last = due + Cycles::new(frame.length().div_ceil(8) as u64 - 1);
                    outbox.send(0, due, last, frame);
                    *sent += 1;
                }
            }
        }
    }

    fn digest(&self, _: &mut Digest) {}
}

fn request() -> Datagram {
    Datagram {
        destination: HOST,
        source: Mac::assigned(3),
        from: Endpoint {
            address: Ipv4::new(172, 16, 0, 3),
            port: 7,
        },
        to: Endpoint {
            address: Ipv4::new(172, 16, 0, 2),
            port: 7,
        },
        payload: 64,
        ecn: Ecn::NotCapable,
        message: Message {
            kind: Kind::Request,
            service: rackwright_dispatch::ServiceId(0),
            argument: 64,
            number: 0,
        },
    }
}

fn damaged(byte: usize) -> Frame {
    let mut bytes = request().to_bytes();
    bytes[byte] ^= 0x40;
    Frame::raw(&bytes).unwrap()
}

/// The host's counters, the requests it served, and the frames it sent.
fn judge(frames: Vec<Frame>) -> (HostCounters, u64, u64) {
    let clock = Clock::new(3_200_000_000).unwrap();
    let parameters = ServiceParameters {
        cores: 1,
        time: Distribution::Constant { us: 0.1 },
        queue: None,
    };
    let service = Service::new(&parameters, clock, Random::new(0, 0, "service"), Cycle::ZERO).unwrap();
    let identity = Identity {
        mac: HOST,
        endpoint: request().to,
        stack: Cycles::new(0),
        ecn: false,
    };
    let host = Host::new(identity, PortParameters::default(), None, Some(service));
    let count = frames.len() as u64;
    let mut graph = Graph::new();
    let one = graph.add("host", Node::Host(Box::new(host)));
    let other = graph.add(
        "sender",
        Node::Sender {
            frames,
            sent: 0,
            came: 0,
        },
    );
    let end = |model: ModelId| PortId { model, port: 0 };
    // A window shorter than the gap, so that the sender sends one frame in each.
    graph.join(end(one), end(other), Cycles::new(GAP / 2)).unwrap();
    graph.run(Cycle::new(1_000_000));
    let (Node::Host(host), Node::Sender { came, .. }) = (graph.model(one), graph.model(other)) else {
        panic!("models keep their places");
    };
    assert_eq!(host.output_port().counters().received, count);
    (
        host.counters(),
        host.service().unwrap().counters().answered,
        *came,
    )
}

#[test]
fn whole_requests_are_served_whether_as_numbers_or_as_bytes() {
    let frames = vec![
        Frame::Datagram(request()),
        Frame::raw(&request().to_bytes()).unwrap(),
    ];
    assert_eq!(judge(frames), (HostCounters::default(), 2, 2));
}

#[test]
fn damage_is_noticed() {
    let expected = HostCounters {
        checksum: 3,
        ..HostCounters::default()
    };
    // The time to live, a port, and a byte of the payload.
    assert_eq!(
        judge(vec![damaged(22), damaged(36), damaged(90)]),
        (expected, 0, 0)
    );
}

#[test]
fn runts_and_foreign_protocols_are_not_understood() {
    let mut arp = vec![0xff; 60];
    arp[12..14].copy_from_slice(&[0x08, 0x06]);
    let cut = &request().to_bytes()[..50];
    let frames = [&[1_u8, 2, 3][..], &arp, cut].map(|bytes| Frame::raw(bytes).unwrap());
    let expected = HostCounters {
        foreign: 3,
        ..HostCounters::default()
    };
    assert_eq!(judge(frames.to_vec()), (expected, 0, 0));
}

#[test]
fn what_is_for_others_or_answers_nothing_is_not_served() {
    let other_mac = Datagram {
        destination: Mac::assigned(9),
        ..request()
    };
    let other_port = Datagram {
        to: Endpoint {
            port: 8,
            ..request().to
        },
        ..request()
    };
    let answer = Datagram {
        message: Message {
            kind: Kind::Response,
            ..request().message
        },
        ..request()
    };
    let frames = [other_mac, other_port, answer].map(Frame::Datagram);
    let expected = HostCounters {
        misdelivered: 2,
        unasked: 1,
        ..HostCounters::default()
    };
    assert_eq!(judge(frames.to_vec()), (expected, 0, 0));
}
