//! A socket, in all states that it may be in.

use super::address::{destination, plain, source, Address};
use super::binding::{Binding, File, Name, Sharing, Space, Target};
use super::datagrams::{Datagram, Inbox};
use super::listener::Backlog;
use super::stream::{self, Stream};
use super::{Domain, Kind, Network, Options};
use crate::activity::{event, Activity, Readiness};
use crate::calls::refuse;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// The longest datagram between internet sockets, and between local ones.
const LONGEST: usize = 65_507;
const LONGEST_LOCAL: usize = 212_960;

/// What was received.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) count: usize,
    /// Bytes of the whole datagram.
    pub(crate) whole: usize,
    /// Who sent the datagram.
    pub(crate) from: Option<Address>,
}

/// Whom datagrams are sent to.
#[derive(Debug)]
enum Peer {
    Named(Address, Option<File>),
    /// The other one of a pair.
    Other(Weak<Mutex<Inbox>>),
}

#[derive(Debug)]
enum State {
    /// Of a stream that nothing has become of yet.
    Fresh,
    Listens(Arc<Mutex<Backlog>>),
    Connected(Stream),
    Datagrams {
        inbox: Arc<Mutex<Inbox>>,
        peer: Option<Peer>,
    },
}

#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) domain: Domain,
    pub(crate) kind: Kind,
    pub(crate) options: Options,
    state: State,
    binding: Option<Arc<Binding>>,
    address: Address,
    activity: Activity,
    /// How often it has become something else, which is news for who waits for it.
    changes: u64,
    /// What went wrong that nobody has been told.
    error: Option<i32>,
    /// Whether it is being connected as far as the program knows.
    is_connecting: bool,
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Socket {
    pub(crate) fn new(domain: Domain, kind: Kind, activity: &Activity) -> Socket {
        let state = match kind {
            Kind::Stream => State::Fresh,
            Kind::Datagram => State::Datagrams {
                inbox: Arc::new(Mutex::new(Inbox::new(domain == Domain::Local, activity.clone()))),
                peer: None,
            },
        };
        Socket {
            domain,
            kind,
            options: Options::default(),
            state,
            binding: None,
            address: Address::none(domain),
            activity: activity.clone(),
            changes: 0,
            error: None,
            is_connecting: false,
        }
    }

    /// Two local sockets that are connected.
    pub(crate) fn pair(kind: Kind, activity: &Activity) -> [Socket; 2] {
        let mut pair = [(); 2].map(|()| Socket::new(Domain::Local, kind, activity));
        let [one, other] = &mut pair;
        match (&mut one.state, &mut other.state) {
            (
                State::Datagrams { inbox, peer },
                State::Datagrams {
                    inbox: far_inbox,
                    peer: far_peer,
                },
            ) => {
                *peer = Some(Peer::Other(Arc::downgrade(far_inbox)));
                *far_peer = Some(Peer::Other(Arc::downgrade(inbox)));
            }
            (state, far_state) => {
                let none = || Address::none(Domain::Local);
                let (near, far) = stream::connect(activity, true, [none(), none()]);
                *state = State::Connected(near);
                *far_state = State::Connected(far);
            }
        }
        pair
    }

    fn is_local(&self) -> bool {
        self.domain == Domain::Local
    }

    fn space(&self) -> Space {
        if self.is_local() {
            Space::Local
        } else {
            Space::Internet(self.kind)
        }
    }

    fn change(&mut self) {
        self.changes += 1;
        self.activity.note();
    }

    /// Gives it an address; `file` is that of a local one, as device and number.
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

    /// Gives it an address if it has none.
    fn bind_to_any(&mut self, network: &mut Network) -> io::Result<()> {
        if self.binding.is_some() || self.is_local() {
            return Ok(());
        }
        self.bind(network, Address::none(self.domain), None)
    }

    pub(crate) fn listen(&mut self, network: &mut Network, most: i32) -> io::Result<()> {
        let most = most.clamp(0, 4096) as usize;
        match &self.state {
            State::Listens(backlog) => {
                lock(backlog).set_most(most);
                return Ok(());
            }
            State::Fresh => {}
            State::Connected(_) => return refuse(libc::EINVAL),
            State::Datagrams { .. } => return refuse(libc::EOPNOTSUPP),
        }
        self.bind_to_any(network)?;
        let Some(binding) = &self.binding else {
            return refuse(libc::EINVAL);
        };
        let backlog = Arc::new(Mutex::new(Backlog::new(most, self.activity.clone())));
        let _ = binding.target.set(Target::Connections(backlog.clone()));
        self.state = State::Listens(backlog);
        self.change();
        Ok(())
    }

    /// The next connection. `EAGAIN` while there is none.
    pub(crate) fn accept(&mut self) -> io::Result<Socket> {
        let stream = match &self.state {
            State::Listens(backlog) => lock(backlog).accept()?.seen_by(self.domain),
            State::Datagrams { .. } => return refuse(libc::EOPNOTSUPP),
            _ => return refuse(libc::EINVAL),
        };
        let mut accepted = Socket::new(self.domain, self.kind, &self.activity);
        accepted.options = self.options.clone();
        accepted.address = stream.address.clone();
        accepted.state = State::Connected(stream);
        Ok(accepted)
    }

    /// Connects it; `file` is that of a local address. Who does not wait is told later how that went.
    pub(crate) fn connect(
        &mut self,
        network: &mut Network,
        to: Option<Address>,
        file: Option<File>,
        waits: bool,
    ) -> io::Result<()> {
        if let State::Datagrams { .. } = self.state {
            return self.set_peer(network, to, file);
        }
        if let Some(error) = self.error.take() {
            self.is_connecting = false;
            return refuse(error);
        }
        match self.state {
            State::Connected(_) if std::mem::take(&mut self.is_connecting) => return Ok(()),
            State::Connected(_) => return refuse(libc::EISCONN),
            State::Listens(_) => return refuse(libc::EINVAL),
            _ => {}
        }
        let Some(to) = to else {
            return Ok(());
        };
        let tells_later = !waits && !self.is_local();
        match self.make_connection(network, to, file, tells_later) {
            Ok(()) => {}
            Err(error) if tells_later && error.raw_os_error() == Some(libc::ECONNREFUSED) => {
                self.error = Some(libc::ECONNREFUSED);
            }
            Err(error) => return Err(error),
        }
        self.change();
        if tells_later {
            self.is_connecting = true;
            return refuse(libc::EINPROGRESS);
        }
        Ok(())
    }

    fn make_connection(
        &mut self,
        network: &mut Network,
        to: Address,
        file: Option<File>,
        fits_always: bool,
    ) -> io::Result<()> {
        let name = self.name_of(&to, file)?;
        self.bind_to_any(network)?;
        let found = network.find(self.space(), &name);
        let Some(Target::Connections(backlog)) = found.as_ref().and_then(|binding| binding.target.get())
        else {
            return refuse(libc::ECONNREFUSED);
        };
        let mut backlog = lock(backlog);
        if backlog.is_full() && !fits_always {
            return refuse(libc::EAGAIN);
        }
        let addresses = self.ends(&name, to);
        let (near, far) = stream::connect(&self.activity, self.is_local(), addresses);
        self.address = near.address.clone();
        self.state = State::Connected(near);
        backlog.add(far);
        Ok(())
    }

    /// The address that it has towards `to`, and that one.
    fn ends(&self, name: &Name, to: Address) -> [Address; 2] {
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

    /// What others have bound who have this address.
    fn name_of(&self, to: &Address, file: Option<File>) -> io::Result<Name> {
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

    fn set_peer(&mut self, network: &mut Network, to: Option<Address>, file: Option<File>) -> io::Result<()> {
        let known = match &to {
            None => None,
            Some(to) => {
                let name = self.name_of(to, file)?;
                self.bind_to_any(network)?;
                if self.is_local() && network.find(self.space(), &name).is_none() {
                    return refuse(libc::ECONNREFUSED);
                }
                Some(self.ends(&name, to.clone()))
            }
        };
        if let State::Datagrams { inbox, peer } = &mut self.state {
            let to = known.map(|[own, to]| {
                self.address = own;
                to
            });
            lock(inbox).only_from = to.clone().map(|to| match to {
                Address::Internet(to) => Address::Internet(plain(to)),
                other => other,
            });
            *peer = to.map(|to| Peer::Named(to, file));
        }
        self.change();
        Ok(())
    }

    /// What has come, as far as it fits. `EAGAIN` while there is nothing.
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
            // That nobody is there comes back later, if at all.
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

    /// `shutdown` of reading, writing, or both.
    pub(crate) fn shut(&mut self, reading: bool, writing: bool) -> io::Result<()> {
        match &mut self.state {
            State::Connected(stream) => stream.shut(reading, writing),
            State::Listens(_) if reading => {
                // Nobody can connect any more, and who waits for that is told so.
                self.state = State::Fresh;
                self.binding = None;
            }
            State::Datagrams { inbox, peer: Some(_) } if reading => lock(inbox).is_shut = true,
            State::Datagrams { peer: Some(_), .. } => {}
            _ => return refuse(libc::ENOTCONN),
        }
        self.change();
        Ok(())
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Whom it is connected to.
    pub(crate) fn peer(&self) -> io::Result<Address> {
        match &self.state {
            State::Connected(stream) => Ok(stream.peer.clone()),
            State::Datagrams {
                peer: Some(Peer::Named(address, _)),
                ..
            } => Ok(address.clone()),
            State::Datagrams {
                peer: Some(Peer::Other(_)),
                ..
            } => Ok(Address::none(self.domain)),
            _ => refuse(libc::ENOTCONN),
        }
    }

    pub(crate) fn is_listening(&self) -> bool {
        matches!(self.state, State::Listens(_))
    }

    /// Whether it moves bytes, of which a call may move a part.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.state, State::Connected(_))
    }

    /// What went wrong since it was last asked for.
    pub(crate) fn take_error(&mut self) -> i32 {
        let of_stream = match &mut self.state {
            State::Connected(stream) => stream.take_error(),
            _ => None,
        };
        self.error.take().or(of_stream).unwrap_or(0)
    }

    /// Bytes that can be received at once.
    pub(crate) fn available(&self) -> io::Result<usize> {
        match &self.state {
            State::Connected(stream) => Ok(stream.available()),
            State::Datagrams { inbox, .. } => Ok(lock(inbox).available()),
            State::Listens(_) => refuse(libc::EINVAL),
            State::Fresh => Ok(0),
        }
    }

    pub(crate) fn readiness(&self) -> Readiness {
        let mut readiness = match &self.state {
            State::Fresh => Readiness::always(event::OUT | event::HANG_UP),
            State::Listens(backlog) => lock(backlog).readiness(),
            State::Connected(stream) => stream.readiness(),
            State::Datagrams { inbox, peer } => {
                let own = lock(inbox).readiness();
                let far = match peer {
                    Some(Peer::Other(far)) => far.upgrade().map(|far| lock(&far).room()),
                    _ => None,
                };
                let far = far.unwrap_or(Readiness::always(event::OUT));
                Readiness {
                    events: own.events | far.events,
                    arrivals: own.arrivals,
                    departures: far.departures,
                }
            }
        };
        if self.error.is_some() {
            readiness.events |= event::IN | event::OUT | event::ERROR;
        }
        readiness.arrivals += self.changes;
        readiness
    }
}
