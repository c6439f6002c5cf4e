//! A network for one machine without privileges on the host: everything beyond its cable uses ordinary sockets.

mod cable;
mod dhcp;
mod network;
mod packet;
mod tcp;
#[cfg(test)]
mod tests;
mod udp;

pub use network::{UserCounters, UserNetwork};

use std::net::{Ipv4Addr, SocketAddrV4};

/// Addresses of the network 10.0.2.0/24, as QEMU's user-mode network has them, which images expect.
///
/// The host: data sent there reach its loopback interface.
pub const HOST: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 2);
/// The name server: the first server that the host itself uses.
pub const NAMES: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 3);
/// The machine's own.
pub const GUEST: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 15);
/// Bits of an address that name the network.
pub const PREFIX: u8 = 24;
/// The longest packet of the network.
pub const MTU: usize = 1500;

/// The hardware address of the gateway: locally administered, of one interface.
const GATEWAY_MAC: [u8; 6] = [0x52, 0x57, 0x0a, 0x00, 0x02, 0x02];
/// Most connections, and most pairs of ports that datagrams go between.
const MOST_FLOWS: usize = 256;
/// The port of name servers.
const NAME_PORT: u16 = 53;

/// The destination on the host's side of the guest's data to `to`; `None` if it is not allowed.
fn outside(to: SocketAddrV4, names: Option<Ipv4Addr>) -> Option<SocketAddrV4> {
    let address = match *to.ip() {
        HOST => Ipv4Addr::LOCALHOST,
        NAMES if to.port() == NAME_PORT => names?,
        inside if on_network(inside) => return None,
        nobody if nobody.is_loopback() || nobody.octets()[0] == 0 || nobody.octets()[0] >= 224 => {
            return None
        }
        other => other,
    };
    (to.port() != 0).then(|| SocketAddrV4::new(address, to.port()))
}

/// Whether it is an address of the guest's own network.
fn on_network(address: Ipv4Addr) -> bool {
    address.octets()[..3] == HOST.octets()[..3]
}
