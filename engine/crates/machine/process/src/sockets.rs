//! Sockets between threads of a program: internet addresses of the loopback device, local names, and pairs. Bytes and
//! datagrams arrive immediately, and the host's network is not used.

mod address;
mod binding;
mod connecting;
mod datagrams;
mod listener;
mod moving;
mod naming;
mod network;
mod options;
mod socket;
mod stream;

pub(crate) use address::Address;
pub(crate) use binding::File;
pub(crate) use moving::Received;
pub(crate) use network::Network;
pub(crate) use options::Options;
pub(crate) use socket::Socket;

/// Which kind of addresses a socket has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Domain {
    Internet,
    Internet6,
    Local,
}

/// Whether bytes or datagrams are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Stream,
    Datagram,
}
