//! The names of a program's sockets, and their owners.

use super::binding::{Binding, Name, Space};
use crate::calls::refuse;
use std::io;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::sync::{Arc, Weak};

/// Ports assigned on demand, as in Linux by default; here in ascending order.
const OWN_PORTS: RangeInclusive<u16> = 32768..=60999;

#[derive(Debug)]
pub(crate) struct Network {
    bindings: Vec<Weak<Binding>>,
    next_port: u16,
    next_name: u32,
}

impl Default for Network {
    fn default() -> Network {
        Network {
            bindings: Vec::new(),
            next_port: *OWN_PORTS.start(),
            next_name: 0,
        }
    }
}

impl Network {
    /// Binds a name to a socket; port zero is replaced by a free port.
    pub(super) fn bind(&mut self, mut binding: Binding) -> io::Result<Arc<Binding>> {
        self.bindings.retain(|binding| binding.strong_count() > 0);
        if let Name::Internet(address) = &mut binding.name {
            if address.port() == 0 {
                return self.bind_to_any(binding);
            }
        }
        if self.is_taken(&binding) {
            return refuse(libc::EADDRINUSE);
        }
        Ok(self.add(binding))
    }

    fn bind_to_any(&mut self, mut binding: Binding) -> io::Result<Arc<Binding>> {
        for _ in OWN_PORTS {
            let port = self.next_port;
            self.next_port = if port == *OWN_PORTS.end() {
                *OWN_PORTS.start()
            } else {
                port + 1
            };
            if let Name::Internet(address) = &mut binding.name {
                *address = SocketAddr::new(address.ip(), port);
            }
            if !self.is_taken(&binding) {
                return Ok(self.add(binding));
            }
        }
        refuse(libc::EADDRINUSE)
    }

    /// A free name without a file, in the format of Linux: five hexadecimal digits.
    pub(super) fn free_name(&mut self) -> Vec<u8> {
        self.next_name += 1;
        format!("\0{:05x}", self.next_name).into_bytes()
    }

    /// The receiver of data sent to `name`: a socket with this address is preferred to one with any address.
    pub(super) fn find(&self, space: Space, name: &Name) -> Option<Arc<Binding>> {
        let alive = self.bindings.iter().filter_map(Weak::upgrade);
        let mut fitting =
            alive.filter(|binding| binding.target.get().is_some() && binding.accepts(space, name));
        let first = fitting.next()?;
        if first.name == *name {
            return Some(first);
        }
        fitting.find(|binding| binding.name == *name).or(Some(first))
    }

    fn is_taken(&self, binding: &Binding) -> bool {
        let mut alive = self.bindings.iter().filter_map(Weak::upgrade);
        alive.any(|other| other.excludes(binding))
    }

    fn add(&mut self, binding: Binding) -> Arc<Binding> {
        let binding = Arc::new(binding);
        self.bindings.push(Arc::downgrade(&binding));
        binding
    }
}
