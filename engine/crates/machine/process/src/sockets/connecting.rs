//! Connection of sockets.

use super::address::{plain, Address};
use super::binding::{File, Target};
use super::listener::Backlog;
use super::socket::{lock, Peer, Socket, State};
use super::{stream, Network};
use crate::calls::refuse;
use std::io;
use std::sync::{Arc, Mutex};

impl Socket {
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

    /// Connects it; `file` is that of a local address. Non-blocking sockets receive the result later.
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
}
