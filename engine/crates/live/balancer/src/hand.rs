use rackwright_dispatch::{Request, RequestKey};
use rackwright_xdp::Route;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::net::{IpAddr, SocketAddr};

/// The origin of a request, and destination of its response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// A client.
    Client {
        /// Its address.
        address: SocketAddr,
        /// Its number of the request.
        number: u64,
        /// The route back, if the request arrived as a frame.
        route: Option<Route>,
    },
    /// Another dispatcher.
    Peer {
        /// Its address.
        address: SocketAddr,
        /// Its number of the request.
        number: u64,
        /// The client, for a dispatcher to which the request is redirected.
        client: [u8; 6],
        /// The client's number of the request.
        client_number: u64,
    },
    /// The dispatcher itself: a probe.
    Probe,
}

/// A request that the dispatcher decides about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hand<'a> {
    /// The index of its service.
    pub(crate) service: usize,
    pub(crate) origin: Origin,
    pub(crate) request: Request,
    /// As the client sent it.
    pub(crate) bytes: &'a [u8],
}

/// A client as the dispatcher knows it. IPv6 clients whose shortened addresses are equal could be confused; then one of
/// two requests with the same number goes to the same replica as the other.
pub(crate) fn client_of(address: SocketAddr) -> [u8; 6] {
    let host = match address.ip() {
        IpAddr::V4(host) => host.octets(),
        IpAddr::V6(host) => (fixed_hash(&host.octets()) as u32).to_be_bytes(),
    };
    let port = address.port().to_be_bytes();
    [host[0], host[1], host[2], host[3], port[0], port[1]]
}

/// The identity of a request.
pub(crate) fn key_of(client: [u8; 6], number: u64) -> RequestKey {
    let [a, b, c, d, e, f] = client;
    RequestKey {
        client: u64::from_be_bytes([0, 0, a, b, c, d, e, f]),
        number,
    }
}

/// The same in every process.
pub(crate) fn fixed_hash(bytes: &[u8]) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(bytes)
}
