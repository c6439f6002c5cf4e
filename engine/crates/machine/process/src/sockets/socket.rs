//! A socket, in all states that it may be in.

use super::address::Address;
use super::binding::{Binding, File, Space};
use super::datagrams::Inbox;
use super::listener::Backlog;
use super::stream::{self, Stream};
use super::{Domain, Kind, Options};
use crate::activity::{event, Activity, Readiness};
use crate::calls::refuse;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Whom datagrams are sent to.
#[derive(Debug)]
pub(super) enum Peer {
    Named(Address, Option<File>),
    /// The other one of a pair.
    Other(Weak<Mutex<Inbox>>),
}

#[derive(Debug)]
pub(super) enum State {
    /// A stream that is neither connected nor listening yet.
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
    pub(super) state: State,
    pub(super) binding: Option<Arc<Binding>>,
    pub(super) address: Address,
    pub(super) activity: Activity,
    /// Number of changes of its state, which are events for waiting threads.
    changes: u64,
    /// An error that has not been reported yet.
    pub(super) error: Option<i32>,
    /// Whether it is being connected as far as the program knows.
    pub(super) is_connecting: bool,
}

pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
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

    pub(super) fn is_local(&self) -> bool {
        self.domain == Domain::Local
    }

    pub(super) fn space(&self) -> Space {
        if self.is_local() {
            Space::Local
        } else {
            Space::Internet(self.kind)
        }
    }

    pub(super) fn change(&mut self) {
        self.changes += 1;
        self.activity.note();
    }

    /// `shutdown` of reading, writing, or both.
    pub(crate) fn shut(&mut self, reading: bool, writing: bool) -> io::Result<()> {
        match &mut self.state {
            State::Connected(stream) => stream.shut(reading, writing),
            State::Listens(_) if reading => {
                // Further connections are refused, and waiting clients are notified.
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

    /// The error since the last query.
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

#[cfg(test)]
mod tests {
    use super::super::Network;
    use super::*;

    fn errno<T: std::fmt::Debug>(result: io::Result<T>) -> i32 {
        result.unwrap_err().raw_os_error().unwrap()
    }

    fn bound(network: &mut Network, domain: Domain, kind: Kind, address: &str) -> io::Result<Socket> {
        let mut socket = Socket::new(domain, kind, &Activity::default());
        let address = Address::Internet(address.parse().unwrap());
        socket.bind(network, address, None)?;
        Ok(socket)
    }

    #[test]
    fn ports_are_given_in_order_and_each_to_one() {
        let mut network = Network::default();
        let mut any = |kind| bound(&mut network, Domain::Internet, kind, "0.0.0.0:0").unwrap();
        let sockets = [any(Kind::Stream), any(Kind::Datagram), any(Kind::Stream)];
        let ports = sockets.each_ref().map(|socket| match socket.address() {
            Address::Internet(address) => address.port(),
            Address::Local(_) => 0,
        });
        assert_eq!(ports, [32768, 32769, 32770]);
        let mut taken = |domain, kind, address| bound(&mut network, domain, kind, address);
        let other = taken(Domain::Internet, Kind::Stream, "127.0.0.1:32768");
        assert_eq!(errno(other), libc::EADDRINUSE);
        let six = taken(Domain::Internet6, Kind::Stream, "[::]:32768");
        assert_eq!(errno(six), libc::EADDRINUSE);
        assert!(taken(Domain::Internet6, Kind::Stream, "[::1]:32768").is_ok());
        assert!(taken(Domain::Internet, Kind::Datagram, "127.0.0.1:32768").is_ok());
        let elsewhere = taken(Domain::Internet, Kind::Stream, "192.0.2.1:1");
        assert_eq!(errno(elsewhere), libc::EADDRNOTAVAIL);
    }

    #[test]
    fn datagrams_are_lost_on_a_network_and_wait_between_local_sockets() {
        let mut network = Network::default();
        let mut one = bound(&mut network, Domain::Internet, Kind::Datagram, "127.0.0.1:7").unwrap();
        let mut other = Socket::new(Domain::Internet, Kind::Datagram, &Activity::default());
        let to = one.address().clone();
        for _ in 0..10 {
            let sent = other.send(&mut network, &[1; 50_000], Some((to.clone(), None)));
            assert_eq!(sent.unwrap(), 50_000);
        }
        let mut bytes = [0; 100];
        let received: Vec<usize> = std::iter::from_fn(|| one.receive(&mut bytes, false).ok())
            .map(|received| received.whole)
            .collect();
        assert_eq!(received, [50_000; 4]);
        let [mut near, mut far] = Socket::pair(Kind::Datagram, &Activity::default());
        let mut sent = 0;
        while near.send(&mut network, b"text", None).is_ok() {
            sent += 1;
        }
        assert_eq!(sent, 10);
        assert_eq!(near.readiness().events & event::OUT, 0);
        far.receive(&mut bytes, false).unwrap();
        assert_eq!(near.readiness().events & event::OUT, event::OUT);
    }
}
