use crate::user::cable::Cable;
use crate::user::packet::{read, sender, udp_frame, Packet};
use crate::user::tcp::Connections;
use crate::user::udp::Datagrams;
use crate::user::{dhcp, GATEWAY_MAC, HOST, NAMES, PREFIX};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use smoltcp::iface::{Config, Interface};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpCidr, Ipv4Cidr};
use std::net::Ipv4Addr;
use std::time::Duration;

/// A network of one machine, the guest: addresses by DHCP, a gateway that responds to pings, connections and datagrams
/// to the host's loopback interface and to all addresses that the host can reach.
///
/// Connections end here: there are two of them, the guest's and one of the host. Retransmissions and other timers
/// follow the guest's time, as it advances in the calls here, independent of the time on the host.
pub struct UserNetwork {
    interface: Interface,
    cable: Cable,
    connections: Connections,
    datagrams: Datagrams,
    /// The name server, if there is one.
    names: Option<Ipv4Addr>,
    guest: EthernetAddress,
    counters: UserCounters,
}

/// The counters of the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UserCounters {
    /// Frames of the guest.
    pub sent: u64,
    /// Those of them that are unknown to the network, or have no destination.
    pub refused: u64,
    /// Frames for the guest.
    pub received: u64,
    /// Datagrams from outside that were too long for the network.
    pub too_long: u64,
}

impl UserNetwork {
    /// A network whose questions for names go to `names`.
    pub fn new(names: Option<Ipv4Addr>) -> UserNetwork {
        let mut cable = Cable::default();
        let config = Config::new(HardwareAddress::Ethernet(EthernetAddress(GATEWAY_MAC)));
        let mut interface = Interface::new(config, &mut cable, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            for address in [HOST, NAMES] {
                let cidr = IpCidr::Ipv4(Ipv4Cidr::new(address, PREFIX));
                addresses.push(cidr).expect("there is room for two addresses");
            }
        });
        // Connections to everywhere end here.
        interface.set_any_ip(true);
        let routes = interface.routes_mut();
        routes
            .add_default_ipv4_route(HOST)
            .expect("there is room for a route");
        UserNetwork {
            interface,
            cable,
            connections: Connections::new(),
            datagrams: Datagrams::default(),
            names,
            guest: EthernetAddress::BROADCAST,
            counters: UserCounters::default(),
        }
    }

    /// The same, with the first name server of this host that has an address of IPv4.
    pub fn of_host() -> UserNetwork {
        let configuration = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
        UserNetwork::new(name_server(&configuration))
    }

    /// Takes a frame of the guest at `now` of its time.
    pub fn send(&mut self, frame: &[u8], now: Duration) {
        self.counters.sent += 1;
        if !self.pass(frame, now) {
            self.counters.refused += 1;
        }
    }

    fn pass(&mut self, frame: &[u8], now: Duration) -> bool {
        let Some(packet) = read(frame) else {
            return false;
        };
        self.guest = sender(frame);
        match packet {
            Packet::Local => self.locally(frame, now),
            Packet::Dhcp(message) => match dhcp::answer(message) {
                Some(answer) => self.cable.to_guest.push_back(answer),
                None => return false,
            },
            Packet::Udp { from, to, content } => return self.datagrams.send((from, to), content, self.names),
            Packet::Tcp { from, to, opens } => {
                if !opens || self.connections.open((from, to), frame, self.names) {
                    self.locally(frame, now);
                }
            }
        }
        true
    }

    /// Passes a frame to the members of the network.
    fn locally(&mut self, frame: &[u8], now: Duration) {
        self.cable.to_network.push_back(frame.to_vec());
        self.look(now);
    }

    /// Lets the members of the network handle their events.
    fn look(&mut self, now: Duration) {
        let now = Instant::from_micros(now.as_micros() as i64);
        self.interface
            .poll(now, &mut self.cable, self.connections.sockets());
    }

    /// Processes external input, and events that are due at `now` of the guest's time, which never decreases.
    pub fn advance(&mut self, now: Duration) {
        for opening in self.connections.settled() {
            self.locally(&opening, now);
        }
        self.connections.exchange();
        self.look(now);
        for answer in self.datagrams.take(&mut self.counters.too_long) {
            let fill = |bytes: &mut [u8]| bytes.copy_from_slice(&answer.content);
            let frame = udp_frame(self.guest, (answer.from, answer.to), answer.content.len(), fill);
            self.cable.to_guest.push_back(frame);
        }
    }

    /// The next frame for the guest.
    pub fn receive(&mut self) -> Option<Vec<u8>> {
        let frame = self.cable.to_guest.pop_front()?;
        self.counters.received += 1;
        Some(frame)
    }

    /// Waits for external input, but at most for `longest`.
    pub fn wait(&self, longest: Duration) {
        let datagrams = self.datagrams.sockets().map(|socket| (socket, PollFlags::IN));
        let waits = self.connections.waits().chain(datagrams);
        let mut waits: Vec<PollFd<'_>> = waits
            .map(|(socket, flags)| PollFd::from_borrowed_fd(socket, flags))
            .collect();
        let longest = Timespec::try_from(longest).expect("nobody waits for so long");
        // A signal ends a wait too; that is as well.
        let _ = poll(&mut waits, Some(&longest));
    }

    /// The counters so far.
    pub fn counters(&self) -> UserCounters {
        self.counters
    }

    /// Number of connections, and of flows of datagrams.
    #[cfg(test)]
    pub(crate) fn flows(&self) -> (usize, usize) {
        (self.connections.flows(), self.datagrams.flows())
    }
}

/// The first address of IPv4 that a resolver's configuration (resolv.conf(5)) names.
pub(crate) fn name_server(configuration: &str) -> Option<Ipv4Addr> {
    configuration
        .lines()
        .filter_map(|line| line.trim().strip_prefix("nameserver"))
        .find_map(|address| address.trim().parse().ok())
}
