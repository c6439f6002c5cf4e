//! Names of sockets, and lookup of names.

use super::address::{destination, plain, source, Address};
use super::binding::{Binding, File, Name, Sharing, Target};
use super::socket::{Socket, State};
use super::{Domain, Network};
use crate::calls::refuse;
use std::io;
use std::net::SocketAddr;
use std::sync::OnceLock;

impl Socket {
    /// Binds it to an address; `file` is that of a local one, as device and number.
    pub(crate) fn bind(
        &mut self,
        network: &mut Network,
        address: Address,
        file: Option<File>,
    ) -> io::Result<()> {
        if self.binding.is_some() {
            return refuse(libc::EINVAL);
        }
        let (name, address) = match address {
            Address::Internet(asked) if !self.is_local() => {
                let ip = asked.ip().to_canonical();
                if !ip.is_loopback() && !ip.is_unspecified() {
                    return refuse(libc::EADDRNOTAVAIL);
                }
                if self.domain == Domain::Internet && asked.is_ipv6() {
                    return refuse(libc::EAFNOSUPPORT);
                }
                if self.domain == Domain::Internet6 && asked.is_ipv4() {
                    return refuse(libc::EINVAL);
                }
                (Name::Internet(plain(asked)), Address::Internet(asked))
            }
            Address::Local(name) if self.is_local() => {
                let name = if name.is_empty() {
                    network.free_name()
                } else {
                    name
                };
                let found = file.map_or_else(|| Name::Abstract(name.clone()), Name::File);
                (found, Address::Local(name))
            }
            _ => return refuse(libc::EAFNOSUPPORT),
        };
        let binding = network.bind(Binding {
            space: self.space(),
            name,
            sharing: Sharing {
                address: self.options.has(libc::SOL_SOCKET, libc::SO_REUSEADDR),
                port: self.options.has(libc::SOL_SOCKET, libc::SO_REUSEPORT),
            },
            only_6: self.options.has(libc::IPPROTO_IPV6, libc::IPV6_V6ONLY),
            target: OnceLock::new(),
        })?;
        self.address = match (&binding.name, address) {
            (Name::Internet(given), Address::Internet(asked)) => {
                Address::Internet(SocketAddr::new(asked.ip(), given.port()))
            }
            (_, address) => address,
        };
        if let State::Datagrams { inbox, .. } = &self.state {
            let _ = binding.target.set(Target::Datagrams(inbox.clone()));
        }
        self.binding = Some(binding);
        Ok(())
    }

    /// Binds it to an address if it has none.
    pub(super) fn bind_to_any(&mut self, network: &mut Network) -> io::Result<()> {
        if self.binding.is_some() || self.is_local() {
            return Ok(());
        }
        self.bind(network, Address::none(self.domain), None)
    }

    /// Its own address for data to `to`, and the peer's address.
    pub(super) fn ends(&self, name: &Name, to: Address) -> [Address; 2] {
        match (name, &self.address) {
            (Name::Internet(to), Address::Internet(own)) => {
                let from = if own.ip().to_canonical().is_unspecified() {
                    source(*to, own.port())
                } else {
                    plain(*own)
                };
                [from, *to].map(|address| Address::Internet(address).seen_by(self.domain))
            }
            _ => [self.address.clone(), to],
        }
    }

    /// The name to which the owner of this address is bound.
    pub(super) fn name_of(&self, to: &Address, file: Option<File>) -> io::Result<Name> {
        match to {
            Address::Internet(address) if !self.is_local() => {
                let to = destination(*address);
                if self.domain == Domain::Internet && address.is_ipv6() {
                    return refuse(libc::EAFNOSUPPORT);
                }
                if !to.ip().is_loopback() {
                    return refuse(libc::ENETUNREACH);
                }
                Ok(Name::Internet(to))
            }
            Address::Local(name) if self.is_local() => {
                Ok(file.map_or_else(|| Name::Abstract(name.clone()), Name::File))
            }
            _ => refuse(libc::EAFNOSUPPORT),
        }
    }
}
