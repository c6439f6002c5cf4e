use crate::user::{outside, MOST_FLOWS, MTU};
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

/// Bytes of the headers of IPv4 and UDP.
const HEADERS: usize = 28;
/// Datagrams taken from one socket before others have their turn.
const MOST_AT_ONCE: usize = 64;

/// Datagrams between the guest and the outside: a socket of the host for each pair of ends.
#[derive(Default)]
pub(crate) struct Datagrams {
    flows: BTreeMap<(SocketAddrV4, SocketAddrV4), Flow>,
    /// Counts uses, so that the flow that was not used for longest is known.
    used: u64,
}

struct Flow {
    socket: UdpSocket,
    used: u64,
}

/// A datagram for the guest.
pub(crate) struct Answer {
    pub(crate) from: SocketAddrV4,
    pub(crate) to: SocketAddrV4,
    pub(crate) content: Vec<u8>,
}

impl Datagrams {
    /// Forwards a datagram of the guest; returns whether the host accepted it.
    pub(crate) fn send(
        &mut self,
        (from, to): (SocketAddrV4, SocketAddrV4),
        content: &[u8],
        names: Option<Ipv4Addr>,
    ) -> bool {
        let Some(target) = outside(to, names) else {
            return false;
        };
        self.used += 1;
        // Making room needs all flows, so that no entry can be borrowed meanwhile.
        #[allow(clippy::map_entry)]
        if !self.flows.contains_key(&(from, to)) {
            let Ok(socket) = connected(target) else {
                return false;
            };
            self.make_room();
            self.flows.insert((from, to), Flow { socket, used: 0 });
        }
        let flow = self.flows.get_mut(&(from, to)).expect("it is there by now");
        flow.used = self.used;
        flow.socket.send(content).is_ok()
    }

    /// Ends the least recently used flow, if there is the maximum number of flows.
    fn make_room(&mut self) {
        if self.flows.len() < MOST_FLOWS {
            return;
        }
        let oldest = self.flows.iter().min_by_key(|(_, flow)| flow.used);
        if let Some(ends) = oldest.map(|(ends, _)| *ends) {
            self.flows.remove(&ends);
        }
    }

    /// Datagrams for the guest; those that are too long for its network are dropped and counted.
    pub(crate) fn take(&mut self, dropped: &mut u64) -> Vec<Answer> {
        let mut answers = Vec::new();
        let mut content = vec![0; MTU - HEADERS + 1];
        for ((guest, other), flow) in &self.flows {
            for _ in 0..MOST_AT_ONCE {
                match flow.socket.recv(&mut content) {
                    Ok(length) if length > MTU - HEADERS => *dropped += 1,
                    Ok(length) => answers.push(Answer {
                        from: *other,
                        to: *guest,
                        content: content[..length].to_vec(),
                    }),
                    // There are no data, or no peer: the guest notices this itself.
                    Err(_) => break,
                }
            }
        }
        answers
    }

    /// The sockets to wait for.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.flows.values().map(|flow| flow.socket.as_fd())
    }

    /// Number of flows.
    #[cfg(test)]
    pub(crate) fn flows(&self) -> usize {
        self.flows.len()
    }
}

fn connected(target: SocketAddrV4) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.set_nonblocking(true)?;
    socket.connect(target)?;
    Ok(socket)
}
