use super::cable::{Cable, HEADER};
use super::network::name_server;
use super::{outside, UserNetwork, GATEWAY_MAC, GUEST, HOST, MOST_FLOWS, MTU, NAMES, PREFIX};
use proptest::prelude::*;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::socket::{dhcpv4, icmp, tcp, udp};
use smoltcp::time::Instant;
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, HardwareAddress, Icmpv4Packet, Icmpv4Repr, IpAddress, IpCidr, Ipv4Cidr,
    Ipv4Packet, TcpPacket,
};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpListener, UdpSocket};
use std::thread::{spawn, JoinHandle};
use std::time::Duration;

const MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 1]);
/// Number of steps after which a test fails.
const STEPS: usize = 20_000;
/// The guest's time per step.
const STEP: Duration = Duration::from_millis(1);

/// A machine with a stack of its own on the cable.
struct Machine {
    interface: Interface,
    cable: Cable,
    sockets: SocketSet<'static>,
    network: UserNetwork,
    now: Duration,
}

impl Machine {
    fn without_address() -> Machine {
        let mut cable = Cable::default();
        let interface = Interface::new(
            Config::new(HardwareAddress::Ethernet(MAC)),
            &mut cable,
            Instant::ZERO,
        );
        Machine {
            interface,
            cable,
            sockets: SocketSet::new(Vec::new()),
            network: UserNetwork::new(Some(Ipv4Addr::LOCALHOST)),
            now: Duration::ZERO,
        }
    }

    fn new() -> Machine {
        let mut machine = Machine::without_address();
        machine.interface.update_ip_addrs(|addresses| {
            let cidr = Ipv4Cidr::new(GUEST, PREFIX);
            addresses.push(IpCidr::Ipv4(cidr)).unwrap();
        });
        machine
            .interface
            .routes_mut()
            .add_default_ipv4_route(HOST)
            .unwrap();
        machine
    }

    fn socket<S: smoltcp::socket::AnySocket<'static>>(&mut self, handle: SocketHandle) -> &mut S {
        self.sockets.get_mut(handle)
    }

    /// Exchanges frames in both directions once.
    fn step(&mut self) {
        let now = Instant::from_micros(self.now.as_micros() as i64);
        self.interface.poll(now, &mut self.cable, &mut self.sockets);
        let mut moved = false;
        // For the machine, its output is "to the guest" of its own cable.
        while let Some(frame) = self.cable.to_guest.pop_front() {
            self.network.send(&frame, self.now);
            moved = true;
        }
        self.network.advance(self.now);
        while let Some(frame) = self.network.receive() {
            assert!(frame.len() <= HEADER + MTU);
            self.cable.to_network.push_back(frame);
            moved = true;
        }
        if !moved {
            self.network.wait(STEP);
        }
        self.now += STEP;
    }

    fn until(&mut self, mut done: impl FnMut(&mut Machine) -> bool) {
        for _ in 0..STEPS {
            self.step();
            if done(self) {
                return;
            }
        }
        panic!("that never happened");
    }

    fn connect(&mut self, to: SocketAddrV4, from_port: u16) -> SocketHandle {
        let buffer = || tcp::SocketBuffer::new(vec![0; 1 << 16]);
        let mut socket = tcp::Socket::new(buffer(), buffer());
        let remote = (IpAddress::Ipv4(*to.ip()), to.port());
        socket
            .connect(self.interface.context(), remote, from_port)
            .unwrap();
        self.sockets.add(socket)
    }
}

/// Echoes received data, after the end too, and returns their length.
fn echo() -> (SocketAddrV4, JoinHandle<usize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        stream.write_all(&all).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        all.len()
    });
    (SocketAddrV4::new(HOST, port), served)
}

/// A port of the loopback interface without a listener.
fn nobody() -> SocketAddrV4 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    SocketAddrV4::new(HOST, listener.local_addr().unwrap().port())
}

#[test]
fn an_address_is_lent_with_gateway_and_name_server() {
    let mut machine = Machine::without_address();
    let client = machine.sockets.add(dhcpv4::Socket::new());
    let mut lent = None;
    machine.until(|machine| {
        if let Some(dhcpv4::Event::Configured(config)) = machine.socket::<dhcpv4::Socket<'_>>(client).poll() {
            lent = Some((config.address, config.router, config.dns_servers.to_vec()));
        }
        lent.is_some()
    });
    let address = Ipv4Cidr::new(GUEST, PREFIX);
    assert_eq!(lent, Some((address, Some(HOST), vec![NAMES])));
}

#[test]
fn only_those_on_the_network_answer_pings() {
    let mut machine = Machine::new();
    let buffer = || icmp::PacketBuffer::new(vec![icmp::PacketMetadata::EMPTY; 8], vec![0; 1024]);
    let mut socket = icmp::Socket::new(buffer(), buffer());
    socket.bind(icmp::Endpoint::Ident(7)).unwrap();
    let handle = machine.sockets.add(socket);
    for to in [Ipv4Addr::new(192, 0, 2, 1), HOST, NAMES] {
        let request = Icmpv4Repr::EchoRequest {
            ident: 7,
            seq_no: 1,
            data: b"payload",
        };
        let socket = machine.socket::<icmp::Socket<'_>>(handle);
        let room = socket.send(request.buffer_len(), IpAddress::Ipv4(to)).unwrap();
        request.emit(
            &mut Icmpv4Packet::new_unchecked(room),
            &ChecksumCapabilities::default(),
        );
    }
    let mut answers = Vec::new();
    machine.until(|machine| {
        while let Ok((answer, from)) = machine.socket::<icmp::Socket<'_>>(handle).recv() {
            assert_eq!(&answer[answer.len() - 7..], b"payload");
            answers.push(from);
        }
        answers.len() == 2
    });
    assert_eq!(answers, [HOST, NAMES].map(IpAddress::Ipv4));
    assert_eq!(machine.network.counters().refused, 1);
}

#[test]
fn a_connection_reaches_the_hosts_loopback_and_each_end_closes_for_itself() {
    let mut machine = Machine::new();
    let (server, served) = echo();
    let sent: Vec<u8> = (0..1_000_000_u32)
        .map(|byte| (byte.wrapping_mul(byte) >> 7) as u8)
        .collect();
    let handle = machine.connect(server, 50_000);
    let (mut given, mut got) = (0, Vec::new());
    machine.until(|machine| {
        let socket = machine.socket::<tcp::Socket<'_>>(handle);
        if socket.can_send() && given < sent.len() {
            given += socket.send_slice(&sent[given..]).unwrap();
            if given == sent.len() {
                socket.close();
            }
        }
        while socket.can_recv() {
            socket
                .recv(|bytes| (bytes.len(), got.extend_from_slice(bytes)))
                .unwrap();
        }
        given == sent.len() && !socket.may_recv()
    });
    assert!(got == sent, "{} bytes of {}", got.len(), sent.len());
    assert_eq!(served.join().unwrap(), sent.len());
    machine.until(|machine| machine.network.flows().0 == 0);
}

#[test]
fn where_nobody_listens_a_connection_is_refused() {
    let mut machine = Machine::new();
    for (port, to) in (40_000..).zip([nobody(), SocketAddrV4::new(NAMES, 80)]) {
        let handle = machine.connect(to, port);
        machine.until(|machine| machine.socket::<tcp::Socket<'_>>(handle).state() == tcp::State::Closed);
        assert_eq!(machine.network.flows().0, 0);
    }
}

#[test]
fn an_end_that_is_gone_resets_the_other() {
    let mut machine = Machine::new();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let server = SocketAddrV4::new(HOST, listener.local_addr().unwrap().port());
    let handle = machine.connect(server, 50_000);
    machine.until(|machine| machine.socket::<tcp::Socket<'_>>(handle).may_send());
    let (host, _) = listener.accept().unwrap();
    socket2::SockRef::from(&host)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    drop(host);
    machine.until(|machine| machine.socket::<tcp::Socket<'_>>(handle).state() == tcp::State::Closed);
    // The same in the opposite direction.
    let handle = machine.connect(server, 50_001);
    machine.until(|machine| machine.socket::<tcp::Socket<'_>>(handle).may_send());
    let (mut host, _) = listener.accept().unwrap();
    machine.socket::<tcp::Socket<'_>>(handle).abort();
    machine.until(|machine| machine.network.flows().0 == 0);
    assert_eq!(host.read(&mut [0]).unwrap(), 0);
}

#[test]
fn datagrams_go_out_and_their_answers_come_back() {
    let mut machine = Machine::new();
    let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = server.local_addr().unwrap().port();
    let buffer = || udp::PacketBuffer::new(vec![udp::PacketMetadata::EMPTY; 8], vec![0; 8192]);
    let mut socket = udp::Socket::new(buffer(), buffer());
    socket.bind(1234).unwrap();
    socket
        .send_slice(b"question", (IpAddress::Ipv4(HOST), port))
        .unwrap();
    let handle = machine.sockets.add(socket);
    machine.until(|machine| machine.network.flows().1 == 1);
    let mut content = [0; 2000];
    let (length, from) = server.recv_from(&mut content).unwrap();
    assert_eq!(&content[..length], b"question");
    server.send_to(&[7; 1473], from).unwrap();
    server.send_to(&[8; 1472], from).unwrap();
    let mut answer = None;
    machine.until(|machine| {
        if let Ok((content, meta)) = machine.socket::<udp::Socket<'_>>(handle).recv() {
            answer = Some((content.to_vec(), meta.endpoint.port));
        }
        answer.is_some()
    });
    assert_eq!(answer, Some((vec![8; 1472], port)));
    assert_eq!(machine.network.counters().too_long, 1);
}

#[test]
fn flows_are_bounded() {
    let mut network = UserNetwork::new(None);
    let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let to = SocketAddrV4::new(HOST, server.local_addr().unwrap().port());
    for port in 1..=MOST_FLOWS as u16 + 20 {
        network.send(&datagram(SocketAddrV4::new(GUEST, port), to), Duration::ZERO);
    }
    assert_eq!((network.flows().1, network.counters().refused), (MOST_FLOWS, 0));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let to = SocketAddrV4::new(HOST, listener.local_addr().unwrap().port());
    for port in 1..=MOST_FLOWS as u16 + 20 {
        let segment = segment((port, to.port()), (1, 0), 1 << 1, &[]);
        network.send(&segment, Duration::ZERO);
        network.advance(Duration::ZERO);
    }
    assert!(network.flows().0 <= MOST_FLOWS, "{}", network.flows().0);
}

#[test]
fn what_is_nobodys_stays_inside() {
    let names = Some(Ipv4Addr::new(192, 0, 2, 53));
    let at = |address: [u8; 4], port| SocketAddrV4::new(address.into(), port);
    for (to, expected) in [
        (at([10, 0, 2, 2], 80), Some(at([127, 0, 0, 1], 80))),
        (at([10, 0, 2, 3], 53), Some(at([192, 0, 2, 53], 53))),
        (at([192, 0, 2, 1], 443), Some(at([192, 0, 2, 1], 443))),
        (at([10, 0, 2, 3], 80), None),
        (at([10, 0, 2, 77], 80), None),
        (at([10, 0, 2, 255], 80), None),
        (at([127, 0, 0, 1], 80), None),
        (at([0, 0, 0, 0], 80), None),
        (at([224, 0, 0, 1], 80), None),
        (at([255, 255, 255, 255], 80), None),
        (at([192, 0, 2, 1], 0), None),
    ] {
        assert_eq!(outside(to, names), expected, "{to}");
    }
    assert_eq!(outside(at([10, 0, 2, 3], 53), None), None);
}

#[test]
fn the_name_server_is_the_first_of_ipv4() {
    let configuration =
        "# a comment\nsearch example\nnameserver 2001:db8::1\nnameserver 192.0.2.1\nnameserver 192.0.2.2\n";
    assert_eq!(name_server(configuration), Some(Ipv4Addr::new(192, 0, 2, 1)));
    assert_eq!(name_server("nameserver fe80::1\n"), None);
}

/// A frame of IPv4 from the guest with right checksums.
fn frame(protocol: u8, to: Ipv4Addr, inside: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER + 20 + inside.len()];
    bytes[..6].copy_from_slice(&GATEWAY_MAC);
    bytes[6..12].copy_from_slice(&MAC.0);
    bytes[12..14].copy_from_slice(&[8, 0]);
    bytes[HEADER] = 0x45;
    bytes[HEADER + 20..].copy_from_slice(inside);
    let mut packet = Ipv4Packet::new_unchecked(&mut bytes[HEADER..]);
    packet.set_total_len(20 + inside.len() as u16);
    packet.set_hop_limit(64);
    packet.set_next_header(protocol.into());
    packet.set_src_addr(GUEST);
    packet.set_dst_addr(to);
    packet.fill_checksum();
    bytes
}

fn datagram(from: SocketAddrV4, to: SocketAddrV4) -> Vec<u8> {
    let mut bytes =
        super::packet::udp_frame(EthernetAddress(GATEWAY_MAC), (from, to), 1, |bytes| bytes[0] = 1);
    bytes[6..12].copy_from_slice(&MAC.0);
    bytes
}

/// A segment to the host with any flags and options.
fn segment(ports: (u16, u16), numbers: (u32, u32), flags: u8, rest: &[u8]) -> Vec<u8> {
    let mut inside = Vec::new();
    inside.extend([ports.0.to_be_bytes(), ports.1.to_be_bytes()].concat());
    inside.extend([numbers.0.to_be_bytes(), numbers.1.to_be_bytes()].concat());
    let words = 5 + rest.len().min(40) / 4;
    inside.extend([(words as u8) << 4, flags, 0xff, 0xff, 0, 0, 0, 0]);
    inside.extend(rest);
    let mut packet = TcpPacket::new_unchecked(&mut inside[..]);
    packet.fill_checksum(&IpAddress::Ipv4(GUEST), &IpAddress::Ipv4(HOST));
    frame(6, HOST, &inside)
}

/// Numbers close to those of a connection, and arbitrary ones.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![0..5_u32, any::<u32>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The network continues after any frames of a guest, and responds to a ping afterwards.
    #[test]
    fn hostile_frames_harm_nobody(
        noise in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 0..20),
        inside in proptest::collection::vec((any::<u8>(), 0..6_u8, proptest::collection::vec(any::<u8>(), 0..80)), 0..20),
        segments in proptest::collection::vec(
            ((0..4_u16, any::<bool>()), (number(), number()), any::<u8>(), proptest::collection::vec(any::<u8>(), 0..60)),
            0..40,
        ),
    ) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut machine = Machine::new();
        let own = noise.into_iter().map(|mut bytes| {
            let length = bytes.len().min(14);
            let header = frame(0, HOST, &[]);
            bytes[..length].copy_from_slice(&header[..length]);
            if length == 14 { bytes[13] = bytes.len() as u8 & 6; }
            bytes
        });
        let packets = inside.into_iter().map(|(protocol, last, content)| frame(protocol, Ipv4Addr::new(10, 0, 2, last), &content));
        let segments = segments.into_iter().map(|((from, open), numbers, flags, rest)| {
            let to = if open { port } else { 0 };
            segment((from, to), numbers, flags, &rest)
        });
        for hostile in own.chain(packets).chain(segments) {
            machine.network.send(&hostile, machine.now);
            machine.network.advance(machine.now);
            machine.now += STEP;
        }
        while let Some(frame) = machine.network.receive() {
            prop_assert!(EthernetFrame::new_checked(&frame[..]).is_ok() && frame.len() <= HEADER + MTU);
        }
        let handle = machine.connect(SocketAddrV4::new(HOST, port), 50_000);
        machine.until(|machine| machine.socket::<tcp::Socket<'_>>(handle).may_send());
        prop_assert!(machine.network.flows().0 <= 5);
    }
}
