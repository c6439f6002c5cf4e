//! Names that sockets have in a network.

use super::datagrams::Inbox;
use super::listener::Backlog;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock};

/// Device and number of a file that is the name of a local socket.
pub(crate) type File = (u64, u64);

/// The name by which others find a socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Name {
    Internet(SocketAddr),
    /// A name that is no file's.
    Abstract(Vec<u8>),
    File(File),
}

/// A name space: names in different ones are independent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Space {
    Internet(super::Kind),
    Local,
}

/// The conditions for equal names.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sharing {
    pub(super) address: bool,
    pub(super) port: bool,
}

/// The destination of data sent to a name.
#[derive(Debug)]
pub(super) enum Target {
    Connections(Arc<Mutex<Backlog>>),
    Datagrams(Arc<Mutex<Inbox>>),
}

/// The name of a socket, while it has it.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) space: Space,
    pub(super) name: Name,
    pub(super) sharing: Sharing,
    /// Whether a name for any address is only for those of version 6.
    pub(super) only_6: bool,
    pub(super) target: OnceLock<Target>,
}

impl Binding {
    /// Whether data sent to `name` are for this socket.
    pub(super) fn accepts(&self, space: Space, name: &Name) -> bool {
        if self.space != space {
            return false;
        }
        match (&self.name, name) {
            (Name::Internet(own), Name::Internet(to)) => {
                own.port() == to.port() && (own.ip() == to.ip() || self.takes_any(own.ip(), to.ip()))
            }
            (own, to) => own == to,
        }
    }

    fn takes_any(&self, own: IpAddr, to: IpAddr) -> bool {
        own.is_unspecified() && (own.is_ipv4() == to.is_ipv4() || own.is_ipv6() && !self.only_6)
    }

    /// Whether a socket cannot have a name because this one has its own.
    pub(super) fn excludes(&self, other: &Binding) -> bool {
        let overlaps = self.accepts(other.space, &other.name) || other.accepts(self.space, &self.name);
        let is_listening = matches!(self.target.get(), Some(Target::Connections(_)));
        let shares = self.sharing.port && other.sharing.port
            || self.sharing.address && other.sharing.address && !is_listening;
        overlaps && !shares
    }
}
