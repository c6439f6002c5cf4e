//! Sending and receiving by sockets.

use super::address::{plain, Address};
use super::binding::{File, Target};
use super::datagrams::Datagram;
use super::socket::{lock, Peer, Socket, State};
use super::Network;
use crate::calls::refuse;
use std::io;

/// The longest datagram between internet sockets, and between local ones.
const LONGEST: usize = 65_507;
const LONGEST_LOCAL: usize = 212_960;

/// What was received.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) count: usize,
    /// Length of the complete datagram.
    pub(crate) whole: usize,
    /// The sender of the datagram.
    pub(crate) from: Option<Address>,
}

impl Socket {
    /// The bytes that have arrived, as far as they fit. `EAGAIN` while there are none.
    pub(crate) fn receive(&mut self, into: &mut [u8], stays: bool) -> io::Result<Received> {
        if let Some(error) = self.error.take() {
            return refuse(error);
        }
        let is_local = self.is_local();
        match &mut self.state {
            State::Connected(stream) => {
                let count = stream.read(into, stays)?;
                Ok(Received {
                    count,
                    whole: count,
                    from: None,
                })
            }
            State::Datagrams { inbox, .. } => {
                let mut inbox = lock(inbox);
                let datagram = match inbox.take(stays) {
                    Err(_) if inbox.is_shut => Datagram {
                        bytes: Vec::new(),
                        from: Address::none(self.domain),
                    },
                    other => other?,
                };
                let count = datagram.bytes.len().min(into.len());
                into[..count].copy_from_slice(&datagram.bytes[..count]);
                Ok(Received {
                    count,
                    whole: datagram.bytes.len(),
                    from: Some(datagram.from.seen_by(self.domain)),
                })
            }
            _ if is_local => refuse(libc::EINVAL),
            _ => refuse(libc::ENOTCONN),
        }
    }

    /// Sends bytes of a stream.
    pub(crate) fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        if let Some(error) = self.error.take() {
            return refuse(error);
        }
        let is_local = self.is_local();
        match &mut self.state {
            State::Connected(stream) => stream.write(from),
            State::Datagrams { .. } => refuse(libc::EDESTADDRREQ),
            _ if is_local => refuse(libc::ENOTCONN),
            _ => refuse(libc::EPIPE),
        }
    }

    /// Sends bytes of a stream, or a datagram to `to` or else to whom it is connected.
    pub(crate) fn send(
        &mut self,
        network: &mut Network,
        from: &[u8],
        to: Option<(Address, Option<File>)>,
    ) -> io::Result<usize> {
        if let Some(error) = self.error.take() {
            return refuse(error);
        }
        match &self.state {
            State::Connected(_) if to.is_some() && self.is_local() => refuse(libc::EISCONN),
            State::Datagrams { .. } => self.send_datagram(network, from, to),
            _ => self.write(from),
        }
    }

    fn send_datagram(
        &mut self,
        network: &mut Network,
        bytes: &[u8],
        to: Option<(Address, Option<File>)>,
    ) -> io::Result<usize> {
        if bytes.len() > if self.is_local() { LONGEST_LOCAL } else { LONGEST } {
            return refuse(libc::EMSGSIZE);
        }
        let State::Datagrams { peer, .. } = &self.state else {
            return refuse(libc::ENOTCONN);
        };
        let inbox = match (&to, peer) {
            (None, None) if self.is_local() => return refuse(libc::ENOTCONN),
            (None, None) => return refuse(libc::EDESTADDRREQ),
            (None, Some(Peer::Other(inbox))) => inbox.upgrade(),
            (Some((to, file)), _) => {
                let (to, file) = (to.clone(), *file);
                return self.send_to(network, bytes, to, file, false);
            }
            (None, Some(Peer::Named(to, file))) => {
                let (to, file) = (to.clone(), *file);
                return self.send_to(network, bytes, to, file, true);
            }
        };
        let Some(inbox) = inbox else {
            return refuse(libc::ECONNREFUSED);
        };
        let from = self.address.clone();
        let bytes = bytes.to_vec();
        let count = bytes.len();
        let result = lock(&inbox).add(Datagram { bytes, from });
        result.map(|()| count)
    }

    fn send_to(
        &mut self,
        network: &mut Network,
        bytes: &[u8],
        to: Address,
        file: Option<File>,
        is_connected: bool,
    ) -> io::Result<usize> {
        let name = self.name_of(&to, file)?;
        self.bind_to_any(network)?;
        let [from, _] = self.ends(&name, to);
        let from = match from {
            Address::Internet(from) => Address::Internet(plain(from)),
            local => local,
        };
        let found = network.find(self.space(), &name);
        let arrived = match found.as_ref().and_then(|binding| binding.target.get()) {
            Some(Target::Datagrams(inbox)) => lock(inbox).add(Datagram {
                bytes: bytes.to_vec(),
                from,
            }),
            Some(Target::Connections(_)) => refuse(libc::EPROTOTYPE),
            None => refuse(libc::ECONNREFUSED),
        };
        match arrived {
            // The absence of a receiver is reported later, if at all.
            Err(error) if !self.is_local() && error.raw_os_error() == Some(libc::ECONNREFUSED) => {
                if is_connected {
                    self.error = Some(libc::ECONNREFUSED);
                    self.change();
                }
                Ok(bytes.len())
            }
            other => other.map(|()| bytes.len()),
        }
    }
}
